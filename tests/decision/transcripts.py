"""What recipients see of people under a policy, and whether absence says nothing there."""

from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, datetime
from functools import cache
from typing import NamedTuple, TypeVar

import pytest
from _pytest.mark.structures import ParameterSet

from agent.model.model import Model
from tests.decision.made import NAMES, PERSONS, made_model

T = TypeVar("T")
Person = tuple[int, ...]
Values = dict[str, int]

START = datetime(2027, 3, 1, 9, tzinfo=UTC)
HOSTS = ("shop.example", "www.shop.example", "books.example", "a.ads.test", "b.ads.test")
QUERIES = ("python today", "python today", "restaurants today", "something else")
LOOSE = "lambda = 0.1\nk = 10\nrisk = 0.2\n"
ATTRIBUTES = """
[attributes]
age = "ask"
region = "always"
gender = { disclose = "auto", sensitivity = 0.01, guard = 0.0 }
job = { guard = 0.5 }
"""
MANY_RULES = """
lambda = 0.02
k = 3
violations = 0.2

[groups]
adverts = ["www.ads.test"]

[attributes]
age = "ask"
region = "always"

[[rule]]
recipient = "adverts"
attribute = ["gender", "j*"]
disclose = "never"
expires = 2027-03-04

[[rule]]
recipient = "adverts"
new_facts_per_week = 1

[[rule]]
recipient = "shop.example"
attributes_per_request = 3
new_facts_per_week = 2

[[rule]]
recipient = "www.shop.example"
attribute = "g*"
disclose = "ask"

[[rule]]
recipient = "books.example"
unknown_queries = "standing"
mode = "standing"
expires = 2027-03-09

[[rule]]
query = "restaurants"
attribute = "job"
guard = 0.5
"""
FORGETFUL = """
lambda = 0.01
risk = 0.2

[[rule]]
recipient = "*.ads.test"
memory = "forgets"

[[rule]]
recipient = "shop.example"
disclose = "ask"
"""
WORDS = """
lambda = 0.02
k = 3

[groups]
adverts = ["www.ads.test"]

[[rule]]
recipient = "shop.example"
search = "https://shop.example/?q={query}"
carry = "words"

[[rule]]
recipient = "b.ads.test"
search = "https://b.ads.test/?q={query}"
carry = "words"
"""
POLICIES = {
    # Their limits are for more people than are made.
    **{
        name: f'preset = "{name}"\nk = 3\nrisk = 0.1\n'
        for name in ("generous", "balanced", "strict")
    },
    **{
        f"{name} for these": f'preset = "{name}"\n{LOOSE}{ATTRIBUTES}'
        for name in ("generous", "strict")
    },
    "many rules": MANY_RULES,
    "forgetful": FORGETFUL,
    "words": WORDS,
    "planned": f'mode = "planned"\n{MANY_RULES}',
    "planned for these": f'preset = "generous"\nmode = "planned"\n{LOOSE}{ATTRIBUTES}',
}

IN_TEST = ("balanced", "many rules", "planned for these")


def soaked(cases: Mapping[str, T], some: Collection[str] = IN_TEST) -> list[ParameterSet]:
    """Return parameters by name, of which only some are not left to the long run."""
    soak = pytest.mark.soak
    return [
        pytest.param(case, id=name, marks=[] if name in some else [soak])
        for name, case in cases.items()
    ]


PERSON = frozenset(NAMES[:PERSONS])


class Step(NamedTuple):
    """What a recipient sees of one answer: names in order, with values; and the status."""

    status: str
    names: tuple[str, ...]
    codes: tuple[int, ...]


@cache
def the_model(seed: int) -> Model:
    """Return a model with enough people that presets let something leave."""
    return made_model(seed, people=300)


def has(person: Person, step: Step) -> bool:
    """Say whether somebody has the values that an answer tells."""
    told = zip(step.names, step.codes, strict=True)
    return all(person[NAMES.index(name)] == code for name, code in told if name in PERSON)


def holds(
    said: Mapping[Person, Sequence[Step]], own: Mapping[Person, Sequence[Person]] | None = None
) -> bool:
    """Say whether at every step the people with a transcript are those with its values.

    And whether all of these are about to say the same names, in the same order. ``own``: the
    values that everybody has at each step, where they change.
    """
    for steps in said.values():
        for count in range(len(steps) + 1):
            agree = {
                other
                for other in said
                if all(map(has, own[other] if own else (other,) * count, steps[:count]))
            }
            if agree != {other for other in said if said[other][:count] == steps[:count]}:
                return False
            following = {step[:2] for other in agree for step in said[other][count : count + 1]}
            if len(following) > 1:
                return False
    return True
