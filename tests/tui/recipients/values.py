"""Recipients, and what the daemon says of one."""

from datetime import UTC, datetime, timedelta

from hypothesis import strategies as st
from msgspec.structs import replace

from agent.wire.records import Held, Moment, Recipient
from agent.wire.what_if import Weighed, WeighedOutcome, Weight

START = datetime(2026, 3, 1, 8, 0, tzinfo=UTC)
COUNTS = st.lists(st.integers(0, 20_000), min_size=1, max_size=60)
NAMES = st.lists(st.text(min_size=1, max_size=12), max_size=8, unique=True)


def moments(counts: list[int]) -> list[Moment]:
    """Return a history, an hour for each."""
    hour = timedelta(hours=1)
    return [Moment(at=START + hour * at, people_left=each) for at, each in enumerate(counts)]


def recipient(counts: list[int], pool: str = "shop.example", **more: object) -> Recipient:
    """Return one that was told something as often as people became fewer."""
    found = Recipient(
        pool=pool,
        sites=[pool],
        held=["region", "hobby"],
        requests=len(counts),
        last_at=START,
        people=20_000,
        people_left=counts[-1],
        history=moments(counts),
        blocked=False,
    )
    return replace(found, **more)


SHOP = recipient([9_000, 400, 310])
HELD = Held(
    pool="shop.example",
    values={"region": "[b]north[/b]", "hobby": "chess"},
    since={"region": START, "hobby": START + timedelta(days=1)},
    recent=2,
    model="survey",
    people=20_000,
    people_left=310,
)
WEIGHT = Weight(names=[], utility_bits=0, cost_bits=0, identifiability=0, people_left=310)


def row(name: str, gain: float | None, cost: float | None, **more: object) -> WeighedOutcome:
    """Return what one attribute would do."""
    found = WeighedOutcome(
        name=name,
        title=name.title(),
        inside=False,
        held=False,
        disclose="auto",
        reason="",
        gain_bits=gain,
        cost_bits=cost,
        people_left=12,
    )
    return replace(found, **more)


def weighed(*rows: WeighedOutcome) -> Weighed:
    """Return what the daemon says of them."""
    return Weighed(
        code="answered",
        headline="",
        pool="shop.example",
        model="survey",
        metric="maxprob",
        trade_off=1,
        people=310,
        decided=[],
        pending=[],
        chosen=WEIGHT,
        weighed=WEIGHT,
        rows=[*rows],
        lines=[],
    )
