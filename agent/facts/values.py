"""What the words of a fact say that a model lists: a value of their kind, or an age."""

import re
import tomllib
from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import cache, lru_cache
from importlib.resources import files
from math import inf
from typing import Any

from agent.model.model import Model
from agent.model.reading import singular

LONGEST = 6  # words of a phrase that names a value

_ONES = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
_TEENS = (
    *("ten", "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen"),
    *("eighteen", "nineteen"),
)
_TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_NUMBERS = {word: number for number, word in enumerate((*_ONES, *_TEENS), 1)}
_NUMBERS |= {word: 10 * tens for tens, word in enumerate(_TENS, 2)}
_WORDS = rf"(?:(?:{'|'.join(_TENS)})(?:[- ](?:{'|'.join(_ONES)}))?|{'|'.join((*_TEENS, *_ONES))})"
_NUMBER = rf"(?:1[01]\d|\d\d?|{_WORDS})(?![\w.:/%-]*\d)"
_AGES = rf"{_NUMBER}(?:(?:\s*,\s*(?:and\s+)?|\s+(?:and|or)\s+|\s*&\s*){_NUMBER})*"
_AGE = re.compile(
    rf"""(?ix)(?:\b(?:aged?|ages|turned|turning|turns)\s+|\b(?:am|is|are|was)\s+(?:now\s+|about\s+
    |almost\s+|nearly\s+|only\s+)?|['’](?:m|s|re)\s+(?:now\s+)?|^(?:age:\s*)?|\b(?:kids?|children
    |sons?|daughters?|girls?|boys?|twins)[,:]?\s+\(?)(?P<some>{_AGES})
    (?:(?=\)?\s*(?:[,.;!)]|$|(?:and|but|who|now|this|in|\(in)\b))|[\s-]+(?:year|month|week)s?
    [\s-]+olds?\b|\s*y/?o\b|\s+months?$)
    |\b(?P<one>{_NUMBER})[\s-]+(?P<unit>year|month|week)s?[\s-]+olds?\b
    |(?:been|['’]ve|have|has)\s[^.]{{0,40}}?\bfor\s+(?:about\s+|over\s+|almost\s+|more\sthan\s+)?
    {_NUMBER}\s+years\b"""
)
_YEAR = re.compile(r"\b(?:19|20)\d\d\b")
_NO_AGE = re.compile(
    r"(?i)\b(?:size|bmi|score|numbers?|level|weight|height|rent|budget|zip|floor)\b"
)
_BORN = re.compile(r"(?i)\bborn\b\D{0,20}((?:19|20)\d\d)\b")
_IN_YEAR = re.compile(r"\(in ((?:19|20)\d\d)\)")
_BOUND = re.compile(r"(\d[\d,]*)( million)?")
_AMOUNT = re.compile(r"(?i)(\d[\d,]*(?:\.\d+)?)\s*(k|thousand|million|m)?\b")
_UNITS = {"k": 1e3, "thousand": 1e3, "m": 1e6, "million": 1e6}
_OTHER_UNIT = re.compile(
    r"(?i)[€£¥₹]|\b(?:euros?|pounds|rupees|rand|pesos|yen|hour|week|month|day)\b"
)
_DENIED = re.compile(
    r"(?i)\b(?:no|not|never|without|except|cannot|quit|stopped|former|formerly|ex|used|was|were|had"
    r"|hate|hates|dislike|dislikes|avoid|avoids|deleted|lost|died|passed|too far|mentor|if|maybe"
    r"|might|but)\b|n['’]t\b"
)
_WISHED = re.compile(r"(?i)\b(?:want|wants|plan|plans|planning|hope|hopes|would|dream|wish)\b")
_ELSEWHERE = re.compile(
    r"(?i)\b(?:from|born|grew|visit\w*|trip|going|office|remotely|near|between)\b"
)
_RELATIVE = re.compile(
    r"(?i)\b(?:wife|husband|partner|spouse|girlfriend|boyfriend|sons?|daughters?|kids?|child|"
    r"children|mum|mom|mother|dad|father|parents?|sisters?|brothers?|friends?|grand\w+|uncle|aunt|cousins?"
    r"|neighbou?rs?|boss|flatmates?|roommates?|team|company)\b"
)
_WORD = re.compile(r"[^\W_]+(?:[+#]+|['’][a-z]+)?")
_PARTS = re.compile(r",? or |,? and |, |[/()]")


