"""An edit of a policy is let through only if its result, read again, says what was intended."""

import tomllib
from collections.abc import Callable
from typing import Any

from agent.errors import UsageError

Document = dict[str, Any]


def parsed(text: str) -> Document:
    """Return what a text says; UsageError if it is not TOML."""
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        reason = str(error)[:1].lower() + str(error)[1:]
        raise UsageError(f"the policy is not TOML: {reason}", "mend it by hand first") from None


def edited(text: str, wanted: Document, edit: Callable[[str], str]) -> str:
    """Return the edited text if it says exactly what is wanted, else raise UsageError."""
    if _says(text, wanted):
        return text
    windows = text.count("\r\n") == text.count("\n") > 0
    plain = text.replace("\r\n", "\n") if windows else text
    result = edit(plain if plain.endswith("\n") or not plain else plain + "\n")
    if windows:
        result = result.replace("\n", "\r\n")
    if not _says(result, wanted):
        raise unfit()
    return result


def unfit() -> UsageError:
    """Return the error for a text that an edit does not get right."""
    what = "the policy is written in a way that cannot be changed safely"
    return UsageError(what, "change it by hand")


def _says(text: str, wanted: Document) -> bool:
    """Tell whether a text says what is wanted; an empty list or table is as good as none."""
    try:
        document = tomllib.loads(text)
    except (ValueError, RecursionError):
        return False
    return same(_full(document), _full(wanted))


def _full(document: Document) -> Document:
    """Return a document without the parts that an edit may have emptied."""
    emptied = {key for key in ("attributes", "rule") if document.get(key) in ({}, [])}
    return {key: value for key, value in document.items() if key not in emptied}


def same(one: object, other: object) -> bool:
    """Tell whether two values of TOML are alike, also in type: 1, 1.0 and true are three."""
    if type(one) is not type(other):
        return False
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same, one, other))
    return repr(one) == repr(other) if isinstance(one, float) else one == other
