"""What the shipped models read of texts that they did not learn from."""

import csv
import gzip
from collections.abc import Iterator
from pathlib import Path

from agent.model.file import SUFFIX, read, shipped_model
from agent.model.reading import normalise
from examples.phrasings import DATA, MODELS, phrasings_of, write_background
from tests.bench.reading import TABLES, labelled


def rows(path: Path) -> Iterator[dict[str, str]]:
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "rt", encoding="utf-8", newline="") as file:
        yield from csv.DictReader(file)


def test_people_are_read_rightly_or_not_at_all() -> None:
    """By the surest of both models, on texts labelled before their author saw what is read.

    Some of the everyday texts that mean no query come close to one: these are what is read wrongly.
    """
    models = [read(shipped_model().parent / f"{name}{SUFFIX}") for name in MODELS]
    for table, texts, most in ((TABLES[0], (160, 80), 0.05), (TABLES[1], (248, 216), 0.02)):
        known, right, unknown = labelled(table, models)
        assert (len(known), len(unknown)) == texts
        assert sum(known) / len(known) >= 0.5
        assert sum(right) / len(right) >= 0.95
        assert sum(unknown) / len(unknown) <= most


def test_nothing_was_learned_from_them(tmp_path: Path) -> None:
    """But a name of a query, which is a text of it anyway."""
    learned = set()
    for model in MODELS:
        write_background(model, tmp_path / "background.csv")
        for table in (phrasings_of(model), tmp_path / "background.csv"):
            learned |= {normalise(row["text"]) for row in rows(table)}
    texts = {normalise(row["text"]) for table in TABLES for row in rows(table)}
    assert texts & learned <= {"tabs or spaces"}


def test_what_is_close_to_a_model_is_none_of_its_background(tmp_path: Path) -> None:
    """Every line of the table names topics that exist, and takes them out."""
    topics = {
        row["intent"] for name in ("background.csv", "hwu64.csv.gz") for row in rows(DATA / name)
    }
    topics |= {row["query"] for model in MODELS for row in rows(phrasings_of(model))}
    near = [(row["model"], row["topic"]) for row in rows(DATA / "overlaps.csv")]
    for model in MODELS:
        write_background(model, tmp_path / "background.csv")
        taught = {row["intent"] for row in rows(tmp_path / "background.csv")}
        own = {row["query"] for row in rows(phrasings_of(model))}
        left_out = {topic for each, topic in near if each == model}
        assert left_out <= topics
        assert taught == topics - own - left_out
