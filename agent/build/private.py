"""A model that may be published: people and requests drawn from counts with noise (OpenDP).

Neighbours are two tables of which one has one person more, with all that this person asked. Every
count is paid in rho (zero-concentrated differential privacy, Bun and Steinke 2016), which adds up.
What the file has of the tables went through `Purse`. All else is public: the description, with all
values, queries and intents, and the options. Noise comes from the system's random numbers, never
from a seed.
"""

from collections.abc import Sequence
from itertools import combinations
from math import pi, prod, sqrt
from typing import Any, NamedTuple
from unicodedata import normalize

import ibis
import numpy as np
import opendp.prelude as dp
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from agent.build import tables
from agent.build.attributes import TableColumn, attributes_of
from agent.build.canonical import Codes, Observed, mixed
from agent.build.engines import reading
from agent.build.observe import Observations, read_users
from agent.build.options import BuildOptions
from agent.errors import BuildError, UsageError, normalise
from agent.model.attributes import Attribute
from agent.tradeoff.grouping import CodeColumn, mass_of, tally
from agent.tradeoff.tables import Floats, Indexes, Population, QueryRows

Counts = NDArray[np.intp]
Key = tuple[int, int, int]
Noisy = dict[Key, tuple[Floats, float]]
EVERYBODY = INTENT = -1  # in place of a query, and of an attribute
dp.enable_features("contrib")
INTEGERS = dp.vector_domain(dp.atom_domain(T=int)), dp.l2_distance(T=float)
FLOATS = dp.vector_domain(dp.atom_domain(T=float, nan=False)), dp.linf_distance(T=float)
ROUNDING = 1 + 1e-9  # more than floating-point numbers can be off by
# What each part costs, of the whole: who people are, and what they ask.
PAIRS, PEOPLE = 0.05, 0.15  # which pairs of attributes make the tree; people by these
WANTED, WHICH, AGAIN = 0.05, 0.4, 0.35  # what is wanted; which attributes tell; that by these
CHOSEN = 3  # attributes of each query that are counted
SURE = 4.0  # standard deviations, above which a query was asked, and there are people
REACH = 4.0  # of `apart`
CHANCE = sqrt(2 / pi)  # of the root of a count, by which it is off on average
SWEEPS = 10  # of a fit
LEAST = 1e-6  # of what independence has, that is left in a cell
TINY = 1e-300  # in place of 0, that is divided by
UNITS = 1_000  # that the heaviest person counts, where people have weights
DRAWN = 50_000  # people
ASKING = 20_000  # of these, who may ask; and requests of each query
SHRINKAGE = 100.0  # beta, in rows
SEED = 2010  # of what is drawn, which adds nothing to what the counts tell
_HINT = "agent/build/FORMAT_DESCRIPTION.md says what a private model needs"


def rho_of(options: BuildOptions) -> float:
    """The largest rho that is (epsilon, delta)-differentially private, by OpenDP's own conversion.

    Source: Canonne, Kamath, Steinke 2020.
    """

    def noise(scale: float) -> dp.Measurement:
        paid = dp.c.make_zCDP_to_approxDP(dp.m.make_gaussian(*INTEGERS, scale=scale))
        return dp.c.make_fix_delta(paid, options.delta)

    scale: float = dp.binary_search_param(noise, 1.0, (options.private, options.delta))
    return 1 / (2 * scale**2)


class ExactCounts(NamedTuple):
    """What the tables hold, before any noise: integers, of shape (values, groups).

    ``tables``: people by each attribute, whose values are the groups, and each attribute, under
    (EVERYBODY, groups, values); of each query, whose intents are the groups, by attribute, under
    (query, INTENT, values), and by intent alone. A person is counted once in each table of people,
    and once in those of a query, ``most`` queries at the most. With weights they count up to
    ``heaviest`` units in those of people, each of ``unit`` people.
    """

    tables: dict[Key, Counts]
    attributes: int
    queries: int
    most: int
    heaviest: int = 1
    unit: float = 1.0


