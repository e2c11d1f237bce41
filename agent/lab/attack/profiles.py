"""People with whole profiles, drawn as a model counts people: columns of a row, kinds by shares.

And what they would say in own words, by the shares that are suggested for statements.
"""

import csv
from collections.abc import Iterable, Iterator, Mapping, Sequence
from graphlib import TopologicalSorter
from itertools import accumulate, pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np

from agent.build.relevance import Sheet, StatementLine
from agent.decision.cache import Cache
from agent.decision.own_facts import OwnFacts, extended, level_of
from agent.decision.values import Fact
from agent.errors import UsageError
from agent.facts.proposals import Facts, shares_of
from agent.lab import StudyOptions
from agent.lab.attack.simulation import HeldOutRequest, Person, Table
from agent.model.model import Model
from agent.model.world import LEAST_SHARE
from agent.tradeoff.tables import UNSPECIFIED, Codes, Floats, Indexes

WRITTEN = 12  # facts in own words that a person has, of as many kinds
NOBODYS, DECISIVE = -1, 2  # the level at which a fact is needed
SHARES = "shares.csv"  # of the statements in it, how many of 1,000 people would say each


def rows_of(
    model: Model, many: int, random: np.random.Generator, among: Table | None = None
) -> Indexes:
    """Draw so many rows, of all or those ``among``, by how many people each stands for: intp."""
    population = model.population
    weights = np.ones(population.rows) if population.weights is None else population.weights
    upto = np.cumsum(weights if among is None else weights * among, dtype=np.float64)
    return np.asarray(np.searchsorted(upto, random.random(many) * upto[-1], side="right"))


def whole_profile(
    model: Model, columns: Sequence[int], random: np.random.Generator
) -> tuple[int, ...]:
    """The codes of somebody with these columns, one for each person attribute.

    What no column holds is drawn by `drawn_values`. Of the values of a kind that the person holds
    as many are set, in any order, as there are places; 0, "unspecified", is in the others.
    UsageError for a model without kinds.
    """
    return codes_of(model, drawn_values(model, np.array([columns]), random)[0], random)


def codes_of(model: Model, held: Table, random: np.random.Generator) -> tuple[int, ...]:
    """The codes of somebody who holds these values; ``held``: a row of `drawn_values`."""
    left = {
        name: random.permutation(np.flatnonzero(held[start:end])).tolist()
        for (name, start), (_, end) in pairwise(starts_of(model).items())
    }
    persons = model.attributes[: model.persons]
    return tuple(
        left[name].pop() if left[name] else UNSPECIFIED
        for name in (each.shared or each.name for each in persons)
    )


def starts_of(model: Model) -> Mapping[str, int]:
    """Where the values of each column and kind begin in `drawn_values`, by name; "": where all end.

    A value stands behind that place by its code; there stands 0: no value, or unspecified.
    """
    columns = model.population.codes.shape[1]
    sizes = dict(zip((e.name for e in model.attributes[:columns]), model.cards, strict=False))
    sizes |= {each.name: 1 + len(each.values) for each in model.kinds}
    return dict(zip((*sizes, ""), accumulate(sizes.values(), initial=0), strict=True))


