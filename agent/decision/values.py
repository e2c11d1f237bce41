"""The values of a decision: each is one thing from the mathematics to the message and the screen.

A leaf: no NumPy, no policy, no other module of `agent`, so that messages, sentences and clients
can hold these values without the mathematics that makes them.
"""

from datetime import datetime

from msgspec import Struct, field


class FactTerms(Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """What is fixed when a fact in the user's own words is written (DESIGN.md 2.6, 2.12).

    ``share``: of all people, who would say the same, above 0 to 1; ``sensitivity``: bits, from 0;
    ``relevance``: by topic, the probability that the fact helps there; ``vector``: its place in the
    encoder of relevance, little-endian float32. They nearly are the fact, so ``repr`` masks them.
    """

    share: float | None = None
    sensitivity: float | None = None
    relevance: dict[str, float] = field(default_factory=dict)
    vector: bytes = b""

    def __repr__(self) -> str:
        return "FactTerms(***)"


class Fact(Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """One fact of the user's profile.

    ``id``: unique in the profile, never used again; ``kind``: what the fact is about, a name that
    models share, such as "region"; ``value``: one of the kind's listed values, or "unspecified";
    ``words``: the user's own, ``short``: their form for a search; ``set_at``: when the user last
    set it, with a zone; ``terms``: of a fact in own words. ``repr`` masks all that it says.
    """

    id: str
    kind: str
    value: str | None = None
    words: str | None = None
    short: str | None = None
    set_at: datetime
    terms: FactTerms | None = None

    def __repr__(self) -> str:
        return f"Fact(id={self.id!r}, kind={self.kind!r}, set_at={self.set_at.isoformat()}, ***)"