class Purse:
    """Buys noisy counts with rho, and nothing beyond what it holds."""

    def __init__(self, rho: float) -> None:
        """Take what there is to spend."""
        self.rho, self.spent = rho, 0.0

    def _pay(self, measurement: Any, distance: float) -> None:  # noqa: ANN401  (untyped)
        self.spent += measurement.map(distance)
        if self.spent > self.rho:
            raise RuntimeError("more was counted than the budget allows")

    def counts(
        self, exact: ExactCounts, keys: Sequence[Key], sensitivity: float, share: float
    ) -> Noisy:
        """Some tables with noise, and its standard deviation.

        ``sensitivity``: how far a person can move all of them together, in the Euclidean norm;
        ``share``: of rho, that it may cost.
        """
        scale = sensitivity / sqrt(2 * self.rho * share) * ROUNDING
        noise = dp.m.make_gaussian(*INTEGERS, scale=scale)
        self._pay(noise, sensitivity)
        tables = {each: exact.tables[each] for each in keys}
        noisy = {key: noise(each.ravel().tolist()) for key, each in tables.items()}
        return {
            k: (np.array(e, np.float64).reshape(tables[k].shape), scale) for k, e in noisy.items()
        }

    def best(
        self, scores: Sequence[Floats], picks: int, sensitivity: float, share: float
    ) -> list[list[int]]:
        """Where the largest of each list of scores are, probably; so many of each.

        ``sensitivity``: how far a person can move one score of every list, in the Euclidean norm.
        """
        scale = sensitivity * sqrt(picks / (2 * self.rho * share)) * ROUNDING**2
        choose = dp.m.make_noisy_top_k(*FLOATS, dp.zero_concentrated_divergence(), picks, scale)
        self._pay(choose, sensitivity * ROUNDING)
        return [list(choose(each.tolist())) for each in scores]


def public_schema(source: tables.Source, options: BuildOptions) -> tuple[Attribute, ...]:
    """The attributes of persons, of which nothing is taken from the tables but their names.

    UsageError for a description that leaves anything to the tables.
    """
    described = options.description
    if described.donors or described.kinds or options.most_queries:
        what = "a private model has no donors or kinds, and no limit of its queries"
        raise UsageError(what, "leave these out")
    weighs = described.weights != ""
    if weighs != (described.most_weight is not None) or (weighs and options.half):
        what = "a private model has weights up to `most_weight`, and no half of the people then"
        raise UsageError(what, "give both `weights` and `most_weight`, and no --half; or neither")
    persons = source.without([*filter(None, (*described.without, described.weights))]).persons
    columns = dict.fromkeys(persons, TableColumn("person", 0, ()))
    attributes = attributes_of(columns, options, source.described)
    lacking = [f"values of {each.name}" for each in attributes if len(each.values) == 1]
    lacking += [f"intents of {text!r}" for text, e in described.queries.items() if not e.intents]
    if lacking or not described.queries:
        raise UsageError(f"the description has no {(*lacking, 'queries')[0]}", _HINT)
    intents = [each.intents for each in described.queries.values()]
    values = [each.values for each in described.attributes.values()]
    lists = [[*map(normalise, described.queries)], *intents, *values]
    for texts, each in ((own, one) for own in lists for one in own):
        plain = each.isprintable() and each == normalize("NFC", each).strip()
        if not each or not plain or [*texts].count(each) > 1:
            what = f"the description has {each!r} twice, or not as the tables are read"
            hint = "write each once, in NFC, with no control characters or outer spaces"
            raise UsageError(what, hint)
    return attributes


