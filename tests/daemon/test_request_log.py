"""What the ledger does not have, and how many requests in a minute."""

from collections import deque
from datetime import datetime, timedelta
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.daemon import request_log
from agent.daemon.handle import handle
from agent.daemon.policy_file import ActivePolicy
from agent.daemon.request_log import (
    MOST_POOLS,
    MOST_SILENT,
    RECORDED,
    ROOM,
    Asker,
    Rates,
    RuleUsage,
    Silent,
    SilentRequests,
)
from agent.errors import UsageError
from agent.vault.profile import Profile
from agent.wire.decide import Answer, Ask, Summary
from policy.match import Rulebook, Ruling, known
from policy.read import preset, read
from policy.rules import Policy, Rule
from tests.decision.made import NAMES, made_model
from tests.policy.strategies import HOSTS, SAMPLES, documents, rendered
from tests.worlds.people import MODEL, MONDAY, OPEN, SECOND, SHOP, living

QUIET = Answer(code="blocked")
CAP = 3
MINUTE = timedelta(minutes=1)
POLICY = f"""{OPEN}page_requests_per_minute = {CAP}
[groups]
adverts = ["a.test", "b.test"]
[[rule]]
recipient = "silent.test"
page_requests_per_minute = 0
"""
POOLS = {
    "www.shop.example": "shop.example",
    "shop.example": "shop.example",
    "a.test": "@adverts",
    "b.test": "@adverts",
    "silent.test": "silent.test",
}
ASKERS: tuple[Asker, ...] = get_args(Asker)
RECORDING = [each for each in ASKERS if each != "draft"]  # what is drafted is not recorded
TOO_MANY = "too many from pages"
AT_CAP: dict[Asker, str] = {"page": TOO_MANY, "assistant": "too many", "draft": "too many"}


def waits(count: int) -> Answer:
    """Return an answer beside which so many attributes wait."""
    summary = Summary(
        headline="h",
        pool="p",
        model="m",
        utility_bits=0.0,
        people_left=1.0,
        waiting=count,
        pending=[f"{each}" for each in range(count)],
    )
    return Answer(code="answered", summary=summary)


def ask(query: str, asked: list[str] | None = None) -> Ask:
    """Return a request of a shop."""
    return Ask(query=query, recipient="shop.example", asked=asked)


