"""The keyring of the system, where somebody wants the vault's key in it (extra `keyring`).

It is other people's code: it may ask the user something and wait for ever, and raise anything. So
it is asked in a thread that nobody has to wait for, and what it raises is one error of ours.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future
from importlib.util import find_spec
from threading import Thread
from typing import TYPE_CHECKING, Any, TypeVar

from agent.errors import VaultError

if TYPE_CHECKING:
    from types import TracebackType

SERVICE = "reticent"
SECRET_BYTES = 32
SECONDS = 30.0  # for somebody to answer what the keyring asks

_HINT = "unlock with the passphrase, or start and unlock the keyring of the system"
_REFUSED = "the keyring did not take the key"
_SILENT = "the keyring did not give the key"

_Found = TypeVar("_Found")


def installed() -> bool:
    """Say whether the extra is installed."""
    return find_spec("keyring") is not None


def backend() -> str | None:
    """Return the name of the keyring that this session has; None where no key could be kept."""
    try:
        return _answered(_asked(_backend, _SILENT))
    except VaultError:
        return None


def keep(account: str, secret: bytes) -> None:
    """Put the bytes of an account into the keyring. Raises VaultError, also if it has them not."""

    def kept() -> bool:
        _call("set_password", account, secret.hex())
        return bool(_call("get_password", account) == secret.hex())

    if not _answered(_asked(kept, _REFUSED)):
        forget(account)
        raise VaultError(_REFUSED, _HINT)


def fetch(account: str) -> bytes | None:
    """Return the bytes of an account, or None if the keyring has none. Raises VaultError."""
    return _answered(fetching([account])).get(account)


def fetching(accounts: Sequence[str]) -> Future[dict[str, bytes]]:
    """Ask for the bytes of accounts; those that the keyring has. VaultError where it fails.

    Nothing is asked where there are no accounts. Who waits does so for SECONDS, then for nobody.
    """

    def fetched() -> dict[str, bytes]:
        found = {account: _bytes(_call("get_password", account)) for account in accounts}
        return {account: secret for account, secret in found.items() if secret is not None}

    return _asked(fetched, _SILENT) if accounts else _known({})


def fetched(accounts: Sequence[str]) -> dict[str, bytes]:
    """Return the bytes of those accounts that the keyring has. Raises VaultError."""
    return _answered(fetching(accounts))


def forget(account: str) -> bool:
    """Remove an account from the keyring; return whether that could be done."""

    def forgotten() -> bool:
        _call("delete_password", account)
        return True

    try:
        return _answered(_asked(forgotten, "the keyring did not let go of the key"))
    except VaultError:
        return False


def silent() -> VaultError:
    """Return the error for a keyring that does not answer in time."""
    what = f"the keyring did not answer within {SECONDS:g} seconds"
    return VaultError(what, "answer what it asks, or unlock with the passphrase")


def _asked(call: Callable[[], _Found], what: str) -> Future[_Found]:
    """Ask the keyring in a thread that ends with the process; ``what``: to say if it fails."""
    if not installed():
        hint = "install it: pip install 'reticent[keyring]'"
        raise VaultError("the extra `keyring` is not installed", hint)
    future: Future[_Found] = Future()
    future.set_running_or_notify_cancel()  # so that it is never cancelled below its thread

    def ask() -> None:
        with _Told(future, what):
            future.set_result(call())

    Thread(target=ask, name="keyring", daemon=True).start()
    return future


class _Told:
    """Tells a future of whatever is raised, as one error of ours."""

    def __init__(self, future: Future[Any], what: str) -> None:
        self._future = future
        self._error = VaultError(what, _HINT)

    def __enter__(self) -> None:
        """Begin."""

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> bool:
        if error is not None:
            self._error.__cause__ = error
            self._future.set_exception(self._error)
        return True


def _answered(future: Future[_Found]) -> _Found:
    """Return the answer of the keyring. Raises VaultError, also where there is none in time."""
    try:
        return future.result(SECONDS)
    except TimeoutError:
        raise silent() from None


def _known(found: _Found) -> Future[_Found]:
    """Return an answer for which nobody has to be asked."""
    future: Future[_Found] = Future()
    future.set_result(found)
    return future


def _call(name: str, *arguments: str) -> object:
    """Call a function of the library about our service."""
    import keyring

    found: object = getattr(keyring, name)(SERVICE, *arguments)
    return found


def _backend() -> str | None:
    """Return the name of what the library uses, None for one that keeps nothing."""
    import keyring
    from keyring.backends import fail, null

    found = keyring.get_keyring()
    return None if isinstance(found, fail.Keyring | null.Keyring) else str(found.name)


def _bytes(text: object) -> bytes | None:
    """Return what a password stands for, None if it is none of ours."""
    try:
        secret = bytes.fromhex(text) if isinstance(text, str) else b""
    except ValueError:
        return None
    return secret if len(secret) == SECRET_BYTES else None
