"""The shipped model, and the service over it."""

from collections.abc import Iterator

import pytest

from agent.model.file import read
from agent.model.model import Model
from agent.model.shipped import shipped_model
from examples.search_service.engine import Engine


@pytest.fixture(scope="session")
def model() -> Model:
    """The model that comes with Reticent."""
    return read(shipped_model())


@pytest.fixture(scope="session")
def engine(model: Model) -> Iterator[Engine]:
    """The search over it."""
    made = Engine(model)
    yield made
    made.close()
