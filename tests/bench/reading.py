"""What the shipped models read of texts that were labelled first, and never learned from."""

import csv
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from agent import load_model
from agent.model.model import Model, surest
from examples.phrasings import DATA, MODELS

EVERYDAY = DATA / "everyday.csv"


class Everyday(NamedTuple):
    """What the surest of some models makes of everyday texts; one flag for each text.

    ``known``: whether a text that means a query is read; ``right``: of those read, whether as one
    of the right queries; ``unknown``: whether a text that means none is read.
    """

    known: list[bool]
    right: list[bool]
    unknown: list[bool]


def everyday(models: Sequence[Model]) -> Everyday:
    """Return how the everyday texts are read; several right queries are separated by a bar."""
    found = Everyday([], [], [])
    with EVERYDAY.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            model, reading = surest(row["text"], models, Model.read)
            read = reading.query is not None
            (found.known if row["query"] else found.unknown).append(read)
            if row["query"] and reading.query is not None:
                found.right.append(model.queries[reading.query].text in row["query"].split("|"))
    return found


def figures() -> Iterator[str]:
    """Print how many are read, and how many of these rightly."""
    known, right, unknown = everyday([load_model(name) for name in MODELS])
    yield f"everyday texts that mean a query: {sum(known)} of {len(known)} are read"
    yield f"of these rightly: {sum(right)} of {len(right)}"
    yield f"everyday texts that mean none: {sum(unknown)} of {len(unknown)} are read"
