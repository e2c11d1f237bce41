"""A decision as a page, wherever it was made: the sentence, the attributes, what more to say."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from agent.cli.layout import Column, facts, paragraph, strong, table
from agent.decision.phrases import apart, bits

RULED = ("always", "waits for you")  # reasons that a rule about the attribute is behind
COLUMNS = (
    Column("attribute", wraps=True),
    Column("in"),
    Column("gain", right=True),
    Column("cost", right=True),
    Column("why", wraps=True),
)


class Tried(NamedTuple):
    """One attribute beside the set that was chosen; without a gain it was no candidate."""

    name: str
    disclosed: bool
    gain_bits: float | None
    cost_bits: float | None
    why: str


def why(reason: str, rule: str | None, limit: str | None) -> str:
    """Return a reason, with the rule behind it or the limit that is meant, where there is one."""
    meant = rule if reason in RULED else limit
    return f"{reason} ({meant})" if meant else reason


def explanation_page(
    headline: str,
    tried: Iterable[Tried],
    first: Sequence[str],
    lines: Sequence[tuple[str, str]],
) -> str:
    """Return the page; ``first``: what is disclosed, then what waits, each in its order.

    The other attributes follow, the nearest miss first.
    """
    place = {name: number for number, name in enumerate(first)}
    rows = sorted(
        (each for each in tried if each.gain_bits is not None),
        key=lambda each: (place.get(each.name, len(place)), -_net(each), each.name),
    )
    parts = [strong(paragraph(headline))]
    parts += [table(COLUMNS, [_row(each) for each in rows])] if rows else []
    parts += [facts(lines)] if lines else []
    return "\n\n".join(parts)


def _net(tried: Tried) -> float:
    return (tried.gain_bits or 0.0) - (tried.cost_bits or 0.0)


def _row(tried: Tried) -> tuple[str, ...]:
    decimals = apart(tried.gain_bits, tried.cost_bits)  # what decides must not be rounded away
    return (
        tried.name,
        "yes" if tried.disclosed else "-",
        bits(tried.gain_bits, signed=True, decimals=decimals),
        bits(tried.cost_bits, decimals=decimals),
        tried.why,
    )
