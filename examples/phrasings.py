"""The texts by which the shipped models learn to read, from the tables in data/phrasings.

What belongs to no query of a model is its background: texts of topics that neither model knows,
and the other model's phrasings, less the topics of overlaps.csv, which are close to its own.
"""

import csv
import gzip
from collections.abc import Iterator
from pathlib import Path

DATA = Path(__file__).parent / "data" / "phrasings"
MODELS = ("atus", "so2017")


def phrasings_of(model: str) -> Path:
    """Find the table of a model's phrasings: query, language, text."""
    return DATA / f"{model}.csv"


def write_background(model: str, path: Path) -> None:
    """Write the table of texts that are none of a model's queries: intent, text."""
    near = {row["topic"] for row in _rows(DATA / "overlaps.csv") if row["model"] == model}
    others = [phrasings_of(other) for other in MODELS if other != model]
    tables = [DATA / "background.csv", DATA / "hwu64.csv.gz", *others]
    with path.open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(("intent", "text"))
        for row in (row for each in tables for row in _rows(each)):
            topic = row.get("intent") or row["query"]
            if topic not in near:
                table.writerow((topic, row["text"]))


def _rows(path: Path) -> Iterator[dict[str, str]]:
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "rt", encoding="utf-8", newline="") as file:
        yield from csv.DictReader(file)
