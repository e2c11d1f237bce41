"""The keyring of the system, where somebody wants the vault's key in it (extra `keyring`)."""

from __future__ import annotations

from importlib.util import find_spec
from types import ModuleType

from agent.errors import VaultError

SERVICE = "reticent"
SECRET_BYTES = 32

_HINT = "unlock with the passphrase, or start and unlock the keyring of the system"


def installed() -> bool:
    """Say whether the extra is installed."""
    return find_spec("keyring") is not None


def backend() -> str | None:
    """Return the name of the keyring that this session has; None where no key could be kept."""
    if not installed():
        return None
    import keyring
    from keyring.backends.fail import Keyring as Nothing

    found = keyring.get_keyring()
    return None if isinstance(found, Nothing) else str(found.name)


def keep(account: str, secret: bytes) -> None:
    """Put the bytes of an account into the keyring. Raises VaultError."""
    keyring, errors = _keyring()
    try:
        keyring.set_password(SERVICE, account, secret.hex())
    except errors.KeyringError as error:
        raise VaultError("the keyring did not take the key", _HINT) from error


def fetch(account: str) -> bytes | None:
    """Return the bytes of an account, or None if the keyring has none. Raises VaultError."""
    keyring, errors = _keyring()
    try:
        text = keyring.get_password(SERVICE, account)
        secret = None if text is None else bytes.fromhex(text)
    except errors.KeyringError as error:
        raise VaultError("the keyring did not give the key", _HINT) from error
    except ValueError:
        return None
    return secret if secret is None or len(secret) == SECRET_BYTES else None


def forget(account: str) -> bool:
    """Remove an account from the keyring; return whether that could be done."""
    try:
        keyring, errors = _keyring()
    except VaultError:
        return False
    try:
        keyring.delete_password(SERVICE, account)
    except errors.KeyringError:
        return False
    return True


def _keyring() -> tuple[ModuleType, ModuleType]:
    """Return the library, which is not needed otherwise, and its errors."""
    try:
        import keyring
        import keyring.errors
    except ImportError as error:
        hint = "install it: pip install 'reticent[keyring]'"
        raise VaultError("the extra `keyring` is not installed", hint) from error
    return keyring, keyring.errors
