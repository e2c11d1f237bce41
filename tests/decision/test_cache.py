"""A cache: computed once for a model, forgotten when cleared, and never more than so much."""

from dataclasses import replace

import pytest

from agent.decision.cache import ANONYMITY_SETS, Cache, Recent
from tests.model.examples import small_model


def test_a_result_is_computed_once_for_a_model() -> None:
    """An equal model is another one, and nobody's results are another key's."""
    cache, model = Cache(), small_model()
    assert cache.utility(model, 1) is cache.utility(model, 1)
    assert cache.mean_utility(model) is cache.mean_utility(model)
    assert cache.utility(model, 1) is not cache.utility(replace(model), 1)
    people = cache.anonymity_set(model, [(1, 2), (0, 1)])
    assert people is cache.anonymity_set(model, ((0, 1), (1, 2)))
    assert cache.anonymity_set(model) is not cache.anonymity_set(model, [(0, 1)])
    assert cache.anonymity_set(model) is not cache.anonymity_set(model, share=0.5)


def test_a_cleared_cache_keeps_nothing() -> None:
    """What it held said what was asked, and of whom."""
    cache, model = Cache(), small_model()
    before = cache.anonymity_set(model), cache.get(model, "key", object), cache.read(model, "x")
    cache.clear()
    after = cache.anonymity_set(model), cache.get(model, "key", object), cache.read(model, "x")
    assert all(new is not old for new, old in zip(after[:2], before[:2], strict=True))
    assert after[2] == before[2]


def test_the_least_recently_used_goes_first() -> None:
    """However many are asked for."""
    cache, model = Cache(), small_model()
    first = cache.anonymity_set(model, [(0, 0)])
    for number in range(ANONYMITY_SETS):
        cache.anonymity_set(model, share=1 / (number + 2))
    assert cache.anonymity_set(model, [(0, 0)]) is not first
    recent = Recent[int, object](2)
    kept = recent.get(1, object)
    for key in (2, 1, 3):
        recent.get(key, object)
    assert recent.get(1, object) is kept


def test_the_mean_weighs_the_queries() -> None:
    """Two parts of the first, one of the second, before what each owes to luck."""
    cache, model = Cache(), small_model()
    priced = [cache.utility(model, query).value(0b11) for query in (0, 1)]
    singles = replace(model.tables.singles, prices=None)
    model = replace(model, tables=replace(model.tables, singles=singles))
    each = [cache.utility(model, query).value(0b11) for query in (0, 1)]
    assert cache.mean_utility(model).value(0b11) == pytest.approx((2 * each[0] + each[1]) / 3)
    assert priced == pytest.approx([each[0] - 1 / 32, each[1] - 7 / 32])
