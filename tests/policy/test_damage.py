"""Whatever a file holds: it is refused with all that is wrong, or every key of it counts."""

import tomllib
from collections.abc import Callable
from contextlib import suppress
from datetime import date
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.errors import PolicyError, Problem, UsageError
from policy.match import Rulebook
from policy.read import load, preset, read
from policy.rules import Layer, Policy, Rule, spoken
from policy.settings import SETTINGS
from tests.policy.strategies import NAMES, TODAY, documents, rendered

Change = Callable[[Random, str], str]
MARKS = tuple("\"'=[]{}#.,*\\\n\r\t\x00\x1b\ufeff\u202e\u0130é🙂0-_: ")
VALUES = (
    *("1", "-1", "0.5", "1e400", "nan", "-inf", "true", "'auto'", '"nevr"', "[]", "{}", "''"),
    *("9" * 40, "0x" + "f" * 5000, "1979-05-27", "1979-05-27T00:00:00Z", "07:32:00", "[[], {}]"),
    *("[1, 'a']", "{ disclose = 'ask' }", "['shop.example', 'SHOP.example']", "'*'", "1_0", "+1"),
)
PIECES = (
    *("\n[[rule]]\n", "\n[attributes]\n", "\n[groups]\n", "\nk = 3\n", "\n[rule.x]\n", "[" * 2000),
    *("\nnothing = false\n", "\nexpires = 2027-03-01\n", "\nguard.a = 1\n", "\n[[attributes]]\n"),
    *("\nattributes.age.disclose = 'never'\n", "\n'' = 1\n", "\nmodel = 'x'\n", "a." * 300),
)


def swap(rng: Random, text: str) -> str:
    """Exchange two characters."""
    places = sorted(rng.sample(range(len(text)), 2))
    one, other = places
    return f"{text[:one]}{text[other]}{text[one + 1 : other]}{text[one]}{text[other + 1 :]}"


def insert(rng: Random, text: str) -> str:
    """Put a character anywhere."""
    place = rng.randrange(len(text))
    return text[:place] + rng.choice(MARKS) + text[place:]


def drop(rng: Random, text: str) -> str:
    """Leave a few characters out."""
    place = rng.randrange(len(text))
    return text[:place] + text[place + rng.randint(1, 4) :]


def double(rng: Random, text: str) -> str:
    """Write a stretch twice, often a whole line or table."""
    ends = [place for place, each in enumerate(text) if each == "\n"] or [0, len(text)]
    one, other = sorted(rng.choices(ends, k=2))
    return text[:other] + text[one:other] + text[other:]


def piece(rng: Random, text: str) -> str:
    """Put a piece of a policy between two lines."""
    lines = text.splitlines(keepends=True)
    place = rng.randint(0, len(lines))
    return "".join([*lines[:place], rng.choice(PIECES), *lines[place:]])


def value(rng: Random, text: str) -> str:
    """Give a key another value."""
    lines = text.splitlines()
    place = rng.randrange(len(lines))
    lines[place] = f"{lines[place].partition('=')[0]}= {rng.choice(VALUES)}"
    return "\n".join(lines)


def key(rng: Random, text: str) -> str:
    """Misspell a key, or write another."""
    lines = text.splitlines()
    place = rng.randrange(len(lines))
    name, sign, rest = lines[place].partition("=")
    if sign and name.strip():
        at = rng.randrange(len(name.strip()))
        misspelt = name[:at] + rng.choice("aesk_-") + name[at + 1 :]
        lines[place] = f"{rng.choice([misspelt, *SETTINGS])} = {rest}"
    return "\n".join(lines)


def windows(_: Random, text: str) -> str:
    """End lines as on Windows."""
    return text.replace("\n", "\r\n")


CHANGES: tuple[Change, ...] = (swap, insert, drop, double, piece, value, key, windows)


def damaged(rng: Random, text: str) -> str:
    """Return a text with one or two changes."""
    for _ in range(rng.randint(1, 2)):
        text = rng.choice(CHANGES)(rng, text or "a\n\n")
    return text


@settings(max_examples=1000)
@given(documents(), st.randoms(use_true_random=False))
def test_refused_with_its_lines_or_nothing_ignored(document: dict[str, Any], rng: Random) -> None:
    """No other error, and no key that is not in the policy."""
    text = damaged(rng, rendered(document))
    policy = policy_or_problems(text)
    if isinstance(policy, Policy):
        Account(policy, tomllib.loads(text)).settle()
        Rulebook(policy, NAMES).match("shop.example", "flu", TODAY)
        return
    assert policy
    assert policy == sorted(policy)
    assert all(1 <= each.line <= text.count("\n") + 1 for each in policy)
    assert all(f"{each.key}{each.what}{each.hint}".isprintable() for each in policy)


def policy_or_problems(text: str) -> Policy | list[Problem]:
    """Return a policy, or all that is wrong with it."""
    try:
        return read(text, "test", preset)
    except PolicyError as error:
        return list(error.problems)


