"""The options of a build, each declared once, and the description of its tables.

Titles, ladders, concepts and prices are in the description, a TOML file. FORMAT_DESCRIPTION.md has
its keys, `concepts.toml` the values that several models share.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cache
from importlib.resources import files
from math import inf
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, get_args, get_origin
from unicodedata import category

import msgspec
from msgspec import Meta, Struct, structs

from agent.errors import UsageError, misfit
from agent.files import read_bytes
from agent.model.attributes import MAX_SHRINKAGE, MIN_SHRINKAGE, UNSPECIFIED

MAX_BYTES = 2**20
_UNKNOWN = re.compile(r"unknown field `(.*?)`")
_LINE = re.compile(r"at line (\d+)")
_HINT = "agent/build/FORMAT_DESCRIPTION.md has every key and an example"
Progress = Callable[[str, float], None]
MAX_USERS = 2**32  # of a query (FORMAT.md)
MAX_TEXT = 200  # characters
_UNSHOWN = ("Cc", "Cs")  # control characters, and bytes that are no text
Half = Literal["A", "B"]
Counting = Literal["louo", "plugin"]  # the estimators of rows


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


class KeyNote(Struct, frozen=True, forbid_unknown_fields=True):
    """The column of another survey that says the same as an attribute of the users.

    ``values``: for a value of the attribute, those of the column that agree with it; `20..29` is
    every whole number from 20 to 29.
    """

    column: str
    values: dict[str, tuple[str, ...]]


class DonorsNote(Struct, frozen=True, forbid_unknown_fields=True):
    """Another survey, whose people give the users the columns that the users table lacks.

    ``file``: csv, csv.gz or parquet, beside the description; ``source``: as the model will state
    it; ``columns``: those that are drawn, which become attributes; ``keys``: by attribute of the
    users what a donor has to agree in, the most important first; ``weights``: the column that says
    how many people a donor stands for; or ``counts``: of how many donors a row is. Without these a
    row is one donor, who stands for one person.
    """

    file: Path
    source: str
    columns: Annotated[tuple[str, ...], Meta(min_length=1)]
    keys: Annotated[dict[str, KeyNote], Meta(min_length=1)]
    weights: str = ""
    counts: str = ""

    def __post_init__(self) -> None:
        if self.weights and self.counts:
            what = f"donors of {self.file} have both weights and counts"
            raise UsageError(what, "keep the one that the table has")


class KindsNote(Struct, frozen=True, forbid_unknown_fields=True):
    """The kinds of facts that columns hold, in place of the columns.

    ``file``: a kind a line; ``crosswalk``: where each is held; ``parents``: on what each depends;
    all beside the description; ``fill``: the attributes of the users by which what is not known is
    drawn from somebody alike, the most important first.
    """

    file: Path
    crosswalk: Path
    parents: Path
    fill: Annotated[tuple[str, ...], Meta(min_length=1)]


class TopicsNote(Struct, frozen=True, forbid_unknown_fields=True):
    """What people ask for, with the kinds of facts that were judged to help, in place of events.

    ``file``: a topic a line; ``idle``: texts that nothing personal helps; ``statements``: facts as
    people say them; ``judged``, ``profiles``: sheets of facts by requests, the latter of invented
    people; all beside the description; ``merge``: topics that are another one's twin, with the
    other one.
    """

    file: Path
    idle: Path
    statements: Path
    judged: Path
    profiles: Path
    merge: dict[str, str] = msgspec.field(default_factory=dict)


class QueryNote(Struct, frozen=True, forbid_unknown_fields=True):
    """What is known of a query.

    ``title``: for people; ``intents``: all that may be wanted, which a private model needs.
    """

    title: str = ""
    intents: tuple[str, ...] = ()


class Description(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """What the tables do not say themselves, as FORMAT_DESCRIPTION.md has it.

    ``id``, ``source``, ``licence``, ``stands_for``: as the model will state them; ``weights``: the
    column of the users that says how many people a row stands for, "" where each stands for itself;
    ``without``: columns that are left out; ``attributes``, ``queries``: notes, by name and by text;
    ``donors``: other surveys, by a name of each; ``kinds``: into which all columns are put, and
    ``topics``, which they help, if any; ``most_weight``: as what a heavier row counts in a private
    model. UsageError for a text that cannot be shown on one line of a terminal, and for one of
    kinds and topics without the other.
    """

    id: str = ""
    source: str = ""
    licence: str = ""
    stands_for: str = "people"
    weights: str = ""
    without: tuple[str, ...] = ()
    attributes: dict[str, AttributeNote] = msgspec.field(default_factory=dict)
    queries: dict[str, QueryNote] = msgspec.field(default_factory=dict)
    donors: dict[str, DonorsNote] = msgspec.field(default_factory=dict)
    kinds: KindsNote | None = None
    topics: TopicsNote | None = None
    most_weight: Annotated[float, msgspec.Meta(ge=1, le=1e9)] | None = None

    def __post_init__(self) -> None:
        if (self.kinds is None) != (self.topics is None):
            raise UsageError("kinds and topics are described together", "add the other one")
        for name in ("id", "source", "licence", "stands_for"):
            _check_text(name, getattr(self, name))
        notes: list[tuple[str, AttributeNote | QueryNote]] = [*self.attributes.items()]
        for name, note in (*notes, *self.queries.items()):
            _check_text(f"title of {name}", note.title)
        for name, survey in self.donors.items():
            _check_text(f"source of {name}", survey.source)
        if not self.stands_for.strip():
            raise UsageError("stands_for is empty", "say whom the rows stand for, in the plural")


def read_description(path: Path) -> Description:
    """Read a description file.

    Raises UsageError if it cannot be read, is not TOML, or has an unknown key or an invalid value.
    """
    try:
        text, folder = read_bytes(path, MAX_BYTES), path.parent
        return msgspec.toml.decode(text, type=Description, dec_hook=lambda _, name: folder / name)
    except msgspec.ValidationError as error:
        if unknown := _UNKNOWN.search(str(error)):
            notes: tuple[type[Struct], ...] = (Description, AttributeNote, QueryNote, DonorsNote)
            notes += (KeyNote, KindsNote, TopicsNote)
            keys = {each for note in notes for each in note.__struct_fields__}
            problem = UsageError.unknown("description key", unknown[1], keys)
            raise UsageError(problem.what, problem.hint, str(path)) from error
        what = f"the description does not fit: {misfit(error)}"
        raise UsageError(what, _HINT, str(path)) from error
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        line = _LINE.search(str(error))
        what = "not a file in TOML" if line is None else f"line {line[1]} is not TOML"
        raise UsageError(what, _HINT, str(path)) from error


@cache
def concepts() -> Mapping[str, tuple[str, ...]]:
    """The values of each concept that models share, by its name."""
    listed = msgspec.toml.decode((files("agent.build") / "concepts.toml").read_bytes())
    return {name: tuple(each["values"]) for name, each in listed.items()}


def concept_of(
    own: str, note: AttributeNote, values: Sequence[str]
) -> tuple[str, tuple[str | None, ...]]:
    """The concept of an attribute with these values, and that of each value.

    ``own``: its concept where the note has none. UsageError for a concept or value that does not
    exist, or two values of one.
    """
    name = note.concept or own
    if name != own and "." not in name and name not in concepts():
        raise UsageError.unknown("concept", name, concepts())
    values_of_concept = concepts().get(name, (*values[1:], *note.same_as.values()))
    for value in (*note.same_as, *note.implies, *note.words):
        if value not in values[1:]:
            raise UsageError.unknown("value", value, values[1:])
    for concept in note.same_as.values():
        if concept not in values_of_concept:
            raise UsageError.unknown(f"value of concept {name!r}", concept, values_of_concept)
    spoken = (note.same_as.get(each, each) for each in values[1:])
    of_values = [each if each in values_of_concept else None for each in spoken]
    for each in of_values:
        if each is not None and of_values.count(each) > 1:
            what = f"two values have the concept {each!r}"
            raise UsageError(what, "keep the one that fits it best")
    return name, (UNSPECIFIED, *of_values)


class TableFiles(NamedTuple):
    """Two tables, as csv, csv.gz, parquet or folders of parquet; one where topics are described."""

    users: Path
    events: Path | None


class LogFiles(NamedTuple):
    """A raw search log, as csv, csv.gz, parquet or folders of parquet (FORMAT_LOG.md)."""

    log: Path
    people: Path
    sites: Path


class Flag(NamedTuple):
    """How the command line takes a field of BuildOptions.

    ``option``: its name there; ``metavar``: the name of its value, None where the values are
    listed; ``about``: its help; ``least``, ``most``: the range of a number.
    """

    option: str
    metavar: str | None
    about: str
    least: float = -inf
    most: float = inf


WEIGHT = "Weight of the prior. By default chosen for each query."
FEWER = "Drop queries of fewer users."
SHRINKAGE = MIN_SHRINKAGE, MAX_SHRINKAGE
PRIVATE = "A model to publish, private to epsilon EPS."
EPSILON, DELTA = (0.01, 100.0), (1e-15, 1e-3)
USUAL_DELTA, MOST_ASKED = USUAL = 1e-6, 20  # delta, and queries of a person that count
Text = str | None
File = Path | None
Whole = int | None
Number = float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildOptions:
    """What a model is built from, and how.

    All tables are csv, csv.gz, parquet or folders of parquet. ``shrinkage``: None to choose it for
    each query; ``validation``: whether to score each half by the other, which is most of the work.
    UsageError for files that do not belong together, and for a number out of range.
    """

    users: Annotated[File, Flag("users", "F", "A row per user.")] = None
    events: Annotated[File, Flag("events", "F", "A row per request.")] = None
    log: Annotated[File, Flag("log", "F", "Instead: a row per page visited.")] = None
    people: Annotated[File, Flag("people", "F", "With --log: a row per person.")] = None
    sites: Annotated[File, Flag("sites", "F", "With --log: a row per host and topic.")] = None
    phrasings: Annotated[File, Flag("phrasings", "F", "Texts by the query they mean.")] = None
    background: Annotated[File, Flag("background", "F", "With --phrasings: other texts.")] = None
    spark: Annotated[Text, Flag("spark", "local|URL", "Use Spark: here, or a cluster.")] = None
    estimator: Annotated[Counting, Flag("estimator", None, "The paper's is plugin.")] = "louo"
    shrinkage: Annotated[Number, Flag("shrinkage", "ROWS", WEIGHT, *SHRINKAGE)] = None
    min_users: Annotated[int, Flag("min-users", "N", FEWER, 1, MAX_USERS)] = 30
    most_queries: Annotated[Whole, Flag("queries", "N", "Keep the N most frequent.", 1)] = None
    half: Annotated[Half | None, Flag("half", None, "Build from half of the users.")] = None
    private: Annotated[Number, Flag("private", "EPS", PRIVATE, *EPSILON)] = None
    delta: Annotated[float, Flag("delta", "D", "With --private: delta.", *DELTA)] = USUAL_DELTA
    per_person: Annotated[int, Flag("per-person", "N", "Queries of a person.", 1, 1e3)] = MOST_ASKED
    validation: bool = True
    description: Description = field(default_factory=Description)

    @property
    def files(self) -> TableFiles | LogFiles:
        """The files to build from; UsageError unless they are all of one kind."""
        topics = self.description.topics
        match self.users, self.events, self.log, self.people, self.sites:
            case Path() as users, events, None, None, None if events is not None or topics:
                return TableFiles(users, events)
            case None, None, Path() as log, Path() as people, Path() as sites:
                return LogFiles(log, people, sites)
        what = "a model is built from users and events, or from a log, its people and its sites"
        raise UsageError(what, "give --users and --events, or --log, --people and --sites")

    @property
    def id(self) -> str:
        """The id of the model."""
        return self.description.id or "model"

    def described(self, **changes: Any) -> "BuildOptions":  # noqa: ANN401  (fields of Description)
        """The same options with another description; ``changes``: of its fields."""
        return replace(self, description=structs.replace(self.description, **changes))

    def __post_init__(self) -> None:
        _ = self.files
        if (self.phrasings is None) != (self.background is None):
            what = "phrasings and a background are given together"
            raise UsageError(what, "give --phrasings and --background, or neither of them")
        for name, (_, flag, _) in flags().items():
            value = getattr(self, name)
            unshrunk = name == "shrinkage" and value == 0 and self.estimator == "plugin"
            number = isinstance(value, int | float) and not unshrunk
            if number and not flag.least <= value <= flag.most:
                ends = f"to {flag.most:,.12g}" if flag.most < inf else "up"
                hint = f"give a number from {flag.least:,.12g} {ends}"
                raise UsageError(f"--{flag.option} cannot be {value:g}", hint)


def flags() -> dict[str, tuple[Any, Flag, Any]]:
    """The type, flag and default of each field of BuildOptions that has a flag, by name."""
    return {
        each.name: (*get_args(each.type), each.default)
        for each in fields(BuildOptions)
        if get_origin(each.type) is Annotated
    }


def _check_text(name: str, text: str) -> None:
    """Refuse what cannot be shown on one line of a terminal."""
    if len(text) > MAX_TEXT:
        raise UsageError(f"the {name} has {len(text)} characters", f"use at most {MAX_TEXT}")
    if any(category(each) in _UNSHOWN for each in text):
        what = f"the {name} {text[:40]!r} has a control character"
        raise UsageError(what, "use characters that can be shown")
