"""A line for a chat box: what is shown, what of it may be told, and what is recorded when."""

from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from unittest.mock import Mock

import msgspec
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from agent.daemon.agent import Agent
from agent.daemon.drafts import LASTS, MOST
from agent.daemon.handle import handle
from agent.daemon.policy_file import ActivePolicy
from agent.daemon.records import requests
from agent.errors import RefusedError, ReticentError, UsageError, VaultError
from agent.model.attributes import UNSPECIFIED
from agent.wire.base import RecipientName
from agent.wire.decide import Ask, Draft, Tell, Told
from agent.wire.policy import Word
from agent.words.titles import about, phrase
from policy.read import preset, read
from tests.decision.made import NAMES, PERSONS
from tests.decision.transcripts import HOSTS, Rules, policies
from tests.vault.values import change
from tests.worlds.homes import Calls
from tests.worlds.people import (
    ASKS,
    MODEL,
    MONDAY,
    OPEN,
    PEOPLE,
    SECOND,
    STEPS,
    MemoryVault,
    living,
    values_of,
)

LISTED = "".join(
    f'[[rule]]\nrecipient = "{host}"\naddress = "https://{host}/"\nassistant = true\n'
    for host in HOSTS
)
CHAT = Ask(query="python today", recipient="https://shop.example/chat/1")
TITLES = MODEL.titles
STREAMS = st.lists(STEPS, max_size=5)
ASKING = "preset = 'none'\nanonymity_price = 0\n[attributes]\nage = 'ask'\n"


class Drafts:
    """The calls about drafts, on an agent."""

    def __init__(self, agent: Agent) -> None:
        self.calls = Calls(agent, lambda: self.now)

    def draft(self, ask: Ask, now: datetime) -> Draft:
        self.now = now
        drafted: Draft = self.calls.draft(ask)
        return drafted

    def tell(self, body: Tell, now: datetime) -> Told:
        self.now = now
        told: Told = self.calls.tell(body)
        return told


def drafting(policy: str, row: int = 4) -> tuple[Drafts, Agent, MemoryVault]:
    """Return the drafts of one of the model's people, to whom every host is an assistant."""
    agent, vault = living(f"{policy}\n{LISTED}", row)
    return Drafts(agent), agent, vault


def replay(agent: Agent, stream: list[tuple[int, Ask]]) -> datetime:
    """Answer requests, and return the time after the last one."""
    now = MONDAY
    for hours, ask in stream:
        now += timedelta(hours=hours)
        handle(ask, now, agent)
    return now + SECOND


def rest(agent: Agent, vault: MemoryVault, now: datetime) -> object:
    """Return all that a draft must leave as it is."""
    pool_of = agent.rules.active.pool_of
    held = [vault.ledger.disclosures.pool(pool_of(host), pool_of).held for host in HOSTS]
    status = agent.consent.preferences  # what is used up
    names = vault.items.names("")
    return vault.ledger.count, held, {each: vault.items.get(each) for each in names}, status, now


@given(policies(["everyone", "me"]), STREAMS, PEOPLE, ASKS)
def test_a_draft_is_what_would_be_sent(
    rules: Rules, stream: list[tuple[int, Ask]], row: int, ask: Ask
) -> None:
    """In set, order, values and code; and it changes neither ledger nor knowledge nor words."""
    drafts, agent, vault = drafting(rules.policy.text, row)
    now, ask = replay(agent, stream), msgspec.structs.replace(ask, asked=None)
    before, drafted = rest(agent, vault, now), drafts.draft(ask, now)
    assert rest(agent, vault, now) == before
    again = drafts.draft(ask, now)
    assert again == msgspec.structs.replace(drafted, id=again.id)
    answer = handle(ask, now, agent)
    assert drafted.code == answer.code
    assert [each.name for each in drafted.facts] == [*answer.attributes]
    assert [each.phrase for each in drafted.facts] == [
        phrase(TITLES[name], value) for name, value in answer.attributes.items()
    ]
    assert drafted.line == about(each.phrase for each in drafted.facts)
    assert bool(drafted.id) == bool(drafted.facts)
    assert answer.summary is not None
    assert drafted.waiting == [TITLES[name] for name in answer.summary.pending]
    assert drafted.read_as == answer.summary.read_as


