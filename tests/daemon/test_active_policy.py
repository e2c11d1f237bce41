"""The rules in use, and when each of them decided."""

from datetime import datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.daemon import request_log
from agent.daemon.handle import handle
from agent.daemon.policy_file import ActivePolicy
from agent.daemon.request_log import RuleUsage
from agent.errors import UsageError
from agent.wire.decide import Ask
from policy.match import Rulebook, Ruling, known
from policy.read import preset, read
from policy.rules import Policy, Rule
from tests.decision.made import NAMES, made_model
from tests.policy.strategies import HOSTS, SAMPLES, documents, rendered
from tests.worlds.people import MODEL, MONDAY, living

USAGE_NAMES = tuple(each.name for each in MODEL.attributes)
NOT_ANSWERED = ("locked", "no policy", "no model", "unfit")
HOUR = timedelta(hours=1)
STRICT = 'preset = "strict"\n'
BOOKS = '[[rule]]\nname = "books"\nrecipient = "books.example"\nlambda = 3\n'
FLU = '[[rule]]\nname = "flu"\nquery = "flu"\nnothing = true\n'
WEB = '[[rule]]\nname = "web"\nattribute = "age"\ndisclose = "never"\n'
NEW = '[[rule]]\nname = "new"\nrecipient = "books.example"\nk = 3\n'
USAGE_TEXT = STRICT + BOOKS + FLU + WEB
AGAIN = STRICT + NEW + BOOKS + FLU.replace('"flu"\nn', '"fly"\nn') + WEB
ASKED = st.lists(st.tuples(st.sampled_from(HOSTS), st.sampled_from(SAMPLES)), max_size=4)
GOOD = "lambda = 1.0\n"
MANY = """
[groups]
shops = ["shop.example", "books.example"]
[[rule]]
recipient = "shop.example"
query = "python"
model = "other"
"""
TEXT = f"{GOOD}[[rule]]\nrecipient = 'shop.example'\nlambda = 2.0\nexpires = 2027-03-20\n"


def rules_of(text: str) -> Policy:
    """Return what a text says."""
    return read(text, "test", preset)


def deciding(ruling: Ruling) -> set[Rule]:
    """Return the rules that decide anything."""
    all_of = [ruling.settings, *ruling.attributes.values()]
    return {verdict.rule for verdicts in all_of for verdict in verdicts.values()}


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
        ruling = Rulebook(policy, known(*USAGE_NAMES)).match(host, query, now.date())
        if answer.code not in NOT_ANSWERED:
            expected |= dict.fromkeys(deciding(ruling), now)
    assert {rule: agent.rules.usage.at(rule) for rule in policy.rules} == {
        rule: expected.get(rule) for rule in policy.rules
    }


@pytest.mark.parametrize("kept", [1, 100])
def test_the_same_rule_of_a_policy_read_again_keeps_its_time(
    monkeypatch: pytest.MonkeyPatch, kept: int
) -> None:
    """Wherever it stands then; one that says something else is another."""
    monkeypatch.setattr(request_log, "KEPT_RULINGS", kept)
    found, names = RuleUsage(), ("age",)
    book = Rulebook(rules_of(USAGE_TEXT), known(*names))
    for hours, (host, query) in enumerate([("books.example", "flu"), ("a.example", "x")]):
        found.note(book.match(host, query, MONDAY.date()), MONDAY + hours * HOUR)
    rules = {rule.name: rule for rule in rules_of(AGAIN).rules}
    times = {name: found.at(rule) for name, rule in rules.items()}
    assert times["books"] == MONDAY
    assert times["web"] == times["preset strict"] == MONDAY + HOUR
    assert times["flu"] is times["new"] is None


def test_neither_recipients_nor_queries_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """And not more rules than there may be: the ones that decided longest ago go first."""
    found, book = RuleUsage(), Rulebook(rules_of(USAGE_TEXT), {})
    for host in ("secret.example", "books.example"):
        found.note(book.match(host, "secret", MONDAY.date()), MONDAY)
    held = [*found._answered.values()]  # noqa: SLF001  (all that is kept)
    assert all("secret" not in str(each) for each in held)
    assert len(held) == 2
    monkeypatch.setattr(request_log, "MOST_RULES", 1)
    found.note(book.match("b.example", "flu", MONDAY.date()), MONDAY + HOUR)
    rules = [rule for rule in book.policy.rules if found.at(rule) is not None]
    assert len(rules) == 1
    assert found.at(rules[0]) == MONDAY + HOUR


def active(text: str) -> ActivePolicy:
    """Return rules in force."""
    return ActivePolicy(rules_of(text))


def test_a_rule_chooses_the_model() -> None:
    """For its requests only; else it is the shipped one."""
    rules, today = active(MANY), MONDAY.date()
    assert rules.model("www.shop.example", "python today", today) == "other"
    assert rules.model("shop.example", "weather", today) is None
    assert active(GOOD).model("shop.example", "python today", today) is None
    assert ActivePolicy(None).model("shop.example", "python today", today) is None


def test_a_pool_is_named_by_a_host_or_by_its_group() -> None:
    """Anything else is an error that says so."""
    rules = active(MANY)
    for recipient in ("https://www.books.example/a", "shop.example:443", "@shops"):
        assert rules.pool(recipient) == "@shops"
    assert rules.pool("a.other.example") == "other.example"
    for recipient in ("@shop", "shops!", "@"):
        with pytest.raises(UsageError):
            rules.pool(recipient)


RULES = active(TEXT)


@given(st.sampled_from(["shop.example", "www.shop.example", "books.example"]), st.integers(0, 60))
def test_terms_are_those_of_the_rules_on_the_day(host: str, day: int) -> None:
    """What is remembered for one request is no other's."""
    today = (MONDAY + timedelta(days=day)).date()
    terms = RULES.terms(MODEL, host, "python today", today)
    fresh = active(TEXT).terms(MODEL, host, "python today", today)
    assert terms == fresh
    assert terms is not None
    assert terms.ruling is not None
    assert (terms.ruling.host, terms.trade_off) == (
        host,
        2.0 if host != "books.example" and day < 20 else 1.0,
    )


def test_a_misspelt_attribute_is_remarked_on_and_excluded() -> None:
    """By the attributes of the models there are, and in the requests that the rule is for."""
    rules = active("[[rule]]\nrecipient = 'a.example'\nattribute = 'reigon'\ndisclose = 'ask'")
    [remark] = rules.misspelt([MODEL])
    assert "region" in remark
    assert rules.misspelt([]) == ()
    for host, kept in (("a.example", {"region"}), ("b.example", set())):
        terms = rules.terms(MODEL, host, "q", MONDAY.date())
        assert terms is not None
        assert terms.excluded == kept


def test_two_models_have_rules_of_their_own() -> None:
    """And the same model has the same."""
    rules = active(GOOD)
    assert rules.book(MODEL) is rules.book(MODEL)
    assert rules.book(MODEL) is not rules.book(made_model(2))
    assert ActivePolicy(None).book(MODEL) is None
    book = rules.book(MODEL)
    assert book is not None
    assert {*NAMES} == {*book.match("a.example", "q", MONDAY.date()).attributes}
