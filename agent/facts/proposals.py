"""What facts in own words would be, which say the same, and how likely they help requests."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import cache, lru_cache
from itertools import compress

import numpy as np
from msgspec.structs import replace

from agent.decision.engine import load_model
from agent.decision.own_facts import stored_terms
from agent.decision.values import Fact, FactTerms, Proposal
from agent.errors import UsageError
from agent.facts.values import alike, details, english, short_of, values_of, with_year, without_year
from agent.model.attributes import UNSPECIFIED
from agent.model.encoder import CHARACTERS
from agent.model.model import Model
from agent.model.relevance import LEAST_HELP, Relevance, Vectors, vectors_of
from agent.model.unwrapping import unwrapped
from agent.model.world import LEAST_SHARE, counted

LIKELY = 5  # kinds that are tried, the likeliest, beside those that the words name
# How much likelier a kind is of which the words certainly name a value, and say no more; half of
# that for each detail, but at least: by statements, of which a third was kept aside to choose by.
NAMES_VALUE, LEAST_NAMES = 20.0, 1.5
SURE = 0.6  # the least chance of a kind for its value to be set
MOST_TITLES, LEAST_TITLE = 3, 0.2  # topics that are shown, and how surely a fact helps there
# How many of those with a value would say as many more words of it, from none to ten, and more: as
# judges said of 300 statements (examples/data/everyday/shares.csv).
EXACTNESS = (1, 1 / 3, 1 / 3, 1 / 20, 1 / 20, *[1 / 40] * 5, 1 / 500, 0)
SAME, NEARLY = 0.76, 0.95  # the least cosine of facts that say the same, of one kind and of any

Listed = tuple[str, str | None]  # the attribute of a kind, and one of its values
_shipped = cache(load_model)


class Facts(tuple[Fact, ...]):
    """Facts in own words, as `Engine.decide` takes them; `Decision.share` has their ids."""

    __slots__ = ()

    @classmethod
    def of(
        cls, texts: Sequence[str], model: Model | None = None, now: datetime | None = None
    ) -> "Facts":
        """A fact of each text, none of which is split, with ids "1", "2" and so on, in order.

        ``model``: by default the shipped model of topics; ``now``: with a zone, by default the
        present. UsageError as `proposals`.
        """
        when, tick = now or datetime.now(UTC), timedelta(microseconds=1)
        some = enumerate(proposals(texts, model or _shipped(), when), 1)
        return cls(replace(e.fact, id=str(at), set_at=when + at * tick) for at, e in some)


def relevance(
    questions: Sequence[str], facts: Sequence[Fact | str], model: Model | None = None
) -> Vectors:
    """How likely each fact helps each question at all, and decisively.

    float32, shape (questions, facts, 2). ``facts``: or their texts; ``model``: as in `Facts.of`.
    Source: DESIGN.md 2.12.
    """
    topical, judge = judging(model or _shipped())
    new = [isinstance(each, str) or not each.terms for each in facts]
    texts = (e if isinstance(e, str) else e.words or e.value or "" for e in compress(facts, new))
    written = iter(Facts.of([*texts], topical))
    some = [e if isinstance(e, Fact) and e.terms else next(written) for e in facts]
    names = [each.text for each in topical.queries[: len(judge.common)]]
    vectors, topics = stored_terms(some, names)
    helps = np.zeros((len(questions), len(facts), 2), np.float32)
    if helps.size:
        places = vectors_of([*map(unwrapped, questions)], question=True)
        for at, question in enumerate(questions):
            helps[at] = judge.helps(topical.read(question), places[at], vectors, topics)
    return helps


def proposals(texts: Sequence[str], model: Model, now: datetime) -> tuple[Proposal, ...]:
    """What each text would be as a fact, one for each, in order; about 7 ms for each.

    The words stay as they are, the first CHARACTERS of them, but ages say of which year they are,
    as in "I am 41 (in 2026)". A value is set where the words certainly name one. ``model``: a model
    of topics, or a world of one; ``now``: with a zone. UsageError where the model says nothing of
    own words.
    """
    topical, judge = judging(model)
    some = (each[:CHARACTERS].encode(errors="replace").decode() for each in texts)
    words = [with_year(each, now.year) for each in some]
    vectors = vectors_of([*map(without_year, words)], question=False)
    rows = zip(words, vectors, judge.kinds(vectors), judge.topics(vectors), strict=True)
    return tuple(_proposal(*row, topical, now) for row in rows)


def judging(model: Model) -> tuple[Model, Relevance]:
    """The model of a world, or the model itself, that says where own words help; UsageError."""
    for each in model.every:
        if each.tables.relevance is not None:
            return each, each.tables.relevance
    what = f"the model {model.id} says nothing of facts in own words"
    raise UsageError(what, "open the model everyday with it")


def _proposal(
    words: str, vector: Vectors, chances: Vectors, topics: Vectors, model: Model, now: datetime
) -> Proposal:
    name, value, chance = _kind_of(words, chances, model, now.year)
    attribute, shares = model.attributes[model.index(name)], shares_of(name, model)
    common = shares[value] if value else float(np.median([*shares.values()]))
    exactness = EXACTNESS[details(words, name, model)]
    order = [int(at) for at in np.argsort(-topics, kind="stable") if topics[at] >= LEAST_HELP]
    terms = FactTerms(
        share=max(common * exactness, LEAST_SHARE),
        sensitivity=attribute.sensitivity,
        relevance={model.queries[at].text: round(float(topics[at]), 3) for at in order},
        vector=vector.astype("<f2").tobytes(),
    )
    fact = Fact(
        id="",
        kind=attribute.concept,
        value=model.meanings[name, value].value if value else None,
        words=words,
        short=short_of(words, value),
        set_at=now,
        terms=terms,
    )
    helps = [model.queries[at].title for at in order if topics[at] >= LEAST_TITLE]
    return Proposal(fact=fact, helps=tuple(helps[:MOST_TITLES]), chance=chance)


def _kind_of(
    words: str, chances: Vectors, model: Model, year: int
) -> tuple[str, str | None, float]:
    """The attribute of the likeliest kind, the value of it that the words name, and the chance."""
    _, judge = judging(model)
    names = judge.kind_names
    likely = [names[at] for at in np.argsort(-chances, kind="stable")[:LIKELY]]
    values = values_of(words, likely, model, year)
    more = {name: 2.0 ** details(words, name, model) for name in values}
    odds = chances * [max(NAMES_VALUE / more[e], LEAST_NAMES) if e in more else 1 for e in names]
    best = int(np.argmax(odds))
    chance = float(odds[best] / odds.sum()) * (not english("steering").search(words))
    return names[best], values.get(names[best]) if chance >= SURE else None, chance


@lru_cache(maxsize=256)
def shares_of(name: str, model: Model) -> Mapping[str, float]:
    """By listed value of a column or a kind, the share of people who have it."""
    kind = next((each for each in model.kinds if each.name == name), None)
    kind = kind or counted(name, model.index(name), model, most=1.0)
    return dict(zip(kind.values, kind.shares, strict=True))


def marked(some: Sequence[Proposal], facts: Sequence[Fact], model: Model) -> tuple[Proposal, ...]:
    """The proposals, each with the first fact that says the same, and the first contradicting one.

    Either is one of ``facts``, or an earlier proposal's. Facts say the same that are near as
    vectors and `alike`, or have one value of a kind of which a person has one, or is stored without
    words. They contradict each other where the model has one value exclude the other, or imply
    another one.
    """
    pairs = [{each.name, name} for each in model.attributes for name in each.decides]
    several = {each.name for each in model.kinds if each.several}
    before = [*facts, *(each.fact for each in some)]
    stored, vectors = [_listed(each, model) for each in before], stored_terms(before, ())[0]
    result = list[Proposal]()
    for number, proposal in enumerate(some, len(facts)):
        own, row = stored[number], (vectors[:number] @ vectors[number]).tolist()
        names = {own[0]}.union(*(pair for pair in pairs if own[0] in pair))
        close = [e for e in range(number) if row[e] >= NEARLY or stored[e][0] in names]
        same = opposed = None
        for at in reversed(close):
            fact, one_value = before[at], own[1] is not None and own == stored[at]
            close_kind = stored[at][0] == own[0] and (own[1] is None) == (stored[at][1] is None)
            near = row[at] >= (SAME if close_kind else NEARLY)
            differ = own[1] and stored[at][1] and own != stored[at]
            if one_value and (not fact.words or own[0] not in several):
                same = fact.id
            elif differ and _contradict(own, stored[at], model):
                opposed = fact.id
            elif near and not differ and alike(proposal.fact.words or "", fact.words or ""):
                same = fact.id
        result.append(replace(proposal, same_as=same, contradicts=opposed))
    return tuple(result)


def _contradict(one: Listed, other: Listed, model: Model) -> bool:
    """Whether a person cannot have both values."""
    for (name, value), (about, beside) in ((one, other), (other, one)):
        kind = next((each for each in model.kinds if each.name == name and each.several), None)
        implied = model.attributes[model.index(name)].implies.get(value or "", {})
        excluded = kind.excludes.get(value or "", ()) if kind else {beside} - {value}
        if implied.get(about, beside) != beside or (name == about and beside in excluded):
            return True
    return False


def _listed(fact: Fact, model: Model) -> Listed:
    """The attribute of a fact's kind, the first of several, and the value in that model."""
    attribute = model.by_concept.get(fact.kind)
    if attribute is None:
        return fact.kind, None
    code = model.codes_by_meaning.get((fact.kind, fact.value or UNSPECIFIED))
    value = attribute.values[code[1]] if code and code[1] else None
    return attribute.shared or attribute.name, value
