"""Single values of a policy file: their types and ranges, and a sentence for each that fails."""

import json
from collections.abc import Callable, Mapping
from datetime import date, datetime
from typing import Any, TypeVar

import msgspec

from agent.errors import Problem, UsageError, nearest
from policy.positions import line_of, lines_of
from policy.rules import Path
from policy.settings import SETTINGS, Risk, Setting, Share, Value

T = TypeVar("T")
MOST_LISTED = 1000  # recipients, attributes or words in one list
MOST_FOUND = 1000  # mistakes of one file
LONGEST, CUT = 60, "..."  # characters of a value in a sentence
LARGE = 1e9
PER_CENT = 100
HUGE = 4000  # bits: Python refuses to write larger numbers in decimal


class Findings:
    """What is wrong with a file, as it is found."""

    def __init__(self) -> None:
        """Begin with nothing."""
        self._found: list[tuple[Path, str, str]] = []

    def __bool__(self) -> bool:
        """Say whether anything was found."""
        return bool(self._found)

    def add(self, path: Path, what: str, hint: str) -> None:
        """Note what is wrong at a key; of a file that is wrong throughout, not all."""
        if len(self._found) < MOST_FOUND:
            self._found.append((path, what, hint))

    def unknown(self, path: Path, kind: str, name: str, names: list[str]) -> None:
        """Note a name that is none of these."""
        if len(self._found) < MOST_FOUND:  # to look for the nearest takes its time
            error = UsageError.unknown(kind, name, names)
            self.add(path, error.what, error.hint)

    def places(self) -> set[Path]:
        """Return the rules, attributes and other such parts in which something was found."""
        return {path[:2] for path, _, _ in self._found}

    def problems(self, text: str) -> list[Problem]:
        """Return what was found with its lines in the text of the file."""
        lines = lines_of(text)
        found = [
            Problem(line_of(lines, path), dotted(path), what, hint)
            for path, what, hint in self._found
        ]
        if len(found) == MOST_FOUND:
            what = f"the file has {MOST_FOUND:,} mistakes or more, and no more are listed"
            found.append(Problem(text.count("\n") + 1, "", what, "mend these first"))
        return found


def dotted(path: Path) -> str:
    """Return a key as a person writes it, rules counted from 1."""
    text = ""
    for part in path:
        if isinstance(part, int):
            text += f"[{part + 1}]"
        else:
            plain = part.replace("_", "").replace("-", "").isalnum() and part.isascii()
            quoted = part if plain else json.dumps(part, ensure_ascii=not part.isprintable())
            text += ("." if text else "") + quoted
    return text


def setting(found: Findings, path: Path, of: Setting, given: object) -> Value | None:
    """Return the value of a setting; None, with a finding, if it cannot have this one."""
    try:
        value: Value = msgspec.convert(given, of.kind)
    except (msgspec.ValidationError, OverflowError):
        found.add(path, *_refusal(of, given))
        return None
    return value


def settings(found: Findings, path: Path, given: Mapping[str, Any]) -> dict[str, Value]:
    """Return the settings of a table whose keys are all settings."""
    read = {key: setting(found, (*path, key), SETTINGS[key], each) for key, each in given.items()}
    return {key: value for key, value in read.items() if value is not None}


def texts(found: Findings, path: Path, given: object) -> list[str]:
    """Return a text or a list of them as a list, empty with a finding if it is neither."""
    listed = given if isinstance(given, list) else [given]
    words = [each for each in listed if isinstance(each, str)]
    if 0 < len(words) == len(listed) <= MOST_LISTED:
        return words
    what = f"{shown(given)} is no text, and no list of up to {MOST_LISTED} texts"
    if given == []:
        what = "the list is empty"
    found.add(path, what, 'write "one" or ["one", "another"], or leave it out')
    return []


def parsed(found: Findings, path: Path, given: object, parse: Callable[[str], T]) -> tuple[T, ...]:
    """Return each text of a list as ``parse`` reads it; what it refuses is a finding."""
    results = []
    for text in texts(found, path, given):
        try:
            results.append(parse(text))
        except UsageError as error:
            found.add(path, error.what, error.hint)
    return tuple(results)


def table(found: Findings, path: Path, given: object) -> Mapping[str, Any]:
    """Return a table, empty with a finding if it is none."""
    if isinstance(given, dict):
        return given
    found.add(path, f"{shown(given)} is no table", f"write [{dotted(path)}] and its keys below")
    return {}


def day(found: Findings, path: Path, given: object) -> date | None:
    """Return a date; None, with a finding, if it is none."""
    if isinstance(given, date) and not isinstance(given, datetime):
        return given
    found.add(path, f"{shown(given)} is no date", "write it as 2027-03-01, without quotes")
    return None


def shown(given: object) -> str:
    """Return a value as it may stand in a sentence, cut where it is long."""
    if isinstance(given, bool):
        return str(given).lower()
    if isinstance(given, dict):
        return "a table"
    if isinstance(given, list):
        return "a list"
    if isinstance(given, int) and given.bit_length() > HUGE:
        return "a huge number"
    text = repr(given) if isinstance(given, str) else str(given)
    return text if len(text) <= LONGEST else f"{text[: LONGEST - len(CUT)]}{CUT}"


def _way_out(of: Setting, given: object) -> str:
    """Return how to write what was probably meant."""
    if isinstance(given, str) and given.strip().replace(".", "", 1).isdigit():
        return f"write {given.strip()} without quotes"
    counts = "whole" in of.demand
    if counts and isinstance(given, float) and given.is_integer() and 0 <= given < LARGE:
        return f"write {int(given)} without decimals"
    of_share = of.kind in (Share, Risk) and not isinstance(given, bool)
    if of_share and isinstance(given, float | int) and 1 <= given <= PER_CENT:
        return f"for {given:g} % write {given / PER_CENT:g}"
    return f"write {of.key} = {of.demand}" if of.key == "search" else f"{of.key} is {of.demand}"


def _refusal(of: Setting, given: object) -> tuple[str, str]:
    if not of.choices:
        return f"{shown(given)} is not {of.demand}", _way_out(of, given)
    near = nearest(given, of.closers) if isinstance(given, str) else None
    hint = f"did you mean {near!r}?" if near else "write one of them in quotes"
    return f"{shown(given)} is not one of {', '.join(of.choices)}", hint