@given(policies(["everyone", "me"]), STREAMS, PEOPLE, st.data())
def test_what_is_told_is_of_the_draft_and_recorded_before(
    rules: Rules, stream: list[tuple[int, Ask]], row: int, data: st.DataObject
) -> None:
    """Once, with what leaving out would tell, and the people who agree with all of it by then."""
    drafts, agent, vault = drafting(rules.policy.text, row)
    now = replay(agent, stream)
    drafted = drafts.draft(CHAT, now)
    names = [each.name for each in drafted.facts]
    assume(names)
    some = data.draw(st.lists(st.sampled_from(names), min_size=1, unique=True))
    before = vault.ledger.count
    said = drafts.tell(Tell(id=drafted.id, names=some), now)
    entry = vault.disclosures[-1]
    assert (said.id, vault.ledger.count) == (before + 1, before + 1)
    own = {**values_of(row), "hours": "hours1"}
    told = dict(entry.disclosed)
    assert told.items() <= own.items()
    assert {name for name, value in told.items() if value != UNSPECIFIED} == {*some}
    assert said.line == about(each.phrase for each in drafted.facts if each.name in some)
    assert entry.host == "shop.example"
    assert entry.persons == tuple(name for name in told if name in NAMES[:PERSONS])
    for _ in range(2):
        with pytest.raises(RefusedError):
            drafts.tell(Tell(id=drafted.id, names=some), now)
    assert vault.ledger.count == before + 1


def test_what_is_left_out_counts_neither_in_bits_nor_in_people() -> None:
    """The entry has the figures of what was told."""
    drafts, _, vault = drafting(OPEN)
    drafted = drafts.draft(CHAT, MONDAY)
    assert len(drafted.facts) > 1
    name = drafted.facts[0].name
    drafts.tell(Tell(id=drafted.id, names=[name]), MONDAY)
    whole, _, other = drafting(OPEN)
    again = whole.draft(CHAT, MONDAY)
    whole.tell(Tell(id=again.id, names=[each.name for each in again.facts]), MONDAY)
    [some], [every] = vault.disclosures, other.disclosures
    assert some.people_left is not None
    assert every.people_left is not None
    assert some.people_left > every.people_left
    assert some.utility_bits != every.utility_bits


Step = Callable[[Drafts, Agent, MemoryVault], object]
STALE: Mapping[str, Step] = {
    "another was told": lambda drafts, *_: drafts.tell(
        Tell(id=(found := drafts.draft(CHAT, MONDAY)).id, names=[e.name for e in found.facts]),
        MONDAY,
    ),
    "an answer left": lambda _, agent, __: handle(CHAT, MONDAY, agent),
    "a value changed": lambda _, __, vault: change(
        vault.profile, {"gender": UNSPECIFIED, "age": UNSPECIFIED}, [], [MODEL]
    ),
    "a value was unset": lambda _, __, vault: change(vault.profile, {}, ["gender"], [MODEL]),
    "it was blocked": lambda _, agent, __: ruled(agent, "nothing = true\n"),
    "it is no assistant any more": lambda _, agent, __: ruled(agent, OPEN, listed=""),
    "a fact is never sent": lambda _, agent, __: ruled(
        agent, f"{OPEN}[attributes]\n'*' = 'never'\n"
    ),
    "a limit is lower": lambda _, agent, __: ruled(agent, f"{OPEN}attributes_per_request = 0\n"),
    "it was locked": lambda _, agent, vault: relocked(agent, vault),
    "a hundred were drafted": lambda drafts, agent, _: crowded(drafts, agent),
    "the user says never": lambda _, agent, __: agent.consent.override(
        Word(names=[*NAMES], recipient="shop.example", disclose="never", lasting="once"), MONDAY
    ),
}


def crowded(drafts: Drafts, agent: Agent) -> None:
    """Draft as many as are kept."""
    ruled(agent, f"{OPEN}page_requests_per_minute = 1000\n")
    for _ in range(MOST):
        drafts.draft(CHAT, MONDAY)


def relocked(agent: Agent, vault: MemoryVault) -> None:
    """Lock the vault and open it again."""
    agent.lock()
    agent.vault = vault


def ruled(agent: Agent, policy: str, listed: str = LISTED) -> None:
    """Put other rules into force."""
    agent.rules.active = ActivePolicy(read(f"{policy}\n{listed}", "test", preset))


@pytest.mark.parametrize("step", STALE.values(), ids=STALE)
def test_nothing_is_told_once_anything_has_changed(step: Step) -> None:
    """Neither then nor later, and the ledger says nothing of it."""
    drafts, agent, vault = drafting(OPEN)
    drafted = drafts.draft(CHAT, MONDAY)
    tell = Tell(id=drafted.id, names=[each.name for each in drafted.facts])
    step(drafts, agent, vault)
    before = vault.ledger.count
    for _ in range(2):
        with pytest.raises(RefusedError) as caught:
            drafts.tell(tell, MONDAY + SECOND)
        assert caught.value.hint
    assert vault.ledger.count == before


