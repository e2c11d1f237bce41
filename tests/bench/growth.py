"""How time grows with what a model holds: people, events, attributes, values and queries."""

import json
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np

from agent.build.build import model_from
from agent.build.canonical import Events, arranged, observed
from agent.build.observe import Observations, user_hashes
from agent.build.options import BuildOptions
from agent.build.precomputed import precomputed
from agent.decision.cache import Cache
from agent.decision.context import Context
from agent.decision.decide import decide_context
from agent.decision.request import Knowledge
from agent.decision.terms import Terms
from agent.decision.values import Request
from agent.model.attributes import Attribute
from agent.model.file import encode, read, write
from agent.model.model import Model, Query
from agent.model.tables import Singles, gather
from agent.tradeoff.anonymity_set import AnonymitySet
from agent.tradeoff.tables import Population
from tests.bench.tables import KINDS, SEED, intents, values
from tests.bench.timing import timed

TIMES = 3  # of which the shortest counts: the machine has other work
INTENTS = 40
Bars = dict[int, float | None]  # what is wanted at most, by size
OPTIONS = BuildOptions(users=Path("users"), events=Path("events"))  # nothing is read
QUICK = replace(OPTIONS, validation=False, shrinkage=20.0)


class Shape(NamedTuple):
    """How large a model is; ``cards``: values of each attribute of the person, by turns."""

    people: int = 20_000
    persons: int = 42
    cards: tuple[int, ...] = (2, 3, 4, 5, 6, 7, 8)
    requests: tuple[int, ...] = ()
    rows: int = 3_000
    queries: int = 1


class Point(NamedTuple):
    """What was measured at one size, milliseconds unless the line says otherwise."""

    size: int
    found: float
    wanted: float | None = None


class Line(NamedTuple):
    """One thing that grows: its name, the unit of what is measured, and the measurements."""

    name: str
    unit: str
    points: list[Point]

    @property
    def exponent(self) -> float:
        """The slope of the measured over the size, both as logarithms, by least squares."""
        sizes, found = (
            np.log(np.array([each[at] for each in self.points], np.float64)) for at in (0, 1)
        )
        return float(np.polyfit(sizes, found, 1)[0])

    def __str__(self) -> str:
        shown = (
            f"{each.size:,}: {each.found:.3g}"
            + ("" if each.wanted is None else f" (wanted: {each.wanted:g})")
            for each in self.points
        )
        return (
            f"{self.name}, {self.unit}, by size: {'; '.join(shown)}; exponent {self.exponent:.2f}"
        )


def figures() -> Iterator[str]:
    """Yield the lines of this benchmark."""
    yield from map(str, _lines())


def drawn(plot: Path) -> Iterator[str]:
    """Yield the same, and draw them; needs the extra `lab`."""
    lines = []
    for line in _lines():
        lines.append(line)
        yield str(line)
    _draw(lines, plot)


def _lines() -> Iterator[Line]:
    several: tuple[tuple[str, str, Callable[[int, float | None], Point], Bars], ...] = (
        (
            "I of three request attributes of 5 values; people",
            "ms",
            partial(_answers, (5, 5, 5)),
            {4_000: None, 20_000: 10, 100_000: 30},
        ),
        (
            "I of two request attributes of 15 values; people",
            "ms",
            partial(_answers, (15, 15)),
            {20_000: None, 100_000: None, 500_000: 100},
        ),
        (
            "costs of pairs, from a model just opened; attributes",
            "ms",
            _learned,
            {100: None, 300: 50, 500: None},
        ),
        (
            "a decision, the model just opened; people",
            "ms",
            lambda size, bar: _cold(Shape(people=size), size, bar),
            {20_000: None, 200_000: 10, 1_000_000: 30},
        ),
        (
            "a decision, the model just opened; events of its query",
            "ms",
            lambda size, bar: _cold(Shape(rows=size), size, bar),
            {20_000: None, 200_000: 10, 2_000_000: 10},
        ),
        (
            "building; attributes",
            "s",
            lambda size, bar: _built(Shape(persons=size), size, bar),
            {24: None, 84: None, 168: 15},
        ),
        (
            "building; values of each of 42 attributes",
            "s",
            lambda size, bar: _built(Shape(cards=(size,)), size, bar),
            {10: None, 50: None, 200: 15},
        ),
    )
    for name, unit, measure, bars in several:
        yield Line(name, unit, [measure(size, bar) for size, bar in bars.items()])
    opened = {size: _opened(size) for size in (100, 500, 2_500)}
    for at, (name, unit) in enumerate((("time", "ms"), ("memory", "MiB"))):
        points = [
            Point(size, found[at], 60 if size == max(opened) else None)
            for size, found in opened.items()
        ]
        yield Line(f"opening a model, {name}; queries", unit, points)


def observations(shape: Shape) -> Observations:
    """Return people and events of this shape, always the same."""
    rng = np.random.default_rng(SEED)
    kind = rng.integers(KINDS, size=shape.people)
    cards = [shape.cards[place % len(shape.cards)] for place in range(shape.persons)]
    codes = np.stack([values(rng, kind, card) for card in cards], axis=1).astype(np.uint8)
    sender = rng.integers(shape.people, size=(shape.queries, shape.rows))
    counts, requests = [], []
    for card in shape.requests:
        column = values(rng, kind[sender].ravel(), card)
        cells = np.bincount(sender.ravel() * card + column, minlength=shape.people * card)
        counts.append(cells.reshape(-1, card).astype(np.uint32))
        requests.append(column.reshape(sender.shape).astype(np.uint8))
    people = arranged(codes, counts, None)
    names = tuple(f"{place}" for place in range(INTENTS))
    seen = []
    for query, users in enumerate(sender):
        order = np.argsort(users, kind="stable")
        wanted = intents(rng, np.full(shape.rows, query), kind[users], INTENTS)
        request = [each[query] for each in requests]
        columns = np.stack(request, axis=1) if request else np.zeros((shape.rows, 0), np.uint8)
        events = Events(users[order], wanted[order], columns[order])
        seen.append(observed(f"query {query}", names, events, people))
    ids = tuple(map(str, np.argsort(people.place)))
    kept = tuple(each.kept(user_hashes(ids)) for each in seen)
    attributes = _attributes(cards, shape.requests)
    return Observations(attributes, people.population, kept, {}, ids)


