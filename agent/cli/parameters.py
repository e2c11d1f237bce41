"""The kinds of values that options take, each with a sentence for what is wrong."""

from collections.abc import Iterable, Sequence
from datetime import date, datetime
from math import isfinite
from typing import TYPE_CHECKING, TypeVar

import click

from agent.errors import UsageError

V = TypeVar("V")

if TYPE_CHECKING:
    Choice = click.Choice[str]
else:
    Choice = click.Choice  # before click 8.2 it took no type


class OneOf(Choice):
    """One of a few names; the nearest is named for any other."""

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> str:
        """Return the name; UsageError if it is none of these."""
        if value not in self.choices:
            kind = "value" if param is None else f"value of {param.opts[0]}"
            raise UsageError.unknown(kind, str(value), self.choices)
        return super().convert(value, param, ctx)


def names(text: str) -> tuple[str, ...]:
    """Return names that are joined by commas, without the white space around them."""
    return tuple(name.strip() for name in text.split(",") if name.strip())


def pair(text: str) -> tuple[str, str]:
    """Return the two sides of NAME=VALUE; UsageError if it is not of that form."""
    name, sign, value = (part.strip() for part in text.partition("="))
    if not (sign and name and value):
        raise UsageError(f"{text!r} is not a pair", "write NAME=VALUE")
    return name, value


def weighted(text: str) -> tuple[str, float]:
    """Return the two sides of NAME=NUMBER; UsageError if it is not of that form."""
    name, value = pair(text)
    return name, _number(value, f"write a number, as in {name}=0.5")


def shrinkage(text: str) -> float | None:
    """Return a number of rows, or None for `auto`; UsageError if it is neither."""
    return None if text == "auto" else _number(text, "write auto, or a number of rows")


def once(option: str, pairs: Sequence[tuple[str, V]]) -> dict[str, V]:
    """Return pairs as a dict; UsageError where one name has two different values."""
    found: dict[str, V] = {}
    for name, value in pairs:
        if found.setdefault(name, value) != value:
            what = f"{option} gives {name} two values, {found[name]} and {value}"
            raise UsageError(what, f"give {name} once")
    return found


def flat(lists: Iterable[Iterable[str]]) -> frozenset[str]:
    """Return all names of several lists."""
    return frozenset(name for each in lists for name in each)


def today() -> date:
    """Return the day that it is here."""
    return datetime.now().astimezone().date()


def check_asked(query: str) -> None:
    """Refuse a query without a word; UsageError."""
    if not query.strip():
        raise UsageError(
            "the query is empty", "write what is asked, as in --query 'version control'"
        )


def _number(text: str, hint: str) -> float:
    try:
        number = float(text)
    except ValueError:
        raise UsageError(f"{text!r} is not a number", hint) from None
    if not isfinite(number):
        raise UsageError(f"{text!r} is not a finite number", hint)
    return number
