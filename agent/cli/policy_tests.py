"""The tests in a policy file: what is to come true, and where it does not."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from itertools import product

from agent.cli.options import today
from agent.decision.context import rulebook
from agent.decision.topics import called_in_rules, topics_of
from agent.errors import Problem
from agent.model.model import Model
from policy.audit import called
from policy.conditions import times_of
from policy.hosts import ANYBODY, KINDS
from policy.match import GUARDED, NO_TOPICS, NOTHING, Ruling, Verdicts, may
from policy.rules import KeyPath, Policy, Rule
from policy.settings import SETTINGS, Value
from policy.toml_text import dotted, line_of, lines_of, toml

Lines = Mapping[KeyPath, int]  # of the keys of a file


def failed_tests(policy: Policy, models: Sequence[Model]) -> tuple[Problem, ...]:
    """What the tests of a policy expect and is not so: of each test and setting, the first case."""
    book, lines = rulebook(policy, models[0], models), lines_of(policy.text)
    every = [called_in_rules(each) for model in models for each in model.queries]
    failed = list[Problem]()
    for test in policy.tests:
        hosts = {each.host: each.text for each in test.recipients}
        for name in test.groups:
            hosts[KINDS.get(name) or policy.groups[name][0].host] = name
        hosts = hosts or {ANYBODY: "anybody"}
        words = (each.text.replace("*", "") for each in test.queries)
        asked = {text: (text, topics_of(policy, models, Model.read, text)) for text in words}
        for pattern in test.topics:
            meant = [each for each in every if any(map(pattern.matches, each))]
            for names in meant or [frozenset({pattern.text})]:
                asked[f"about {min(names)}"] = "", {names: 1.0}
        asked, found = asked or {"": ("", NO_TOPICS)}, dict[str, str]()
        cases = product(hosts, asked, times_of(test, today()), test.doors or ("",))
        for host, about, at, door in cases:
            text, topics = asked[about]
            ruling = book.match(host, text, at, topics, door)
            when = f"{at:%a %H:%M}" if isinstance(at, datetime) else ""
            for key, value in test.settings.items():
                for name, other in _others(test, key, value, ruling, lines):
                    case = ", ".join(filter(None, (hosts[host], when, door, about, name)))
                    found.setdefault(key, f"for {case}: {key} is {other}")
        for key, what in found.items():
            line, hint = line_of(lines, (*test.path, key)), "change the rule, or the test"
            failed.append(Problem(line, dotted((*test.path, key)), what, hint))
    return tuple(failed)


def _others(
    test: Rule, key: str, wanted: Value, ruling: Ruling, lines: Lines
) -> Iterator[tuple[str, str]]:
    """Yield each attribute, "" for the request, that is ruled otherwise than wanted, and how."""
    about: Mapping[str, Verdicts] = {"": ruling.settings}
    if SETTINGS[key].about == "attribute":
        names = [name for name, each in ruling.known.items() if test.is_about(each.names)]
        about = {name: ruling.attributes[name] for name in names}
        if not about:
            yield test.conditions["attribute"], "of no fact that a model knows"
    for name, verdicts in about.items():
        nothing, verdict = ruling.settings[NOTHING], verdicts.get(key)
        if key == "disclose" and nothing.value is True:
            verdict = nothing._replace(value="never")
        elif key == "disclose" and may(verdicts) == GUARDED:
            verdict = verdicts["guard"]._replace(value="never")
        if verdict is None or verdict.value != wanted:
            other = verdict and f"{toml(verdict.value)}, by {called(verdict.rule, lines)}"
            yield name, other or "not set"