def exact_counts(
    source: tables.Source, attributes: Sequence[Attribute], options: BuildOptions
) -> ExactCounts:
    """Count the people, and what they asked for, as far as it counts.

    Which of a person's requests do depends on that person alone: by the hash of their id. Values
    and intents that are not described are not there.
    """
    notes, heaviest = options.description.queries, options.description.most_weight
    sizes = [len(each.intents) for each in notes.values()]
    with reading(source.users.get_backend()):
        source = tables.clean(source)
        users = read_users(source.users, {e.name: e.values for e in attributes}, options)
        if users.sampled_from is not None:
            raise BuildError("the tables have too many people", "take a part of them")
        texts, numbers = tables.numbered(tables.meanings(source.events.select("query")))
        rows = tables.usable(tables.numbered_events(source.events, {}, users.table, numbers))
        asked = [pc.index(texts, normalise(text)).as_py() for text in notes]
        known = {
            "known_query": pa.array(np.repeat(asked, sizes), pa.int32()),
            "known_intent": [intent for each in notes.values() for intent in each.intents],
            "code": pa.array(range(sum(sizes)), pa.int32()),
        }
        found = tables.coded_events(rows, ibis.memtable(pa.table(known))).distinct().to_pyarrow()
        _, person, wanted = (each.to_numpy().astype(np.intp) for each in found.columns)
    query = np.repeat(np.arange(len(sizes)), sizes)[wanted]
    intent = wanted - (np.cumsum(sizes) - sizes)[query]
    mix = mixed(users.hashes[person] + wanted.astype(np.uint64))
    order = np.lexsort((mix, query, person))
    kept = order[np.unique((person * len(sizes) + query)[order], return_index=True)[1]]
    kept = kept[np.lexsort((mix[kept], person[kept]))]
    places = np.arange(len(kept)) - np.searchsorted(person[kept], person[kept])
    kept = kept[places < options.per_person]
    cards, cap = [len(each.values) for each in attributes], UNITS if heaviest else 1
    unit = (heaviest or 1.0) / cap
    weights = np.ones(len(users.codes)) if users.weights is None else users.weights
    parts = np.minimum(weights, heaviest or 1.0) / unit + users.hashes / 2.0**64
    units = np.minimum(np.floor(parts), cap)  # up or down as the hash has it, so none get lost
    codes, counts = users.codes.T.astype(np.intp), dict[Key, Counts]()
    # The root by value alone: a square has noise where nobody can be.
    counts[EVERYBODY, 0, 0] = mass_of(codes[0], units, cards[0]).astype(np.intp)[:, None]
    for at, other in combinations(range(len(cards)), 2):
        cells, shape = codes[other] * cards[at] + codes[at], (cards[other], cards[at])
        people = mass_of(cells, units, prod(shape)).astype(np.intp).reshape(shape)
        counts |= {(EVERYBODY, at, other): people, (EVERYBODY, other, at): people.T}
    for at, size in enumerate(sizes):
        own = kept[query[kept] == at]
        asking = map(CodeColumn, users.codes[person[own]].T, cards)
        of_intent = tally(intent[own], size, [*asking])
        counts |= {(at, INTENT, other): each for other, each in enumerate(of_intent)}
        counts[at, INTENT, INTENT] = of_intent[0].sum(axis=0, keepdims=True)
    most = min(options.per_person, len(sizes))
    return ExactCounts(counts, len(cards), len(sizes), most, cap, unit)


