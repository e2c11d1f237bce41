"""What Reticent gains and gives away, for people whom the model has not seen.

    python -m examples.search_service.evaluate [--people 120] [--json]

The model is built from one half of the users, by default of the time use survey. People of the
other half each send requests, drawn from their own events, to one recipient that remembers all it
is told; the service ranks by what a request carries. Needs the extra `build`, and a few minutes.
"""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from agent.cli.interrupt import Progress, extra
from agent.errors import ReticentError, UsageError
from agent.lab.attack.simulation import people_of
from agent.lab.attack.strategies import Strategy
from agent.lab.attack.study import Run, worked
from examples.search_service.attributes import asked_of
from examples.search_service.replay.figures import (
    BEST,
    NOTHING,
    PLAIN,
    RERANKED,
    SHIPPED,
    Compared,
    Line,
    figures,
)
from examples.search_service.replay.report import Report, Setting, record
from examples.search_service.replay.served import Served, Service
from examples.search_service.replay.text import text

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

DESCRIPTION = "What Reticent gains and gives away, for people whom the model has not seen."
MOST = 1_000_000  # of everything that is counted; so many days are still dates
LAMBDAS = (1.0, 2.0, 5.12, 10.0, 20.0, 40.0, 60.0, 100.0, 200.0, 400.0)
LINES = (NOTHING, *SHIPPED, *RERANKED, BEST, PLAIN)
FRONTIER = tuple(
    Line(
        name := f"lambda {each:g}, limits {'on' if limits else 'off'}",
        Strategy(name=name, preset="balanced", trade_off=each, limits=limits),
    )
    for limits in (True, False)
    for each in LAMBDAS
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What is replayed: so many people and requests each, from which tables.

    ``data``: the folder of the tables, None for the time use survey.
    """

    data: Path | None = None
    people: int = 120
    requests: int = 50
    seed: int = 1
    processes: int = 2
    json: bool = False

    def __post_init__(self) -> None:
        for name in ("people", "requests", "processes", "seed"):
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
    """Replay people's requests; the same options give the same report."""
    with extra("build", "building a model"):
        from agent.lab.attack.material import material_of
    material = material_of(options.data, progress)
    model, others = material.model, material.others
    asked = frozenset(attribute.name for attribute in asked_of(model))
    people = people_of(others, options.people, options.requests, options.seed)
    lines = (*LINES, *FRONTIER)
    run = Run(options.processes, progress)
    strategies = dict.fromkeys((line.strategy for line in lines), people)
    found = worked(model, strategies, run, requested=asked)
    service = Service.of(model, others.codes)
    served: dict[Line, list[Served]] = {}
    for line in lines:
        progress("ranking", len(served) / len(lines))
        pairs = zip(people, found[line.strategy], strict=True)
        served[line] = [service.served(line, person, trace) for person, trace in pairs]
    all_ = figures(served, Compared(NOTHING, BEST, options.seed))
    setting = Setting(
        model=model.population.rows,
        others=len(others.codes),
        people=len(people),
        asked=len(asked),
        attributes=len(model.attributes),
        requests=options.requests,
        seed=options.seed,
        unranked=others.unranked,
    )
    return Report(
        setting=setting,
        lines={line: all_[line] for line in LINES},
        frontier={line: all_[line] for line in FRONTIER},
    )


def _parser() -> ArgumentParser:
    parser = ArgumentParser(
        prog="python -m examples.search_service.evaluate", description=DESCRIPTION
    )
    plain = Options()
    parser.add_argument("--data", type=Path, help="folder of users, events and model.toml")
    parser.add_argument("--people", type=int, default=plain.people, help="people to replay")
    parser.add_argument("--requests", type=int, default=plain.requests, help="requests per person")
    parser.add_argument(
        "--seed", type=int, default=plain.seed, help="seed for drawing people and requests"
    )
    parser.add_argument("--processes", type=int, default=plain.processes, help="parallel processes")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    return parser


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
