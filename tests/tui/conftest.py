"""Where a daemon of a test would listen, and an event loop for each test that needs one."""

import asyncio
import inspect
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.wire.fake import short_folder


@pytest.fixture
def path() -> Iterator[Path]:
    """Where a daemon would listen."""
    with short_folder() as folder:
        yield folder / "control.sock"


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Run a test that is a coroutine."""
    if not inspect.iscoroutinefunction(pyfuncitem.obj):
        return None
    names = inspect.signature(pyfuncitem.obj).parameters
    asyncio.run(pyfuncitem.obj(**{name: pyfuncitem.funcargs[name] for name in names}))
    return True
