"""What the model so2017 reads of texts that were labelled first, and never learned from."""

import csv
from collections.abc import Iterator
from typing import NamedTuple

from agent.decision.engine import load_model
from agent.model.model import Model
from examples.phrasings import DATA

LABELLED = DATA / "labelled.csv"


class Read(NamedTuple):
    """What a model makes of labelled texts; one flag for each text.

    ``known``: whether a text that means a query is read; ``right``: of those read, whether as one
    of the right queries; ``unknown``: whether a text that means none is read.
    """

    known: list[bool]
    right: list[bool]
    unknown: list[bool]


def labelled(model: Model) -> Read:
    """Return how the texts of the table are read; several right queries are separated by a bar."""
    found = Read([], [], [])
    with LABELLED.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            reading = model.read(row["text"])
            read = reading.query is not None
            (found.known if row["query"] else found.unknown).append(read)
            if row["query"] and reading.query is not None:
                found.right.append(model.queries[reading.query].text in row["query"].split("|"))
    return found


def figures() -> Iterator[str]:
    """Print how many are read, and how many of these rightly."""
    known, right, unknown = labelled(load_model("so2017"))
    yield f"texts that mean a query: {sum(known)} of {len(known)} are read"
    yield f"of these rightly: {sum(right)} of {len(right)}"
    yield f"texts that mean none: {sum(unknown)} of {len(unknown)} are read"
