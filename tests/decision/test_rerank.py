"""Re-ranking: a permutation by what the person's facts say."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from zlib import crc32

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import agent
from agent.decision import rerank as reranking
from agent.decision.context import Context, Terms, rulebook, terms_under
from agent.decision.knowledge import Knowledge
from agent.decision.own_facts import NONE, OwnFacts
from agent.decision.rerank import Choices, rerank
from agent.decision.values import Fact, Request, Result
from agent.errors import UsageError
from agent.model.relevance import OWN, Vectors
from tests.decision.made import CACHE, SHRINKAGE, with_rows
from tests.decision.test_own_facts import MODEL as TOPICS
from tests.decision.test_own_facts import fact, helps_of, several
from tests.decision.transcripts import START, policy

INTENTS = {"A": 0, "on b": 1, "c": 2, "D!": 3}  # titles that name them
CODES = st.dictionaries(st.sampled_from(["age", "region", "gender", "job"]), st.integers(0, 1))
RESULTS = st.lists(st.tuples(st.sampled_from([*INTENTS, "none"]), st.text(max_size=3)))
NO_WORDS = policy('preset = "none"\nown = "never"\n[attributes]\n"*" = "auto"')


@given(st.integers(0, 3), CODES, RESULTS, CODES, st.booleans())
def test_rows_order_by_what_people_alike_chose(
    seed: int, codes: Mapping[str, int], results: list[Result], never: Iterable[str], single: bool
) -> None:
    """Of results that name an intent, as counted by hand; equal ones, and all others, stay."""
    model, terms, own = with_rows(seed), Terms(excluded=frozenset(never)), NONE
    if single:  # by facts, in place of their attributes
        facts = tuple(fact(at, kind) for at, kind in enumerate(never))
        at, terms = map(model.index, never), Terms(facts=tuple((e.id, "never") for e in facts))
        own = replace(NONE, facts=facts, attributes=(*at,), valued=np.ones(len(facts), bool))
    context = Context(Request("python today"), terms, Knowledge(), model, cache=CACHE, own=own)
    order = rerank(results, context, lambda _: codes)
    mine = {model.index(name): code for name, code in codes.items() if code and name not in never}
    rows, used = model.rows(0), Choices.of(model, 0).helping(mine)
    alike = np.all([rows.person[rows.user, at] == code for at, code in used.items()], axis=0)
    prior = (np.bincount(rows.intent, minlength=4) + 0.5) / (len(rows.intent) + 2)
    scores = np.bincount(rows.intent[alike], minlength=4) + SHRINKAGE * prior if used else [0.0] * 4
    places = [at for at, (title, _) in enumerate(results) if title in INTENTS]
    best = iter(sorted(places, key=lambda at: -scores[INTENTS[results[at][0]]]))
    assert order == tuple(next(best) if at in places else at for at in range(len(results)))


def encoded(texts: Sequence[str], *, question: bool) -> Vectors:
    """Vectors of texts, the same where the first letter is."""
    seeds = [crc32(text[:1].encode()) + question for text in texts]
    rows = [np.random.default_rng(seed).normal(size=OWN) for seed in seeds]
    return np.array(rows, np.float32).reshape(-1, OWN)


@given(several(), RESULTS, st.dictionaries(st.sampled_from(["age", "job"]), st.integers(0, 1)))
def test_topics_order_by_nearness_to_what_helps(
    facts: list[Fact], results: list[Result], codes: Mapping[str, int]
) -> None:
    """Equal ones stay in order; without facts, and where all are ruled never, nothing moves."""
    own, every = OwnFacts.of(facts, TOPICS), frozenset(each.name for each in TOPICS.attributes)
    context = Context(Request("python today"), Terms(), Knowledge(), TOPICS, cache=CACHE, own=own)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reranking, "encode", encoded)
        patch.setattr(reranking, "chances_of", helps_of)
        order, as_given = rerank(results, context, lambda _: codes), (*range(len(results)),)
        never = replace(context, terms=Terms(excluded=every))
        assert rerank(results, never, lambda _: codes) == as_given
        book = rulebook(NO_WORDS, TOPICS, [TOPICS]).match("a.example", "", START)
        words = replace(context, terms=terms_under(book, TOPICS))
        assert rerank(results, words, lambda _: {}) == as_given
        assert rerank(results, replace(context, own=NONE), lambda _: {}) == as_given
    first = [title[0] for title, _ in results]
    assert (*sorted(order),) == as_given
    assert all(one < other or first[one] != first[other] for one, other in pairwise(order))


@pytest.mark.parametrize("results", [[("t", "")] * 101, [("t" * 301, "")], [("", "s" * 1001)]])
def test_too_much_is_refused(results: list[Result]) -> None:
    """Before anything is read."""
    context = Context(Request("tea"), Terms(), Knowledge(), with_rows(0), cache=CACHE)
    with pytest.raises(UsageError, match=r"^(101 results are too many|a result is too long)"):
        rerank(results, context, lambda _: {})


def test_what_is_chosen_from_lists_is_enough() -> None:
    """Without a fact in own words, by the shipped models."""
    results = [("Beef stew", "slow"), ("Lentil curry, vegetarian", "no meat"), ("News", "")]
    order = agent.open().rerank("what to cook tonight", results, person={"diet": "vegetarian"})
    assert order[0] == 1