def with_year(text: str, year: int | None) -> str:
    """A text whose ages say of which year they are; as it is where it names a year."""
    if year is None or _YEAR.search(text) or _NO_AGE.search(text):
        return text
    end = max((each.end() for each in _AGE.finditer(text)), default=0)
    if text[:end].endswith("-old"):  # what is so old follows
        end = len(text.rstrip(" ."))
    return f"{text[:end]} (in {year}){text[end:]}" if end else text


def value_of(text: str, name: str, model: Model, year: int) -> str | None:
    """The listed value of an attribute that the words of a fact certainly name, None without one.

    ``name``: of a person attribute of the model; ``year``: the present one, in which whoever was 7
    a year ago is 8.
    """
    about = _table()["about"]
    if name in about["numbers"]:
        number = {"age": _age, "children": _youngest}.get(name, _amount)(text, year)
        if number is not None:
            values = model.attributes[model.index(name)].values[1:]
            bands = ((each, [*_band(each)]) for each in values)
            return next((e for e, band in bands if band and band[0] <= number <= band[1]), None)
    words, matches = named(text, model)
    own = [(value, span) for kind, value, span in matches if kind == name]
    rest = " ".join(e for at, e in enumerate(words) if not any(at in span for _, span in own))
    listed = {value for value, _ in own}
    doubts = (
        _DENIED.search(rest),
        name not in about["relatives"] and _RELATIVE.search(rest),
        name not in about["plans"] and _WISHED.search(rest),
        name == "place" and _ELSEWHERE.search(rest),
    )
    return listed.pop() if len(listed) == 1 and not any(doubts) else None


def named(text: str, model: Model) -> tuple[list[str], list[tuple[str, str, range]]]:
    """The words of a text, and which of them name a value: the attribute, the value, their places.

    Of words that mean one thing in a longer phrase, as in "classic rock", no part counts again.
    """
    words, phrases = _WORD.findall(text), _phrases(model)
    spelt, spans = [_spelt(each) for each in words], list[tuple[str, str, range]]()
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
    if born := _BORN.search(text):
        return year - int(born[1]) - 0.5
    ages = [*_ages(text, year)]
    return ages[0] if len(ages) == 1 and not _RELATIVE.search(text) else None


def _youngest(text: str, year: int) -> float | None:
    """The age of the youngest child, where all are named or one is called so."""
    ages = [*_ages(text, year)]
    every = len(ages) > 1 or (ages and re.search(r"(?i)\b(?:only|youngest|one)\b", text))
    return min(ages) if every else None


def _ages(text: str, year: int) -> Iterator[float]:
    """The ages in a text, as of the present year; of months and weeks 0."""
    since = year - int(written[1]) if (written := _IN_YEAR.search(text)) else 0
    for match in _AGE.finditer(text):
        infant = re.search(r"(?i)month|week", match[0])
        for number in re.findall(f"(?i){_NUMBER}", match["some"] or match["one"] or ""):
            parts = re.split(r"[\s-]+", number.lower())
            whole = int(number) if number.isdecimal() else sum(map(_NUMBERS.__getitem__, parts))
            yield since + (0 if infant else whole)


def _amount(text: str, _year: int) -> float | None:
    """The only amount of a text, of dollars or points, by the year where by any time."""
    some = _AMOUNT.findall(text)
    if len(some) != 1 or _OTHER_UNIT.search(text) or _YEAR.search(text):
        return None
    [(number, unit)] = some
    return float(number.replace(",", "")) * _UNITS.get(unit.lower(), 1)


@cache
def _table() -> Mapping[str, Any]:
    return tomllib.loads(files("agent.facts").joinpath("values.toml").read_text(encoding="utf-8"))
