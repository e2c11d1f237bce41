"""The tests in a policy file: what is to come true, and where it does not."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import date, datetime, time, timedelta
from itertools import product

from agent.cli.options import today
from agent.decision.context import rulebook
from agent.decision.topics import topics_of
from agent.errors import Problem
from agent.model.model import Model
from policy.audit import called
from policy.hosts import ANYBODY, KINDS
from policy.match import GUARDED, NOTHING, Ruling, Verdicts, may
from policy.rules import KeyPath, NamePattern, Policy, Rule
from policy.settings import DAYS, SETTINGS, Value
from policy.toml_text import dotted, line_of, lines_of, toml

Lines = Mapping[KeyPath, int]  # of the keys of a file


def failed_tests(policy: Policy, models: Sequence[Model]) -> tuple[Problem, ...]:
    """What the tests of a policy expect and is not so: of each test and setting, the first case."""
    book, lines = rulebook(policy, models[0], models), lines_of(policy.text)
    failed = list[Problem]()
    for test in policy.tests:
        hosts = {each.host: each.text for each in test.recipients}
        for name in test.groups:
            hosts[KINDS.get(name) or policy.groups[name][0].host] = name
        hosts = hosts or {ANYBODY: "anybody"}
        texts = [each.text.replace("*", "") for each in test.queries] or [""]
        found = dict[str, str]()
        cases = product(hosts, texts, _times_of(test), test.doors or ("",))
        for host, text, at, door in cases:
            ruling = book.match(host, text, at, topics_of(policy, models, Model.read, text), door)
            when = f"{at:%a %H:%M}" if isinstance(at, datetime) else ""
            for key, value in test.settings.items():
                for name, other in _others(test, key, value, ruling, lines):
                    case = ", ".join(filter(None, (hosts[host], when, door, text, name)))
                    found.setdefault(key, f"for {case}: {key} is {other}")
        for key, what in found.items():
            line, hint = line_of(lines, (*test.path, key)), "change the rule, or the test"
            failed.append(Problem(line, dotted((*test.path, key)), what, hint))
    return tuple(failed)


def _times_of(test: Rule) -> list[date]:
    """The first and the last minute of a test's hours, on each of its days of the next seven."""
    if not (test.hours or test.days):
        return [today()]
    ends = (test.hours or "00:00-24:00").split("-")
    begin, end = (60 * int(each[:2]) + int(each[3:]) for each in ends)
    week = (datetime.combine(today() + timedelta(days=each), time()) for each in range(7))
    some = [day for day in week if not test.days or DAYS[day.weekday()] in test.days]
    minutes = begin, begin + (end - begin - 1) % 1440
    return [day + timedelta(minutes=each) for day in some for each in minutes]


def _others(
    test: Rule, key: str, wanted: Value, ruling: Ruling, lines: Lines
) -> Iterator[tuple[str, str]]:
    """Yield each attribute, "" for the request, that is ruled otherwise than wanted, and how."""
    about: Mapping[str, Verdicts] = {"": ruling.settings}
    if SETTINGS[key].about == "attribute":
        patterns = test.attributes or (NamePattern("*"),)
        about = {
            name: ruling.attributes[name]
            for name, each in ruling.known.items()
            if any(pattern.matches(other) for pattern in patterns for other in each.names)
        }
        if not about:
            yield ", ".join(each.text for each in patterns), "of no fact that a model knows"
    for name, verdicts in about.items():
        nothing, verdict = ruling.settings[NOTHING], verdicts.get(key)
        if key == "disclose" and nothing.value is True:
            verdict = nothing._replace(value="never")
        elif key == "disclose" and may(verdicts) == GUARDED:
            verdict = verdicts["guard"]._replace(value="never")
        if verdict is None or verdict.value != wanted:
            other = verdict and f"{toml(verdict.value)}, by {called(verdict.rule, lines)}"
            yield name, other or "not set"
