"""The screen of the policy: its rules, what is wrong, and the user's editor."""

from contextlib import nullcontext
from dataclasses import replace as changed

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from agent.tui.dialogs import Choice
from agent.tui.screens.policy import EXPIRED, REMARK, PolicyItem, items_of
from agent.tui.virtual_list import Listing
from agent.wire.policy import Edited, PolicyEdit, RuleRemark, RulesStatus, RuleStatus, SettingStatus
from tests.cli.daemon import BOOKS, BROKEN, PATH, RULES, WRONG
from tests.tui.double import LARGE, NOTHING, Double, Running
from tests.wire.fake import says
from tests.worlds.messages import POLICY


class Rules:
    """A daemon's policy, and an editor that notes what it is to open, and mends it."""

    def __init__(self, daemon: Double) -> None:
        """Begin without a mistake."""
        self.daemon = daemon
        self.edited: list[tuple[str, int | None]] = []
        self.now: RulesStatus
        self.have(RULES)
        daemon.calls |= {"rules": lambda: self.now, "reload": says(POLICY)}

    def have(self, rules: RulesStatus) -> None:
        """Have other rules, or the same with other figures."""
        self.now = rules
        self.daemon.happen("policy")

    def edit(self, path: str, line: int | None) -> None:
        self.edited.append((path, line))
        self.now = replace(self.now, problems=[])


@pytest.fixture
def rules(daemon: Double) -> Rules:
    return Rules(daemon)


async def shows(shown: Running) -> Listing[PolicyItem]:
    """Go to the screen, and wait until the rules are there."""
    await shown.pilot.press("5")
    await shown.until(lambda: getattr(shown.app.screen, "where", "") == "policy")
    listing = shown.app.screen.query_one(Listing)
    await shown.until(lambda: listing.items)
    return listing


async def go_to(shown: Running, words: str) -> None:
    listing = shown.app.screen.query_one(Listing)
    listing.put(next(each for each in listing.items if each.text.startswith(words)).key)
    await shown.pilot.pause()


def under(shown: Running) -> PolicyItem:
    item: PolicyItem | None = shown.app.screen.query_one(Listing).under
    assert item is not None
    return item


async def test_a_broken_file_shows_its_line_and_the_editor_opens_there(
    rules: Rules, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The old rules hold until what the user saves is read; what is of no file opens it."""
    environment = changed(NOTHING, edit=rules.edit)
    async with rules.daemon.shown(LARGE, environment=environment) as shown:
        monkeypatch.setattr(shown.app, "suspend", nullcontext)
        await shows(shown)
        rules.now = BROKEN
        await shown.pilot.press("r")
        await shown.until(lambda: "Read: 1 to mend; the last good rules stay" in shown.text())
        assert rules.daemon.asked("reload")
        assert f"✗ line {WRONG.line}" in shown.text()
        await shown.pilot.press("home")
        await shown.until(lambda: WRONG.what in under(shown).text)
        await shown.pilot.press("enter")
        await shown.until(lambda: "to mend" not in shown.text())
        for words in ("books", "preset strict"):
            await go_to(shown, words)
            await shown.pilot.press("e")
        wanted = [(PATH, WRONG.line), (PATH, BOOKS.line), (PATH, None)]
        await shown.until(lambda: rules.edited == wanted)


async def test_a_rule_is_changed_in_place_once_its_effect_is_seen(rules: Rules) -> None:
    rules.daemon.calls["edit_policy"] = says(Edited(changed=True, wins=[], replayed=9, differ=4))
    async with rules.daemon.shown(LARGE) as shown:
        await shows(shown)
        await go_to(shown, "preset strict")
        await shown.pilot.press("d")
        await shown.until(lambda: "cannot be changed here" in shown.notes())
        await go_to(shown, "books")
        assert "for books.example with “novel*”" in shown.text()
        for keys in (("home", "enter"), ("end", "enter")):
            await shown.choose("d", *keys)
            await shown.until(lambda: "write this rule" in shown.text())
            await shown.pilot.press("down", "enter")
            await shown.until(lambda: not isinstance(shown.app.screen, Choice))
    edits = [each for each in rules.daemon.asked("edit_policy") if not each.dry_run]
    one = PolicyEdit(recipient="books.example", query="novel*", set={"disclose": "never"})
    assert edits == [one, replace(one, set={}, unset=[*BOOKS.settings])]


TEXTS = st.text(max_size=12)
PROBLEMS = st.builds(RuleRemark, line=st.integers(0, 99), key=TEXTS, what=TEXTS, hint=TEXTS)
RULE = st.builds(
    RuleStatus,
    name=TEXTS,
    source=st.just("/p"),
    line=st.integers(1, 99),
    conditions=st.dictionaries(TEXTS, TEXTS, max_size=2),
    settings=st.dictionaries(TEXTS, TEXTS, max_size=3),
    expired=st.booleans(),
    remarks=st.lists(PROBLEMS, max_size=2),
)
SHIPPED = RULE.map(lambda each: replace(each, source="preset", line=None))
ASKS = {"disclose": '"ask"'}
SETTING = st.builds(SettingStatus, key=TEXTS, value=TEXTS, rule=TEXTS, line=st.none() | st.just(3))
POLICIES = st.builds(
    RulesStatus,
    path=st.just("/p"),
    in_use=st.just(True),
    problems=st.lists(PROBLEMS, max_size=3),
    effective=st.lists(SETTING, max_size=3),
    rules=st.lists(RULE | SHIPPED, max_size=6, unique_by=lambda each: each.name),
)


@given(POLICIES)
def test_each_problem_rule_and_setting_stands_there_once_and_whole(policy: RulesStatus) -> None:
    """The file before the preset."""
    items = items_of(policy)
    assert len({each.key for each in items}) == len(items)
    rules = sorted(policy.rules, key=lambda each: each.line is None)
    every = [each for each in items if not each.title]
    wanted: list[int | None] = [each.line for each in policy.problems]
    wanted += [*(each.line for each in rules), *(each.line for each in policy.effective)]
    assert [each.line for each in every] == wanted
    for item, rule in zip(every[len(policy.problems) :], rules, strict=False):
        parts = [*rule.conditions.items(), *rule.settings.items()]
        parts += [(each.what, each.hint) for each in rule.remarks]
        assert all(text in item.text for pair in parts for text in pair)
        signs = item.cells[0].text[:2]
        assert (EXPIRED in signs) == rule.expired
        assert (REMARK in signs) == (bool(rule.remarks) and not rule.expired)


def test_what_models_call_otherwise_stands_there_once() -> None:
    """By its title, where it is ruled alike in the same preset."""
    rules = [
        RuleStatus(name=n, source="p", line=None, conditions={"attribute": n}, settings=ASKS)
        for n in ("sex", "gender", "race")
    ]
    policy = RulesStatus(path="/p", in_use=True, problems=[], rules=rules)
    shown = items_of(policy, {"sex": "sex or gender", "gender": "sex or gender"})
    assert [each.cells[0].text.strip() for each in shown if each.rule] == ["sex or gender", "race"]


@given(POLICIES, RULE, st.integers(0, 6))
def test_a_rule_is_known_again_as_others_come(
    policy: RulesStatus, more: RuleStatus, at: int
) -> None:
    """Wherever another is put in; so the cursor stays on it."""
    rules = [*policy.rules[:at], replace(more, name="of no other name"), *policy.rules[at:]]
    before, after = (
        [each.key for each in items_of(each) if not each.title]
        for each in (policy, replace(policy, rules=rules))
    )
    after.remove((("rule", "of no other name"), 0))
    assert after == before