def drawn_values(model: Model, columns: Codes, random: np.random.Generator) -> Table:
    """The values that people with these columns hold: bool, shape (N, values), as `starts_of` has.

    ``columns``: integers, shape (N, C). What no column holds is drawn given what it depends on. Of
    a kind of which a person may hold several, each value is held or not by its own share, but what
    an earlier one excludes is not. Where a kind depends on one of which a
    person holds several, the fact that makes a value the likeliest counts. UsageError for a model
    without kinds.
    """
    shares, starts = model.population.shares, starts_of(model)
    if shares is None:
        raise UsageError(f"the model {model.id} has no kinds of facts", "name one that has them")
    drawn, anybody = np.zeros((len(columns), starts[""]), np.bool_), np.ones((len(columns), 1))
    kinds, first = shares.kinds, [*starts.values()]
    places = [slice(*each) for each in pairwise(first)]
    of_kind = places[columns.shape[1] :]
    np.put_along_axis(drawn, first[: columns.shape[1]] + columns.astype(np.intp), 1, axis=1)
    before = {
        at: [other for other in (each.parent, each.holders) if other is not None]
        for at, each in enumerate(kinds)
    }
    for at in TopologicalSorter(before).static_order():
        kind, named = kinds[at], model.kinds[at]
        given, of_parent = kind.shares[None], anybody > 0
        if kind.given is not None:
            above = kind.column if kind.parent is None else columns.shape[1] + kind.parent
            given, of_parent = kind.given, drawn[:, places[above or 0]]
        if (of_parent.sum(axis=1) == 1).all():
            chances = given[of_parent.argmax(axis=1)]
        else:
            chances = np.where(of_parent[:, :, None], given, -1.0).max(axis=1)
        if kind.holders is not None:
            chances = chances * ~drawn[:, of_kind[kind.holders]][:, :1]
        if kind.several:
            held = random.random(chances.shape) < chances
            for value, out in named.excludes.items():
                apart = [named.values.index(each) for each in out]
                held[:, apart] &= ~held[:, [named.values.index(value)]]
        else:
            upto = chances.cumsum(axis=1)
            which = (upto <= random.random(anybody.shape) * upto[:, -1:]).sum(axis=1)
            held = np.arange(len(given[0])) == which[:, None]
        drawn[:, of_kind[at]] = np.column_stack([~held.any(axis=1), held])
    return drawn


class Statements(NamedTuple):
    """Facts as people say them, and who would say them.

    ``facts``: S of them, as they are kept, with ids from "1" on; ``needs``: intp, shape (S,), the
    value that whoever says it holds, by its place in `drawn_values`, or NOBODYS; ``chances``:
    float64, shape (S,), how many of these, or of all, would say it; ``helped``: of each the topics
    in which it was judged to help most who ask, by index.
    """

    facts: tuple[Fact, ...]
    needs: Indexes
    chances: Floats
    helped: tuple[tuple[int, ...], ...]

    def profiles(self, values: Table, random: np.random.Generator) -> Table:
        """Whole profiles of people who hold these values: bool, shape (values + S, N).

        What they would say is drawn below what they hold.
        """
        said = random.random((len(self.facts), len(values)), np.float32) < self.chances[:, None]
        able = np.flatnonzero(self.needs != NOBODYS)
        said[able] &= values.T[self.needs[able]]
        return np.concatenate([values.T, said])


def statements_of(model: Model, lines: Sequence[StatementLine]) -> Statements:
    """Statements as an import would write them down: kinds, values and shares are suggested."""
    starts, topics = starts_of(model), {each.text: at for at, each in enumerate(model.queries)}
    facts, needs = Facts.of([each.text for each in lines], model), list[int]()
    chances = list[float]()
    for fact in facts:
        share, need = (fact.terms.share if fact.terms else None) or 1.0, NOBODYS
        if fact.value:
            name, code = model.codes_by_meaning[fact.kind, fact.value]
            attribute = model.attributes[model.index(name)]
            need = starts[attribute.shared or name] + code
            share /= shares_of(attribute.shared or name, model)[attribute.values[code]]
        needs.append(need)
        chances.append(min(share, 1.0))
    helped = tuple(
        tuple(topics[e] for e, level in line.topics.items() if level > 1 and e in topics)
        for line in lines
    )
    return Statements(facts, np.array(needs), np.array(chances), helped)


def with_words(
    model: Model, codes: Sequence[int], facts: Iterable[Fact], cache: Cache
) -> tuple[Model, tuple[int, ...], OwnFacts, Mapping[int, str]]:
    """A model with places for the first WRITTEN facts of different kinds, and codes for it.

    A listed value that is not among the ``codes`` of the person attributes makes a fact another's.
    Returns these facts, too, and their ids by attribute.
    """
    some = dict[str, Fact]()
    for fact in facts:
        name, code = model.codes_by_meaning.get((fact.kind, fact.value or ""), ("", 0))
        if len(some) < WRITTEN and (not name or codes[model.index(name)] == code):
            some.setdefault(fact.kind, fact)
    own = OwnFacts.of(some.values(), model)
    wider, values = extended(model, own, (), cache), [*codes]
    values += [UNSPECIFIED] * (wider.persons - model.persons)
    places, ids = {kind: at for at, kind in wider.own.items()}, dict[int, str]()
    for fact, kind, has in zip(own.facts, own.attributes, own.valued, strict=True):
        at = kind if has else places[kind]
        ids[at] = fact.id
        if not has:
            values[at] = wider.person_codes[wider.attributes[at].name][level_of(fact)]
    return wider, tuple(values), own, ids