def measured(exact: ExactCounts, purse: Purse) -> Noisy:
    """Count people; what is wanted; and that by the CHOSEN attributes that tell most of a query.

    All of the budget is spent. Each sensitivity is how far one person can move what is bought. The
    pairs of the tree are those that are farthest from independent (McKenna et al. 2021): in order,
    parents before children, the root by itself.
    """
    counts, every = exact.tables, range(exact.attributes)
    edges, inside = [(EVERYBODY, 0, 0)], [0]
    while rest := [each for each in every if each not in inside]:
        pairs = [(EVERYBODY, one, other) for one in inside for other in rest]
        lines = np.array([apart(counts[each]) for each in pairs])
        [[at]] = purse.best([lines], 1, REACH * exact.heaviest, PAIRS / (exact.attributes - 1))
        edges.append(pairs[at])
        inside.append(pairs[at][2])
    units = purse.counts(exact, edges, sqrt(exact.attributes) * exact.heaviest, PEOPLE)
    found = {key: (each * exact.unit, noise * exact.unit) for key, (each, noise) in units.items()}
    by_query = [(query, INTENT, INTENT) for query in range(exact.queries)]
    found |= purse.counts(exact, by_query, sqrt(exact.most), WANTED)
    alone, scores = alone_of(found), list[Floats]()
    for query in range(exact.queries):
        chance = CHANCE * np.sqrt(np.maximum(found[query, INTENT, INTENT][0], 0)).sum()
        by_chance = [chance * np.sqrt(alone[at] / alone[at].sum()).sum() for at in every]
        scores.append(np.array([apart(counts[query, INTENT, at]) for at in every]) - by_chance)
    few = min(CHOSEN, exact.attributes)
    chosen = purse.best(scores, few, REACH * sqrt(exact.most), WHICH)
    keys = [(query, INTENT, at) for query, some in enumerate(chosen) for at in some]
    return found | purse.counts(exact, keys, sqrt(exact.most * few), AGAIN)


def everybody(found: Noisy) -> tuple[float, float]:
    """How many people there are, by all tables of people, and its standard deviation."""
    people = [(e, noise) for (query, *_), (e, noise) in found.items() if query == EVERYBODY]
    sums, weights = np.array([(e.sum(), 1 / (noise**2 * e.size)) for e, noise in people]).T
    return float(np.average(sums, weights=weights)), 1 / sqrt(weights.sum())


def alone_of(found: Noisy) -> dict[int, Floats]:
    """How many people have each value, from 0, by attribute."""
    people = {other: each for (query, _, other), (each, _) in found.items() if query == EVERYBODY}
    whole = max(1.0, everybody(found)[0])
    return {at: nearest(each.sum(axis=1), whole) for at, each in people.items()}


def apart(table: Counts) -> float:
    """How many rows are not where independence has them; one more moves it by at most REACH.

    Moving along one more row at (x, v), its derivative is at most the sum of |(e_x - p)(e_v - q)|,
    2 times 2, p and q being the shares of rows and columns.
    """
    return float(np.abs(table - independent(table)).sum())


def independent(table: NDArray[np.number]) -> Floats:
    """The table with the same sums in which rows and columns are independent."""
    return np.asarray(np.outer(table.sum(axis=1), table.sum(axis=0)) / max(table.sum(), 1))


def denoised(table: Floats, deviation: float, values: Floats, groups: Floats) -> Floats:
    """The table with these sums, nearer to independence where noise explains more (Wiener).

    What is beyond independence is taken to vary as counts do, in proportion to what it has.
    ``values``, ``groups``: from 0, of one total.
    """
    plain, more = np.outer(values, groups) / groups.sum(), table - independent(table)
    free = (table.shape[0] - 1) * (table.shape[1] - 1)
    spread = max(0.0, float((more**2).sum()) - free * deviation**2) / groups.sum() * plain
    near = plain + spread / (spread + deviation**2) * more
    near = np.maximum(nearest(near.ravel(), groups.sum()).reshape(near.shape), LEAST * plain)
    for _ in range(SWEEPS):
        near *= (values / np.maximum(near.sum(axis=1), TINY))[:, None]
        near *= groups / np.maximum(near.sum(axis=0), TINY)
    return np.asarray(near)


def nearest(table: Floats, total: float) -> Floats:
    """The nearest table from 0 with this total (the projection on a simplex)."""
    order = np.sort(table)[::-1]
    above = (np.cumsum(order) - total) / np.arange(1, len(table) + 1)
    return np.asarray(np.maximum(table - above[np.flatnonzero(order > above)[-1]], 0.0))


