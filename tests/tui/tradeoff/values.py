"""A curve of four sets, as the daemon would answer with it."""

from agent.wire.what_if import Point, TradeOffs


def point(least: float, most: float, *names: str, helps: float = 0.1, dear: float = 0.01) -> Point:
    """Return a point of a curve."""
    return Point(
        least=least,
        most=most,
        disclosed=[*names],
        utility_bits=helps,
        cost_bits=least * dear,
        identifiability_cost=dear,
        people_left=100.0 / (1 + len(names)),
        proof="none",
        beaten=False,
    )


CURVE = TradeOffs(
    matched_query="editor",
    status="answered",
    mode="per-request",
    algorithm="lls",
    metric="maxprob",
    trade_off=3.0,
    present=1,
    knee=2,
    points=[
        point(0, 1, "a", "b", "c", helps=0.3, dear=0.03),
        point(2, 4, "a", "b", helps=0.2, dear=0.02),
        point(8, 16, "a", "d", helps=0.1, dear=0.01),
        point(32, 64, helps=0.0, dear=0.0),
    ],
)
TITLES = {"a": "age", "b": "[b]old", "c": "city"}