Kept = tuple[Sheet, Model]
"""A sheet of facts and requests, and a model that did not learn from it."""


class Sender(NamedTuple):
    """Somebody who sends requests, and who has facts in own words, one of a kind at most.

    ``model``: with places for these, by which their agent decides; ``needs``: bool, shape (T, P),
    which of their attributes each request needs; ``words``: intp, those behind which there are
    own words.
    """

    person: Person
    model: Model
    own: OwnFacts
    needs: Table
    words: Indexes


def senders(
    by_topic: Table, often: Floats, sheets: Sequence[Kept], options: StudyOptions
) -> Iterator[Sender]:
    """Draw people of a model that has kinds, with their requests.

    Each has a sheet: what they ask is on it, by how often its topics are asked, and so is what they
    say in own words: of those facts which they could say, by how many would. Who is drawn, and what
    they ask first, does not depend on how many there are. ``by_topic``: bool, shape (topics,
    attributes), what of the rest each topic needs; ``often``: float64, shape (topics,), how often
    it is asked. UsageError for a model without kinds.
    """
    for number in range(options.people):
        random = np.random.default_rng((options.seed, number))
        sheet, model = sheets[int(random.integers(len(sheets)))]
        [row] = rows_of(model, 1, random).tolist()
        codes = whole_profile(model, model.population.codes[row].tolist(), random)
        written = statements_of(model, [StatementLine(each, "", {}) for each in sheet.facts])
        order = np.argsort(random.exponential(size=len(sheet.facts)) / written.chances)
        some = [written.facts[each] for each in order.tolist()]
        wider, codes, own, ids = with_words(model, codes, some, Cache())
        queries = [model.read(each.text).query for each in sheet.questions]
        topics = np.array([NOBODYS if each is None else each for each in queries])
        upto = np.cumsum(np.where(topics == NOBODYS, 0, often[topics]))
        asked = np.searchsorted(upto, random.random(options.requests) * upto[-1], side="right")
        needs = np.zeros((len(asked), wider.persons), np.bool_)
        needs[:, : by_topic.shape[1]] = by_topic[topics[asked]]
        facts = [int(each) - 1 for each in ids.values()]
        needs[:, [*ids]] |= sheet.levels()[asked][:, facts] >= DECISIVE
        sent = (HeldOutRequest(int(topics[e]), 0, (), sheet.questions[e].text) for e in asked)
        yield Sender(Person(row, codes, tuple(sent)), wider, own, needs, np.array([*ids], np.intp))


def judged_shares(folder: Path, model: Model) -> Floats:
    """The logarithms of shares that are suggested for statements, and of what judges said of them.

    float64, shape (2, S); the second are judges' means, from LEAST_SHARE. ``folder``: with SHARES.
    """
    with (folder / SHARES).open(encoding="utf-8", newline="") as file:
        (_, *texts), *judges = zip(*csv.reader(file), strict=True)
    suggested = [(each.terms and each.terms.share) or 0.0 for each in Facts.of(texts, model)]
    judged = np.array([[float(each) / 1000 for each in said] for _, *said in judges])
    return np.array([np.log(suggested), np.log(judged.clip(LEAST_SHARE)).mean(axis=0)])


def agreement_of(logs: Floats) -> Floats:
    """How well two sets of shares agree, by their logarithms, shape (2, S): float64, shape (4,).

    The correlation of ranks (Spearman), that of logarithms (Pearson), how much larger the
    logarithms of the first are on average, and how many of the first are more than three times the
    second, as a share.
    """
    ranks = list[Floats]()
    for each in logs:
        _, places, counts = np.unique(each, return_inverse=True, return_counts=True)
        ranks.append((counts.cumsum() - (counts - 1) / 2)[places])
    more, both = np.subtract(*logs), (np.corrcoef(*each)[0, 1] for each in (ranks, logs))
    return np.array([*both, more.mean(), (more > np.log(3)).mean()])
