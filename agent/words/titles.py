"""Titles of attributes and values in place of their codes, and values in their natural order."""

import re
from collections.abc import Iterable, Mapping
from types import MappingProxyType

Titles = Mapping[str, str]  # of attributes, by name
NONE: Titles = MappingProxyType({})
UNSPECIFIED = "unspecified"

VALUES: Titles = {
    UNSPECIFIED: "not specified",
    "10am": "10 am",
    "11am": "11 am",
    "7am": "7 am",
    "8am": "8 am",
    "9am": "9 am",
    "active": "actively looking",
    "bachelor": "bachelor's degree",
    "business_arts_social": "business, arts or social science",
    "complicated": "it's complicated",
    "computer_engineering": "computer or electrical engineering",
    "doctoral": "doctorate",
    "doctoral_professional": "doctorate or professional degree",
    "east_asian": "East Asian",
    "east_europe": "Eastern Europe",
    "east_se_asia_other": "East or South-East Asia, or elsewhere",
    "few_days_month": "a few days a month",
    "full_time": "full-time",
    "half_or_more": "half or more",
    "hobby_and_oss": "as a hobby and for open source",
    "it_mis": "information technology or systems",
    "latin_america": "Latin America",
    "looking": "looking for work",
    "master": "master's degree",
    "math_science": "mathematics or natural science",
    "mid": "medium",
    "mid_east_africa": "Middle East or Africa",
    "middle_eastern": "Middle Eastern",
    "multiple_other": "several or another",
    "neither": "neither too little nor too much",
    "night_early": "at night or early in the morning",
    "non_developer_codes": "programs, but not as a developer",
    "non_profit": "non-profit",
    "noon_later": "noon or later",
    "not_looking": "not looking for work",
    "open": "open to offers",
    "oss": "for open source",
    "other_engineering": "another field of engineering",
    "other_none": "another field, or none",
    "over": "too much",
    "part_time": "part-time",
    "primary_or_none": "primary school or none",
    "professional": "professional degree",
    "programming_web": "programming or web development",
    "public_corp": "public company",
    "q1": "lowest fifth",
    "q2": "second fifth",
    "q3": "middle fifth",
    "q4": "fourth fifth",
    "q5": "highest fifth",
    "secondary": "secondary school",
    "self_employed": "self-employed",
    "some_college": "some college",
    "south_asia": "South Asia",
    "south_asian": "South Asian",
    "uk_ireland_anz": "UK, Ireland, Australia or New Zealand",
    "under": "too little",
    "usa_canada": "USA or Canada",
    "west_europe": "Western Europe",
}
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
_RANGE = re.compile(r"(?P<under>lt_)?(?P<low>\d+)(?:_(?P<high>\d+|up))?")
_UNIT = re.compile(r"(?:number of )?(years|people|hours|days|children)\b")


def value_title(value: str, attribute: str = "") -> str:
    """Return a value in words; ``attribute``: the title of what it is a value of, for its unit."""
    if value in VALUES:
        return VALUES[value]
    found = _RANGE.fullmatch(value)
    if not found:
        return value.replace("_", " ")
    low, high = (f"{int(each):,}" if each.isdecimal() else each for each in _ends(found))
    text = f"less than {low}" if found["under"] else f"{low} to {high}" if high else low
    text = f"{low} or more" if high == "up" else text
    unit = _UNIT.match(attribute)
    text = text.replace("less", "fewer") if unit and unit[1] not in ("years", "hours") else text
    return f"{text} {unit[1]}" if unit else text


def question(title: str) -> str:
    """Return the question that a value answers, by the title of its attribute."""
    first, _, rest = title.partition(" ")
    if first in ("interested", "enrolled", "looking"):
        return f"Are you {title}?"
    if first == "works" and rest.startswith("as "):
        rest = rest.replace("as ", "as a ", 1)
    if first in ("works", "programs", "feels"):
        return f"Do you {first.removesuffix('s')} {rest}?"
    return f"{title[:1].upper()}{title[1:]}: which fits you?"


def fact(title: str, value: str) -> str:
    """Return an attribute with its value: interested in .NET: no."""
    return f"{title}: {value_title(value, title)}"


def facts(values: Mapping[str, str], titles: Titles = NONE) -> list[str]:
    """Return values by the titles of their attributes, where those are known."""
    return [fact(titles.get(name, name), value) for name, value in values.items()]


def quoted(query: str) -> str:
    """Return a known query of a model as it is read, in quotes."""
    return repr(query.replace("_", " "))


def titled(names: Iterable[str], titles: Titles = NONE) -> list[str]:
    """Return the titles of attributes; the name where a title is not known."""
    return [titles.get(name, name) for name in names]


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
