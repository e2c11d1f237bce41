"""Where the socket of a daemon may lie."""

import gc
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.wire.fake import short_folder


@pytest.fixture(scope="package", autouse=True)
def _frozen() -> None:
    """Leave what other tests have made out of the collections of garbage below."""
    gc.collect()
    gc.freeze()


@pytest.fixture
def path() -> Iterator[Path]:
    """Where a socket may lie; what is left open when it goes is a warning, and so an error."""
    with short_folder() as folder:
        yield folder / "s"
    gc.collect()
