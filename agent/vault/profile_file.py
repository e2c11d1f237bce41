"""The profile as a TOML file, for the user to keep, edit and bring back.

region = "west_europe"      # for every model that has the attribute
[so2017]                    # for the model of this id, whatever stands above
region = "uk"
"""

import tomllib
from collections.abc import Mapping, Sequence
from typing import NamedTuple, NoReturn

from agent.errors import UsageError
from agent.model.model import Model
from agent.model.persons import checked, person_codes, unknown_person

LARGEST = 1 << 20  # bytes
COMMENT = """\
Your profile, written by `reticent profile export`. It is plain text: whoever can read this file
knows what it says. Delete it once it has served its purpose.
`reticent profile import` reads it, and so does `reticent decide --profile`."""


class Unchecked(NamedTuple):
    """What stands in a file, unchecked: above all tables, and in each of them."""

    pairs: Mapping[str, object]
    tables: Mapping[str, Mapping[str, object]]


def profile_toml(values: Mapping[str, Mapping[str, str]]) -> str:
    """Return values, by model and attribute, as a file that says what it is."""
    import tomlkit

    document = tomlkit.document()
    for line in COMMENT.splitlines():
        document.add(tomlkit.comment(line))
    for model, own in sorted(values.items()):
        table = tomlkit.table()
        table.update(sorted(own.items()))
        document.add(tomlkit.nl())
        document.add(model, table)
    return tomlkit.dumps(document)


def parse(text: bytes) -> Unchecked:
    """Return what a file says; UsageError where it is no TOML."""
    try:
        document = tomllib.loads(text.decode("utf-8-sig"))
    except (ValueError, RecursionError):  # ValueError also where it is not UTF-8
        hint = 'write lines such as region = "west_europe"'
        raise UsageError("this is no TOML", hint) from None
    tables = {name: each for name, each in document.items() if isinstance(each, dict)}
    return Unchecked({name: document[name] for name in document if name not in tables}, tables)


def read_profile(text: bytes, models: Sequence[Model]) -> dict[str, dict[str, str]]:
    """Return the values in a file by model and attribute, of all these models.

    UsageError where it names a model or an attribute that is not there, or a value that does not
    fit every model it is for.
    """
    found = parse(text)
    for name, table in found.tables.items():
        if name not in {model.id for model in models}:
            _refuse(name, table, models)
    for name in found.pairs:
        if not any(name in person_codes(model) for model in models):
            raise unknown_person(name, models)
    return {model.id: _values(found, model) for model in models}


def read_values(text: bytes, model: Model) -> dict[str, str]:
    """Return the values in a file for one model, whatever it says of others.

    UsageError as for all of them, and where it has tables, but none for this model.
    """
    found = parse(text)
    alone = not found.pairs and model.id not in found.tables
    for name, table in found.tables.items():
        if name != model.id and (alone or name in person_codes(model)):
            _refuse(name, table, [model])
    for name, value in found.pairs.items():
        checked(name, value, model)
    return _values(found, model)


def _values(found: Unchecked, model: Model) -> dict[str, str]:
    known = person_codes(model)
    above = {name: value for name, value in found.pairs.items() if name in known}
    own = above | dict(found.tables.get(model.id, {}))
    return {name: checked(name, value, model) for name, value in own.items()}


def _refuse(name: str, table: object, models: Sequence[Model]) -> NoReturn:
    """Refuse a table of no model, which may have been meant as a value."""
    for model in models:
        if name in person_codes(model):
            checked(name, table, model)
    raise UsageError.unknown("model", name, [model.id for model in models])
