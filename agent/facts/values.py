"""What the words of a fact say that a model lists: a value of their kind, or an age."""

import re
import tomllib
from collections import ChainMap, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from importlib.resources import files
from math import inf
from typing import Any

from agent.model.attributes import is_plain
from agent.model.model import Model
from agent.model.reading import singular

Matches = list[tuple[str, str, range]]  # an attribute, a value, the places of its words in a text
LONGEST = 6  # words of a phrase that names a value
RARE = 11  # details that nobody else would say
MOST = 20  # words of a fact whose value is what it is about

_YEAR = re.compile(r"\b(?:19|20)\d\d\b")
_IN_YEAR = re.compile(r"\s?\(in ((?:19|20)\d\d)\)")
_BOUND = re.compile(r"(\d[\d,]*)( million)?")
_WORD = re.compile(r"[^\W_]+(?:[+#]+|['’][a-z]+)?")
_PARTS = re.compile(r",? or |,? and |, |[/()]")


def with_year(text: str, year: int | None) -> str:
    """A text whose ages say of which year they are; as it is where it names a year."""
    if year is None or _YEAR.search(text) or english("no_age").search(text):
        return text
    end = max((each.end() for each in english("age").finditer(text)), default=0)
    if text[:end].endswith("old") and text[end : end + 1] == " ":  # what is so old follows
        end = len(text.rstrip(" ."))
    return f"{text[:end]} (in {year}){text[end:]}" if end else text


def without_year(text: str) -> str:
    """A text less what `with_year` added."""
    return _IN_YEAR.sub("", text)


def values_of(text: str, names: Iterable[str], model: Model, year: int) -> dict[str, str]:
    """The listed values that the words of a fact certainly name, by attribute.

    ``names``: of the attributes that the fact may be about, beside those that its words name;
    ``year``: the present one, in which whoever was 7 a year ago is 8.
    """
    words, matches = named(text, model)
    names = {*names, *(name for name, _, _ in matches)}
    values = ((name, _value_of(text, name, words, matches, model, year)) for name in sorted(names))
    return {name: value for name, value in values if value is not None}


def _value_of(
    text: str, name: str, words: Sequence[str], matches: Matches, model: Model, year: int
) -> str | None:
    values, about = model.attributes[model.index(name)].values[1:], _table()["about"]
    if text in values:
        return text
    if name in about["numbers"]:
        number = {"age": _age, "children": _youngest}.get(name, _amount)(text, year)
        if number is not None:
            bands = ((each, [*_band(each)]) for each in values)
            return next((e for e, band in bands if band and band[0] <= number <= band[1]), None)
    own = [(value, span) for kind, value, span in matches if kind == name]
    taken = {at for _, span in own for at in span}
    rest = " ".join("_" if at in taken else each for at, each in enumerate(words))
    doubts = [each for each in ("relative", "wished") if name not in about[each]]
    doubts += ["denied", *{"place": ["elsewhere"], "substances": ["soft"]}.get(name, [])]
    doubtful = len(words) > MOST or any(english(each).search(rest) for each in doubts)
    return own[0][0] if len({value for value, _ in own}) == 1 and not doubtful else None


def alike(one: str, other: str) -> bool:
    """Whether two texts have the same numbers, and deny as much: all that vectors may not see."""
    numbers = [sorted(re.findall(r"\d+", without_year(each))) for each in (one, other)]
    denials = [bool(english("denied").search(each)) for each in (one, other)]
    return numbers[0] == numbers[1] and denials[0] == denials[1]


def details(text: str, name: str, model: Model) -> int:
    """How many words of a text say more than a value of its kind: a number counts as two.

    ``name``: of the attribute. What is one person's, as a name or an address is, counts as RARE.
    """
    words, matches = named(without_year(text), model)
    taken = {at for kind, _, span in matches if kind == name for at in span}
    rest = [each for at, each in enumerate(words) if at not in taken]
    more = sum(2 if e[0].isdigit() else not english("common").fullmatch(e) for e in rest)
    return RARE if english("personal").search(text) else min(more, RARE - 1)


def short_of(text: str, value: str | None) -> str | None:
    """At most four plain words for a search: a value, or all of a short text; None without any."""
    bare = english("lead").sub("", without_year(text), count=1).strip()
    return next((each for each in (value, bare) if each and is_plain(each)), None)


