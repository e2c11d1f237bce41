"""A reader of the words: how it ranks, against brute force; and people with facts in own words."""

import csv
from itertools import combinations
from math import log
from statistics import fmean

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.stats import pearsonr, spearmanr

from agent.build.relevance import StatementLine
from agent.decision.cache import Cache
from agent.decision.own_facts import level_of
from agent.facts import Facts
from agent.lab.attack import profiles, reader
from agent.lab.attack.material import EVERYDAY
from agent.lab.attack.profiles import drawn_values, starts_of, statements_of, with_words
from agent.lab.attack.reader import expected, near_rows, nearest, others_of, rank
from agent.lab.attack.simulation import Person
from agent.tradeoff import members
from tests.lab.test_month import ground

SAID = [
    StatementLine("I have a dog", "pets", {}),
    StatementLine("I'm allergic to peanuts", "allergies", {}),
    StatementLine("My dog is called Rex", "pets", {}),
]


@given(st.integers(1, 6), st.data())
def test_the_expected_place_is_the_mean_over_all_lists(people: int, data: st.DataObject) -> None:
    """Of everybody who may be drawn beside the person, who is the first; equals share a place."""
    left, listed = data.draw(st.integers(1, people)), data.draw(st.integers(1, people))
    scores = np.array([1.0] * left + [0.0] * (people - left))
    lists = [[0, *some] for some in combinations(range(1, people), listed - 1)]
    mean = np.mean([rank(scores[some]) for some in lists])
    assert expected(left, people, listed) == pytest.approx(mean)


@given(st.lists(st.integers(-3, 3), min_size=1, max_size=6))
def test_a_place_counts_who_does_better_and_half_of_equals(scores: list[int]) -> None:
    others = scores[1:]
    place = 1 + sum(e > scores[0] for e in others) + others.count(scores[0]) / 2
    assert rank(np.array(scores, float)) == place


@given(st.integers(0, 2**32 - 1), st.integers(1, 5))
def test_of_a_profile_counts_what_is_nearest(seed: int, near: int) -> None:
    """For each text; what is not among the nearest of all facts counts as the last of these."""
    random = np.random.default_rng(seed)
    texts, vectors = random.normal(size=(2, 3)), random.normal(size=(5, 3))
    profiles = random.random((5, 4)) < 1 / 2
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reader, "NEAR", near)
        found = nearest(texts.astype(np.float32), profiles, vectors.astype(np.float32))
    for held, total in zip(profiles.T, found, strict=True):
        least = [sorted(vectors @ text)[-near] for text in texts]
        best = [max([*(vectors[held] @ text), -np.inf]) for text in texts]
        assert total == pytest.approx(sum(map(max, best, least)), abs=1e-5)


def test_others_share_all_columns_to_within_one_step() -> None:
    model = ground().model
    codes = model.population.codes.astype(int)
    rows = near_rows(model, {0: 3, 4: 1})
    assert rows.tolist() == ((abs(codes[:, 0] - 3) < 2) & (abs(codes[:, 4] - 1) < 2)).tolist()
    assert near_rows(model, {}).all()


def test_own_words_are_of_those_who_could_say_them() -> None:
    """As many of them as the suggested share says; a fact of each kind, in its place."""
    model, random = ground().model, np.random.default_rng(2)
    statements, starts = statements_of(model, SAID), starts_of(model)
    values = drawn_values(model, model.population.codes[:4000], random)
    said = statements.profiles(values, random)[starts[""] :].T
    for at, fact in enumerate(statements.facts):
        assert fact.terms is not None
        name, code = model.codes_by_meaning.get((fact.kind, fact.value or ""), ("", 0))
        able = values[:, starts[name] + code] if name else np.ones(len(values), bool)
        assert not said[~able, at].any()
        room = 5 * (statements.chances[at] / able.sum()) ** 0.5
        assert said[able, at].mean() == pytest.approx(statements.chances[at], abs=room)
    codes = [0] * model.persons
    codes[model.index("pets")] = model.attributes[model.index("pets")].values.index("dog")
    wider, wide, own, ids = with_words(model, codes, statements.facts, Cache())
    assert len({each.kind for each in own.facts}) == len(own.facts) == len(ids)
    by_id = {each.id: each for each in own.facts}
    for at, fact_id in ids.items():
        fact, attribute = by_id[fact_id], wider.attributes[at]
        assert attribute.values[wide[at]] == (
            level_of(fact) if at in wider.own else model.attributes[at].values[codes[at]]
        )
    mask = 1 | 1 << next(iter(ids))
    others = others_of(wider, Person(0, wide), mask, random)
    assert (others[:, [*members(mask)]] == np.array(wide)[[*members(mask)]]).all()
    assert ((others == 0) == (np.array(wide) == 0)).all()


@given(st.lists(st.tuples(*[st.integers(1, 5)] * 2), min_size=3, max_size=9))
def test_shares_agree_as_scipy_counts(pairs: list[tuple[int, int]]) -> None:
    logs = np.log(np.array(pairs, float).T)
    assume(all(len({*each.tolist()}) > 1 for each in logs))
    more = logs[0] - logs[1]
    wanted = spearmanr(*logs)[0], pearsonr(*logs)[0], more.mean(), np.mean(more > np.log(3))
    assert profiles.agreement_of(logs) == pytest.approx(wanted, abs=1e-9)


def test_judges_and_suggestions_are_of_the_same_statements() -> None:
    """The geometric mean of how many of 1,000 would say it, of whom the fewest are "only me"."""
    rows = [*csv.reader((EVERYDAY / profiles.SHARES).read_text("utf-8").splitlines())][1:]
    assert len({each for each, *_ in rows} & {each.text for each in ground().statements}) == 300
    suggested, judged = profiles.judged_shares(EVERYDAY, ground().model)
    assert judged[0] == pytest.approx(fmean(log(max(float(e) / 1e3, 1e-4)) for e in rows[0][1:]))
    [fact] = Facts.of(rows[0][:1], ground().model)
    assert np.exp(suggested[0]) == pytest.approx(fact.terms and fact.terms.share)
