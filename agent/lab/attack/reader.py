"""A reader of the words: whose whole profile goes best with the facts that a recipient was told.

It has ten thousand people's whole profiles, one of which is the right one, and an encoder that says
how near two texts are. Beside it: what questions give away by themselves.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import chain
from math import log2

import numpy as np

from agent.decision.cache import Cache
from agent.decision.own_facts import stored_terms
from agent.lab import Progress, StudyOptions
from agent.lab.attack import profiles as drawing
from agent.lab.attack.month import BALANCED, YES, Ground
from agent.lab.attack.outcome import Reasoner
from agent.lab.attack.profiles import drawn_values, rows_of, starts_of
from agent.lab.attack.simulation import HeldOutRequest, Person, Reticent, Table, walk
from agent.lab.attack.strategies import NOTHING
from agent.model import encoder
from agent.model.attributes import UNSPECIFIED as SILENT
from agent.model.model import Model
from agent.model.relevance import Vectors
from agent.tradeoff.tables import UNSPECIFIED, Codes, Floats, members

LISTED = 10_000  # people
NEAR = 150  # facts nearest to a text; whatever else somebody holds is as near as the last of these
FACTS_FIRST, ALIKE = 1e4, 1e-4  # how much more facts weigh than questions; in sums of both
TRIED = 100  # people who might have stood out as well
BAR = 0.4  # of the mean natural logarithm of realised over expected ranks
SENT = (NOTHING, BALANCED[0], YES[0], YES[2])
ANYBODYS, OWN = "anybody's", "about what they wrote"
Ranks = Mapping[tuple[str, str], Floats]
"""By what is sent, and what is asked: float64, shape (people, 5).

