"""`reticent policy rules`: every rule with where it stands, what it sets, when it decided."""

import msgspec
import pytest

from agent.wire.policy import RulesStatus
from tests.cli.conftest import Run
from tests.cli.daemon import HOSTILE, changed
from tests.cli.policing import BROKEN, NONE, ODD_RULE, RULES, WRONG
from tests.wire.fake import FakeDaemon, says


@pytest.fixture(autouse=True)
def _rules(fake: FakeDaemon) -> None:
    """A daemon that has rules."""
    fake.handlers["rules"] = says(RULES)


def test_each_rule_stands_with_all_that_is_to_be_said_of_it(run: Run) -> None:
    """The file's own first, with their lines; then those of the preset."""
    ran = run("policy", "rules")
    assert (ran.code, ran.err) == (0, "")
    head, own, preset = ran.out.rstrip().split("\n\n")
    assert head == "3 rules in use."
    lines = [line.strip() for line in own.splitlines()]
    assert lines[:3] == [
        "/home/u/policy.toml",
        "books, line 5",
        'recipient books.example; query novel*: lambda = 3.0, disclose = "auto"',
    ]
    assert lines[3].startswith("last decided 2026-03-02 ")
    assert lines[4:] == [
        "rule 2, line 9 (expired)",
        "expires 2020-01-01: k = 4",
        "note: rule[1].k: never decides: 'books' wins (delete it)",
    ]
    lines = [line.strip() for line in preset.splitlines()]
    assert lines[:3] == ["From the preset strict", "preset strict", "every request: risk = 0.02"]
    assert lines[3].startswith("has not decided since 2026-03-02 ")


def test_mistakes_stand_on_top_with_their_lines(run: Run, fake: FakeDaemon) -> None:
    """Whether other rules are in use or none."""
    fake.handlers["rules"] = says(BROKEN)
    head, mistakes, *_ = run("policy", "rules").out.split("\n\n")
    assert " ".join(head.split()) == (
        "3 rules in use. The file has mistakes now, and these are its last good rules."
    )
    assert mistakes == "Mistakes\n  line 2: lamda: unknown key 'lamda' (did you mean 'lambda'?)"
    fake.handlers["rules"] = says(changed(NONE, problems=[WRONG]))
    said = " ".join(run("policy", "rules").out.split())
    assert said.startswith("No rules are in use, so nothing is sent: /home/u/policy.toml has")
    fake.handlers["rules"] = says(NONE)
    said = " ".join(run("policy", "rules").out.split())
    made = "does not exist. Create one with `reticent init`, or write one by hand."
    assert said.endswith(f": /home/u/policy.toml {made}")


def test_the_object_is_the_message(run: Run) -> None:
    """With what holds by itself, as openapi.json describes it."""
    assert msgspec.convert(run("policy", "rules", "--json").record, RulesStatus) == RULES


def test_nothing_in_a_policy_steers_the_terminal(run: Run, fake: FakeDaemon) -> None:
    """A name or words of anybody's."""
    odd = changed(WRONG, what=HOSTILE)
    fake.handlers["rules"] = says(changed(RULES, rules=[ODD_RULE], problems=[odd], path=HOSTILE))
    out = run("policy", "rules").out
    assert "\x1b" not in out
    assert max(map(len, out.splitlines())) <= 120
