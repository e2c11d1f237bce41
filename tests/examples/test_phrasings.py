"""What the model so2017 reads of texts that it did not learn from."""

import csv
import gzip
from collections.abc import Iterator
from pathlib import Path

from agent.errors import normalise
from agent.model.file import read, shipped_model
from examples.phrasings import DATA, PHRASINGS, TABLES, write_background

LABELLED = DATA / "labelled.csv"


def rows(path: Path) -> Iterator[dict[str, str]]:
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "rt", encoding="utf-8", newline="") as file:
        yield from csv.DictReader(file)


def test_people_are_read_rightly_or_not_at_all() -> None:
    """On texts labelled before their author saw what is read.

    Some of the texts that mean no query come close to one: these are what is read wrongly.
    """
    model = read(shipped_model("so2017"))
    known, right, unknown = list[bool](), list[bool](), list[bool]()
    for text in rows(LABELLED):
        query = model.read(text["text"]).query
        (known if text["query"] else unknown).append(query is not None)
        if text["query"] and query is not None:
            right.append(model.queries[query].text in text["query"].split("|"))
    assert (len(known), len(unknown)) == (40, 200)
    assert sum(known) / len(known) >= 0.5
    assert sum(right) / len(right) >= 0.95
    assert sum(unknown) / len(unknown) <= 0.05


def test_nothing_was_learned_from_them(tmp_path: Path) -> None:
    """But a name of a query, which is a text of it anyway."""
    write_background(tmp_path / "background.csv")
    tables = (PHRASINGS, tmp_path / "background.csv")
    learned = {normalise(row["text"]) for table in tables for row in rows(table)}
    assert {normalise(row["text"]) for row in rows(LABELLED)} & learned <= {"tabs or spaces"}


def test_no_topic_of_the_background_is_a_query_of_the_model(tmp_path: Path) -> None:
    write_background(tmp_path / "background.csv")
    taught = {row["intent"] for row in rows(tmp_path / "background.csv")}
    assert taught == {row["intent"] for name in TABLES for row in rows(DATA / name)}
    assert not taught & {row["query"] for row in rows(PHRASINGS)}
