"""One request from its question to its answer: what is attached, what is recorded, and when."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any
from unittest.mock import Mock

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

import agent.daemon.handle
from agent.daemon.agent import Agent
from agent.daemon.consent import Consent
from agent.daemon.handle import handle
from agent.daemon.header import Members
from agent.daemon.instructions import Preference
from agent.daemon.request_log import Asker, Sources
from agent.daemon.what_if import explain
from agent.decision.values import Code
from agent.errors import UsageError, VaultError
from agent.model.attributes import UNSPECIFIED
from agent.model.model import Model
from agent.vault.ledger import Disclosure, Ledger
from agent.vault.profile import Profile
from agent.wire.decide import Answer, Ask
from agent.wire.policy import Word
from agent.words.decisions import headline
from tests.daemon.test_header import read
from tests.decision.made import NAMES, PERSONS
from tests.decision.transcripts import QUERIES, Rules, policies
from tests.vault import doubles
from tests.worlds.people import (
    MODEL,
    MONDAY,
    OPEN,
    PEOPLE,
    ROWS,
    SHOP,
    STEPS,
    FixedRules,
    Heard,
    OneModel,
    living,
    values_of,
)

OTHER = Ask(query=SHOP.query, recipient="other.example")
STREAMS = st.lists(STEPS, min_size=1, max_size=6)


def timed(stream: list[tuple[int, Ask]]) -> Iterator[tuple[datetime, Ask]]:
    now = MONDAY
    for hours, ask in stream:
        now += timedelta(hours=hours)
        yield now, ask


@given(policies(["everyone", "me"]), STREAMS, PEOPLE)
def test_what_is_attached_is_what_is_recorded(
    rules: Rules, stream: list[tuple[int, Ask]], row: int
) -> None:
    """And the header says the same; what is not specified is recorded, and left out of both.

    The people left are those who agree with all that the pool was told, or with this answer where
    it forgets. Nothing is attached where results are ordered here.
    """
    agent, vault = living(rules.policy.text, row)
    own, forgets = {**values_of(row), "hours": "hours1"}, 'memory = "forgets"' in rules.policy.text
    held: dict[str, set[str]] = {}
    for now, ask in timed(stream):
        before, answer = vault.ledger.count, handle(ask, now, agent)
        if answer.id is None or answer.summary is None:
            assert (answer.attributes, answer.header, answer.id) == ({}, "", None)
            assert vault.ledger.count == before
            continue
        entry = vault.disclosures[-1]
        assert 'results = "rerank"' not in rules.policy.text
        assert answer.id == vault.ledger.count == before + 1
        assert all(own[name] == value for name, value in entry.disclosed)
        told = {name: value for name, value in entry.disclosed if value != UNSPECIFIED}
        assert answer.attributes == told
        assert (read(answer.header) if answer.header else {}) == told
        assert entry.persons == tuple(n for n, _ in entry.disclosed if n in NAMES[:PERSONS])
        assert set(entry.asked or NAMES) >= {name for name, _ in entry.disclosed}
        assert set(entry.asked or ()) <= set(NAMES)
        pool, names = answer.summary.pool, set(entry.persons)
        held[pool] = names if forgets else held.get(pool, set()) | names
        columns = [NAMES.index(name) for name in held[pool]]
        alike = int((ROWS[:, columns] == ROWS[row, columns]).all(axis=1).sum())
        assert answer.summary.people_left == entry.people_left == alike


@given(policies(["everyone", "me"]), STREAMS, PEOPLE)
def test_explaining_foretells_and_changes_nothing(
    rules: Rules, stream: list[tuple[int, Ask]], row: int
) -> None:
    """What is explained is what is answered, with the same reasons; it leaves no trace."""
    agent, vault = living(rules.policy.text, row)
    for now, ask in timed(stream):
        before = (vault.ledger.count, agent.consent.reviews(now))
        said = explain(ask, now, agent)
        assert said == explain(ask, now, agent)
        assert (vault.ledger.count, agent.consent.reviews(now)) == before
        answer = handle(ask, now, agent)
        summary = answer.summary
        told = [name for name, _ in vault.disclosures[-1].disclosed] if answer.id else []
        assert [*said.disclosed] == told
        pending = summary.pending if summary else []
        assert (said.code, [*said.waiting]) == (answer.code, pending)
        assert len(pending) == (summary.waiting if summary else 0)
        titles = {name: MODEL.attributes[NAMES.index(name)].title for name in (*told, *pending)}
        assert titles == (summary.titles if summary else {})
        reasons = {each.name: each for each in said.outcomes if each.disclosed}
        assert [*reasons] == sorted(told, key=NAMES.index)
        assert [msgspec.structs.astuple(each) for each in (summary.because if summary else [])] == [
            (name, why.reason, why.gain_bits, why.cost_bits)
            for name, why in ((name, reasons[name]) for name in told)
        ]


@given(STREAMS, PEOPLE, st.integers(1, 3), st.sampled_from([("week", 7), ("day", 1)]))
def test_no_two_requests_spend_one_limit(
    stream: list[tuple[int, Ask]], row: int, most: int, span: tuple[str, int]
) -> None:
    """Within seven days, or one, no pool learns more; and k holds for each of the people.

    Nor do more requests a day carry anything, to all pools together.
    """
    cap = f"new_facts_per_{span[0]} = {most}\nrequests_per_day = {most}"
    agent, vault = living(f'{OPEN}k = 8\n{cap}\n[groups]\nall = ["ads.test"]\n', row)
    news: list[tuple[str, datetime]] = []
    held: dict[str, set[str]] = {}
    for now, ask in timed(stream):
        before = [each for each in vault.disclosures if now - each.at < timedelta(days=1)]
        answer = handle(ask, now, agent)
        assert (answer.code == "too many today") == (len(before) >= most)
        if answer.id is None or answer.summary is None:
            continue
        pool = held.setdefault(answer.summary.pool, set())
        new = set(vault.disclosures[-1].persons) - pool
        pool |= new
        news += [(answer.summary.pool, now)] * len(new)
        lately = [who for who, at in news if now - at < timedelta(days=span[1])]
        assert lately.count(answer.summary.pool) <= most
        assert not new or vault.disclosures[-1].people_left >= 8


@pytest.mark.parametrize(
    ("condition", "by", "hour", "code"),
    [
        ('hours = "22:00-07:00"', "command", 21, "answered"),
        ('hours = "22:00-07:00"', "command", 22, "blocked"),
        ('hours = "22:00-07:00"\ndays = "sun"', "command", 6, "blocked"),  # Monday's morning
        ('hours = "22:00-07:00"\ndays = "mon"', "command", 6, "answered"),
        ('door = ["mcp", "page"]', "assistant", 9, "blocked"),
        ('door = ["mcp", "page"]', "proxy", 9, "answered"),
        ('door = "mcp"', "vscode", 9, "blocked"),
        ('door = "vscode"', "vscode", 9, "blocked"),
        ('door = "vscode"', "cursor", 9, "answered"),
        ('door = "page"', "user", 9, "answered"),
    ],
)
def test_rules_have_times_and_doors(condition: str, by: Asker, hour: int, code: Code) -> None:
    """By the clock of the user, and by what asks."""
    agent, _ = living(f"{OPEN}[[rule]]\n{condition}\nnothing = true\n")
    assert handle(SHOP, MONDAY.replace(hour=hour), agent, by).code == code


@given(st.integers(305, 335), st.sampled_from(QUERIES), PEOPLE, PEOPLE)
def test_room_in_the_ledger_does_not_depend_on_values(
    room: int, query: str, one: int, other: int
) -> None:
    """Of two people either both are answered or none, and then the profile stays closed."""
    ask = Ask(query=query, recipient="shop.example")
    with pytest.MonkeyPatch.context() as small:
        small.setattr(doubles, "MOST", room)
        codes = {refused(ask, row) for row in (one, other)}
    assert len(codes) == 1


def refused(ask: Ask, row: int) -> bool:
    """Return whether there is no room for the answer of a person; then nothing was done."""
    agent, vault = living(f'{OPEN}[attributes]\nage = "ask"\n', row)
    with pytest.MonkeyPatch.context() as closed:
        try:
            handle(ask, MONDAY, agent)
        except UsageError:
            closed.delattr(Profile, "reveal")
            with pytest.raises(UsageError, match="too large for the ledger"):
                handle(ask, MONDAY, agent)
            assert (vault.ledger.count, agent.consent.reviews(MONDAY)) == (0, [])
            return True
    return False


@pytest.mark.parametrize("room", [270, 400])
def test_some_have_room_and_some_have_none(room: int) -> None:
    """The rooms above are about as large as what is written."""
    with pytest.MonkeyPatch.context() as small:
        small.setattr(doubles, "MOST", room)
        assert refused(SHOP, 0) == (room == 270)


@pytest.mark.parametrize(
    "recipient",
    [
        "http://shop.example/x",
        "HTTP://shop.example:8080",
        "http://localhost:1@shop.example/",
        "http://127.0.0.1.shop.example/",
        "ws://shop.example/",
    ],
)
def test_nothing_goes_to_an_address_that_the_network_reads(recipient: str) -> None:
    """And why is said; to this machine it may go, and by https anywhere."""
    agent, _ = living(OPEN)
    ask = Ask(query=SHOP.query, recipient=recipient)
    assert handle(ask, MONDAY, agent) == Answer(code="not https")
    said = explain(ask, MONDAY, agent)
    assert (said.code, "not an https address" in headline(said)) == ("not https", True)
    for other in ("https://shop.example/x", "http://localhost:8710/x", "http://[::1]/"):
        again = msgspec.structs.replace(ask, recipient=other)
        assert handle(again, MONDAY, agent).code == "answered"


def test_the_profile_is_opened_for_what_was_chosen_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Once, after the choice, and only for attributes of the person."""
    agent, vault = living(f'{OPEN}[attributes]\nhours = "always"\n')
    opened: list[list[str]] = []
    reveal = Profile.reveal

    def noted(self: Profile, names: list[str], model: Model, *facts: Any) -> dict[str, str]:  # noqa: ANN401  (as it takes them)
        opened.append([*names])
        return reveal(self, names, model, *facts)

    monkeypatch.setattr(Profile, "reveal", noted)
    monkeypatch.delattr(Profile, "codes")  # for what protects this user alone
    handle(SHOP, MONDAY, agent)
    assert opened == [[*vault.disclosures[0].persons]]
    assert "hours" in dict(vault.disclosures[0].disclosed)


