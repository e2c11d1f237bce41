"""Fig. 8a: dominance, the knee of a made curve, and what the page says of it."""

from hypothesis import given
from hypothesis import strategies as st

from agent.lab.paper import orders
from agent.tradeoff.objective import Parts
from agent.tradeoff.search import maximise
from agent.tradeoff.tradeoff_curve import Point, beaten
from tests.lab.paper.made import made_subject


def point(trade_off: float, cost: float, worth: float) -> Point:
    """Return a point with a set of its own."""
    parts = Parts(worth, cost, 0.0, 0.0, worth - trade_off * cost)
    return Point(trade_off, trade_off, int(trade_off * 64), parts, "none")


@given(st.integers(0, 9), st.floats(0.1, 50))
def test_no_set_on_the_curve_is_better_than_the_best(seed: int, present: float) -> None:
    """Nor worse than a third of it at its own lambda; a knee is one that no other set beats."""
    subject = made_subject(seed, "plugin")
    found = orders.curve_of(subject, present)
    for each in found.points:
        best = maximise(subject.objective(each.least), "exhaustive").value
        assert best / 3 <= each.parts.objective <= best + 1e-9
    assert found.points[-1].mask == 0
    if found.knee is not None:
        assert not beaten(found.points)[found.points.index(found.knee)]


def test_the_knee_of_a_made_curve_is_found_and_said() -> None:
    """Four fifths of the utility for a twentieth of the cost, at lambda 4."""
    points = (point(0.5, 1.0, 2.0), point(4.0, 0.05, 1.6), point(64.0, 0.0, 0.0))
    made = orders.SubjectCurve(points, 1.0)
    assert made.knee == points[1]
    finding = orders.curve_finding({"plugin": made}, "made")
    assert [each.same for each in finding.claims] == [True, True]
    (mark,) = finding.chart.panels[0].marks
    assert (mark.x, mark.y) == (0.05, 1.6)


def test_a_set_that_another_beats_is_no_part_of_the_line() -> None:
    """It is drawn, and the line goes up with the cost all the same."""
    points = (point(0.5, 1.0, 2.0), point(1.0, 0.5, 1.0), point(4.0, 0.05, 1.6))
    finding = orders.curve_finding({"plugin": orders.SubjectCurve(points, 1.0)}, "made")
    line, others = finding.chart.panels[0].series
    assert (line.x, line.y) == ((0.05, 1.0), (1.6, 2.0))
    assert (others.x, others.y, others.names) == ((0.5,), (1.0,), ("λ = 1",))


def test_a_knee_elsewhere_is_another_shape() -> None:
    """Where lambda is far from the paper's, and where there is no knee at all."""
    points = (point(0.5, 1.0, 2.0), point(50.0, 0.5, 1.9), point(64.0, 0.0, 0.0))
    finding = orders.curve_finding({"plugin": orders.SubjectCurve(points, 1.0)}, "made")
    assert [each.same for each in finding.claims] == [False, False]
    finding = orders.curve_finding({"plugin": orders.SubjectCurve(points[:1], 1.0)}, "made")
    assert [each.same for each in finding.claims] == [False]
