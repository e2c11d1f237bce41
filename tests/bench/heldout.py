"""What decisions promise about people a model has not seen, and what they get."""

from collections.abc import Iterator
from itertools import pairwise
from math import inf
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from agent.build.canonical import Observed
from agent.build.fitting import Fitted, HalfTrial, fit, mean, validate
from agent.build.log import open_log, source_of
from agent.build.observe import Observations, in_half_a, observe
from agent.build.options import BuildOptions, Description, TableFiles
from agent.build.tables import open_tables
from agent.decision.choice import FEWEST as FEWEST_QUERIES
from agent.decision.choice import OWN_ROWS
from agent.lab.synth.log import write_log
from agent.tradeoff.anonymity_set import AnonymitySet
from agent.tradeoff.counts import heldout_bits
from agent.tradeoff.grouping import row_columns
from agent.tradeoff.objective import DisclosureObjective, Settings
from agent.tradeoff.plan import Pairwise
from agent.tradeoff.search import maximise
from agent.tradeoff.tables import Kinds, Population, QueryRows, pairs, singleton
from agent.tradeoff.utility import MeanUtility, Priced

EXAMPLES = Path(__file__).parents[2] / "examples"
DATA = EXAMPLES / "data" / "so2017"
TABLES = TableFiles(DATA / "users.csv.gz", DATA / "events.csv.gz")
ATUS = TableFiles(*(EXAMPLES / "data" / "atus" / f"{name}.csv.gz" for name in ("users", "events")))
OWN = TableFiles(*(EXAMPLES / "own_tables" / f"{name}.csv" for name in ("users", "events")))
SPLITS = 5
CUTS = (200, 500, 1_000, None)  # rows of a query that a model is built from
CLASSES = (0, 150, 300, 700, 1_500, inf)  # rows
TRADE_OFFS = (0.5, 1.0, 5.0)
FEWEST = 3  # queries in a class
QUERIES = 120  # of the log; it has 914


class Kept(NamedTuple):
    """What became of one query: rows, bits promised, bits held out, and those less the cost."""

    rows: int
    promised: float
    heldout: float
    objective: float


def figures() -> Iterator[str]:
    """Yield the lines of this benchmark: half of the users held out."""
    seen = tables(TABLES)
    yield from _splits(seen)
    yield from _table("so2017", seen)
    yield from _table("atus", tables(ATUS, weights="weight", without=("year",)))
    yield from _table("own_tables", tables(OWN))
    with TemporaryDirectory() as folder:
        files = write_log(Path(folder), 1, 0, lambda *_: None)
        yield from _table(
            "log", observe(source_of(open_log(files)), BuildOptions(**files._asdict()))
        )


def tables(files: TableFiles, **options: Any) -> Observations:  # noqa: ANN401  (of any field)
    """Return what two tables hold; ``options``: fields of `Description`."""
    description = Description(**options)
    return observe(open_tables(*files), BuildOptions(**files._asdict(), description=description))


def _splits(observations: Observations) -> Iterator[str]:
    means = []
    for split in range(SPLITS):
        key = f"split {split}".encode()
        found = mean(validate(observations, key, "louo", None, lambda _: None))
        if found is not None:
            means.append(found)
            yield f"held-out utility, split {split}: {_line(found)}"
    found = HalfTrial(*np.mean(means, axis=0).tolist())
    off = found.predicted_bits / found.heldout_bits - 1
    yield (
        f"held-out utility, mean of {SPLITS} splits: {_line(found)}; "
        f"predicted {off:+.1%} of it (bars: 0.125 bits and 5 %)"
    )


def _line(trial: HalfTrial) -> str:
    return (
        f"{trial.heldout_bits:.4f} bits, predicted {trial.predicted_bits:.4f}, "
        f"{trial.attributes:.2f} attributes, cost {trial.identifiability_cost:.4f}"
    )


def _table(name: str, seen: Observations) -> Iterator[str]:
    """Yield promised, held out and F at each cut, as a whole and by class of row counts."""
    for rows in CUTS:
        by_trade_off: dict[float, list[Kept]] = {each: [] for each in TRADE_OFFS}
        half = in_half_a(seen.users, b"split 0")
        for side in (half, ~half):
            people = seen.population
            weights = None if people.weights is None else people.weights[side]
            counts = tuple(Kinds(each.counts, each.of_row[side]) for each in people.requests)
            crowd = AnonymitySet(Population(people.codes[side], weights, counts), seen.cards)
            places = np.linspace(0, len(seen.queries) - 1, QUERIES).astype(int)
            queries = [seen.queries[each] for each in np.unique(places).tolist()]
            built = [each for query in queries if (each := _built(query, side, rows, crowd))]
            for trade_off, kept in _tried(built, crowd):
                by_trade_off[trade_off].append(kept)
        yield from _lines(f"{name}, {rows or 'all'} rows", by_trade_off)