@given(st.integers(-2, 1300))
def test_a_draft_lasts_ten_minutes(seconds: int) -> None:
    """And not a clock that is set back."""
    drafts, _, vault = drafting(OPEN)
    drafted = drafts.draft(CHAT, MONDAY)
    tell = Tell(id=drafted.id, names=[drafted.facts[0].name])
    try:
        drafts.tell(tell, MONDAY + timedelta(seconds=seconds))
    except RefusedError:
        assert not 0 <= seconds < LASTS.total_seconds()
    else:
        assert 0 <= seconds < LASTS.total_seconds()
    assert vault.ledger.count == (0 <= seconds < LASTS.total_seconds())


def test_drafts_are_capped_like_pages() -> None:
    """So that no program reads the profile by drafting; the user's searches do not suffer."""
    drafts, agent, _ = drafting(f"{OPEN}page_requests_per_minute = 2\n")
    codes = [drafts.draft(CHAT, MONDAY).code for _ in range(3)]
    assert codes == ["answered", "answered", "too many"]
    assert handle(CHAT, MONDAY, agent, "user").code == "answered"


@pytest.mark.parametrize("host", ["other.example", "a.shop.example", "example", "ads.test"])
def test_only_listed_assistants_get_a_draft(host: str) -> None:
    """And only those whose own host it is."""
    drafts, agent, vault = drafting(OPEN)
    with pytest.raises(RefusedError, match="not among your assistants") as caught:
        drafts.draft(Ask(query=CHAT.query, recipient=host), MONDAY)
    assert host in caught.value.hint
    assert (vault.ledger.count, requests(MONDAY, agent)) == (0, [])


def test_what_is_not_of_the_draft_is_not_told() -> None:
    """It is a mistake of the caller, and the draft is spent."""
    drafts, _, vault = drafting(f"{OPEN}[attributes]\nage = 'never'\n")
    drafted = drafts.draft(CHAT, MONDAY)
    with pytest.raises(UsageError, match="age"):
        drafts.tell(Tell(id=drafted.id, names=[drafted.facts[0].name, "age"]), MONDAY)
    assert vault.ledger.count == 0


def test_where_it_cannot_be_recorded_nothing_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever fails on the way: a line leaves only once the ledger has it."""
    full = Mock(side_effect=VaultError("the disk is full", "make room"))
    for name in ("append", "check"):
        drafts, _, vault = drafting(OPEN)
        drafted = drafts.draft(CHAT, MONDAY)
        with monkeypatch.context() as patch:
            patch.setattr(vault.ledger, name, full)
            with pytest.raises(ReticentError):
                drafts.tell(Tell(id=drafted.id, names=[drafted.facts[0].name]), MONDAY)
        assert vault.ledger.count == 0


def test_what_waits_is_queued_and_named_but_not_told() -> None:
    """An approval for one time is used up by what is told, not by what is shown."""
    drafts, agent, _ = drafting(ASKING)
    drafted = drafts.draft(CHAT, MONDAY)
    assert drafted.waiting == [TITLES["age"]]
    assert "age" not in [each.name for each in drafted.facts]
    [review] = agent.consent.reviews(MONDAY)
    assert review.names == ["age"]
    agent.consent.answer(review.id, Word(disclose="auto", lasting="once"), MONDAY)
    for name in ("gender", "age"):
        for _ in range(2):
            drafted = drafts.draft(CHAT, MONDAY)
            assert "age" in [each.name for each in drafted.facts]
        drafts.tell(Tell(id=drafted.id, names=[name]), MONDAY)
    other = drafts.draft(Ask(query=CHAT.query, recipient="books.example"), MONDAY)
    assert "age" not in [each.name for each in other.facts]
    drafts, _, vault = drafting(ASKING.replace("age", "gender"), 5)
    drafted = drafts.draft(CHAT, MONDAY)
    drafts.tell(Tell(id=drafted.id, names=["age"]), MONDAY)  # one waits, and one is left out
    assert [name for name, _ in vault.disclosures[-1].disclosed] == ["age"]


def test_a_recipient_may_be_told_whatever_it_is_asked() -> None:
    """What the mean request brings it, by its rules; it counts as sent once the user agrees."""
    agent, vault = living(f'{OPEN}[[rule]]\nrecipient = "ads.test"\nnothing = true\n')
    calls = Calls(agent)
    draft = calls.export(RecipientName(recipient="claude.ai"))
    assert draft.facts
    assert vault.disclosures == []
    names = [each.name for each in draft.facts]
    calls.tell(Tell(id=draft.id, names=names))
    [told] = vault.disclosures
    assert (told.host, told.query) == ("claude.ai", "")
    assert {*names} <= {*told.persons} == {*calls.recipients(recipient="claude.ai")[0].values}
    again = calls.export(RecipientName(recipient="claude.ai")).facts
    assert {*names} <= {each.name for each in again}
    assert calls.export(RecipientName(recipient="ads.test")).facts == []
    with pytest.raises(RefusedError, match="is not among your assistants"):
        calls.draft(Ask(query="q", recipient="claude.ai"))