def drawn(found: Noisy, attributes: tuple[Attribute, ...], options: BuildOptions) -> Observations:
    """Draw the rows of a model, each of which stands for N/rows people.

    They are for the estimator `plugin`: no row is a person's, so none is left out. A half stands
    for as many people as all do.
    """
    people = float(alone_of(found)[0].sum())
    codes = drawn_people(found, min(int(people), DRAWN))
    asking, queries = codes[:ASKING], list[Observed]()
    notes = [*options.description.queries.items()]
    for at in asked_enough(found, options.min_users):
        (text, note), (who, what) = notes[at], drawn_requests(found, at, asking)
        request = np.zeros((len(who), 0), np.uint8)
        rows = QueryRows(np.arange(len(who)), what, asking[who], request, len(note.intents))
        queries.append(Observed(normalise(text), note.intents, rows, who, len(who)))
    everybody = 2 * people if options.half else people
    population = Population(codes, np.full(len(codes), everybody / len(codes)), residents=everybody)
    return Observations(attributes, population, tuple(queries), {}, ())


def asked_enough(found: Noisy, fewest: int) -> dict[int, float]:
    """By query, how many requests were counted, of those of which that is ``fewest``, for sure.

    Of others only noise would be told, as if it were what people want.
    """
    asked = dict[int, float]()
    for (query, _, at), (counts, noise) in found.items():
        number = float(counts.sum())
        if at == INTENT and number >= max(fewest, SURE * noise * sqrt(counts.size)):
            asked[query] = number
    return asked


def drawn_people(found: Noisy, rows: int) -> Codes:
    """Draw people along the tree, uint8, shape (rows, columns): one by one, never rounded.

    Rounding each group to whole rows would lose the rare values, and everybody would look safe.
    """
    alone, draw = alone_of(found), np.random.default_rng(SEED)
    codes = np.zeros((rows, len(alone)), dtype=np.uint8)
    for one, other in [key[1:] for key in found if key[0] == EVERYBODY]:
        near = alone[other][:, None]  # of the root, which is in the place of all others before
        if one != other:
            near = denoised(*found[EVERYBODY, one, other], alone[other], alone[one])
        for code in np.unique(codes[:, one]):
            own, some = near[:, code], np.flatnonzero(codes[:, one] == code)
            codes[some, other] = draw.choice(len(own), len(some), p=own / own.sum())
    return codes


def drawn_requests(found: Noisy, query: int, codes: Codes) -> tuple[Indexes, Indexes]:
    """Draw requests of a query: who asks, a row of ``codes`` ascending, and what they want.

    The people are weighted until their requests are those that were counted, by each attribute
    that was chosen (raking, Deming and Stephan 1940).
    """
    [wanted], _ = found[query, INTENT, INTENT]
    wanted = nearest(wanted, max(1.0, float(wanted.sum()))) + 0.5
    total, targets = wanted.sum(), list[tuple[int, Floats]]()
    for at in [key[2] for key in found if key[0] == query and key[2] != INTENT]:
        table, deviation = found[query, INTENT, at]
        own = np.bincount(codes[:, at], minlength=len(table)).astype(np.float64)
        values = nearest(table.sum(axis=1), total) * (own > 0) + 1e-6 * own
        targets.append((at, denoised(table, deviation, values / values.sum() * total, wanted)))
    shares = np.outer(np.full(len(codes), 1 / len(codes)), wanted)
    for at, target in targets * SWEEPS:
        now = np.zeros_like(target)
        np.add.at(now, codes[:, at], shares)
        shares *= (target / np.maximum(now, TINY))[codes[:, at]]
    sums = np.cumsum(shares)
    places = np.searchsorted(sums, (np.arange(ASKING) + 0.5) / ASKING * sums[-1])
    who, what = np.divmod(places.clip(max=shares.size - 1), shares.shape[1])
    return who, what
