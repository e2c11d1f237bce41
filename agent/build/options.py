"""What a model is built from, and how."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Literal, NamedTuple
from unicodedata import category

from agent.build.describe import AttributeNote, QueryNote
from agent.errors import UsageError
from agent.model.metadata import MAX_SHRINKAGE, MIN_SHRINKAGE
from agent.tradeoff.utility import Estimator

Progress = Callable[[str, float], None]

MAX_USERS = 2**32  # of a query (FORMAT.md)
MAX_TEXT = 200  # characters
_UNSHOWN = ("Cc", "Cs")  # control characters, and bytes that are no text

Half = Literal["A", "B"]


class TableFiles(NamedTuple):
    """Two tables, as csv, csv.gz or parquet."""

    users: Path
    events: Path


class LogFiles(NamedTuple):
    """A raw search log, as csv, csv.gz or parquet (FORMAT_LOG.md)."""

    log: Path
    people: Path
    sites: Path


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildOptions:
    """What a model is built from, and how; UsageError if one of these cannot be.

    ``users``, ``events``: two tables; ``log``, ``people``, ``sites``: a log instead; all of them
    as csv, csv.gz or parquet; ``estimator``: of the utility; ``shrinkage``: beta of every query,
    in rows, None to choose it per query; ``min_users``: queries with fewer different users are
    dropped; ``half``: build from this half of the users only; ``validation``: whether to score
    each half by the other, which is most of the work; ``id``, ``source``, ``licence``,
    ``stands_for``: as the model will state them; ``weights``: the column of the users that says
    how many people a row stands for, None where each stands for itself; ``without``: columns that
    are left out; ``phrasings``, ``background``: tables of texts, by the query that each means
    and of what means none, for a model that reads any text; ``attributes``, ``queries``: what is
    known of them, by name and by text.
    """

    users: Path | None = None
    events: Path | None = None
    log: Path | None = None
    people: Path | None = None
    sites: Path | None = None
    estimator: Estimator = "louo"
    shrinkage: float | None = None
    min_users: int = 30
    half: Half | None = None
    phrasings: Path | None = None
    background: Path | None = None
    validation: bool = True
    id: str = "model"
    source: str = ""
    licence: str = ""
    stands_for: str = "people"
    weights: str | None = None
    without: Sequence[str] = ()
    attributes: Mapping[str, AttributeNote] = field(default_factory=dict)
    queries: Mapping[str, QueryNote] = field(default_factory=dict)

    @property
    def files(self) -> TableFiles | LogFiles:
        """The files to build from; UsageError unless they are all of one kind."""
        match self.users, self.events, self.log, self.people, self.sites:
            case Path() as users, Path() as events, None, None, None:
                return TableFiles(users, events)
            case None, None, Path() as log, Path() as people, Path() as sites:
                return LogFiles(log, people, sites)
        what = "a model is built from users and events, or from a log, its people and its sites"
        raise UsageError(what, "give --users and --events, or --log, --people and --sites")

    def __post_init__(self) -> None:
        _ = self.files
        object.__setattr__(self, "attributes", MappingProxyType(dict(self.attributes)))
        object.__setattr__(self, "queries", MappingProxyType(dict(self.queries)))
        if not 1 <= self.min_users <= MAX_USERS:
            which = "none" if self.min_users < 1 else "more than a model can hold"
            what = f"at least {self.min_users} users per query are {which}"
            raise UsageError(what, f"give a number from 1 to {MAX_USERS}")
        if (self.phrasings is None) != (self.background is None):
            what = "phrasings and a background are given together"
            raise UsageError(what, "give --phrasings and --background, or neither of them")
        for name in ("id", "source", "licence", "stands_for"):
            _check_text(name, getattr(self, name))
        notes: list[tuple[str, AttributeNote | QueryNote]] = [*self.attributes.items()]
        for name, note in (*notes, *self.queries.items()):
            _check_text(f"title of {name}", note.title)
        if not (self.id.strip() and self.stands_for.strip()):
            what = "the id of the model is empty, or whom its rows stand for"
            raise UsageError(what, "give it a name, and say for whom, in the plural")
        plain = self.estimator == "plugin" and self.shrinkage == 0
        beta = MIN_SHRINKAGE if self.shrinkage is None else self.shrinkage
        if not (plain or MIN_SHRINKAGE <= beta <= MAX_SHRINKAGE):
            zero = ", or 0" if self.estimator == "plugin" else ""
            hint = f"give a number of rows from {MIN_SHRINKAGE:g} to {MAX_SHRINKAGE:g}{zero}"
            raise UsageError(f"a shrinkage of {beta:g} is out of range", hint)


def _check_text(name: str, text: str) -> None:
    """Refuse what cannot be shown on one line of a terminal."""
    if len(text) > MAX_TEXT:
        raise UsageError(f"the {name} has {len(text)} characters", f"use at most {MAX_TEXT}")
    if any(category(each) in _UNSHOWN for each in text):
        what = f"the {name} {text[:40]!r} has a control character"
        raise UsageError(what, "use characters that can be shown")