def test_with_nothing_to_decide_by_nothing_is_attached() -> None:
    """Each way of it has its code; the rest of the answer is empty."""
    agent, vault = living(OPEN)
    without: dict[Code, Agent] = {
        "locked": replace(agent, vault=None),
        "no policy": replace(agent, rules=FixedRules(None)),
        "no model": replace(agent, registry=OneModel(None)),
        "unfit": agent,
    }
    for code, broken in without.items():
        if code == "unfit":
            vault.ledger.append(entry_of(("age", "age9")))
        assert handle(SHOP, MONDAY, broken) == Answer(code=code)
        assert explain(SHOP, MONDAY, broken).code == code
        assert vault.ledger.count == (code == "unfit")
    wanted = f'{OPEN}[[rule]]\nrecipient = "shop.example"\npopulation = "other"\n'
    chosen = replace(agent, rules=FixedRules(wanted))
    assert handle(SHOP, MONDAY, chosen) == Answer(code="no model")
    assert handle(SHOP, MONDAY, replace(agent, vault=living(OPEN)[1])).code == "answered"


def entry_of(*disclosed: tuple[str, str]) -> Disclosure:
    """Return an entry of which only the pairs matter."""
    return Disclosure(
        at=MONDAY,
        host="shop.example",
        query="q",
        asked=None,
        disclosed=disclosed,
        persons=tuple(name for name, _ in disclosed),
        model="other",
        digest="",
        utility_bits=0.0,
        people_left=1,
    )