def _attributes(persons: Sequence[int], requests: Sequence[int]) -> tuple[Attribute, ...]:
    def some(name: str, card: int) -> tuple[str, ...]:
        return ("unspecified", *(f"{name}{value}" for value in range(1, card)))

    return (
        *(Attribute(f"p{at}", f"p{at}", "person", some("v", n)) for at, n in enumerate(persons)),
        *(Attribute(f"r{at}", f"r{at}", "request", some("v", n)) for at, n in enumerate(requests)),
    )


def made(shape: Shape) -> Model:
    """Return a model of this shape, as it is built."""
    model = model_from(observations(shape), QUICK, lambda _what, _share: None)
    return replace(model, tables=replace(model.tables, near=precomputed(model)))


def _answers(requests: tuple[int, ...], people: int, bar: float | None) -> Point:
    """Time I of all request attributes, each asked four times of everybody."""
    shape = Shape(people, 2, requests=requests, rows=4 * people)
    seen = observations(shape)
    everything = (1 << len(requests)) - 1 << shape.persons

    def cold() -> None:
        old = seen.population
        population = Population(old.codes, None, old.requests)
        AnonymitySet(population, seen.cards).identifiability(everything, "maxprob", 1)

    return Point(people, _shortest(cold), bar)


def _with_any_figures(shape: Shape, times: int = 1) -> Model:
    """Return a model of this shape, its queries so many times, with figures out of thin air."""
    rng, seen = np.random.default_rng(SEED), observations(shape)
    count, queries = len(seen.cards), times * shape.queries
    pairs = count * (count - 1) // 2
    singles = Singles(
        rng.random((queries, count)),
        rng.random((3, count)),
        rng.random((queries, pairs)),
        rng.random((3, pairs)),
        rng.random((queries, count)),
    )
    found = [*seen.queries] * times
    rows = [each.rows for each in found]
    names = (
        Query(f"query {at}", each.intents, 20.0, len(each.rows.user), len(each.rows.person), 1.0)
        for at, each in enumerate(found)
    )
    return Model(
        id="growth",
        source="",
        licence="",
        estimator="louo",
        attributes=seen.attributes,
        queries=tuple(names),
        tables=gather(seen.population, rows, np.ones(queries), singles),
    )


def _learned(attributes: int, bar: float | None) -> Point:
    """Time the first cost of one and of two attributes, with those of all pairs stored."""
    model = _with_any_figures(Shape(people=1_000, persons=attributes, cards=(2,), rows=100))

    def cold() -> None:
        people = Cache().anonymity_set(model)
        people.survey(1, people.persons & ~1, [("maxprob", 1)])
        for each in range(attributes):
            people.identifiability(1 | 1 << each, "maxprob", 1)

    return Point(attributes, _shortest(cold), bar)


def _cold(shape: Shape, size: int, bar: float | None) -> Point:
    """Time the first decision about a model that was just opened."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "growth.safetensors"
        write(made(shape), path)
        models = [read(path) for _ in range(TIMES)]
    request = Request(models[0].queries[0].text)
    contexts = [Context(request, Terms(), Knowledge(), model) for model in models]
    return Point(
        size, min(timed(partial(decide_context, each, brief=True)) for each in contexts), bar
    )


def _opened(queries: int) -> list[float]:
    """Measure opening a model in a process of its own: milliseconds, and MiB that this took."""
    shape = Shape(people=20_000, rows=20_000, queries=20)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "growth.safetensors"
        path.write_bytes(encode(_with_any_figures(shape, queries // shape.queries)))
        command = [sys.executable, "-m", "tests.bench.growth", str(path)]
        found = [
            json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
            for _ in range(TIMES)
        ]
    least: list[float] = np.min(found, axis=0).tolist()
    return least


def _built(shape: Shape, size: int, bar: float | None) -> Point:
    """Time all that follows the reading of the tables, validation included."""
    seen = observations(shape._replace(rows=20_000, queries=4))
    took = timed(partial(model_from, seen, OPTIONS, lambda _what, _share: None))
    return Point(size, took / 1e3, bar)


def _draw(lines: Sequence[Line], path: Path) -> None:
    """Draw each line over its size, on logarithmic axes."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg  # of the extra `lab`
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 6), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots()
    for line in lines:
        sizes, found = zip(*(each[:2] for each in line.points), strict=True)
        label = f"{line.name}, {line.unit} ({line.exponent:.2f})"
        axes.loglog(sizes, found, ".-", label=label)
    axes.set_xlabel("size")
    axes.set_ylabel("time or memory, with its exponent")
    axes.legend(fontsize="small")
    figure.savefig(path)


def _shortest(run: Callable[[], object]) -> float:
    return min(timed(run) for _ in range(TIMES))


def _memory(which: str) -> float:
    """Return the MiB that this process has in memory, or the most it had: VmRSS or VmHWM."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(each.split()[1]) for each in lines if each.startswith(which)) / 1024


if __name__ == "__main__":
    before, models = _memory("VmRSS"), list[Model]()
    took = timed(lambda: models.append(read(Path(sys.argv[1]))))
    print(json.dumps([took, _memory("VmHWM") - before]))
