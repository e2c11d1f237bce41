"""Families of topics and attributes that a rule may name, and what reveals an attribute. Pure."""

import tomllib
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
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


def other_words() -> Mapping[str, str]:
    """By another word for it, and what earlier models called it, a fact. Source: families.toml."""
    return dict(_table()["other_words"])


def told_by(
    names: Mapping[str, Collection[str]], follows: Mapping[str, Collection[str]]
) -> dict[str, list[str]]:
    """By fact, the others that it tells: what follows, what is nearly told, what follows from that.

    ``names``: all that each fact is called; ``follows``: those that each tells for certain. What is
    nearly told nearly tells nothing else. Source: FORMAT.md, "Attributes".
    """
    called, nearly = defaultdict[str, set[str]](set), defaultdict[str, set[str]](set)
    for fact, some in names.items():
        for name in some:
            called[name].add(fact)
    for name, tellers in _table()["revealed_by"].items():
        for fact in chain.from_iterable(map(called.__getitem__, tellers)):
            nearly[fact] |= called[name]

    def followed(facts: set[str]) -> set[str]:
        more = set(chain(facts, *(follows.get(each, ()) for each in facts)))
        return facts if more == facts else followed(more)

    told = dict[str, list[str]]()
    for fact in names:
        certain = followed({fact})
        every = followed(certain.union(*map(nearly.__getitem__, certain))) - {fact}
        told[fact] = [each for each in names if each in every]
    return told


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
