"""What people know of a table that its columns do not say: titles, ladders, concepts, prices.

A description is a TOML file. FORMAT_DESCRIPTION.md has its keys, `concepts.toml` what is called
alike in several models.
"""

import re
import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct, field

from agent.errors import UsageError, misfit
from agent.files import read_bytes
from agent.model.attributes import UNSPECIFIED

MAX_BYTES = 2**20
_UNKNOWN = re.compile(r"unknown field `(.*?)`")
_LINE = re.compile(r"at line (\d+)")
_HINT = "agent/build/FORMAT_DESCRIPTION.md has every key and an example"


class AttributeNote(Struct, frozen=True, forbid_unknown_fields=True):
    """What is known of an attribute.

    ``title``: for people; ``refines``: the attribute of which it is a finer grain; ``concept``:
    what it is called across models, of `concepts` or with a dot; ``same_as``: the concept's value
    by the attribute's, where the two are not written alike; ``sensitivity``: in bits; ``values``:
    in their natural order, also those that nobody has; ``implies``: for a value, the values that
    other attributes have by it.
    """

    title: str = ""
    refines: str = ""
    concept: str = ""
    same_as: dict[str, str] = field(default_factory=dict)
    sensitivity: Annotated[float, Meta(ge=0, le=1e6)] = 0.0
    values: tuple[str, ...] = ()
    implies: dict[str, dict[str, str]] = field(default_factory=dict)


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
    attributes: dict[str, AttributeNote] = field(default_factory=dict)
    queries: dict[str, QueryNote] = field(default_factory=dict)


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
    for value in (*note.same_as, *note.implies):
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
