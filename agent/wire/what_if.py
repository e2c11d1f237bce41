"""What would leave: another set, every trade-off, and prices from a person's answers."""

from typing import Annotated, Literal

from msgspec import Meta, field

from agent.wire.base import MOST_NAMES, Host, Message, Name, Names, Query
from agent.wire.decide import AttributeOutcome, Code, CountedAmong, Line, ReadAs

Number = Annotated[int, Meta(ge=1, le=10**15)]
Improvement = Literal["25%", "50%", "100%", "4x", "never"]
Level = Annotated[int, Meta(ge=1, le=5)]
MOST_PEOPLE = 100  # whose answers make medians


class WhatIf(Message, frozen=True, kw_only=True):
    """A request, and what to add to the set that leaves with it and to drop from it.

    It is that of an ``entry`` of the ledger, as things stood before it, or one that is named by
    its ``recipient`` and ``query``; null as the query: the mean of all that the model knows.
    """

    entry: Number | None = None
    recipient: Host | None = None
    query: Query | None = None
    asked: Names | None = None
    add: Names = field(default_factory=list)
    drop: Names = field(default_factory=list)


class Weight(Message, frozen=True, kw_only=True):
    """The figures of one set; ``names`` in the order of the model.

    ``cost_bits``: all that the objective takes off ``utility_bits``; ``identifiability``: of who
    is told it, in the unit of the cost; ``people_left``: who are expected to agree with it and
    with what is known; ``breaks``: the limit that it would break, by its key in a policy.
    """

    names: list[str]
    utility_bits: float
    cost_bits: float
    identifiability: float
    people_left: float
    breaks: str | None = None


class WeighedOutcome(AttributeOutcome, frozen=True, kw_only=True):
    """One attribute, beside the rest of the set that is weighed.

    ``inside``: it is in that set; ``held``: the recipient holds it already; ``disclose``: what the
    policy says of it, or that it is guarded; ``gain_bits``, ``cost_bits``: what it adds to the
    rest, or would; ``people_left``: who are left with it; each null where that cannot be said.
    """

    title: str
    inside: bool
    held: bool
    disclose: str
    rule: str | None = None
    limit: str | None = None
    gain_bits: float | None = None
    cost_bits: float | None = None
    people_left: float | None = None


class Weighed(Message, frozen=True, kw_only=True):
    """A request with the set that leaves, or left, beside the one that is weighed.

    ``chosen``: what leaves by itself, or what an entry of the ledger carried; ``weighed``: the
    same with what was added and dropped; ``decided``: what would be chosen today; ``people``: who
    agree with what is known; ``read_as``: what the query is read as today. Where nothing can be
    decided, ``code`` says why and there are no rows.
    """

    code: Code
    headline: str
    pool: str
    model: str
    metric: str
    trade_off: float
    people: int
    decided: list[str]
    pending: list[str]
    chosen: Weight
    weighed: Weight
    rows: list[WeighedOutcome]
    lines: list[Line]
    read_as: ReadAs | None = None
    proof: str = "none"
    among: CountedAmong | None = None


class CurveAsk(Message, frozen=True, kw_only=True):
    """Which curve: of a query, null for all of them; by the terms of a recipient, null: of any."""

    query: Query | None = None
    recipient: Host | None = None
    asked: Names | None = None


class Point(Message, frozen=True, kw_only=True):
    """One set, chosen at each λ that was tried from ``least`` to ``most``; figures at ``least``.

    ``beaten``: another point brings as much at less cost, or more at no more.
    """

    least: float
    most: float
    disclosed: list[str]
    utility_bits: float
    cost_bits: float
    identifiability_cost: float
    people_left: float
    proof: str
    beaten: bool


class TradeOffs(Message, frozen=True, kw_only=True):
    """The curve, in ascending λ; ``present`` and ``knee``: indexes of points.

    ``matched_query``: the known query that was meant, null where the curve is that of all.
    """

    matched_query: str | None
    status: Code
    mode: str
    algorithm: str
    metric: str
    trade_off: float
    present: int
    knee: int | None
    points: list[Point]


class Answers(Message, frozen=True, kw_only=True):
    """What one person said.

    ``improvement``: by level, from "1" to "5", how much better a search must be; ``sensitivity``:
    by attribute, its level; ``one_of``: by number of people, the level of being one of them.
    """

    improvement: Annotated[dict[str, Improvement], Meta(max_length=5)]
    sensitivity: Annotated[dict[Name, Level], Meta(max_length=MOST_NAMES)] = field(
        default_factory=dict
    )
    one_of: Annotated[dict[str, Level], Meta(max_length=100)] = field(default_factory=dict)


class Calibrate(Message, frozen=True, kw_only=True):
    """Answers, of several people their medians count; ``write``: put the result in the policy."""

    answers: Annotated[list[Answers], Meta(min_length=1, max_length=MOST_PEOPLE)]
    write: bool = False


class Pair(Message, frozen=True, kw_only=True):
    """What being known so well costs, and the bits wanted for it, null for what is never shared.

    ``residual_bits``: those wanted less those that the fitted line has, null without a line.
    """

    name: str
    identifiability: float
    wanted_bits: float | None
    residual_bits: float | None


class Calibrated(Message, frozen=True, kw_only=True):
    """What answers come to: λ, null where no pair has a price, and sensitivities in bits.

    ``sensitivity``: null for what is never shared; ``source``: the question that the pairs are
    from; ``written``: whether the policy says so now.
    """

    people: int
    trade_off: float | None
    metric: str
    source: Literal["precision", "one_of"]
    rms_residual_bits: float | None
    pairs: list[Pair]
    sensitivity: dict[str, float | None]
    written: bool = False
