"""What the model so2017 reads of texts that were labelled first, and never learned from."""

import csv
from collections.abc import Iterator

from agent.decision.engine import load_model
from agent.model.model import Model
from examples.phrasings import DATA

LABELLED = DATA / "labelled.csv"


def labelled(model: Model) -> tuple[list[bool], list[bool], list[bool]]:
    """Return what a model makes of the texts of the table, a flag for each.

    Whether one that means a query is read; of those read, whether as one of the right queries,
    which a bar separates; and whether one that means none is read.
    """
    known, right, unknown = list[bool](), list[bool](), list[bool]()
    with LABELLED.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            query = model.read(row["text"]).query
            (known if row["query"] else unknown).append(query is not None)
            if row["query"] and query is not None:
                right.append(model.queries[query].text in row["query"].split("|"))
    return known, right, unknown


def figures() -> Iterator[str]:
    """Print how many are read, and how many of these rightly."""
    known, right, unknown = labelled(load_model("so2017"))
    yield f"texts that mean a query: {sum(known)} of {len(known)} are read"
    yield f"of these rightly: {sum(right)} of {len(right)}"
    yield f"texts that mean none: {sum(unknown)} of {len(unknown)} are read"
