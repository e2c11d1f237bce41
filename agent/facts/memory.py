"""The lines of what an assistant remembers of its user: bullets, dates, Markdown and JSON come off.

The forms are those in which ChatGPT, Claude, Gemini and Copilot show or export their memories.
"""

import json
import re
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import NamedTuple

from agent.facts.values import english

SHORT = 3  # words of a line that needs the heading above it

_MARKS = re.compile(
    r"(?:(?:[-*+•◦▪‣·–—>]|#{1,6}|\d{1,3}[.)]|\[[ xX]?\])(?:\s+|$)|•|\*\*|__|`+|\s)+"
)
_EMPHASIS = re.compile(r"\*\*|__|`|^\*|\*$")
_HEADING = re.compile(
    r"#{1,6}\s+\S.*|(?:\*\*?|__?)[^*_]+(?:\*\*?|__?):?$|(?:[^\s\[{\"]\S*\s+){0,7}\S+:$"
)
_BULLET = re.compile(r"\s*(?:[-*+•◦▪‣·]|\d{1,3}[.)])\s")
_YEAR = re.compile(r"(?:19|20)\d\d")


class MemoryLine(NamedTuple):
    """One line; ``label``: the heading above it where it needs one; ``year``: when it was written.

    ``year`` is None where nothing says it.
    """

    text: str
    label: str = ""
    year: int | None = None


def lines_of(text: str) -> Iterator[MemoryLine]:
    """The lines of a text without their marks, less headings. Never raises."""
    whole = _of_json(text)
    by_line = (_of_json(each) or [MemoryLine(each)] for each in text.splitlines())
    parts, heading = whole or [*chain.from_iterable(by_line)], ""
    for at, part in enumerate(parts):
        bare, year = _without_date(part.text)
        if not any(map(str.isalnum, bare)) or english("aside").match(bare):
            continue
        if not part.label and not whole and _is_heading(part.text.strip(), parts[at + 1 : at + 3]):
            heading = "" if english("general").match(bare) else bare.rstrip(" :")
            continue
        short = len(bare.split()) <= SHORT and ":" not in bare and not english("verb").match(bare)
        yield MemoryLine(bare, part.label or heading * short, year or part.year)


def _is_heading(text: str, below: Sequence[MemoryLine]) -> bool:
    """Whether a line stands above others: by its marks, or few words above bullets."""
    if _BULLET.match(text) and not text.startswith("**"):
        return False
    listed = next((bool(_BULLET.match(each.text)) for each in below if each.text.strip()), False)
    few = listed and len(text.split()) <= SHORT + 1 and text[-1:] not in ".!?"
    return few or bool(_HEADING.fullmatch(text))


def _without_date(text: str) -> tuple[str, int | None]:
    """A line without bullets, emphasis and the date before it, and the year of that."""
    year, bare = None, text.strip()
    while True:
        before = bare
        if marks := _MARKS.match(bare):
            bare = bare[marks.end() :]
        if date := english("dated").match(bare):
            bare, written = bare[date.end() :], _YEAR.search(date[0])
            year = int(written[0]) if written else year
        if bare == before:
            return _EMPHASIS.sub("", bare).strip(), year


def _of_json(text: str) -> list[MemoryLine]:
    """The texts of a JSON array or object, none of anything else."""
    bare = re.sub(r"^\s*```\w*\s|```\s*$", "", text) if "```" in text else text
    if bare.lstrip()[:1] not in {"[", "{"}:
        return []
    try:
        stack = [(json.loads(bare), MemoryLine(""))]
    except (ValueError, RecursionError):
        return []
    lines = []
    while stack:
        value, line = stack.pop()
        if isinstance(value, dict):
            when = (str(value[key]) for key in value if english("when").fullmatch(key))
            year = next((int(each[0]) for each in map(_YEAR.search, when) if each), line.year)
            for key in reversed(value):
                if not (english("unwanted").fullmatch(key) or english("when").fullmatch(key)):
                    label = "" if english("wrapper").fullmatch(key) else key.replace("_", " ")
                    label = f"{line.label} {label}".strip()
                    stack.append((value[key], MemoryLine("", label, year)))
        elif isinstance(value, list):
            stack += [(each, line) for each in reversed(value)]
        elif value is not None:
            shown = ("no", "yes")[value] if isinstance(value, bool) else str(value)
            lines += [line._replace(text=each) for each in shown.splitlines()]
    return lines
