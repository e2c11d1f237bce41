"""Requests, reviews and what is weighed, as values of a test."""

from datetime import UTC, datetime
from typing import Any

from agent.wire.decide import Line
from agent.wire.policy import Review
from agent.wire.records import Handled
from agent.wire.what_if import Weighed, WeighedOutcome, Weight

AT = datetime(2026, 3, 2, 9, 15, tzinfo=UTC)


def handled(number: int = 1, **given: Any) -> Handled:  # noqa: ANN401  (of the message)
    """Return a request that carried the region."""
    usual: dict[str, Any] = {
        "kind": "disclosed",
        "at": AT,
        "recipient": "shop.example",
        "pool": "shop.example",
        "query": "editor",
        "disclosed": ["region"],
        "utility_bits": 0.25,
        "people_left": 310,
    }
    return Handled(number=number, **{**usual, **given})


def review(number: int = 1, **given: Any) -> Review:  # noqa: ANN401  (of the message)
    """Return that the gender waits."""
    usual: dict[str, Any] = {
        "kind": "ask",
        "at": AT,
        "recipient": "shop.example",
        "pool": "shop.example",
        "names": ["gender"],
        "query": "editor",
        "more_bits": 0.125,
        "people_left": 155.0,
    }
    return Review(id=number, **{**usual, **given})


def row(name: str, **given: Any) -> WeighedOutcome:  # noqa: ANN401  (of the message)
    """Return an attribute that helps more than it costs."""
    usual: dict[str, Any] = {
        "title": f"the {name}",
        "inside": False,
        "held": False,
        "disclose": "auto",
        "reason": "worth it",
        "gain_bits": 0.2,
        "cost_bits": 0.1,
        "people_left": 310.0,
    }
    return WeighedOutcome(name=name, **{**usual, **given})


def weight(*names: str, **given: Any) -> Weight:  # noqa: ANN401  (of the message)
    """Return the figures of a set."""
    usual: dict[str, Any] = {
        "utility_bits": 0.25,
        "cost_bits": 0.1,
        "identifiability": 0.01,
        "people_left": 310.0,
    }
    return Weight(names=[*names], **{**usual, **given})


def weighed(**given: Any) -> Weighed:  # noqa: ANN401  (of the message)
    """Return a request that carries the region, beside the gender."""
    usual: dict[str, Any] = {
        "code": "answered",
        "headline": "Disclose region.",
        "pool": "shop.example",
        "model": "m",
        "metric": "maxprob",
        "trade_off": 1.0,
        "people": 18_991,
        "decided": ["region"],
        "pending": [],
        "chosen": weight("region"),
        "weighed": weight("region"),
        "rows": [row("gender"), row("region", inside=True)],
        "lines": [Line(label="proven", text="at least 46% of the best there is")],
    }
    return Weighed(**{**usual, **given})
