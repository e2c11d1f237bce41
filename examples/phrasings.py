"""The texts by which the model so2017 learns to read, from the tables in data/phrasings.

What belongs to no query of it is its background: texts of other topics.
"""

import csv
import gzip
from collections.abc import Iterator
from pathlib import Path

DATA = Path(__file__).parent / "data" / "phrasings"
PHRASINGS = DATA / "so2017.csv"  # query, language, text
TABLES = ("background.csv", "hwu64.csv.gz", "activities.csv")


def write_background(path: Path) -> None:
    """Write the table of texts that are none of the model's queries: intent, text."""
    with path.open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(("intent", "text"))
        for row in (row for each in TABLES for row in _rows(DATA / each)):
            table.writerow((row["intent"], row["text"]))


def _rows(path: Path) -> Iterator[dict[str, str]]:
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "rt", encoding="utf-8", newline="") as file:
        yield from csv.DictReader(file)
