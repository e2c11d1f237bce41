"""The entries of the ledger, and the JSON that is sealed for each (FORMAT.md)."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from math import isfinite
from typing import Annotated, Any, NamedTuple

import msgspec
from msgspec import Meta, Struct

from agent.vault.sealed.trouble import damaged

MOST_SITES = 48  # in one entry, which has room for so many of the longest


@dataclass(frozen=True, slots=True, repr=False, kw_only=True)
class Disclosure:
    """What one request carried; appended before its answer leaves.

    ``at``: with a time zone; ``host``: canonical, as policy.hosts.host_of gives it; ``asked``: the
    names that the recipient could use, None where it did not say; ``disclosed``: (name, value)
    pairs in the order chosen, "unspecified" included; ``persons``: those of them that are
    attributes of the person, and so knowledge; ``model``, ``digest``: of the model that decided;
    ``people_left``: who agree with all that the recipient's pool holds from now on.
    Raises ValueError if one of these does not hold.
    """

    at: datetime
    host: str
    query: str
    asked: tuple[str, ...] | None
    disclosed: tuple[tuple[str, str], ...]
    persons: tuple[str, ...]
    model: str
    digest: str
    utility_bits: float
    people_left: int

    def __post_init__(self) -> None:
        names = [name for name, _ in self.disclosed]
        checks = (
            (self.at.utcoffset() is not None, "a time has no zone"),
            (self.host, "there is no host"),
            (all(name and value for name, value in self.disclosed), "a name or value is empty"),
            (len(set(names)) == len(names), "a name is disclosed twice"),
            (len(set(self.persons)) == len(self.persons), "a person attribute is named twice"),
            (set(self.persons) <= set(names), "a person attribute is not disclosed"),
            (isfinite(self.utility_bits), "the utility is not finite"),
            (self.people_left >= 0, "fewer than no people are left"),
        )
        if problem := next((problem for holds, problem in checks if not holds), None):
            raise ValueError(problem)

    @property
    def facts(self) -> tuple[tuple[str, str], ...]:
        """The pairs that are knowledge: those of person attributes."""
        persons = set(self.persons)
        return tuple(pair for pair in self.disclosed if pair[0] in persons)

    def __repr__(self) -> str:
        return f"Disclosure(at={self.at.isoformat()}, {len(self.disclosed)} attributes)"


@dataclass(frozen=True, slots=True, repr=False, kw_only=True)
class Forgetting:
    """The user's statement that a recipient, and whoever it pooled with, can no longer link.

    ``host``: whom the user named, or one of them; ``sites``: of all whom it is said, registered
    sites (policy.hosts.site_of), ascending. What they were told until then is forgotten, whoever
    pools with whom later. Raises ValueError where the time has no zone, there is no host, or the
    sites are none, too many or not in order.
    """

    at: datetime
    host: str
    sites: tuple[str, ...]

    def __post_init__(self) -> None:
        if self.at.utcoffset() is None or not self.host:
            raise ValueError("a time has no zone, or there is no host")
        if not 0 < len(self.sites) <= MOST_SITES or "" in self.sites:
            raise ValueError("it is said of nobody, or of too many at once")
        if self.sites != tuple(sorted({*self.sites})):
            raise ValueError("its sites are not in order")

    def __repr__(self) -> str:
        return f"Forgetting(at={self.at.isoformat()}, {len(self.sites)} sites)"


Record = Disclosure | Forgetting


class Numbered(NamedTuple):
    """An entry in its place; numbers run from 1 without gaps."""

    number: int
    record: Record


def encode(record: Record) -> bytes:
    """Return an entry as JSON."""
    at = {"at": _written(record.at)}
    if isinstance(record, Forgetting):
        return _ENCODER.encode(_Forgotten(**_fields(record) | at))
    return _ENCODER.encode(_Disclosed(**_fields(record) | at))


def decode(payload: bytes) -> Record:
    """Return the entry that is written here; DamagedVaultError where none is."""
    try:
        read = _DECODER.decode(payload)
        kind = Disclosure if isinstance(read, _Disclosed) else Forgetting
        return kind(**_fields(read))
    except (msgspec.MsgspecError, ValueError, RecursionError):  # which may quote what they read
        raise damaged("an entry of its ledger cannot be read") from None


class _Entry(Struct, frozen=True, forbid_unknown_fields=True, tag_field="kind"):
    at: Annotated[datetime, Meta(tz=True)]
    host: str


class _Forgotten(_Entry, frozen=True, tag="forgotten"):
    sites: tuple[str, ...]


class _Disclosed(_Entry, frozen=True, tag="disclosed"):
    query: str
    asked: tuple[str, ...] | None
    disclosed: tuple[tuple[str, str], ...]
    persons: tuple[str, ...]
    model: str
    digest: str
    utility_bits: float
    people_left: int


_ENCODER = msgspec.json.Encoder()
_DECODER = msgspec.json.Decoder(_Disclosed | _Forgotten)


def _fields(value: Record | _Entry) -> dict[str, Any]:
    names = value.__struct_fields__ if isinstance(value, Struct) else value.__slots__
    return {name: getattr(value, name) for name in names}


def _written(at: datetime) -> datetime:
    """Return the same instant with a zone that RFC 3339 can write: whole minutes."""
    offset = at.utcoffset() or timedelta()
    return at.astimezone(UTC) if offset % timedelta(minutes=1) else at
