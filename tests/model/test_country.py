"""Where somebody lives changes whose people a model counts, and nothing else."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.decision.cache import Cache
from agent.errors import UsageError
from agent.model.file import read, shipped_model
from agent.model.model import Model
from agent.model.world import EVERYWHERE, LEAST_SHARE, in_country
from agent.tradeoff.dependence_tree import pair_people


@cache
def everyday() -> Model:
    return read(shipped_model())


NAMED = st.sampled_from([each.name for each in everyday().attributes])


@given(st.sampled_from(["de", "us", "ke"]), st.sets(NAMED, max_size=6))
def test_what_helps_is_the_same_wherever_somebody_lives(country: str, names: set[str]) -> None:
    """Only people are counted elsewhere, and facts keep what they are."""
    models = everyday(), in_country(everyday(), country)
    sets = [sum(1 << each.index(name) for name in names) for each in models]
    for topic in range(0, len(models[0].queries), 17):
        own, other = (
            Cache().judgements(each).coverage({topic: 1.0}).value(mask)
            for each, mask in zip(models, sets, strict=True)
        )
        assert own == pytest.approx(other)
    for each in models[0].attributes:
        same = models[1].attributes[models[1].index(each.name)]
        if each.name != "country":
            assert replace(same, shared=each.shared) == each


def test_elsewhere_rows_say_only_how_common_facts_are() -> None:
    """Columns of what goes together anywhere; what does not counts by the share of the rows."""
    here, there = everyday(), in_country(everyday(), "de")
    people, rows = there.population, here.population
    columns = [each for each in there.attributes if each.scope == "person" and not each.shared]
    assert {each.name for each in columns} == EVERYWHERE
    for at, each in enumerate(columns):
        assert np.array_equal(people.columns[at], rows.columns[here.index(each.name)])
    assert there.people == people.residents == pytest.approx(0.75 * 83e6, rel=0.05)
    assert (there.stands_for, there.as_in) == ("people in Germany", "the US")
    for kind in there.kinds[:10]:
        counts = np.bincount(rows.columns[here.index(kind.name)], rows.weights)[1:]
        assert kind.shares == pytest.approx(np.maximum(counts / counts.sum(), LEAST_SHARE))
    fresh = replace(people, pairs=None)
    assert people.pairs == pytest.approx(pair_people(fresh, there.cards))


@given(st.dictionaries(NAMED, st.integers(0, 200), max_size=5))
def test_elsewhere_as_many_look_alike_as_the_formula_has_it(drawn: dict[str, int]) -> None:
    """Whose number falls with what is held, and grows with the country."""
    crowds = []
    for country in ("is", "de"):
        model = in_country(everyday(), country)
        pairs = [(model.index(n), code % model.cards[model.index(n)]) for n, code in drawn.items()]
        crowd = Cache().anonymity_set(model, pairs)
        assert crowd.people <= model.people * (1 + 1e-9)
        assert crowd.success == pytest.approx(crowd.identifiability(0, "maxprob", 1))
        assert not crowd.closed or crowd.success >= 0.5
        crowds.append(crowd.people)
    assert crowds[0] <= crowds[1]


def test_a_model_that_says_no_country_counts_its_own_people() -> None:
    """As where nobody said where the user lives."""
    other = read(shipped_model("so2017"))
    assert in_country(other, "de") is other
    assert in_country(everyday(), "") is everyday()
    assert in_country(everyday(), "us").people == everyday().people
    for text in ("kenya", "zz"):
        with pytest.raises(UsageError, match="country"):
            in_country(everyday(), text)