class Built(NamedTuple):
    """A query as a model has it, its rows and those of people held out, and which rows it has."""

    fitted: Fitted
    rows: int
    both: QueryRows
    trained: NDArray[np.bool_]


def _built(
    query: Observed, side: NDArray[np.bool_], rows: int | None, crowd: AnonymitySet
) -> Built | None:
    """Return a query that is built from so many rows of one half of the people."""
    chosen = side if rows is None else cut(query, side, rows)
    training, both = query.part(chosen), query.part(chosen | ~side)
    if training is None or both is None:
        return None
    fitted = fit(training.rows, crowd, "louo", None)
    fitted.objective.forget()
    trained = chosen[both.people][both.rows.user]
    return Built(fitted, len(training.rows.user), both.rows, trained)


def _tried(built: list[Built], crowd: AnonymitySet) -> Iterator[tuple[float, Kept]]:
    """Yield what became of each query by trade-off, pooled with their mean as decisions are."""
    count, sizes = len(crowd.cards), np.array([each.rows for each in built], np.float64)
    utilities = [each.fitted.utility for each in built]
    few = [singleton(each) for each in range(count)], [*pairs(count)]
    ones, twos = (
        np.array([[each.value(mask) for mask in masks] for each in utilities]) for masks in few
    )
    mean = Pairwise(sizes @ ones / sizes.sum(), sizes @ twos / sizes.sum())
    noise = max(0, len(built) - FEWEST_QUERIES) / max(1, len(built) - 1)
    for each in built:
        columns = row_columns(each.both, crowd.cards)
        prices = each.fitted.prices
        own = each.fitted.utility if prices is None else Priced(each.fitted.utility, prices)
        share = noise * OWN_ROWS / (each.rows + OWN_ROWS)
        uses = MeanUtility((own, mean), np.array([1 - share, share])) if share else own
        for trade_off in TRADE_OFFS:
            settings = Settings((1 << count) - 1, (0.0,) * count, trade_off)
            objective = DisclosureObjective(uses, crowd, settings)
            mask = maximise(objective, "lls").mask
            groups = columns.groups(np.arange(len(each.trained)), mask)
            got = heldout_bits(each.both.intent, each.trained, each.fitted.shrinkage, groups)
            if got is not None:
                level = got - trade_off * objective.identifiability_cost(mask)
                yield trade_off, Kept(each.rows, objective.utility(mask), got, level)
        each.fitted.utility.forget()


def cut(query: Observed, side: NDArray[np.bool_], rows: int) -> NDArray[np.bool_]:
    """Return people of one side, drawn by lot, who have at most so many rows, or are one."""
    who = np.random.default_rng(rows).permutation(np.flatnonzero(side[query.people]))
    total = np.cumsum(np.bincount(query.rows.user)[who])
    chosen = np.zeros(len(side), dtype=bool)
    chosen[query.people[who[: max(1, int(np.searchsorted(total, rows, "right")))]]] = True
    return chosen


def _lines(name: str, by_trade_off: dict[float, list[Kept]]) -> Iterator[str]:
    for trade_off, kept in by_trade_off.items():
        whole = np.array(kept)
        yield f"{name}, trade-off {trade_off:g}: {_figures(whole)}"
        for low, high in pairwise(CLASSES) if trade_off == 1 else ():
            part = whole[(whole[:, 0] >= low) & (whole[:, 0] < high)]
            if FEWEST <= len(part) < len(whole):
                yield f"    from {low} rows: {_figures(part)}"


def _figures(kept: NDArray[np.float64]) -> str:
    """Return the means, and whether the bars are met: DESIGN.md 2.1."""
    promised, got, level = kept[:, 1:].mean(axis=0)
    off = kept[:, 1] - kept[:, 2]
    errors = 2 * np.std([off, kept[:, 3]], axis=1, ddof=1) / len(kept) ** 0.5
    honest = abs(off.mean()) <= max(0.15 * abs(got), 0.003, errors[0])
    useful = level >= -errors[1]
    return (
        f"promised {promised:.4f}, held out {got:.4f}, F {level:.4f} bits, {len(kept)} queries, "
        f"two standard errors {errors[0]:.4f}" + ("" if honest and useful else " (BAR MISSED)")
    )
