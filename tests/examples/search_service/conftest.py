"""The model of everyday life, and the service over it."""

from collections.abc import Iterator
from io import StringIO

import pytest

from agent.model.file import read, shipped_model
from agent.model.model import Model
from examples.search_service.attributes import asked_of
from examples.search_service.engine import Engine
from examples.search_service.journal import Journal
from examples.search_service.service import Service


@pytest.fixture(scope="session")
def model() -> Model:
    """The first of those that come with Reticent."""
    return read(shipped_model("atus"))


@pytest.fixture(scope="session")
def engine(model: Model) -> Iterator[Engine]:
    """The search over it."""
    made = Engine(model)
    yield made
    made.close()


@pytest.fixture(scope="session")
def service(engine: Engine, model: Model) -> Service:
    """The service; its journal writes into a text."""
    return Service(engine, model.attributes, asked_of(model), Journal(StringIO()))
