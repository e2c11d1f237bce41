"""Titles of attributes and values in place of their codes, and values in their natural order."""

import re
import tomllib
from collections.abc import Iterable, Mapping
from functools import cache
from importlib.resources import files
from math import floor
from types import MappingProxyType

from agent.decision.values import Reading

Titles = Mapping[str, str]  # of attributes, by name
NONE: Titles = MappingProxyType({})
UNSPECIFIED = "unspecified"
UNREAD = "nothing that the models know"

SCALES = (  # values in their natural order, each scale on its own
    ("no", "yes"),
    ("no", "part_time", "full_time"),
    ("no", "hobby", "oss", "hobby_and_oss"),
    ("no", "open", "active"),
    ("low", "mid", "high"),
    ("q1", "q2", "q3", "q4", "q5"),
    ("under", "neither", "over"),
    ("never", "few_days_month", "less_than_half", "half_or_more", "always", "complicated"),
    ("full_time", "part_time", "self_employed", "looking", "not_looking", "retired"),
    ("night_early", "7am", "8am", "9am", "10am", "11am", "noon_later"),
    (
        *("primary_or_none", "secondary", "high_school", "some_college", "bachelor", "master"),
        *("professional", "doctoral", "doctoral_professional"),
    ),
)
CONCERNS = {"so2017": "Do you write software, in a job or as a hobby?"}  # by the id of a model
_RANGE = re.compile(r"(?P<under>lt_)?(?P<low>\d+)(?:_(?P<high>\d+|up))?")
_ONE = {"years": "year", "people": "person", "hours": "hour", "days": "day", "children": "child"}
_UNIT = re.compile(r"(?:number of )?(years|people|hours|days|children)\b")


@cache
def _titles() -> Mapping[str, Titles]:
    """Return the titles of values by the title of their attribute, and of any."""
    return tomllib.loads((files("agent.words") / "values.toml").read_text("utf-8"))


def value_title(value: str, attribute: str = "") -> str:
    """Return a value in words; ``attribute``: the title of what it is a value of, for its unit."""
    for titles in (_titles().get(attribute, NONE), _titles()["any"]):
        if value in titles:
            return titles[value]
    found = _RANGE.fullmatch(value)
    if not found:
        return value.replace("_", " ")
    low, high = (f"{int(each):,}" if each.isdecimal() else each for each in _ends(found))
    text = f"less than {low}" if found["under"] else f"{low} to {high}" if high else low
    text = f"{low} or more" if high == "up" else text
    unit = _UNIT.match(attribute)
    text = text.replace("less", "fewer") if unit and unit[1] not in ("years", "hours") else text
    if unit and text == "1":
        return f"1 {_ONE[unit[1]]}"
    return f"{text} {unit[1]}" if unit else text


def concerns(model: str) -> str:
    """Return the question whether a model's facts are of any concern to the user."""
    return CONCERNS.get(model, f"Do you have facts for the model {model}?")


def question(title: str, values: Iterable[str] = ()) -> str:
    """Return the question that a value answers, by its attribute's title; ``values``: to choose."""
    first, _, rest = title.partition(" ")
    if first in ("interested", "enrolled", "looking"):
        return f"Are you {title}?"
    if first == "works" and rest.startswith("as "):
        rest = rest.replace("as ", "as a ", 1)
    if first in ("works", "programs", "feels"):
        return f"Do you {first.removesuffix('s')} {rest}?"
    return (
        f"{title[:1].upper()}{title[1:]}{'' if {*values} == {'no', 'yes'} else ': which fits you'}?"
    )


def fact(title: str, value: str) -> str:
    """Return an attribute with its value: interested in .NET: no."""
    return f"{title}: {value_title(value, title)}"


def facts(values: Mapping[str, str], titles: Titles = NONE) -> list[str]:
    """Return values by the titles of their attributes, where those are known."""
    return [fact(titles.get(name, name), value) for name, value in values.items()]


def quoted(query: str) -> str:
    """Return a known query of a model as it is read, in quotes."""
    return repr(query.replace("_", " "))


def read_as(found: Reading | None) -> str:
    """Return what a text was read as, how surely where there is a doubt, or that it was not."""
    if found is None:
        return UNREAD
    doubt = "" if found.probability >= 1 else f" ({surely(found.probability)} sure)"
    return f"{quoted(found.title)}{doubt}"


def surely(probability: float) -> str:
    """Return a probability in per cent, never rounded up: none that is estimated is certain."""
    return f"{floor(100 * probability)} %"


def titled(names: Iterable[str], titles: Titles = NONE) -> list[str]:
    """Return the titles of attributes; the name where a title is not known."""
    return [titles.get(name, name) for name in names]


def titles_in(model: str, titles: Titles) -> Titles:
    """Return titles by the names that a model has: two models may call different facts alike."""
    start = f"{model}."
    own = {name[len(start) :]: title for name, title in titles.items() if name.startswith(start)}
    return {**titles, **own}


def in_order(values: Iterable[str]) -> list[str]:
    """Return values from low to high, what is not specified first and what is other last."""
    found = [*values]
    named = [each for each in found if each != UNSPECIFIED and not _other(each)]
    scale = next((each for each in SCALES if {*named} <= {*each}), ())
    ranges = [_RANGE.fullmatch(each) for each in named]
    if scale:
        named.sort(key=scale.index)
    elif all(ranges):
        named.sort(key=_low)
    first = [each for each in found if each == UNSPECIFIED]
    return [*first, *named, *filter(_other, found)]


def _ends(found: re.Match[str]) -> tuple[str, str]:
    return found["low"], found["high"] or ""


def _low(value: str) -> float:
    found = _RANGE.match(value)
    return -1.0 if found is None or found["under"] else float(found["low"])


def _other(value: str) -> bool:
    return value in ("other", "multiple_other", "other_none")
