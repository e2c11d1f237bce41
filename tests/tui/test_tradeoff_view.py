"""What is said of a trade-off."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from agent.tui.screens.tradeoff import (
    about,
    facts,
    figures_of,
    lambda_of,
    nearest,
    selected,
)
from agent.wire.decide import CurveAsk
from agent.words.figures import MEASURED, measured
from agent.words.outcomes import PROOFS
from tests.tui.values import CURVE, point

TITLES = {"a": "age", "b": "[b]old", "c": "city"}
LAMBDAS = st.floats(0, 65_536, allow_nan=False)


@given(LAMBDAS, LAMBDAS)
def test_the_lambda_of_a_point_is_one_at_which_it_is_chosen(one: float, other: float) -> None:
    """Of three digits, if there is one such."""
    least, most = sorted((one, other))
    found = lambda_of(point(least, most))
    assert least <= found <= most
    assert found in (least, most) or found == float(f"{found:.3g}")


@given(LAMBDAS)
def test_a_set_that_leaves_at_no_price_has_the_greatest(most: float) -> None:
    """As 0 has no geometric middle."""
    assert lambda_of(point(0, most)) == most


@given(st.lists(LAMBDAS, min_size=2, max_size=12, unique=True), st.integers(0, 11), LAMBDAS)
def test_the_nearest_point_is_the_one_that_is_chosen_there(
    ends: list[float], place: int, elsewhere: float
) -> None:
    """Elsewhere, one from which no other is less far."""
    ends, at = sorted(ends), place % len(ends)
    found = replace(CURVE, points=[point(each, each) for each in ends])
    assert nearest(found, ends[at]) == at
    near = ends[nearest(found, elsewhere)]
    assert abs(near - elsewhere) == min(abs(each - elsewhere) for each in ends)


@pytest.mark.parametrize("index", range(4))
def test_what_a_point_changes_is_said_by_name(index: int) -> None:
    """What is added and what is dropped, nothing twice."""
    said = dict(facts(CURVE, index, TITLES))
    now, here = set(CURVE.points[1].figures.names), set(CURVE.points[index].figures.names)
    for label, names in (("adds", here - now), ("drops", now - here)):
        wanted = {TITLES.get(each, each) for each in names}
        assert set(said.get(label, "").replace(" and ", ", ").split(", ")) - {""} == wanted
    assert ("instead" in said) is (index != 1)
    assert ("your policy does now" in said["shares"]) is (index == 1)
    assert ("Beyond it" in said["shares"]) is (index == 2)
    assert not {"helps", "costs", "λ", "proof"} & {*said}


def test_the_figures_are_those_of_the_point() -> None:
    """In words, with the unit of the cost."""
    said = dict([*facts(CURVE, 2, TITLES), *figures_of(CURVE, 2)])
    assert said["shares"].startswith("age and d.")
    assert said["people"] == "To the recipient, about 33 people still look like you."
    assert said["helps"].startswith("0.100 bits more useful")
    assert said["costs"].startswith(
        "a 1.00 % higher chance that one guess finds you; in bits 0.030 at λ = 3, "
    )
    assert said["change"] == "-0.100 bits of help, -1.00 % of cost"
    assert said["λ"].endswith("must bring 0.113 bits of help or more")
    assert dict(facts(CURVE, 3, TITLES))["shares"].startswith("nothing.")


def test_the_present_lambda_is_the_one_in_force() -> None:
    """Not another that would choose the same."""
    assert selected(CURVE, 1) == 3.0
    assert selected(CURVE, 2) == lambda_of(CURVE.points[2])


@pytest.mark.parametrize("proof", PROOFS)
def test_only_what_was_enumerated_is_the_best(proof: str) -> None:
    """Of all else a better one is not ruled out."""
    found = replace(CURVE, points=[replace(CURVE.points[0], proof=proof)], present=0, knee=None)
    said = dict(figures_of(found, 0))["proof"]
    assert ("No better set exists" in said) is (proof == "enumerated")
    assert ("may exist" in said) is (proof != "enumerated")


def test_a_beaten_set_says_so() -> None:
    """It is a search's, which may miss the best."""
    points = [replace(CURVE.points[0], beaten=True), *CURVE.points[1:]]
    assert "beaten" in dict(facts(replace(CURVE, points=points), 0, TITLES))
    assert "beaten" not in dict(facts(CURVE, 0, TITLES))


def test_the_head_says_what_the_curve_is_of() -> None:
    """The query that was meant, or all of them; of whom it is asked."""
    assert about(None, None) == ""
    ask = CurveAsk(query="my editor", recipient="shop.example")
    assert about(ask, None) == "“my editor”, asked of shop.example"
    assert about(ask, CURVE) == "“editor”, asked of shop.example"
    everything = replace(CURVE, read_as=None)
    said = about(CurveAsk(), everything)
    assert said == "All queries, on average, asked of anybody"


def test_a_cost_in_bits_is_that_of_now_and_of_what_is_selected() -> None:
    """Never that of a lambda of 0, at which nothing costs anything."""
    for index, each in enumerate(CURVE.points):
        said = dict(figures_of(CURVE, index))["costs"].split("in bits ")[1]
        wanted = {CURVE.trade_off, selected(CURVE, index)}
        found = {}
        for part in said.split(", "):
            figures = part.split(" at λ = ")
            found[float(figures[1].replace(",", ""))] = float(figures[0])
        assert found.keys() == {float(f"{one:.3g}") for one in wanted}
        for at, price in found.items():
            assert price == pytest.approx(at * each.figures.identifiability_cost, abs=0.001)


@given(st.floats(0.00001, 1))
def test_the_numbers_of_an_axis_differ(most: float) -> None:
    """Its ends and its middle, however near they are."""
    said = [measured(most * part / 2, "maxprob", most) for part in range(3)]
    assert len({*said}) == 3


@pytest.mark.parametrize("metric", ["maxprob", "log-maxprob", "k-anonymity", "entropy"])
def test_a_cost_has_the_unit_of_its_metric(metric: str) -> None:
    """Chances in per cent, all else as a number; every metric has words."""
    assert metric in MEASURED
    said = dict(figures_of(replace(CURVE, metric=metric), 2))
    assert MEASURED[metric] in said["costs"]
    assert "must bring" in said["λ"]


def test_what_is_guarded_is_in_the_price() -> None:
    """It costs the same at every lambda, and was in no figure that stands beside another set."""
    points = [*CURVE.points]
    figures = points[2].figures
    dearer = replace(figures, objective=figures.objective - 0.5)
    points[2] = replace(points[2], figures=dearer)
    said = dict(figures_of(replace(CURVE, points=tuple(points)), 2))
    assert "in bits 0.530 at λ = 3" in said["costs"]
    assert "0.500 of them for what is secret or sensitive" in said["costs"]
    assert "+0.500 bits for what is secret or sensitive" in said["change"]
    assert "secret or" not in " ".join(dict(figures_of(CURVE, 2)).values())
