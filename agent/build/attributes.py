"""The attributes of a model, by the columns of its tables and what a description says of them."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from agent.build import tables
from agent.build.matching import Survey
from agent.build.options import AttributeNote, BuildOptions, concept_of
from agent.errors import BuildError, UsageError
from agent.model.attributes import (
    MAX_VALUES,
    NAME,
    UNSPECIFIED,
    Attribute,
    Scope,
    is_plain,
    wrong_implication,
)

MOST_EXCEPTIONS = 0.01  # of the people with a value, who contradict what it implies
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")


class TableColumn(NamedTuple):
    """A column that becomes an attribute.

    ``many``: how many different values it has; ``texts``: which, in any order, none where these are
    too many; ``shared``: the kind that counts it by shares, where the table has no such column.
    """

    scope: Scope
    many: int
    texts: Sequence[str]
    shared: str = ""


def columns_of(source: tables.Source, surveys: Iterable[Survey] = ()) -> dict[str, TableColumn]:
    """The columns of users, those drawn from surveys, and those of requests, by name, in order.

    UsageError for a drawn column whose name is another's, or cannot be that of an attribute.
    """
    lists = tables.distinct_values(source.users, source.persons, MAX_VALUES)
    columns = {name: TableColumn("person", *lists[name]) for name in source.persons}
    for survey in surveys:
        for name in survey.note.columns:
            if name in (*columns, *source.requests) or not NAME.fullmatch(name):
                what = f"the column {name!r} cannot be drawn under its name"
                hint = "rename it: lower-case letters, digits and _, and no other column's name"
                raise UsageError(what, hint)
            texts = survey.texts[name][1:]
            columns[name] = TableColumn("person", len(texts), texts)
    lists = tables.distinct_values(source.events, source.requests, MAX_VALUES)
    return columns | {name: TableColumn("request", *lists[name]) for name in source.requests}


def attributes_of(
    columns: Mapping[str, TableColumn],
    options: BuildOptions,
    described: Mapping[str, tables.Described],
) -> tuple[Attribute, ...]:
    """The attributes of columns, those of persons first; ``described``: what is known, by name.

    The values of each are "unspecified", those of its description, and those in the table, in
    order of their characters.
    Raises BuildError for too many values; UsageError for a description that does not fit.
    """
    for name, note in options.description.attributes.items():
        implied = (each for then in note.implies.values() for each in then)
        for each in (name, note.refines, *implied):
            if each and each not in columns:
                raise UsageError.unknown("attribute", each, columns)
    attributes = []
    for name, (scope, many, texts, shared) in columns.items():
        default = described.get(name) or tables.Described(name.replace("_", " "))
        note = options.description.attributes.get(name) or AttributeNote(concept=default.concept)
        occurring = sorted({*texts} - {UNSPECIFIED})
        values = tuple(dict.fromkeys((UNSPECIFIED, *default.values, *note.values, *occurring)))
        count = max(len(values) - 1, 0 if occurring else many)
        if count >= MAX_VALUES:
            what = f"attribute {name!r} has {count} different values"
            hint = f"group them: {MAX_VALUES - 1} are the most it may have besides {UNSPECIFIED!r}"
            raise BuildError(what, hint)
        check_printable(occurring, f"attribute {name!r}: the value")
        if wrong := next((each for each in note.words.values() if not is_plain(each)), None):
            what = f"attribute {name!r}: {wrong!r} is not a plain word for a search"
            raise UsageError(what, "agent/build/FORMAT_DESCRIPTION.md says what `words` may be")
        concept, value_concepts = concept_of(f"{options.id}.{name}", note, values)
        attributes.append(
            Attribute(
                name=name,
                title=note.title or default.title,
                scope=scope,
                values=values,
                refines=note.refines or None,
                sensitivity=note.sensitivity,
                concept=concept,
                value_concepts=value_concepts,
                implies=note.implies,
                words=note.words,
                shared=shared,
            )
        )
    if problem := wrong_implication(attributes):
        raise UsageError(problem, "agent/build/FORMAT_DESCRIPTION.md says what `implies` may be")
    return tuple(attributes)


def check_codes(codes: NDArray[np.uint8], attributes: Sequence[Attribute]) -> None:
    """Raise BuildError where people contradict what the description says of attributes.

    ``codes``: uint8, shape (N, P), of the first P attributes.
    """
    _check_ladders(codes, attributes)
    _check_implications(codes, attributes)


def _check_implications(codes: NDArray[np.uint8], attributes: Sequence[Attribute]) -> None:
    """Raise BuildError for an implication that more than MOST_EXCEPTIONS of the people contradict.

    Of those who have the value and state the other attribute.
    """
    places = {each.name: place for place, each in enumerate(attributes)}
    for place, each in enumerate(attributes[: codes.shape[1]]):
        for value, then in each.implies.items():
            having = codes[codes[:, place] == each.code(value)] if then else codes[:0]
            for name, other in then.items():
                if attributes[places[name]].shared:
                    continue
                stated = having[:, places[name]]
                stated = stated[stated != 0]
                wrong = int((stated != attributes[places[name]].code(other)).sum())
                if wrong > MOST_EXCEPTIONS * len(stated):
                    what = f"{each.name} {value!r} does not imply {name} {other!r}"
                    hint = f"{wrong:,} of {len(stated):,} people say otherwise: remove it"
                    raise BuildError(what, hint)


def _check_ladders(codes: NDArray[np.uint8], attributes: Sequence[Attribute]) -> None:
    """Raise BuildError for a value of the person in two values of the attribute it refines."""
    names = [each.name for each in attributes]
    for fine, each in enumerate(attributes[: codes.shape[1]]):
        coarse = fine if each.refines is None else names.index(each.refines)
        if coarse == fine or coarse >= codes.shape[1]:
            continue
        pairs = codes[:, (fine, coarse)]
        pairs = np.unique(pairs[pairs.all(axis=1)], axis=0)  # where both are specified
        again = np.flatnonzero(pairs[1:, 0] == pairs[:-1, 0])
        if len(again):
            code, first = pairs[again[0]].tolist()
            other = attributes[coarse].values[pairs[again[0] + 1, 1]]
            what = f"attribute {each.name!r} does not refine {each.refines!r}"
            both = f"{attributes[coarse].values[first]!r} and {other!r}"
            raise BuildError(what, f"its value {each.values[code]!r} lies in both {both}")


def check_printable(texts: Iterable[str], kind: str) -> None:
    """Raise BuildError for a text with a control character: it will be shown on a terminal."""
    for text in texts:
        if _CONTROL.search(text):
            what = f"{kind} {text[:40]!r} has a control character"
            raise BuildError(what, "clean the table: no tabs, line ends or the like within a field")
