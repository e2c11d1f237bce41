"""Invent the three tables beside this file: what twenty walkers looked for in three queries.

Who lives where and how old they are decides which page they stay on; the rest is chance with a
fixed seed, so that the same tables come out again. agent/build/FORMAT_LOG.md says what they hold.

    python examples/own_log/make_log.py [FOLDER]
"""

import csv
import random
import sys
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from pathlib import Path

WALKERS = 20
SEED = 2010
START = datetime.fromisoformat("2006-03-01T06:00")  # the walkers' own time, without a zone

REGIONS = ("us_canada", "europe")
DOMAINS = ("com", "net", "de")
AGES = ("18_to_55", "over_55", "18_to_55", "over_55", "")
# The pages that are wanted by most, per query: depending on region or age.
WANTED = {
    "weather": {"us_canada": "storms.example", "europe": "rain.example"},
    "shoes": {"18_to_55": "run.example", "over_55": "walk.example"},
    "map": {"us_canada": "trails.example", "europe": "paths.example"},
}
TOPICS = {
    "storms.example": ("news", "science"),
    "rain.example": ("news", "science"),
    "run.example": ("shopping",),
    "walk.example": ("shopping",),
    "ads.example": ("consumer_information",),
}
FAITHFUL = 0.9  # share of the queries that follow the table above
STAYED, LEFT = 95, 12  # seconds on a page that was wanted, and on one that was not

PEOPLE = ("user", "gender", "age_group", "occupation", "region")
LOG = ("user", "asked", "query", "time", "host", "dwell", "city", "country", "tld")


def main(folder: Path) -> None:
    """Write the three tables."""
    chance = random.Random(SEED)  # noqa: S311 - not a secret
    people = [_walker(number, chance) for number in range(WALKERS)]
    pages = [page for person in people for page in _pages(person, chance)]
    sites = [(host, topic) for host, topics in TOPICS.items() for topic in topics]
    _write(folder / "people.csv", PEOPLE, people)
    _write(folder / "log.csv", LOG, pages)
    _write(folder / "sites.csv", ("host", "topic"), sites)


def _walker(number: int, chance: random.Random) -> tuple[str, ...]:
    """Draw one row; some do not say how old they are."""
    gender, job = chance.choice(("female", "male")), chance.choice(("student", "baker", ""))
    return f"walker{number:02}", gender, chance.choice(AGES), job, chance.choice(REGIONS)


def _pages(person: Sequence[str], chance: random.Random) -> Iterable[tuple[object, ...]]:
    """Yield a row per page: often one that was left again before the one that was wanted."""
    name, _, age, _, region = person
    home = (*(("Oslo", "no") if region == "europe" else ("Reno, NV", "us")), chance.choice(DOMAINS))
    for query, wanted in WANTED.items():
        asked = START + timedelta(hours=chance.randrange(240))
        usual = next((wanted[fact] for fact in (region, age) if fact in wanted), "")
        chosen = chance.choice([*wanted.values()])
        target = usual if usual and chance.random() < FAITHFUL else chosen
        opened = asked + timedelta(seconds=5)
        if chance.random() < 1 / 3:
            yield name, asked.isoformat(), query, opened.isoformat(), "ads.example", LEFT, *home
            opened += timedelta(seconds=LEFT)
        yield name, asked.isoformat(), query, opened.isoformat(), target, STAYED, *home


def _write(path: Path, header: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows([header, *rows])


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent)