def named(text: str, model: Model) -> tuple[list[str], Matches]:
    """The words of a text, and which of them name a value: the attribute, the value, their places.

    Of words that mean one thing in a longer phrase, as in "classic rock", no part counts again.
    """
    words, phrases = _WORD.findall(text), _phrases(model)
    spelt, spans = [_spelt(each) for each in words], Matches()
    taken = set[int]()
    for size in range(min(LONGEST, len(words)), 0, -1):
        for at in range(len(words) - size + 1):
            span = range(at, at + size)
            if taken.isdisjoint(span) and (some := phrases.get((*spelt[at : at + size],))):
                spans += [(*each, span) for each in sorted(some)]
                taken |= {*span}
    return words, spans


@lru_cache(maxsize=2)
def _phrases(model: Model) -> Mapping[tuple[str, ...], frozenset[tuple[str, str]]]:
    """The attributes and values that each phrase names, by its words: of titles and values.toml."""
    table, phrases = _table(), defaultdict[tuple[str, ...], set[tuple[str, str]]](set)
    for each in model.attributes[: model.persons]:
        if each.further:
            continue
        for value in each.values[1:]:
            parts = [] if each.name in table["about"]["whole"] else _PARTS.split(value)
            parts = [part for part in parts if part not in each.values]  # "ADHD" is one itself
            for phrase in (value, *parts, *table.get(each.name, {}).get(value, ())):
                phrases[(*map(_spelt, _WORD.findall(phrase)),)].add((each.name, value))
    return {phrase: frozenset(some) for phrase, some in phrases.items() if phrase}


def _spelt(word: str) -> str:
    return singular(word.lower().replace("’", "'").removesuffix("'s"))


def _band(value: str) -> Iterator[float]:
    """The least and the most number that a listed value stands for, none where it has no number."""
    some = [float(e.replace(",", "")) * (1e6 if m else 1) for e, m in _BOUND.findall(value)]
    if some:
        yield from (0, some[0] - 1e-9) if "under" in value else (some[0], (*some, inf)[1])


def _age(text: str, year: int) -> float | None:
    """How old somebody who says so of nobody else is, between two years where a birthday counts."""
    if born := english("born").search(text):
        return year - int(born[1]) - 0.5
    ages = [*_ages(text, year)]
    return ages[0] if len(ages) == 1 and not english("relative").search(text) else None


def _youngest(text: str, year: int) -> float | None:
    """The age of the youngest child, where all are named or one is called so."""
    ages = [*_ages(text, year)]
    every = len(ages) > 1 or (ages and re.search(r"(?i)\b(?:only|youngest|one)\b", text))
    return min(ages) if every else None


def _ages(text: str, year: int) -> Iterator[float]:
    """The ages in a text, as of the present year; of months and weeks 0."""
    since = year - int(written[1]) if (written := _IN_YEAR.search(text)) else 0
    for match in english("age").finditer(text):
        infant = re.search(r"(?i)month|week", match[0])
        for number in english("number").findall(match["some"] or match["one"] or ""):
            parts = re.split(r"[\s-]+", number.lower())
            whole = sum(int(e) if e.isdecimal() else _table("english")["numbers"][e] for e in parts)
            yield since + (0 if infant else whole)


def _amount(text: str, _year: int) -> float | None:
    """The only amount of a text, of dollars or points, by the year where by any time."""
    some = english("amount").findall(text)
    if len(some) != 1 or english("other_unit").search(text) or _YEAR.search(text):
        return None
    [(number, unit)] = some
    scale: float = _table("english")["units"].get(unit.lower(), 1)
    return float(number.replace(",", "")) * scale


@cache
def english(name: str) -> re.Pattern[str]:
    """A pattern of english.toml."""
    table = _table("english")
    pattern = ChainMap(*(table[each] for each in ("ages", "sentences", "values", "parts")))[name]
    for part in table["parts"]:
        pattern = pattern.replace(f"<{part}>", table["parts"][part])
    words = "|".join(sorted(table["numbers"], key=len, reverse=True))
    return re.compile(pattern.replace("<word>", words), re.IGNORECASE | re.VERBOSE)


@cache
def _table(name: str = "values") -> Mapping[str, Any]:
    return tomllib.loads(files("agent.facts").joinpath(f"{name}.toml").read_text(encoding="utf-8"))