@given(st.lists(st.tuples(st.sampled_from([1, 40, ROOM // 3]), st.booleans()), max_size=8))
def test_the_latest_are_kept_for_which_there_is_room(sizes: list[tuple[int, bool]]) -> None:
    """In their order, each under a number that no other has, also once all is forgotten."""
    kept, numbers, expected = SilentRequests(), [], deque[str]()
    for at, (size, cleared) in enumerate(sizes):
        query = f"{at}" * size
        numbers.append(kept.silent(ask(query), QUIET, at, MONDAY))
        expected.append(query)
        while sum(len(each) + len("shop.example") for each in expected) > ROOM:
            expected.popleft()
        assert [each.ask.query for each in kept] == [*expected]
        if cleared:
            kept.clear()
            expected.clear()
            assert [*kept] == []
    assert numbers == [-1 - at for at in range(len(sizes))]


def test_there_are_never_too_many() -> None:
    """Neither of those that carried nothing, nor of what waited beside an entry."""
    kept = SilentRequests()
    for entry in range(1, MOST_SILENT + 3):
        kept.silent(ask("q"), QUIET, entry, MONDAY)
        kept.recorded(entry, waits(2))
    assert [each.number for each in kept] == [*range(-3, -MOST_SILENT - 3, -1)]
    assert [kept.waiting(entry) for entry in (1, 2, 3, MOST_SILENT + 2)] == [
        set(),
        set(),
        *[{"0", "1"}] * 2,
    ]


def test_what_was_asked_takes_room_too_and_is_not_shown() -> None:
    """A program that names much pushes out others; a log or a report says nothing of it."""
    kept = SilentRequests()
    kept.silent(ask("first" * 100), QUIET, 0, MONDAY)
    kept.silent(ask("second", ["n" * 200] * (ROOM // 200 - 1)), QUIET, 0, MONDAY)
    assert [each.ask.query for each in kept] == ["second"]
    kept.silent(ask("third", ["n" * (ROOM + 1)]), QUIET, 0, MONDAY)
    assert [*kept] == []
    number = kept.silent(ask("a query"), waits(3), 7, MONDAY)
    [entry] = kept
    assert entry == Silent(number, 7, MONDAY, ask("a query"), "answered", frozenset("012"))
    assert "query" not in repr(entry)


def asked(host: str) -> Ask:
    """Return a request of a query that the model knows."""
    return Ask(query=SHOP.query, recipient=host)


@given(
    steps=st.lists(
        st.tuples(st.sampled_from(sorted(POOLS)), st.sampled_from(ASKERS), st.integers(0, 40)),
        max_size=25,
    )
)
def test_pages_and_assistants_lead_to_a_recipient_so_often_in_a_minute(
    steps: list[tuple[str, Asker, int]],
) -> None:
    """Each of the two, whatever else is asked; nobody else is refused, least of all the user.

    Nor does it help to start a second assistant, or to ask for another host of the same group.
    """
    agent, vault = living(POLICY)
    now, times = MONDAY, dict[tuple[Asker, str], list[datetime]]()
    for host, by, seconds in steps:
        now += timedelta(seconds=seconds)
        before = vault.ledger.count
        code = handle(asked(host), now, agent, by).code
        lately = [each for each in times.get((by, POOLS[host]), []) if now - each < MINUTE]
        full = len(lately) >= (0 if host == "silent.test" else CAP)
        assert code == (AT_CAP[by] if by in AT_CAP and full else "answered")
        if code != "answered":
            assert vault.ledger.count == before
        elif by in AT_CAP:
            times.setdefault((by, POOLS[host]), []).append(now)


@given(steps=st.lists(st.tuples(st.sampled_from(RECORDING), st.integers(0, 40)), max_size=25))
def test_the_door_records_so_much_in_a_minute(steps: list[tuple[Asker, int]]) -> None:
    """The user, and all others; commands without a limit."""
    most: dict[Asker, int] = {"user": 2, "page": 3, "program": 3, "assistant": 3}
    agent, vault = living(f"{OPEN}page_requests_per_minute = 1000\n")
    now, times = MONDAY, dict[str, list[datetime]]()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("agent.daemon.request_log.RECORDED", most)
        for by, seconds in steps:
            now += timedelta(seconds=seconds)
            before = vault.ledger.count
            kind = "user" if by == "user" else "command" if by == "command" else "others"
            lately = [each for each in times.get(kind, []) if now - each < MINUTE]
            answer = handle(SHOP, now, agent, by)
            if by in most and len(lately) >= most[by]:
                assert (answer.code, answer.attributes, answer.id) == ("too many", {}, None)
                assert vault.ledger.count == before
            else:
                assert answer.code == "answered"
                times.setdefault(kind, []).append(now)
            assert (answer.id is not None) == (vault.ledger.count > before)


def test_a_request_too_many_does_not_open_the_profile(monkeypatch: pytest.MonkeyPatch) -> None:
    """The caps come first, also where the terms protect this user alone."""
    agent, _ = living(f'{OPEN}protect = "me"\npage_requests_per_minute = 0\n')
    for name in ("codes", "reveal"):
        monkeypatch.delattr(Profile, name)
    assert handle(SHOP, MONDAY, agent, "page").code == TOO_MANY
    with pytest.raises(AttributeError, match="codes"):
        handle(SHOP, MONDAY, agent, "user")


def test_what_records_nothing_is_not_counted() -> None:
    """A program may ask about any number of queries that the model does not know."""
    agent, vault = living(OPEN)
    for _ in range(RECORDED["program"] + 1):
        assert handle(Ask(query="?", recipient="shop.example"), MONDAY, agent, "program").id is None
    assert handle(SHOP, MONDAY, agent, "program").id == 1
    assert vault.ledger.count == 1


def test_no_honest_use_meets_the_caps() -> None:
    """For a minute: ten sites at the cap of their pages, an assistant and the user beside them.

    The assistant asks four times a second, the user searches every second.
    """
    agent, _ = living(OPEN)
    asking: list[tuple[float, str, Asker]] = [
        *((2.0 * number, f"{site}.example", "page") for number in range(30) for site in range(10)),
        *((0.25 * number, "assistant.example", "program") for number in range(240)),
        *((1.0 * number, "search.example", "user") for number in range(60)),
    ]
    for seconds, host, by in sorted(asking):
        now = MONDAY + timedelta(seconds=seconds)
        assert handle(asked(host), now, agent, by).code == "answered"


def test_counts_are_forgotten() -> None:
    """In a future that is no longer ahead, at a lock, and of hosts of which there are ever more."""
    agent, _ = living(POLICY)
    for _ in range(CAP):
        assert handle(SHOP, MONDAY, agent, "page").code == "answered"
    assert handle(SHOP, MONDAY - SECOND, agent, "page").code == TOO_MANY
    assert handle(SHOP, MONDAY - timedelta(days=4), agent, "page").code == "answered"
    assert agent.rates.is_capped("page", "shop.example", 1, MONDAY - timedelta(days=4))
    agent.lock()
    assert not agent.rates.is_capped("page", "shop.example", 1, MONDAY)
    rates = Rates()
    for number in range(MOST_POOLS + 1):
        assert not rates.is_capped("page", f"{number}.example", 1, MONDAY)
    assert rates.is_capped("page", f"{MOST_POOLS}.example", 1, MONDAY)
    assert not rates.is_capped("page", "0.example", 1, MONDAY)


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


def test_the_same_rule_of_a_policy_read_again_keeps_its_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Wherever it stands then; one that says something else is another."""
    for kept in (1, 100):
        monkeypatch.setattr(request_log, "KEPT_RULINGS", kept)
        usage, book = RuleUsage(), Rulebook(rules_of(USAGE_TEXT), known("age"))
        for hours, (host, query) in enumerate([("books.example", "flu"), ("a.example", "x")]):
            usage.note(book.match(host, query, MONDAY.date()), MONDAY + hours * HOUR)
        times = {rule.name: usage.at(rule) for rule in rules_of(AGAIN).rules}
        assert times["books"] == MONDAY
        assert times["web"] == times["preset strict"] == MONDAY + HOUR
        assert times["flu"] is times["new"] is None


def test_neither_recipients_nor_queries_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """And not more rules than there may be: the ones that decided longest ago go first."""
    usage, book = RuleUsage(), Rulebook(rules_of(USAGE_TEXT), {})
    for host in ("secret.example", "books.example"):
        usage.note(book.match(host, "secret", MONDAY.date()), MONDAY)
    rulings = [*usage._answered.values()]  # noqa: SLF001  (all that is kept)
    assert all("secret" not in str(each) for each in rulings)
    assert len(rulings) == 2
    monkeypatch.setattr(request_log, "MOST_RULES", 1)
    usage.note(book.match("b.example", "flu", MONDAY.date()), MONDAY + HOUR)
    [rule] = [rule for rule in book.policy.rules if usage.at(rule) is not None]
    assert usage.at(rule) == MONDAY + HOUR


def active(text: str) -> ActivePolicy:
    """Return rules in force."""
    return ActivePolicy(rules_of(text))


def test_a_rule_chooses_the_model_and_a_group_the_pool() -> None:
    """For its requests only; else it is the shipped one, and a domain. Nothing else has a pool."""
    rules, today = active(MANY), MONDAY.date()
    assert rules.model("www.shop.example", "python today", today) == "other"
    assert rules.model("shop.example", "weather", today) is None
    for other in (active(GOOD), ActivePolicy(None)):
        assert other.model("shop.example", "python today", today) is None
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
