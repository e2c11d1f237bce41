"""The policy as items: all of it is there once, under keys that stay, as wide as there is room."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace as changed
from rich.cells import cell_len

from agent.tui.screens.policy import (
    EXPIRED,
    LAST,
    REMARK,
    WRONG,
    PolicyItem,
    drawn,
    headline,
    items_of,
)
from agent.wire.policy import RuleRemark, RulesStatus, RuleStatus, SettingStatus
from tests.cli.policing import BOOKS, BROKEN, NONE, OLD, RULES, SHADOWED, STRICT
from tests.cli.policing import WRONG as MISTAKE

NOW = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)
TEXTS = st.text(max_size=12)
TIMES = st.none() | st.integers(0, 5).map(lambda hours: NOW - timedelta(hours=hours))
PROBLEMS = st.builds(RuleRemark, line=st.integers(0, 99), key=TEXTS, what=TEXTS, hint=TEXTS)
RULE = st.builds(
    RuleStatus,
    name=TEXTS,
    source=st.just("/p"),
    line=st.integers(1, 99),
    conditions=st.dictionaries(TEXTS, TEXTS, max_size=2),
    settings=st.dictionaries(TEXTS, TEXTS, max_size=3),
    fired_at=TIMES,
    expired=st.booleans(),
    remarks=st.lists(PROBLEMS, max_size=2),
)
SHIPPED = RULE.map(lambda each: changed(each, source="preset", line=None))
SETTING = st.builds(SettingStatus, key=TEXTS, value=TEXTS, rule=TEXTS, line=st.none() | st.just(3))
POLICIES = st.builds(
    RulesStatus,
    path=st.just("/p"),
    in_use=st.just(True),
    since=st.just(NOW),
    problems=st.lists(PROBLEMS, max_size=3),
    effective=st.lists(SETTING, max_size=3),
    rules=st.lists(RULE | SHIPPED, max_size=6),
)


def kept(items: Sequence[PolicyItem]) -> list[PolicyItem]:
    """Return all but the titles."""
    return [each for each in items if not each.title]


@given(POLICIES)
def test_all_that_there_is_is_there_once(policy: RulesStatus) -> None:
    """Each problem, each rule, each setting, with a key of its own; the file before the preset."""
    items = items_of(policy, NOW)
    assert len({each.key for each in items}) == len(items)
    rules = sorted(policy.rules, key=lambda each: each.line is None)
    wanted: list[int | None] = [each.line for each in policy.problems]
    wanted += [each.line for each in rules]
    wanted += [each.line for each in policy.effective]
    assert [each.line for each in kept(items)] == wanted


@given(POLICIES)
def test_what_is_said_of_a_rule_is_all_of_it(policy: RulesStatus) -> None:
    """For whom it is, what it sets, and what it does not do; the list may cut that."""
    said = [each.text for each in kept(items_of(policy, NOW))][len(policy.problems) :]
    rules = sorted(policy.rules, key=lambda each: each.line is None)
    for text, rule in zip(said, [*rules], strict=False):
        for key, value in (*rule.conditions.items(), *rule.settings.items()):
            assert key in text
            assert value in text
        for remark in rule.remarks:
            assert remark.what in text
            assert remark.hint in text
        assert (rule.fired_at is not None) == ("It last decided something at" in text)


@given(POLICIES)
def test_what_decided_last_has_a_mark_and_nothing_else_does(policy: RulesStatus) -> None:
    """And stands in the sentence on top: somebody sees it at a glance."""
    times = {each.fired_at for each in policy.rules if each.fired_at is not None}
    items = kept(items_of(policy, NOW))[len(policy.problems) :][: len(policy.rules)]
    rules = sorted(policy.rules, key=lambda each: each.line is None)
    for item, rule in zip(items, rules, strict=True):
        signs = item.cells[0].text[:2]
        last = rule.fired_at is not None and rule.fired_at == max(times)
        assert (LAST in signs) == last
        assert (EXPIRED in signs) == rule.expired
        assert (REMARK in signs) == (bool(rule.remarks) and not rule.expired)
    said = headline(policy, NOW)
    assert (f"Decided last, at {max(times):%H:%M:%S}" in said) if times else ("No rule has" in said)


@given(POLICIES, RULE, st.integers(0, 6))
def test_a_rule_is_known_again_as_others_come(
    policy: RulesStatus, more: RuleStatus, at: int
) -> None:
    """Wherever another is put in; so the cursor stays on it."""
    rules = [
        *policy.rules[:at],
        changed(more, name="of no other name"),
        *policy.rules[at:],
    ]
    before = [each.key for each in items_of(policy, NOW) if not each.title]
    after = [each.key for each in items_of(changed(policy, rules=rules), NOW) if not each.title]
    after.remove((("rule", "of no other name"), 0))
    assert after == before


@given(POLICIES, st.integers(20, 130))
def test_a_line_is_as_wide_as_there_is_room(policy: RulesStatus, width: int) -> None:
    """Nothing of it steers the terminal."""
    for each in items_of(policy, NOW):
        text = "".join(part.text for part in drawn(each, width))
        assert cell_len(text) == width
        assert text.isprintable()


def test_what_is_cut_has_a_sign_for_it() -> None:
    """And what fits has none."""
    item = next(each for each in items_of(RULES, NOW) if each.line == BOOKS.line)
    assert drawn(item, 120)[-1].text.rstrip() == 'lambda = 3.0, disclose = "auto"'
    assert drawn(item, 40)[-1].text.endswith("…")


def test_a_preset_is_named_once() -> None:
    """However many of its rules decided."""
    names = ("preset balanced", "preset balanced, attributes.age")
    rules = [changed(STRICT, name=name, source=names[0], fired_at=NOW) for name in names]
    assert headline(changed(RULES, rules=rules), NOW).endswith(": preset balanced.")


@pytest.mark.parametrize("rule", [BOOKS, OLD, STRICT], ids=lambda rule: rule.name)
def test_where_a_rule_stands_is_said(rule: RuleStatus) -> None:
    """A line of the file, or the preset."""
    item = next(each for each in items_of(RULES, NOW) if each.text.startswith(rule.name))
    own = f"From {rule.source}, line {rule.line}."
    assert item.text.splitlines()[-1] == (own if rule.line else f"From the {rule.source}.")


def test_a_rule_that_never_decides_says_so_in_the_list() -> None:
    """Before what it would set; one that is over is so by its sign and in what is said of it."""
    shut = changed(BOOKS, name="shut", fired_at=None, remarks=[SHADOWED])
    found = {
        each.text.split("\n")[0]: each for each in items_of(changed(RULES, rules=[shut, OLD]), NOW)
    }
    assert found["shut"].cells[-1].text.startswith(SHADOWED.what)
    assert found[OLD.name].cells[-1].text == "k = 4"
    assert f"{EXPIRED} It applied up to and including 2020-01-01." in found[OLD.name].text


def test_what_is_wrong_stands_first_with_its_line_and_what_mends_it() -> None:
    """The sentence on top says that the last good rules stay."""
    title, first, *_ = items_of(BROKEN, NOW)
    assert title.title
    assert first.line == MISTAKE.line
    assert first.cells[0].text.split() == [WRONG, "line", str(MISTAKE.line)]
    assert MISTAKE.what in first.cells[1].text
    assert MISTAKE.hint in first.text
    assert headline(BROKEN, NOW).startswith(f"{WRONG} 1 to mend: the last good rules stay in use.")


def test_no_policy_is_said_with_what_makes_one() -> None:
    """A missing file is not one with mistakes."""
    assert 'preset = "balanced"' in headline(NONE, NOW)
    assert headline(changed(NONE, problems=[MISTAKE]), NOW).endswith("has mistakes")
    assert items_of(NONE, NOW) == []
