"""What the tests of the extension's modules share."""

from collections.abc import Iterator

import pytest

from tests.examples.extension.modules import Modules, running


@pytest.fixture(scope="session")
def modules() -> Iterator[Modules]:
    """The modules, in one Node for all tests."""
    with running() as found:
        yield found
