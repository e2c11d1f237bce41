"""What silence tells of facts in own words: as counted person by person, and nothing by kind."""

import gzip
import json
from collections import Counter
from dataclasses import replace
from math import log, log2

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from agent.decision import context as contexts
from agent.decision.context import Context, Terms
from agent.decision.decide import decide
from agent.decision.engine import load_model
from agent.decision.knowledge import Knowledge
from agent.decision.own_facts import OwnFacts, stored_terms
from agent.decision.values import Fact, Request
from agent.facts import Facts
from agent.lab.attack import silence
from agent.model.world import with_own_facts
from tests.decision.test_own_facts import BY_KIND, CACHE, MODEL, PERSON, TERMS, helps_of, several
from tests.house.tree import ROOT
from tests.lab.worlds import quiet

PLACES = with_own_facts(MODEL, dict.fromkeys(PERSON, 1))
TEXTS = [each.text for each in MODEL.queries]


@pytest.fixture
def _judge(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (contexts, silence):
        monkeypatch.setattr(module, "chances_of", helps_of)


def stays(fact: Fact, terms: Terms) -> bool:
    """Whether a person's only fact leaves with none of the requests."""
    own, rest = OwnFacts.of([fact], PLACES), (terms, Knowledge(), PLACES)
    every = [Context(Request(each), *rest, cache=CACHE, own=own) for each in TEXTS]
    return not any(decide(each).disclosed for each in every)


@pytest.mark.usefixtures("_judge")
@given(several(), TERMS)
def test_a_fact_stays_that_leaves_with_no_request(facts: list[Fact], terms: Terms) -> None:
    """Each as its owner's only one. By kind all of a kind stay, or none: silence tells nothing."""
    own = OwnFacts.of([structs.replace(each, value=None) for each in facts], PLACES)
    for by_kind in (frozenset[str](), BY_KIND):
        terms = replace(terms, by_kind=by_kind, available=frozenset())
        silent = silence.staying(own, TEXTS, terms, PLACES, quiet)
        assert silent.tolist() == [stays(each, terms) for each in own.facts]
    kinds = [silent[np.equal(own.attributes, each)] for each in {*own.attributes}]
    assert not kinds or silence.bits_of(kinds)[2:5] == (0, 0, 0)


@given(st.lists(st.lists(st.booleans(), min_size=1, max_size=9), min_size=1, max_size=4))
def test_silence_tells_what_is_left_of_mutual_information(kinds: list[list[bool]]) -> None:
    """Counted from everybody's answers; corrected, and never more than there is to tell."""
    measured = silence.bits_of([np.array(each) for each in kinds])
    people, bits = sum(map(len, kinds)), 0.0
    for kind in kinds:
        many, answers = len(kind), Counter(-1 if stays else at for at, stays in enumerate(kind))
        mutual = log2(many) - sum(count / many * log2(count) for count in answers.values())
        sent = kind.count(False) / many
        corrected = sent / (2 * many * log(2)) if any(kind) else 0.0
        bits += many / people * (mutual - sent * log2(many) + corrected)
    assert measured.bits == pytest.approx(bits, abs=1e-12)
    assert 0 <= measured.bits <= measured.whole + 1e-12
    assert 0 <= measured.most <= log2(max(map(len, kinds))) + 1e-12
    if all(len({*each}) == 1 for each in kinds):
        assert (measured.bits, measured.error, measured.most) == (0, 0, 0)


def test_the_standard_error_is_that_of_samples() -> None:
    """Of 2,000 samples of a kind, of 60 facts each."""
    draw = np.random.default_rng(1)
    measured = [silence.bits_of([draw.random(60) < 0.8]) for _ in range(2000)]
    bits = [each.bits for each in measured]
    assert np.mean(bits) == pytest.approx(-0.8 * log2(0.8), abs=0.002)
    assert np.mean([each.error for each in measured]) == pytest.approx(np.std(bits), rel=0.05)


def test_statements_are_facts_as_if_written() -> None:
    """The same vectors, topics and almost always kinds as those of their texts."""
    model, path = load_model(), ROOT / "examples" / "data" / "everyday" / "statements.jsonl.gz"
    texts = [json.loads(each)["text"] for each in gzip.decompress(path.read_bytes()).splitlines()]
    own, some = silence.statements(model), Facts.of(texts[:20], model)
    vectors, topics = stored_terms(some, [each.text for each in model.queries])
    assert (np.einsum("fv,fv->f", own.vectors[:20], vectors) > 0.999).all()
    assert np.abs(own.topics[:20] - topics).mean() < 0.002
    assert np.mean([a.kind == b.kind for a, b in zip(own.facts[:20], some, strict=True)]) > 0.8
