"""Whatever a file holds: it is refused with all that is wrong, or every key of it counts."""

import tomllib
from collections.abc import Callable
from contextlib import suppress
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.errors import PolicyError, UsageError
from policy.families import families
from policy.match import Rulebook, known
from policy.read import load, preset, read
from policy.rules import Layer, Policy, spoken
from policy.settings import SETTINGS
from tests.policy import naive
from tests.policy.strategies import NAMES, TODAY, Document, documents, rendered

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


def slip(rng: Random, text: str) -> str:
    """Leave up to four characters out, or write another, or both."""
    place = rng.randrange(len(text))
    return text[:place] + rng.choice(("", *MARKS)) + text[place + rng.randint(0, 4) :]


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


CHANGES: tuple[Change, ...] = (slip, slip, double, piece, value, key)
CHANGES += ((lambda _, text: text.replace("\n", "\r\n")),)


@settings(max_examples=2 * settings().max_examples)
@given(documents(), st.randoms(use_true_random=False))
def test_refused_with_its_lines_or_nothing_ignored(document: Document, rng: Random) -> None:
    """No other error, and no key that is not in the policy."""
    text = rendered(document)
    for _ in range(rng.randint(1, 2)):
        text = rng.choice(CHANGES)(rng, text or "a\n\n")
    try:
        policy = read(text, "test", preset)
    except PolicyError as error:
        found = [*error.problems]
        assert found == sorted(found) != []
        assert all(1 <= each.line <= text.count("\n") + 1 for each in found)
        assert all(f"{each.key}{each.what}{each.hint}".isprintable() for each in found)
        return
    assert_counts(policy, tomllib.loads(text))
    Rulebook(policy, known(*NAMES)).match("shop.example", "flu", TODAY)


@given(documents())
def test_nothing_of_a_good_file_is_ignored(document: Document) -> None:
    """As it was meant, so it was read."""
    policy = read(rendered(document), "test", preset)
    assert tomllib.loads(rendered(document)) == document
    assert_counts(policy, document)


@given(st.binary(max_size=60) | st.text(max_size=60).map(str.encode))
def test_any_bytes_at_all(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    """A file that is no policy, or no text, is refused in one sentence."""
    path = tmp_path_factory.getbasetemp() / "any.toml"
    path.write_bytes(data)
    with suppress(UsageError, PolicyError):
        load(path)


def assert_counts(policy: Policy, document: Document) -> None:
    """Find every key of a document in its policy, and no rule there that no key stands for."""
    rules = {rule.path: rule for rule in policy.rules if rule.layer is Layer.FILE}
    rules |= {each.path: each for each in policy.contexts}
    entries = [each for each in naive.entries(document) if each.layer == 2 and each.settings]
    entries += naive.contexts(document)
    assert sorted(map(str, rules)) == sorted(str(each.path) for each in entries)
    for entry in entries:
        rule = rules[entry.path]
        assert rule.settings.keys() == entry.settings.keys()
        for key, value in entry.settings.items():
            same(rule.settings[key], value)
        assert (rule.expires, type(rule.expires)) == (entry.expires, type(entry.expires))
        for listed, part in ((rule.recipients, entry.recipient), (rule.excepted, entry.excepted)):
            hosts = [each if isinstance(each, str) else each.text for each in listed]
            texts = map(str.lower, naive.expanded(part, document))
            written = [each.encode("idna").decode() for each in texts]
            assert sorted(hosts + [*rule.groups] * (part is entry.recipient)) == sorted(written)
        assert [rule.hours] == (_listed(entry.hours) or [""])
        assert [[*rule.days], [*rule.doors]] == [_listed(entry.days), _listed(entry.door)]
        assert [each.text for each in rule.attributes] == _listed(entry.attribute)
        topics = [f"@{e}" if e in families() else spoken(e) for e in _listed(entry.topic)]
        assert [each.text for each in rule.topics] == topics
        assert [each.text for each in rule.queries] == [
            spoken(each, keep="*") for each in _listed(entry.query)
        ]
    for number, table in enumerate(document.get("rule", [])):
        assert table.get("name") in (None, rules["rule", number].name)
    started = tuple(each for each in policy.rules if each.layer is Layer.PRESET)
    start = document.get("preset", "balanced")
    assert started == (() if start == "none" else preset(start))
    assert list(policy.trusted_keys) == _listed(document.get("trusted_keys"))
    same(1, document.get("format", 1))
    for key, value in document.get("daemon", {}).items():
        same(getattr(policy.daemon, key), value)
    assert policy.groups.keys() == document.get("groups", {}).keys()
    for name, members in document.get("groups", {}).items():
        for member, text in zip(policy.groups[name], _listed(members), strict=True):
            assert text.lower().encode("idna").decode().removeprefix("*.").endswith(member.key)
    together = [([*each.parts["attribute"]], each.settings["price"]) for each in policy.together]
    assert together == [(each["facts"], each["price"]) for each in document.get("together", [])]
    assert document.get("queries", {}).keys() <= {"block", "block_topics", "except"}


def same(found: object, given_: object) -> None:
    """Compare a value with what was written: a whole number may stand for a decimal one."""
    assert found == (float(given_) if isinstance(found, float) else given_)  # type: ignore[arg-type]  # as it was written
    assert isinstance(found, bool) == isinstance(given_, bool)
    assert isinstance(found, str) == isinstance(given_, str)


def _listed(given_: object) -> list[str]:
    return given_ if isinstance(given_, list) else [] if given_ is None else [str(given_)]
