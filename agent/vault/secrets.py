"""What opens a vault: a passphrase, a recovery code, or the keyring of the system."""

import resource
import sys
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from importlib.util import find_spec
from threading import Thread
from types import ModuleType
from typing import Literal, TypeVar

from agent.errors import UsageError, VaultError, WrongSecretError, install_hint

_SET_DUMPABLE = 4  # PR_SET_DUMPABLE of linux/prctl.h
Kind = Literal["passphrase", "recovery", "keyring"]
MAX_BYTES = 1024
CODE_BYTES = 20
_DIGITS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_VALUES = {digit: value for value, digit in enumerate(_DIGITS)} | {"O": 0, "I": 1, "L": 1}
_LENGTH, _GROUP, _CHECK_BITS = 36, 6, 20
SERVICE = "reticent"
SECRET_BYTES = 32
SECONDS = 30.0  # for a person to answer what the keyring asks
_HINT = "unlock with the passphrase, or start and unlock the keyring of the system"
_REFUSED = "the keyring did not store the key"
_SILENT = "the keyring did not return the key"
_KEPT = "the keyring did not delete the key"


def forbid_dumps() -> None:
    """Disable core files of this process for good; call it before a secret is read.

    On Linux only root can then read its memory from another process. Sources:
    setrlimit(2), PR_SET_DUMPABLE(2const); core(5): a limit alone does not stop a core that is
    piped to a program.
    """
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if sys.platform == "linux":
        import ctypes

        with suppress(OSError, AttributeError):  # a C library that cannot be asked
            ctypes.CDLL(None).prctl(_SET_DUMPABLE, *[ctypes.c_ulong(0)] * 4)


@dataclass(frozen=True, slots=True)
class Secret:
    """A passphrase or recovery code as typed, or the keyring, without text.

    ``kept``: the keys in the keyring, by account; None if it was not asked yet.
    """

    kind: Kind
    text: str | None = None
    kept: Mapping[str, bytes] | None = None

    def __repr__(self) -> str:
        return f"Secret(kind={self.kind!r})"


def normalised(passphrase: str) -> bytes:
    """A passphrase as bytes, the same however it was typed (RFC 8265, OpaqueString).

    Raises UsageError if it is empty, too long or not text.
    """
    spaced = "".join(" " if unicodedata.category(c) == "Zs" else c for c in passphrase)
    try:
        data = unicodedata.normalize("NFC", spaced).encode()
    except UnicodeEncodeError:  # which holds the passphrase
        hint = "type it in a terminal that uses UTF-8"
        raise UsageError("this passphrase is not text", hint) from None
    if not data:
        hint = "choose one; several words are easy to remember"
        raise UsageError("the passphrase is empty", hint)
    if len(data) > MAX_BYTES:
        raise UsageError("the passphrase is too long", f"use at most {MAX_BYTES} bytes")
    return data


def code_text(code: bytes) -> str:
    """The bytes of a code as text in groups, with its checksum."""
    number = (int.from_bytes(code, "big") << _CHECK_BITS) | _checksum(code)
    digits = "".join(_DIGITS[(number >> 5 * place) & 31] for place in reversed(range(_LENGTH)))
    return "-".join(digits[at : at + _GROUP] for at in range(0, _LENGTH, _GROUP))


def code_bytes(text: str) -> bytes:
    """The bytes of a code as typed; WrongSecretError if it is not a code."""
    digits = [digit for digit in text.upper() if digit != "-" and not digit.isspace()]
    if unknown := sorted({digit for digit in digits if digit not in _VALUES}):
        what = f"a recovery code has no {unknown[0]!r}"
        raise WrongSecretError(what, "copy it from the paper again; it never contains U")
    if len(digits) != _LENGTH:
        what = f"this recovery code has {len(digits)} characters instead of {_LENGTH}"
        raise WrongSecretError(what, "copy it from the paper again: six groups of six")
    number = 0
    for digit in digits:
        number = number << 5 | _VALUES[digit]
    code = (number >> _CHECK_BITS).to_bytes(CODE_BYTES, "big")
    if number & (1 << _CHECK_BITS) - 1 != _checksum(code):
        what = "this recovery code is mistyped: its checksum does not match"
        raise WrongSecretError(what, "compare it with the paper, group by group")
    return code


def _checksum(code: bytes) -> int:
    """The bits that detect a typing mistake."""
    from hashlib import sha256

    return int.from_bytes(sha256(b"reticent recovery code 1" + code).digest()[:3], "big") >> 4


_Answer = TypeVar("_Answer")


def installed() -> bool:
    """Whether the extra is installed."""
    return find_spec("keyring") is not None


def backend() -> str | None:
    """The name of the keyring of this session; None if it cannot store a key."""

    def name(keyring: ModuleType) -> str | None:
        from keyring.backends import fail, null

        ring = keyring.get_keyring()
        return None if isinstance(ring, fail.Keyring | null.Keyring) else str(ring.name)

    try:
        return _asked(name, _SILENT)
    except VaultError:
        return None


def keep(account: str, secret: bytes) -> None:
    """Store the key of an account in the keyring, and check it. Raises VaultError."""

    def stored(keyring: ModuleType) -> bool:
        keyring.set_password(SERVICE, account, secret.hex())
        return bool(keyring.get_password(SERVICE, account) == secret.hex())

    if not _asked(stored, _REFUSED):
        forget(account)
        raise VaultError(_REFUSED, _HINT)


def fetched(accounts: Sequence[str]) -> dict[str, bytes]:
    """The keys that the keyring has of these accounts. Raises VaultError.

    Without accounts the keyring is not asked.
    """

    def keys(keyring: ModuleType) -> dict[str, bytes]:
        secrets: dict[str, bytes] = {}
        for account in accounts:
            text = keyring.get_password(SERVICE, account)
            with suppress(ValueError):  # not one of ours
                secret = bytes.fromhex(text) if isinstance(text, str) else b""
                secrets |= {account: secret} if len(secret) == SECRET_BYTES else {}
        return secrets

    return _asked(keys, _SILENT) if accounts else {}


def forget(account: str) -> bool:
    """Remove an account from the keyring; return whether it worked."""
    try:
        _asked(lambda keyring: keyring.delete_password(SERVICE, account), _KEPT)
    except VaultError:
        return False
    return True


def _asked(call: Callable[[ModuleType], _Answer], what: str) -> _Answer:
    """Ask the keyring in a daemon thread. VaultError: ``what`` if it fails, also on a timeout."""
    if not installed():
        raise VaultError("the extra `keyring` is not installed", install_hint("keyring"))
    from concurrent.futures import Future  # slow to import

    future: Future[_Answer] = Future()
    future.set_running_or_notify_cancel()  # so that it is never cancelled below its thread

    def failed(_kind: object, error: BaseException | None, _trace: object) -> bool:
        if error is not None:
            failure = VaultError(what, _HINT)
            failure.__cause__ = error
            future.set_exception(failure)
        return True

    def run() -> None:
        with ExitStack() as stack:
            stack.push(failed)
            import keyring

            future.set_result(call(keyring))

    Thread(target=run, name="keyring", daemon=True).start()
    try:
        return future.result(SECONDS)
    except TimeoutError:
        late = f"the keyring did not answer within {SECONDS:g} seconds"
        hint = "answer what it asks, or unlock with the passphrase"
        raise VaultError(late, hint) from None
