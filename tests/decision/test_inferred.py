"""What is told of a guarded attribute: every figure as a direct sum over the people."""

from collections import Counter
from math import log2

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.decision.knowledge import Knowledge, inferred
from agent.errors import UsageError
from agent.model.model import Model
from tests.decision.made import CARDS, NAMES, PERSONS, made_model

MODEL = made_model(1, people=300)
ROWS = MODEL.population.codes.tolist()
Held = dict[str, int]


def held() -> st.SearchStrategy[Held]:
    """Draw what a recipient may hold, unspecified included."""
    return st.fixed_dictionaries(
        {},
        optional={
            name: st.integers(0, card - 1)
            for name, card in zip(NAMES[:PERSONS], CARDS[:PERSONS], strict=True)
        },
    )


def said(name: str, agree: Held) -> list[int]:
    """Return what the people who agree say of an attribute, those who say nothing left out."""
    rows = [row for row in ROWS if all(row[NAMES.index(n)] == code for n, code in agree.items())]
    return [row[NAMES.index(name)] for row in rows if row[NAMES.index(name)]]


def bits(codes: list[int]) -> float:
    """Return the entropy of codes."""
    shares = [count / len(codes) for count in Counter(codes).values()]
    return -sum(share * log2(share) for share in shares)


def best(codes: list[int]) -> float:
    """Return the share of the most frequent."""
    return max(Counter(codes).values()) / len(codes)


@given(held(), st.sampled_from(NAMES[:PERSONS]))
def test_it_is_a_sum_over_the_people_who_agree(agree: Held, name: str) -> None:
    """And nothing is said where fewer than thirty of them specify it."""
    [found] = inferred([name], Knowledge().with_facts(agree), MODEL)
    before, after = said(name, {}), said(name, agree)
    assert found.name == name
    assert found.bits_in_all == pytest.approx(bits(before))
    assert found.by_chance == pytest.approx(best(before))
    few = len(after) < 30
    assert found.bits == pytest.approx(0.0 if few else bits(before) - bits(after), abs=1e-9)
    assert found.best_guess == pytest.approx(0.0 if few else best(after))


@given(held())
def test_who_holds_nothing_is_told_nothing(agree: Held) -> None:
    """Nor one whose values nobody has; each guarded name is answered, in the order given."""
    names = [*agree]
    for nothing in (Knowledge(), None):
        found = inferred(names, nothing, MODEL)
        assert [each.name for each in found] == names
        for each in found:
            assert each.bits == pytest.approx(0.0)
            assert each.best_guess == (0.0 if nothing is None else each.by_chance)


def test_it_is_found_once_for_whoever_holds_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """A page that is refreshed counts nobody again, and takes no crowd from the requests."""
    known = Knowledge((("age", 1),))
    first = inferred(["job"], known, MODEL)
    monkeypatch.setattr(Model, "anonymity_set", None)
    assert inferred(["job"], known, MODEL) == first


def test_only_what_the_model_has_is_guarded() -> None:
    """As a policy may name what is in another model."""
    with pytest.raises(UsageError):
        inferred(["shoe_size"], Knowledge(), MODEL)
