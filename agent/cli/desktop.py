"""The keyring of the desktop, which an extra brings; it is never needed."""

from importlib.util import find_spec

from agent.errors import UsageError


def has_keyring() -> bool:
    """Say whether the extra is installed."""
    return find_spec("keyring") is not None


def keyring_answers() -> bool:
    """Say whether this session has a keyring that could hold a key."""
    if not has_keyring():
        return False
    import keyring
    from keyring.backends.fail import Keyring as Nothing

    return not isinstance(keyring.get_keyring(), Nothing)


def check_keyring() -> None:
    """Refuse to use a keyring where the extra is not installed; UsageError."""
    if not has_keyring():
        what = "the keyring needs an extra that is not installed"
        raise UsageError(what, "pip install 'reticent[keyring]'")
