"""What would leave: another set, every trade-off, and prices from a person's answers."""

from typing import Annotated, Literal

from msgspec import Meta, field

from agent.decision.values import Decision, Figures, Outcome
from agent.wire.base import MOST_NAMES, Host, Message, Name, Names, Query
from agent.wire.decide import Line

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


class Weighed(Message, frozen=True, kw_only=True):
    """A request with the set that leaves, or left, beside the one that is weighed.

    ``decision``: what would be decided today; ``chosen``: the set that leaves by itself, or that an
    entry of the ledger carried; ``weighed``: the same with what was added and dropped; ``rows``:
    each attribute beside the rest of that set. Where nothing can be decided there are no rows.
    """

    headline: str
    pool: str = ""
    decision: Decision
    chosen: Figures
    weighed: Figures
    rows: tuple[Outcome, ...] = ()
    lines: list[Line] = field(default_factory=list)


class CurveAsk(Message, frozen=True, kw_only=True):
    """Which curve: of a query, null for all of them; by the terms of a recipient, null: of any."""

    query: Query | None = None
    recipient: Host | None = None
    asked: Names | None = None


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


class CalibratedPair(Message, frozen=True, kw_only=True):
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
    pairs: list[CalibratedPair]
    sensitivity: dict[str, float | None]
    written: bool = False
