"""Words that last, as rules of the policy."""

import tomllib
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from itertools import product
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.daemon.instructions import (
    Instruction,
    is_managed,
    outcome,
    recipient_of,
    with_instruction,
    without_refusals,
)
from agent.errors import UsageError
from agent.wire.policy import Disclose
from policy.amend import RuleScope, with_settings
from policy.hosts import host_of
from policy.match import Known, Rulebook, known
from policy.read import preset, read
from policy.rules import Policy, Pools
from tests.daemon.office import FEW

START = date(2026, 3, 2)
BOOKS = Instruction("books.example", "auto", known("salary"), answers=True)
PLAIN = 'disclose = "ask"\n'
DAY = timedelta(days=1)
NAMES = ("salary", "gender", "int_python")
HOSTS = ("a.example", "www.a.example", "b.example", "s1.example", "s2.test", "192.0.2.7", "::1")
GROUPS = '\n[groups]  # who pools\nshops = ["s1.example", "s2.test"]\n'
BASES = (
    '# mine\ndisclose = "ask"  # all of it\n',
    'preset = "strict"\n\n# of attributes\n[attributes]\njob = "never"\n',
    'preset = "balanced"\n[attributes]\n"i*" = "ask"  # those\n"s*" = { disclose = "ask" }\n',
    'disclose = "ask"\r\nrule = [ { recipient = "c.example", anonymity_price = 0.009 } ]\r\n',
    'disclose = "ask"\n\n[[rule]]\nname = "approved for a.example"\nanonymity_price = 0.009\n# end',
    'disclose = "ask"\n[[rule]]\nrecipient = "*.example"\nk = 3  # enough\n',
)
OF_RULES = "# mine", "# all of it", "# of attributes", "# those"
REMARKS = (*OF_RULES, "# end", "# enough", "# who pools")
SALARY = Known(frozenset({"salary"}), frozenset({"salary", "pay"}))
ENTRY_BASES = (
    'disclose = "ask"\n',
    'preset = "strict"\n[attributes]\nsalary = "never"\n"g*" = "ask"\n',
    'disclose = "ask"\n[groups]\nshops = ["s1.example", "a.example"]\n',
)


def policy_of(text: str) -> Policy:
    return read(text, "policy.toml", preset)


def after(text: str, *wanted: Instruction) -> str:
    for each in wanted:
        text = with_instruction(text, policy_of(text), each, START)
    return text


@dataclass(frozen=True)
class Step:
    """A verdict, or a comment that somebody writes at the end of a line, some days later."""

    host: str
    names: tuple[str, ...]
    disclose: Disclose | None
    everyone: bool
    days: int | None
    later: int
    line: int


STEPS = st.lists(
    st.builds(
        Step,
        host=st.sampled_from(HOSTS),
        names=st.lists(st.sampled_from(NAMES), min_size=1, unique=True).map(tuple),
        disclose=st.sampled_from(["auto", "auto", "never", "never", None]),
        everyone=st.integers(0, 3).map(lambda number: number == 0),
        days=st.sampled_from([None, None, 1, 3]),
        later=st.sampled_from([0, 0, 1, 2]),
        line=st.integers(0, 30),
    ),
    max_size=8,
)


@dataclass
class Oracle:
    """What was said last, by whom it is about and attribute: what it is, and until when.

    ``entries``: what was said of an attribute for everyone and for good.
    """

    said: dict[str | None, dict[str, tuple[str, date | None]]] = field(default_factory=dict)
    entries: dict[str, str] = field(default_factory=dict)

    def say(self, pool: str | None, name: str, value: str, until: date | None) -> None:
        for other, values in self.said.items():
            if pool in (None, other):
                values.pop(name, None)
        if pool is None and until is None:
            self.entries[name] = value
        else:
            self.said.setdefault(pool, {})[name] = (value, until)

    def value(self, pool: str, name: str, base: str, today: date) -> str:
        for where in (pool, None):
            value, until = self.said.get(where, {}).get(name, (None, None))
            if value is not None and (until is None or today <= until):
                return value
        return self.entries.get(name, base)


def value_of(text: str, host: str, name: str, today: date, query: str = "") -> object:
    ruling = Rulebook(policy_of(text), known(*NAMES)).match(host, query, today)
    return ruling.attributes[name]["disclose"].value


def theirs(text: str) -> dict[str, Any]:
    """Return what a policy says beside the rules that are ours."""
    document = tomllib.loads(text)
    rules, entries = document.pop("rule", []), document.pop("attributes", {})
    return document | {
        "attributes": {name: each for name, each in entries.items() if name not in NAMES},
        "rule": [each for each in rules if not is_managed({"name": "", **each})],
    }


