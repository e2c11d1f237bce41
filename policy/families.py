"""Families of topics and attributes that a rule may name, and what reveals an attribute. Pure."""

import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from itertools import chain
from typing import Any

# What a query may be about: all that a topic is called, as `policy.rules.spoken` returns it, with
# the probability.
TopicProbabilities = Mapping[frozenset[str], float]
# What the presets ask about once for each kind of recipient, as rules name it.
ASKED_ONCE = ("@health", "debt", "religion", "orientation", "legal")


@cache
def families() -> Mapping[str, frozenset[str]]:
    """The attributes and topics of each family, the latter as `policy.rules.spoken` has them.

    Source: families.toml.
    """
    tables = _table()["families"].items()
    return {name: frozenset(chain.from_iterable(each.values())) for name, each in tables}


def use_of(topic: str) -> str:
    """What a topic is for: "shopping", "work", or else "search". Source: families.toml."""
    uses = _table()["uses"].items()
    return next((use for use, topics in uses if topic.replace("_", " ") in topics), "search")


def revealed_by(name: str) -> tuple[str, ...]:
    """The attributes of which one nearly tells another. Source: families.toml."""
    return tuple(_table()["revealed_by"].get(name, ()))


def impossible(name: str, value: str) -> Mapping[str, Sequence[str]]:
    """By attribute, its values that nobody has beside a value of another. Source: families.toml."""
    return dict(_table()["impossible"].get(name, {}).get(value, {}))


def headings() -> Mapping[str, str]:
    """By attribute, the heading under which people see it, in order. Source: families.toml."""
    heads, own = _table()["headings"].items(), _table()["families"]
    groups = [(head, own.get(p[1:], {"attributes": [p]})) for head, parts in heads for p in parts]
    return {name: head for head, group in groups for name in group["attributes"]}


@cache
def _table() -> Mapping[str, Any]:
    return tomllib.loads(files("policy").joinpath("families.toml").read_text(encoding="utf-8"))