@given(documents())
def test_nothing_of_a_good_file_is_ignored(document: dict[str, Any]) -> None:
    """As it was meant, so it was read."""
    policy = read(rendered(document), "test", preset)
    assert tomllib.loads(rendered(document)) == document
    Account(policy, document).settle()


@settings(max_examples=300)
@given(st.binary(max_size=60) | st.text(max_size=60).map(str.encode))
def test_any_bytes_at_all(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    """A file that is no policy, or no text, is refused in one sentence."""
    path = tmp_path_factory.getbasetemp() / "any.toml"
    path.write_bytes(data)
    with suppress(UsageError, PolicyError):
        load(path)


def test_a_mark_at_the_beginning_is_no_matter(tmp_path: Path) -> None:
    """Some editors write one; a folder or no file is refused in one sentence."""
    path = tmp_path / "mine.toml"
    path.write_bytes(b"\xef\xbb\xbflambda = 1\r\n")
    assert load(path).rules[-1].settings == {"lambda": 1}
    for missing in (tmp_path, tmp_path / "none.toml"):
        with suppress(UsageError):
            load(missing)
            raise AssertionError


class Account:
    """Every key of a document, and where it is in the policy that was read from it."""

    def __init__(self, policy: Policy, document: dict[str, Any]) -> None:
        self.policy, self.document = policy, document
        own = [rule for rule in policy.rules if rule.layer is Layer.FILE]
        self.rules = {rule.path: rule for rule in own}
        assert len(self.rules) == len(own)

    def settle(self) -> None:
        """Find every key, and no rule that no key stands for."""
        for name, given_ in self.document.items():
            getattr(self, f"_{name}", self._setting)(name, given_)
        assert self.rules == {}

    def _setting(self, name: str, given_: object) -> None:
        same(self.rules[()].settings[name], given_)
        if name == [key for key in self.document if key in SETTINGS][-1]:
            assert self.rules.pop(()).settings.keys() <= self.document.keys()

    def _format(self, _: str, given_: object) -> None:
        same(given_, 1)

    def _preset(self, _: str, name: str) -> None:
        from_preset = tuple(each for each in self.policy.rules if each.layer is Layer.PRESET)
        assert from_preset == preset(name) != ()

    def _trusted_keys(self, _: str, given_: object) -> None:
        assert list(self.policy.trusted_keys) == listed(given_)

    def _daemon(self, _: str, given_: dict[str, Any]) -> None:
        for key_, value in given_.items():
            same(getattr(self.policy.daemon, key_), value)

    def _groups(self, _: str, given_: dict[str, Any]) -> None:
        assert self.policy.groups.keys() == given_.keys()
        for name, members in given_.items():
            found = [each.key for each in self.policy.groups[name]]
            assert len(found) == len(listed(members))
            for domain, written in zip(found, listed(members), strict=True):
                assert written.lower().encode("idna").decode().removeprefix("*.").endswith(domain)

    def _attributes(self, _: str, given_: dict[str, Any]) -> None:
        for name, entry in given_.items():
            rule = self.rules.pop(("attributes", name))
            assert [each.text for each in rule.attributes] == [name]
            table = entry if isinstance(entry, dict) else {"disclose": entry}
            self._table(rule, table, attribute=name)

    def _queries(self, _: str, given_: dict[str, Any]) -> None:
        if given_:
            rule = self.rules.pop(("queries", "block"))
            self._table(rule, {"nothing": True, "query": given_["block"]})
            assert given_.keys() == {"block"}

    def _rule(self, _: str, given_: list[dict[str, Any]]) -> None:
        for number, table in enumerate(given_):
            self._table(self.rules.pop(("rule", number)), table)

    def _table(self, rule: Rule, table: dict[str, Any], attribute: str | None = None) -> None:
        """Find each key of a table in its rule, and in the rule nothing else."""
        left = dict(table)
        if "name" in left:
            assert rule.name == left.pop("name")
        assert rule.expires == left.pop("expires", None)
        assert type(rule.expires) in (date, type(None))
        hosts = [each.text for each in rule.recipients]
        written = [each.lower() for each in listed(left.pop("recipient", []))]
        recipients = [each.encode("idna").decode() for each in written]
        assert sorted([*hosts, *rule.groups]) == sorted(recipients)
        attributes = listed(left.pop("attribute", attribute or []))
        assert [each.text for each in rule.attributes] == attributes
        queries = [spoken(each) for each in listed(left.pop("query", []))]
        assert [each.text for each in rule.queries] == queries
        assert rule.settings.keys() == left.keys() != set()
        for key_, given_ in left.items():
            same(rule.settings[key_], given_)


def same(found: object, given_: object) -> None:
    """Compare a value with what was written: a whole number may stand for a decimal one."""
    assert found == (float(given_) if isinstance(found, float) else given_)  # type: ignore[arg-type]  # as it was written
    assert isinstance(found, bool) == isinstance(given_, bool)
    assert isinstance(found, str) == isinstance(given_, str)


def listed(given_: object) -> list[str]:
    """Return a text, or a list of them, as a list."""
    return given_ if isinstance(given_, list) else [given_]  # type: ignore[list-item]  # as it was written