class BrokenError(RuntimeError):
    """What is raised on the way."""


@pytest.mark.parametrize(
    ("owner", "step"),
    [
        (OneModel, "of"),
        (Consent, "usable"),
        (agent.daemon.handle, "applied"),
        (agent.daemon.handle, "knowledge_in"),
        (Sources, "available"),
        (agent.daemon.handle, "decide"),
        (Consent, "note"),
        (Sources, "noted"),
        (Heard, "publish"),
        (Profile, "reveal"),
        (Members, "of"),
        (agent.daemon.handle, "sent_as"),
        (agent.daemon.handle, "people_left"),
        (Ledger, "append"),
    ],
)
def test_whatever_fails_on_the_way_leaves_nothing(
    owner: object, step: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """There is no answer, and the ledger does not say that there was; then all is as before."""
    made, vault = living(f'{OPEN}[attributes]\nage = "ask"\n')
    made = replace(made, sources=Sources())
    made.sources.needed = frozenset({"daily"})
    made.consent.preferences = (Preference("none", None, "ask", "auto"),)
    with monkeypatch.context() as patched:
        patched.setattr(owner, step, Mock(side_effect=BrokenError))
        with pytest.raises(BrokenError):
            handle(SHOP, MONDAY, made)
    assert vault.ledger.count == 0
    assert handle(SHOP, MONDAY, made).id == 1


def test_a_full_disk_attaches_nothing() -> None:
    """What cannot be recorded does not leave, and uses up nothing that was said once."""
    agent, vault = living(f'{OPEN}[attributes]\nage = "ask"\n')
    handle(SHOP, MONDAY, agent)
    [review] = agent.consent.reviews(MONDAY)
    agent.consent.answer(review.id, Word(disclose="auto", about="everyone"), MONDAY)
    before, vault.records.full = vault.ledger.count, True
    for _ in range(2):
        with pytest.raises(VaultError):
            handle(SHOP, MONDAY, agent)
    assert vault.ledger.count == before
    vault.records.full = False
    assert "age" in handle(SHOP, MONDAY, agent).attributes
    assert "age" not in handle(OTHER, MONDAY, agent).attributes
