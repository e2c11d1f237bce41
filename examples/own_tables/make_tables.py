"""Invent the two tables beside this file: what 300 readers of a library wanted.

Who reads what depends on where they live and how old they are, and a little on the hour; the
rest is chance with a fixed seed, so that the same tables come out again.

    python examples/own_tables/make_tables.py [FOLDER]
"""

import csv
import random
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

READERS = 300
SEED = 2010

REGIONS = ("coast", "hills", "town")
AGES = ("under_30", "30_to_60", "over_60")
# What is wanted by most, per query: depending on region, age or the hour.
WANTED = {
    "weather": {"coast": "tides", "hills": "snow", "town": "rain"},
    "music": {"under_30": "club", "30_to_60": "radio", "over_60": "choir"},
    "bus": {"yes": "to_work", "no": "to_sea"},
}
FAITHFUL = 0.75  # share of the events that follow the table above


def main(folder: Path) -> None:
    """Write both tables."""
    chance = random.Random(SEED)  # noqa: S311 - not a secret
    users = [_user(number, chance) for number in range(READERS)]
    events = [event for user in users for event in _events(user, chance)]
    _write(folder / "users.csv", ("user", "region", "age", "cyclist"), users)
    _write(folder / "events.csv", ("user", "query", "intent", "working_hours"), events)


def _user(number: int, chance: random.Random) -> tuple[str, ...]:
    """Draw one row; a reader in ten does not say how old they are."""
    age = chance.choice(AGES) if chance.random() < 0.9 else ""  # noqa: PLR2004  (one in ten says nothing)
    cyclist = chance.choice(("no", "yes"))
    return f"reader{number:03}", chance.choice(REGIONS), age, cyclist


def _events(user: Sequence[str], chance: random.Random) -> Iterable[tuple[str, ...]]:
    """Yield one row per query."""
    name, region, age, _ = user
    for query, wanted in WANTED.items():
        hours = chance.choice(("no", "yes"))
        usual = next((wanted[fact] for fact in (region, age, hours) if fact in wanted), "")
        chosen = chance.choice([*wanted.values()])
        follows = usual and chance.random() < FAITHFUL
        yield name, query, usual if follows else chosen, hours


def _write(path: Path, header: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows([header, *rows])


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent)