Where the reader has each person by the facts told; by these, and then by the questions; where those
who agree with what was told stand on average; how many bits that told, and how many silence tells.
"""


def nearest(texts: Vectors, profiles: Table, vectors: Vectors) -> Floats:
    """How near each profile comes to some texts: float64, shape (N,), the sum of cosines.

    ``texts``: of length 1, shape (T, D); ``profiles``: bool, shape (facts, N); ``vectors``: of the
    facts, as ``texts``. Of each profile counts its nearest fact, of the NEAR nearest of all facts.
    """
    total = np.zeros(len(profiles.T))
    for cosines in texts @ vectors.T:
        order = np.argsort(-cosines, kind="stable")[:NEAR]
        some = profiles[order]
        total += cosines[order][np.where(some.any(axis=0), some.argmax(axis=0), len(order) - 1)]
    return total


def rank(scores: Floats) -> float:
    """The place of the first of those who are scored, 1 for the best; of equals the mean place."""
    better, equal = scores > scores[0] + ALIKE, np.abs(scores - scores[0]) <= ALIKE
    return float(1 + better.sum() + (equal.sum() - 1) / 2)


def expected(left: float, people: float, listed: int) -> float:
    """The mean place among ``listed``, the others drawn of ``people``, of whom ``left`` do as well.

    The person is one of both.
    """
    return 1 + (listed - 1) * max(left - 1, 0) / (2 * max(people - 1, 1))


def near_rows(model: Model, codes: Mapping[int, int]) -> Table:
    """Which rows agree with the codes of some columns to within one step: bool, shape (rows,)."""
    columns = model.population.codes[:, [*codes]].astype(np.intp)
    return np.asarray((np.abs(columns - [*codes.values()]) <= 1).all(axis=1))


def fact_vectors(model: Model, statements: drawing.Statements) -> Vectors:
    """The vectors of all values, as `starts_of` has them, and then of all statements."""
    values = {each.name: each.values for each in model.attributes}
    values |= {each.name: (SILENT, *each.values) for each in model.kinds}
    titles = {each.shared or each.name: each.title for each in reversed(model.attributes)}
    names = [*starts_of(model)][:-1]
    texts = [f"{titles[name]}: {value}" for name in names for value in values[name]]
    own = stored_terms(statements.facts, ())[0][:, : encoder.DIMENSIONS]
    own /= np.linalg.norm(own, axis=1, keepdims=True)
    return np.concatenate([encoder.encode(texts, question=False), own])


def ranked(
    model: Model,
    held: Callable[[Table], Table],
    vectors: Vectors,
    profile: Table,
    told: tuple[Sequence[int], Mapping[int, int]],
    questions: Sequence[str],
    random: np.random.Generator,
) -> tuple[float, float, float]:
    """Where the reader has somebody: by the facts told; by these, and then by the questions.

    And of how many people the others are drawn, who agree with what was told of columns to within
    one step. ``held``: the whole profiles of people with these values, a column each, as
    ``profile`` is; ``vectors``: of their facts; ``told``: facts, by their places there, and codes
    of columns.
    """
    population, rows = model.population, near_rows(model, told[1])
    values = drawn_values(model, population.codes[rows_of(model, LISTED - 1, random, rows)], random)
    profiles = np.column_stack([profile, held(values)])
    by_facts = FACTS_FIRST * nearest(vectors[[*told[0]]], profiles, vectors)
    by_both = by_facts + nearest(encoder.encode(questions, question=True), profiles, vectors)
    return rank(by_facts), rank(by_both), float(np.sum(np.asarray(population.weights), where=rows))


def others_of(model: Model, person: Person, mask: int, random: np.random.Generator) -> Codes:
    """The person, and TRIED others who agree in what a recipient holds and have the same facts set.

    unsigned, shape (1 + TRIED, P). ``model``: with places for own words, in which all are alike.
    They are drawn of those who agree in the columns that it holds, whatever else it holds.
    """
    codes, own = model.population.codes, np.array(person.codes, np.uint8)
    columns = [each for each in members(mask) if each < codes.shape[1]]
    agree = (codes[:, columns] == own[columns]).all(axis=1)
    rows = codes[rows_of(model, TRIED, random, agree if agree.any() else None)]
    values = drawn_values(model, rows, random)
    drawn = np.array([drawing.codes_of(model, each, random) for each in values], np.uint8)
    kept = np.isin(np.arange(len(own)), [*members(mask), *model.own]) | (own == UNSPECIFIED)
    return np.vstack([own, np.where(kept | (drawn == UNSPECIFIED), own, drawn)])


def ranks(ground: Ground, options: StudyOptions, progress: Progress) -> Ranks:
    """What the reader makes of people, each of whom sends requests to one recipient."""
    model, cache = ground.model, Cache()
    statements = drawing.statements_of(model, ground.statements)
    vectors = fact_vectors(model, statements)
    weights, found = model.tables.query_weights * ground.judged, dict[tuple[str, str], Floats]()
    columns, starts = model.population.codes.shape[1], starts_of(model)
    names = [each.shared or each.name for each in model.attributes]
    for number in range(options.people):
        random = np.random.default_rng((options.seed, number))
        [row] = rows_of(model, 1, random).tolist()
        held = partial(statements.profiles, random=random)
        profile = held(drawn_values(model, model.population.codes[row : row + 1], random))[:, 0]
        codes = drawing.codes_of(model, profile, random)
        said = random.permutation(np.flatnonzero(profile[starts[""] :])).tolist()
        wide = drawing.with_words(model, codes, [statements.facts[each] for each in said], cache)
        wider, codes, own, ids = wide
        about = np.zeros(len(weights))
        about[[*chain(*(statements.helped[int(each) - 1] for each in ids.values()))]] = 1
        own_topics = weights * about if (weights * about).any() else weights
        for asked, sent, shares in ((ANYBODYS, SENT, weights), (OWN, SENT[:2], own_topics)):
            topics = random.choice(len(shares), options.requests, p=shares / shares.sum()).tolist()
            texts = [str(random.choice(ground.phrasings[each])) for each in topics]
            requests = (
                HeldOutRequest(e, 0, (), text) for e, text in zip(topics, texts, strict=True)
            )
            person = Person(row, codes, tuple(requests))
            for strategy in sent:
                mask, silence = 0, 0.0
                if strategy != NOTHING:
                    agent = Reticent(strategy, wider, own=own)
                    mask = walk(agent.chosen, wider, person).disclosed[-1]
                    others = others_of(wider, person, mask, random)
                    silence = Reasoner(agent, wider, others).inferred(person).bits[-1]
                told = {at: codes[at] for at in members(mask)}
                facts = [
                    starts[names[at]] + code for at, code in told.items() if at < model.persons
                ]
                facts += [starts[""] + int(e) - 1 for at, e in ids.items() if at in told]
                of_columns = {at: code for at, code in told.items() if at < columns}
                *places, people = ranked(
                    model, held, vectors, profile, (facts, of_columns), texts, random
                )
                left = cache.anonymity_set(wider, told.items()).people
                bits = log2(model.people / max(left, 1)), silence
                line = found.setdefault((strategy.name, asked), np.zeros((options.people, 5)))
                line[number] = (*places, expected(left, people, LISTED), *bits)
        progress("reading", (number + 1) / options.people)
    return found
