"""What a model is built from, and how; what people know of a table that its columns do not say.

Titles, ladders, concepts and prices are in a description, a TOML file. FORMAT_DESCRIPTION.md has
its keys, `concepts.toml` what is called alike in several models.
"""

import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, Literal, NamedTuple
from unicodedata import category

import msgspec
from msgspec import Meta, Struct

from agent.errors import UsageError, misfit
from agent.files import read_bytes
from agent.model.attributes import UNSPECIFIED
from agent.model.metadata import MAX_SHRINKAGE, MIN_SHRINKAGE
from agent.tradeoff.utility import Estimator

MAX_BYTES = 2**20
_UNKNOWN = re.compile(r"unknown field `(.*?)`")
_LINE = re.compile(r"at line (\d+)")
_HINT = "agent/build/FORMAT_DESCRIPTION.md has every key and an example"
Progress = Callable[[str, float], None]
MAX_USERS = 2**32  # of a query (FORMAT.md)
MAX_TEXT = 200  # characters
_UNSHOWN = ("Cc", "Cs")  # control characters, and bytes that are no text
Half = Literal["A", "B"]
Engine = Literal["duckdb", "polars", "spark"]


class AttributeNote(Struct, frozen=True, forbid_unknown_fields=True):
    """What is known of an attribute.

    ``title``: for people; ``refines``: the attribute of which it is a finer grain; ``concept``:
    what it is called across models, of `concepts` or with a dot; ``same_as``: the concept's value
    by the attribute's, where the two are not written alike; ``sensitivity``: in bits; ``values``:
    in their natural order, also those that nobody has; ``implies``: for a value, the values that
    other attributes have by it; ``words``: for a value, what to add to a search.
    """

    title: str = ""
    refines: str = ""
    concept: str = ""
    same_as: dict[str, str] = msgspec.field(default_factory=dict)
    sensitivity: Annotated[float, Meta(ge=0, le=1e6)] = 0.0
    values: tuple[str, ...] = ()
    implies: dict[str, dict[str, str]] = msgspec.field(default_factory=dict)
    words: dict[str, str] = msgspec.field(default_factory=dict)


class QueryNote(Struct, frozen=True, forbid_unknown_fields=True):
    """What is known of a query; ``title``: for people."""

    title: str


class Description(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A description file; its keys are fields of BuildOptions."""

    id: str = ""
    source: str = ""
    licence: str = ""
    stands_for: str = ""
    weights: str = ""
    without: tuple[str, ...] = ()
    attributes: dict[str, AttributeNote] = msgspec.field(default_factory=dict)
    queries: dict[str, QueryNote] = msgspec.field(default_factory=dict)


def read_description(path: Path) -> dict[str, Any]:
    """Return the fields of BuildOptions that a description file gives.

    Raises UsageError if it cannot be read, is not TOML, or has a key or value that cannot be.
    """
    try:
        found = msgspec.toml.decode(read_bytes(path, MAX_BYTES), type=Description)
    except msgspec.ValidationError as error:
        if unknown := _UNKNOWN.search(str(error)):
            kinds = (Description, AttributeNote, QueryNote)
            known = {each for kind in kinds for each in kind.__struct_fields__}
            problem = UsageError.unknown("key", unknown[1], known)
            raise UsageError(problem.what, problem.hint, str(path)) from error
        what = f"the description does not fit: {misfit(error)}"
        raise UsageError(what, _HINT, str(path)) from error
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        line = _LINE.search(str(error))
        what = "not a file in TOML" if line is None else f"line {line[1]} is not TOML"
        raise UsageError(what, _HINT, str(path)) from error
    fields = {name: getattr(found, name) for name in Description.__struct_fields__}
    return {name: given for name, given in fields.items() if given not in ("", (), {})}


@cache
def concepts() -> Mapping[str, tuple[str, ...]]:
    """Return the values of each concept that models share, by its name."""
    text = (files("agent.build") / "concepts.toml").read_text("utf-8")
    return MappingProxyType(
        {name: tuple(each["values"]) for name, each in tomllib.loads(text).items()}
    )


def concept_of(
    own: str, note: AttributeNote, values: Sequence[str]
) -> tuple[str, tuple[str | None, ...]]:
    """Return the concept of an attribute with these values, and that of each value.

    ``own``: its concept where the note has none. UsageError for a concept or value that does not
    exist, or two values of one.
    """
    name = note.concept or own
    if name != own and "." not in name and name not in concepts():
        raise UsageError.unknown("concept", name, concepts())
    known = concepts().get(name, (*values[1:], *note.same_as.values()))
    for value in (*note.same_as, *note.implies, *note.words):
        if value not in values[1:]:
            raise UsageError.unknown("value", value, values[1:])
    for concept in note.same_as.values():
        if concept not in known:
            raise UsageError.unknown(f"value of concept {name!r}", concept, known)
    spoken = (note.same_as.get(each, each) for each in values[1:])
    found = [each if each in known else None for each in spoken]
    for each in found:
        if each is not None and found.count(each) > 1:
            what = f"two values have the concept {each!r}"
            raise UsageError(what, "keep the one that fits it best")
    return name, (UNSPECIFIED, *found)


class TableFiles(NamedTuple):
    """Two tables, as csv, csv.gz, parquet or folders of parquet."""

    users: Path
    events: Path


class LogFiles(NamedTuple):
    """A raw search log, as csv, csv.gz, parquet or folders of parquet (FORMAT_LOG.md)."""

    log: Path
    people: Path
    sites: Path


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildOptions:
    """What a model is built from, and how; UsageError if one of these cannot be.

    ``users``, ``events``: two tables; ``log``, ``people``, ``sites``: a log instead; all of them
    as csv, csv.gz, parquet or folders of parquet; ``engine``: what computes them, ``master``: the
    address of its cluster, None to run it on this machine; ``estimator``: of the utility;
    ``shrinkage``: beta of every query, in rows, None to choose it per query; ``min_users``: queries
    with fewer different users are dropped; ``most_queries``: only so many of the others are kept,
    the most frequent, None to keep all; ``half``: build from this half of the users only;
    ``validation``: whether to score each half by the other, which is most of the work; ``id``,
    ``source``, ``licence``, ``stands_for``: as the model will state them; ``weights``: the column
    of the users that says how many people a row stands for, None where each stands for itself;
    ``without``: columns that are left out; ``phrasings``, ``background``: tables of texts, by the
    query that each means and of what means none, for a model that reads any text; ``attributes``,
    ``queries``: what is known of them, by name and by text.
    """

    users: Path | None = None
    events: Path | None = None
    log: Path | None = None
    people: Path | None = None
    sites: Path | None = None
    engine: Engine = "duckdb"
    master: str | None = None
    estimator: Estimator = "louo"
    shrinkage: float | None = None
    min_users: int = 30
    most_queries: int | None = None
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
        if self.master is not None and self.engine != "spark":
            what = f"{self.engine} runs on this machine only"
            raise UsageError(what, "leave --master out, or give --engine spark")
        if not 1 <= self.min_users <= MAX_USERS:
            which = "none" if self.min_users < 1 else "more than a model can hold"
            what = f"at least {self.min_users} users per query are {which}"
            raise UsageError(what, f"give a number from 1 to {MAX_USERS}")
        if self.most_queries is not None and self.most_queries < 1:
            what = f"a model of {self.most_queries} queries says nothing"
            raise UsageError(what, "keep at least one")
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
