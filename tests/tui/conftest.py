"""Where a daemon of a test would listen."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.wire.fake import short_folder


@pytest.fixture
def path() -> Iterator[Path]:
    """Where a daemon would listen."""
    with short_folder() as folder:
        yield folder / "control.sock"