@FEW
@given(st.sampled_from(BASES), STEPS)
def test_the_last_verdict_is_what_the_policy_rules(base: str, steps: list[Step]) -> None:
    """For everyone it is about, on every day; the comments and the other rules stay."""
    original = text = base if "\r\n" in base else f"{base}{GROUPS}"
    oracle, today, remarks = Oracle(), START, list[str]()
    pools = Pools(policy_of(text).groups)
    for number, step in enumerate(steps):
        today += step.later * DAY
        if step.disclose is None:
            remarks.append(f"#{number}")
            lines = text.splitlines(keepends=True)
            newline = "\r\n" if "\r\n" in text else "\n"
            lines.insert(step.line % len(lines), f"{remarks[-1]}{newline}")
            text = "".join(lines)
            continue
        until = None if step.days is None else today + step.days * DAY
        said = step.host, step.disclose, known(*step.names)
        wanted = Instruction(*said, everyone=step.everyone, until=until, answers=True)
        before = {name: value_of(text, step.host, name, today) for name in step.names}
        text = with_instruction(text, policy_of(text), wanted, today)
        pool = None if step.everyone else pools.of(step.host)
        for name in step.names:
            if before[name] == "ask" or step.disclose == "never":
                oracle.say(pool, name, step.disclose, until)
        assert_as_said(text, original, oracle, pools, today)
    assert theirs(text) == theirs(original)
    assert all(remark in text.splitlines() for remark in remarks)
    assert all((each in text) == (each in original) for each in REMARKS)


def assert_as_said(text: str, base: str, oracle: Oracle, pools: Pools, today: date) -> None:
    """Check every recipient and attribute, on this day and the next ones."""
    before, after_ = (Rulebook(policy_of(each), known(*NAMES)) for each in (base, text))
    for day, host in product((today, today + DAY, today + 4 * DAY), HOSTS):
        old, new = (each.match(host, "", day).attributes for each in (before, after_))
        for name in NAMES:
            expected = oracle.value(pools.of(host), name, str(old[name]["disclose"].value), day)
            assert new[name]["disclose"].value == expected, (host, name, day)


def test_a_verdict_is_a_rule_that_reads_as_one() -> None:
    """Written once, however often it is said."""
    text = after(PLAIN, BOOKS, BOOKS, replace(BOOKS, names=known("gender")))
    assert text == (
        'disclose = "ask"\n\n[[rule]]\nname = "approved for books.example"\n'
        'recipient = "books.example"\nattribute = ["salary", "gender"]\ndisclose = "auto"\n'
    )
    lasting = Instruction("s2.test", "never", known("salary"), answers=True, until=START + DAY)
    assert after(f"{PLAIN}{GROUPS}", lasting).endswith(
        '[[rule]]\nname = "denied for @shops until 2026-03-03"\nrecipient = "shops"\n'
        'attribute = ["salary"]\ndisclose = "never"\nexpires = 2026-03-03\n'
    )
    everyone = Instruction("s2.test", "never", known("salary"), answers=True, everyone=True)
    assert after(PLAIN, everyone) == f'{PLAIN}\n[attributes]\nsalary = "never"\n'


def test_a_rule_that_somebody_changed_is_theirs() -> None:
    """It stays as it is, and the name of the next is another."""
    text = after(PLAIN, BOOKS).replace('"auto"', '"auto"\nquery = "novel"')
    both = after(text, BOOKS)
    managed = [each["name"] for each in tomllib.loads(both)["rule"] if is_managed(each)]
    assert managed == ["approved for books.example (2)"]
    assert theirs(both) == theirs(text)
    assert after(both, BOOKS) == both


@pytest.mark.parametrize(
    ("rule", "winner"),
    [
        ('[attributes]\nsalary = "ask"\n', None),
        ('[[rule]]\nrecipient="books.example"\ndisclose="ask"\n', None),
        ('[[rule]]\nname="r"\nrecipient="books.example"\nquery="jobs"\ndisclose="ask"\n', "r"),
        ('[[rule]]\nrecipient="www.books.example"\ndisclose="ask"\n', None),
        ('[[rule]]\nname="r"\nrecipient="books.example"\nattribute="s*y"\ndisclose="ask"\n', None),
        ('[[rule]]\nname="r"\nrecipient="books.example"\nattribute="salary"\ndisclose="ask"', "r"),
    ],
)
def test_what_another_rule_wins_is_said(rule: str, winner: str | None) -> None:
    """With its name: a query, the very same scope; not a host of the same recipient."""
    wanted = Instruction("www.books.example", "auto", known("salary"), "jobs in town", answers=True)
    text = after(rule, wanted)
    written = outcome(policy_of(text), wanted, START)
    assert written.written == (None if winner else "approved for books.example")
    assert written.without_effect == (["salary"] if winner else [])
    assert written.decided_by == ([winner] if winner else [])


