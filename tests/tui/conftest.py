"""Where a daemon of a test would listen, one that is none, and an event loop for each test."""

import asyncio
import inspect
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.tui.double import Double, double
from tests.wire.fake import short_folder

LONGEST = 240.0  # seconds of a test that is a coroutine


@pytest.fixture
def path() -> Iterator[Path]:
    """Where a daemon would listen."""
    with short_folder() as folder:
        yield folder / "control.sock"


@pytest.fixture
def daemon() -> Iterator[Double]:
    with double() as found:
        yield found


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Run a test that is a coroutine, for so long and no longer."""
    if not inspect.iscoroutinefunction(pyfuncitem.obj):
        return None
    names = inspect.signature(pyfuncitem.obj).parameters
    test = pyfuncitem.obj(**{name: pyfuncitem.funcargs[name] for name in names})
    asyncio.run(asyncio.wait_for(test, LONGEST))
    return True
