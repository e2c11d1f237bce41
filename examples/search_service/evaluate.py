"""What Reticent gains and gives away, for people whom the model has not seen.

    python -m examples.search_service.evaluate [--people 120] [--json]

The model is built from one half of the users. People of the other half each send requests, drawn
from their own events, to one recipient that remembers all it is told; the service ranks by what a
request carries. Needs the extra `build`, and a few minutes.
"""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from agent.cli.progress import Progress
from agent.errors import ReticentError, UsageError
from examples.search_service.attributes import asked_of
from examples.search_service.replay.figures import Compared, figures
from examples.search_service.replay.heldout import halves
from examples.search_service.replay.report import Report, Setting, record
from examples.search_service.replay.strategies import BEST, NOTHING, PLAIN, SHIPPED, Way
from examples.search_service.replay.streams import drawn
from examples.search_service.replay.text import text
from examples.search_service.replay.workers import Run, Scene, traces

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

DATA = Path(__file__).parents[1] / "data" / "so2017"
DESCRIPTION = "What Reticent gains and gives away, for people whom the model has not seen."
MOST = 1_000_000  # of everything that is counted; so many days are still dates
LAMBDAS = (1.0, 2.0, 5.12, 10.0, 20.0, 40.0, 60.0, 100.0, 200.0, 400.0)
WAYS = (NOTHING, *SHIPPED, BEST, PLAIN)
FRONTIER = tuple(
    Way(
        name=f"lambda {each:g}, limits {'on' if limits else 'off'}",
        telling="reticent",
        trade_off=each,
        limits=limits,
    )
    for limits in (True, False)
    for each in LAMBDAS
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What is replayed: so many people, requests each, and requests a day; from which tables."""

    users: Path = DATA / "users.csv.gz"
    events: Path = DATA / "events.csv.gz"
    people: int = 120
    requests: int = 50
    per_day: int = 5
    seed: int = 1
    processes: int = 2
    json: bool = False

    def __post_init__(self) -> None:
        for name in ("people", "requests", "per_day", "processes", "seed"):
            number, least = getattr(self, name), 0 if name == "seed" else 1
            if not least <= number <= MOST:
                hint = f"give a whole number from {least} to {MOST}"
                raise UsageError(f"--{name.replace('_', '-')} cannot be {number}", hint)


def main(arguments: Sequence[str]) -> int:
    """Replay and print; return the exit code."""
    try:
        options = Options(**vars(_parser().parse_args(arguments)))
        with Progress() as progress:
            report = evaluated(options, progress)
    except ReticentError as error:
        print(f"evaluate: error: {error}\nevaluate: hint: {error.hint}", file=sys.stderr)
        return error.exit_code
    print(record(report) if options.json else text(report))
    return 0


def evaluated(options: Options, progress: Callable[[str, float], None]) -> Report:
    """Return what came of a replay; the same options give the same report."""
    model, others = halves(options.users, options.events, progress)
    asked = frozenset(attribute.name for attribute in asked_of(model))
    scene = Scene(asked, others.codes, timedelta(days=1) / options.per_day)
    people = drawn(others, options.people, options.requests, options.seed)
    run = Run(options.processes, progress)
    found = traces(model, scene, (*WAYS, *FRONTIER), people, run)
    all_ = figures(found, Compared(NOTHING, BEST, options.seed))
    setting = Setting(
        model=model.population.people,
        others=len(others.codes),
        people=len(people),
        asked=len(asked),
        attributes=len(model.attributes),
        requests=options.requests,
        per_day=options.per_day,
        seed=options.seed,
        unranked=others.unranked,
    )
    return Report(
        setting=setting,
        ways={way: all_[way] for way in WAYS},
        frontier={way: all_[way] for way in FRONTIER},
    )


def _parser() -> ArgumentParser:
    parser = ArgumentParser(
        prog="python -m examples.search_service.evaluate", description=DESCRIPTION
    )
    plain = Options()
    parser.add_argument("--users", type=Path, default=plain.users, help="a row per user")
    parser.add_argument("--events", type=Path, default=plain.events, help="a row per request")
    parser.add_argument("--people", type=int, default=plain.people, help="how many are replayed")
    parser.add_argument("--requests", type=int, default=plain.requests, help="of each person")
    parser.add_argument("--per-day", type=int, default=plain.per_day, help="requests of a person")
    parser.add_argument("--seed", type=int, default=plain.seed, help="of who is drawn, and what")
    parser.add_argument("--processes", type=int, default=plain.processes, help="at work at once")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    return parser


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