@pytest.mark.parametrize("host", ["intranet", "github.io", "com", "co.uk"])
def test_no_rule_is_written_that_means_others(host: str) -> None:
    """A host without a dot is the name of a group; below a public suffix are many owners."""
    for disclose in get_args(Disclose):
        with pytest.raises(UsageError, match=host):
            after(PLAIN, Instruction(host, disclose, known("salary")))
    with pytest.raises(UsageError, match=host):
        recipient_of(policy_of(PLAIN), host)
    text = 'disclose = "ask"\n[groups]\nours = ["intranet", "a.example"]\n'
    assert recipient_of(policy_of(text), "intranet") == "ours"
    assert recipient_of(policy_of(text), "www.a.example") == "ours"


@given(
    st.text(max_size=30) | st.from_regex(r'[a-z0-9."\\\n\]-]{1,20}\.[a-z"]{2,5}', fullmatch=True)
)
def test_no_name_of_a_recipient_writes_anything_else(text: str) -> None:
    """Whatever comes over the wire is a host, or is refused."""
    try:
        host = host_of(text)
        result = after(PLAIN, Instruction(host, "auto", known("salary"), answers=True))
    except UsageError:
        return
    (rule,) = tomllib.loads(result)["rule"]
    assert rule.keys() == {"name", "recipient", "attribute", "disclose"}
    assert value_of(result, host, "salary", START) == "auto"
    assert value_of(result, "elsewhere.example", "salary", START) == "ask"


@pytest.mark.parametrize("disclose", get_args(Disclose))
@pytest.mark.parametrize(
    "entry", ['"ask"', '"never"', '{ disclose = "always", sensitivity = 1.0 }']
)
def test_an_override_for_everyone_and_for_good_is_the_entry(disclose: Disclose, entry: str) -> None:
    """Whatever it said, and nothing beside it changes."""
    text = f"[attributes]\nsalary = {entry}  # mine\n"
    wanted = Instruction("a.example", disclose, known("salary"), everyone=True)
    old = entry.split('"')[1]
    assert after(text, wanted) == text.replace(f'"{old}"', f'"{disclose}"')


@pytest.mark.parametrize("base", ENTRY_BASES)
@given(
    wanted=st.lists(
        st.builds(
            Instruction,
            st.sampled_from(("a.example", "www.a.example", "s1.example")),
            st.sampled_from(get_args(Disclose)),
            st.sampled_from([known("salary", "gender"), {"salary": SALARY}, {"pay": SALARY}]),
            everyone=st.booleans(),
            until=st.sampled_from([None, None, START]),
            answers=st.booleans(),
        ),
        min_size=1,
        max_size=5,
    )
)
def test_the_last_override_is_what_the_policy_rules(base: str, wanted: list[Instruction]) -> None:
    """Of all that it is about, unless a rule is named that wins; and it is ours to change again."""
    text = base
    for each in wanted:
        text = after(text, each)
    last = wanted[-1]
    if last.answers:
        return
    written = outcome(policy_of(text), last, START)
    found = Rulebook(policy_of(text), last.names).match(last.host, "", START).attributes
    for name in last.names:
        holds = found[name]["disclose"].value == last.disclose
        assert holds == (name not in written.without_effect)
    assert last.everyone or not written.without_effect
    assert written.without_effect or written.written is not None


REFUSED_HOSTS = ("a.example", "b.example", "c.test", "shops")
BLOCKED = (
    'disclose = "ask"\n[groups]\nshops = ["intranet"]\n'
    '[[rule]]\nrecipient = ["b.example", "c.test"]\nnothing = true\n'
    '[[rule]]\nrecipient = "a.example"\nnothing = true\nk = 3\n'
)


def blocked(text: str) -> set[str]:
    """Return who gets nothing, now and for ever."""
    book, day = Rulebook(policy_of(text), {}), START + timedelta(days=4000)
    hosts = {host: "intranet" if host == "shops" else host for host in REFUSED_HOSTS}
    return {name for name, host in hosts.items() if book.refusing(host, day)}


@given(st.lists(st.tuples(st.sampled_from(REFUSED_HOSTS), st.booleans()), max_size=8))
def test_who_was_refused_last_gets_nothing(steps: list[tuple[str, bool]]) -> None:
    """And nobody else: a rule that names others too keeps them, and its other settings."""
    text, away = BLOCKED, blocked(BLOCKED)
    for host, refused in steps:
        text = without_refusals(text, policy_of(text), "intranet" if host == "shops" else host)
        if refused:
            where = RuleScope(recipient=host)
            text = with_settings(text, policy_of(text), where, {"nothing": True})
        away = away | {host} if refused else away - {host}
        assert blocked(text) == away
    assert [rule for rule in tomllib.loads(text).get("rule", []) if rule.get("k") == 3]
