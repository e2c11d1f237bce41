"""What is said where an extra is not installed."""

from importlib import import_module

import pytest

from agent.cli.interrupt import extra
from agent.errors import BuildError, install_hint


def test_what_is_missing_is_named_with_its_extra() -> None:
    """And how to get it, in a clone or without one; another mistake is not hidden."""
    with pytest.raises(BuildError) as caught, extra("lab", "drawing figures"):
        import_module("no_such_library")
    assert caught.value.what == "drawing figures needs no_such_library, which is not installed"
    assert caught.value.hint == install_hint("lab")
    with pytest.raises(ZeroDivisionError), extra("lab", "drawing figures"):
        _ = 1 / 0
