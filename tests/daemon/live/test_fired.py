"""When a rule last decided: of every request that was answered, and of no other."""

from datetime import datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.daemon import active_policy
from agent.daemon.active_policy import RuleUsage
from agent.daemon.handle import handle
from agent.wire.decide import Ask
from policy.match import Rulebook, Ruling
from policy.read import preset, read
from policy.rules import Policy, Rule
from tests.daemon.doubles import MONDAY
from tests.daemon.people import MODEL, living
from tests.policy.strategies import HOSTS, SAMPLES, documents, rendered

NAMES = tuple(each.name for each in MODEL.attributes)
NOT_ANSWERED = ("locked", "no policy", "no model", "unfit")
HOUR = timedelta(hours=1)
STRICT = 'preset = "strict"\n'
BOOKS = '[[rule]]\nname = "books"\nrecipient = "books.example"\nlambda = 3\n'
FLU = '[[rule]]\nname = "flu"\nquery = "flu"\nnothing = true\n'
WEB = '[[rule]]\nname = "web"\nattribute = "age"\ndisclose = "never"\n'
NEW = '[[rule]]\nname = "new"\nrecipient = "books.example"\nk = 3\n'
TEXT = STRICT + BOOKS + FLU + WEB
AGAIN = STRICT + NEW + BOOKS + FLU.replace('"flu"\nn', '"fly"\nn') + WEB


def policy_of(text: str) -> Policy:
    """Return what a text says."""
    return read(text, "test", preset)


def deciding(ruling: Ruling) -> set[Rule]:
    """Return the rules that decide anything."""
    all_of = [ruling.settings, *ruling.attributes.values()]
    return {verdict.rule for verdicts in all_of for verdict in verdicts.values()}


ASKED = st.lists(st.tuples(st.sampled_from(HOSTS), st.sampled_from(SAMPLES)), max_size=4)


@given(documents(), ASKED)
def test_what_a_rulebook_names_as_deciding_has_the_time_of_the_last_answer(
    document: dict[str, object], asked: list[tuple[str, str]]
) -> None:
    """And a rule that it never named has none; what could not be decided names none."""
    text = rendered(document)
    agent, _ = living(text)
    expected: dict[Rule, datetime] = {}
    policy = agent.rules.policy
    assert policy is not None
    for hours, (host, query) in enumerate(asked):
        now = MONDAY + hours * HOUR
        answer = handle(Ask(query=query, recipient=host), now, agent)
        ruling = Rulebook(policy, NAMES).match(host, query, now.date())
        if answer.code not in NOT_ANSWERED:
            expected |= dict.fromkeys(deciding(ruling), now)
    assert {rule: agent.rules.fired.at(rule) for rule in policy.rules} == {
        rule: expected.get(rule) for rule in policy.rules
    }


@pytest.mark.parametrize("kept", [1, 100])
def test_the_same_rule_of_a_policy_read_again_keeps_its_time(
    monkeypatch: pytest.MonkeyPatch, kept: int
) -> None:
    """Wherever it stands then; one that says something else is another."""
    monkeypatch.setattr(active_policy, "KEPT", kept)
    found, names = RuleUsage(), ("age",)
    book = Rulebook(policy_of(TEXT), names)
    for hours, (host, query) in enumerate([("books.example", "flu"), ("a.example", "x")]):
        found.note(book.match(host, query, MONDAY.date()), MONDAY + hours * HOUR)
    rules = {rule.name: rule for rule in policy_of(AGAIN).rules}
    times = {name: found.at(rule) for name, rule in rules.items()}
    assert times["books"] == MONDAY
    assert times["web"] == times["preset strict"] == MONDAY + HOUR
    assert times["flu"] is times["new"] is None


def test_neither_recipients_nor_queries_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """And not more rules than there may be: the ones that decided longest ago go first."""
    found, book = RuleUsage(), Rulebook(policy_of(TEXT), ())
    for host in ("secret.example", "books.example"):
        found.note(book.match(host, "secret", MONDAY.date()), MONDAY)
    held = [*found._held.values()]  # noqa: SLF001  (all that is kept)
    assert all("secret" not in str(each) for each in held)
    assert len(held) == 2
    monkeypatch.setattr(active_policy, "MOST", 1)
    found.note(book.match("b.example", "flu", MONDAY.date()), MONDAY + HOUR)
    rules = [rule for rule in book.policy.rules if found.at(rule) is not None]
    assert len(rules) == 1
    assert found.at(rules[0]) == MONDAY + HOUR
