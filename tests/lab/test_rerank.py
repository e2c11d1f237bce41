"""Re-ranking against sending: what the figures say where it can be counted by hand."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from agent.decision.rerank import Choices
from agent.lab.attack.rerank import WAYS, compared
from agent.lab.attack.simulation import Person
from tests.decision.made import PERSONS, with_rows


@given(st.integers(0, 3), st.lists(st.tuples(st.integers(0, 39), st.integers(0, 3)), min_size=1))
def test_re_ranking_all_is_as_good_as_sending_all(seed: int, chosen: list[tuple[int, int]]) -> None:
    """And tells nothing but by clicks, which tell I(click; person), as divergences have it."""
    model = with_rows(seed)
    codes, choices = model.population.codes[:, :PERSONS], Choices.of(model, 0)
    people = [Person(row, tuple(codes[row].tolist())) for row, _ in chosen]
    figures = compared(choices, people, [[intent] for _, intent in chosen], codes)
    ways: list[tuple[int | str, int]] = [(0, 0), (0, 10), ("all", 0)]
    plain, here, sent = (figures[WAYS.index(each)] for each in ways)
    assert np.allclose(here[[0, 1, 3, 4]], sent[[0, 1, 3, 4]])
    assert here[2] == plain[2] == plain[0] == 0 <= sent[2]
    assert (figures[:, 3] <= figures[:, 4] + 1e-9).all()
    own = [{at: code for at, code in enumerate(each.codes) if code} for each in people]
    places = np.argsort(np.argsort(-choices.chances({}), kind="stable")) + 1
    clicks = np.array([choices.chances(choices.helping(each)) for each in own]) / places
    clicks /= clicks.sum(axis=1, keepdims=True)
    told = (clicks * np.log2(clicks / clicks.mean(axis=0))).sum(axis=1).mean()
    assert np.allclose(plain[3:], told)  # in the engine's order its place says no more
