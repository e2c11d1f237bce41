"""What a person wants in return for being known, from their answers. Source: paper 6, 7.2."""

from typing import Annotated, Literal

from msgspec import Meta, field

from agent.wire.base import MOST_NAMES, Message, Name

Improvement = Literal["25%", "50%", "100%", "4x", "never"]
Level = Annotated[int, Meta(ge=1, le=5)]
MOST_PEOPLE = 100  # whose answers make medians


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
