"""What the ledger does not have, and how many requests in a minute."""

from datetime import datetime, timedelta
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.daemon.handle import handle
from agent.daemon.policy_file import ActivePolicy
from agent.daemon.request_log import (
    ASSISTED,
    MOST_POOLS,
    MOST_SILENT,
    PROGRAMS,
    RECORDED,
    Asker,
    Rates,
    SilentRequests,
)
from agent.errors import UsageError
from agent.vault.profile import Profile
from agent.wire.decide import Answer, Ask, Summary
from agent.wire.state import Entry
from policy.read import preset, read
from tests.model.test_world import made_world
from tests.worlds.people import MONDAY, OPEN, SECOND, SHOP, living

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
AT_CAP: dict[Asker, str] = {"page": TOO_MANY, **dict.fromkeys((*ASSISTED, "draft"), "too many")}


def waits(count: int) -> Answer:
    summary = Summary(
        pool="p",
        model="m",
        utility_bits=0.0,
        people_left=1.0,
        waiting=count,
        pending=[f"{each}" for each in range(count)],
    )
    return Answer(code="answered", summary=summary)


def silent(query: str) -> Entry:
    """Make a request of a shop that carried nothing."""
    return Entry(number=0, kind="nothing", at=MONDAY, recipient="shop.example", query=query)


def test_the_latest_are_kept_for_which_there_is_room() -> None:
    """Each under a number that no other has, also once all is forgotten; so is what waits."""
    kept = SilentRequests()
    for entry in range(1, MOST_SILENT + 3):
        assert kept.add(silent("q"), entry) == -entry
        kept.note(entry, waits(2))
    assert [each.number for _, each in kept.entries] == [*range(-3, -MOST_SILENT - 3, -1)]
    assert [*kept.waiting] == [*range(3, MOST_SILENT + 3)]
    assert kept.waiting[3] == {"0", "1"}
    kept.clear()
    assert not kept.entries
    assert kept.add(silent("q"), 0) == -MOST_SILENT - 3


def asked(host: str) -> Ask:
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
        place = "assistant" if by in ASSISTED else by, POOLS[host]
        lately = [each for each in times.get(place, []) if now - each < MINUTE]
        full = len(lately) >= (0 if host == "silent.test" else CAP)
        assert code == (AT_CAP[by] if by in AT_CAP and full else "answered")
        if code != "answered":
            assert vault.ledger.count == before
        elif by in AT_CAP:
            times.setdefault(place, []).append(now)


@given(steps=st.lists(st.tuples(st.sampled_from(RECORDING), st.integers(0, 40)), max_size=25))
def test_the_door_records_so_much_in_a_minute(steps: list[tuple[Asker, int]]) -> None:
    """The user, and all others; commands without a limit."""
    most: dict[Asker, int] = {"user": 2, **dict.fromkeys(PROGRAMS, 3)}
    agent, vault = living(f"{OPEN}page_requests_per_minute = 1000\n")
    now, times = MONDAY, dict[str, list[datetime]]()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("agent.daemon.handle.RECORDED", most)
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
    with pytest.raises(AttributeError, match="reveal"):
        handle(SHOP, MONDAY, agent, "user")


def test_what_records_nothing_is_not_counted() -> None:
    """A program may ask about any number of queries that the model does not know."""
    agent, vault = living(OPEN)
    for _ in range(RECORDED["program"] + 1):
        assert handle(Ask(query="?", recipient="shop.example"), MONDAY, agent, "program").id is None
    assert handle(SHOP, MONDAY, agent, "program").id == 1
    assert vault.ledger.count == 1


def test_counts_are_forgotten() -> None:
    """In a future that is no longer ahead, at a lock, and of hosts of which there are ever more."""
    agent, _ = living(POLICY)
    for _ in range(CAP):
        assert handle(SHOP, MONDAY, agent, "page").code == "answered"
    assert handle(SHOP, MONDAY - SECOND, agent, "page").code == TOO_MANY
    assert handle(SHOP, MONDAY - timedelta(days=4), agent, "page").code == "answered"
    assert agent.rates.is_reached("page", "shop.example", 1, MONDAY - timedelta(days=4))
    agent.lock()
    assert not agent.rates.is_reached("page", "shop.example", 1, MONDAY)
    rates = Rates()
    rates.count("user", "", MONDAY)
    for number in range(MOST_POOLS):
        rates.count("page", f"{number}.example", MONDAY)
    assert rates.is_reached("page", f"{MOST_POOLS - 1}.example", 1, MONDAY)
    assert not rates.is_reached("page", "0.example", 1, MONDAY)
    assert rates.is_reached("user", "", 1, MONDAY)


def test_only_a_host_or_a_group_has_a_pool() -> None:
    """However an address of it is written; without a policy none is chosen by a rule."""
    assert ActivePolicy(None).route("shop.example", MONDAY.date()) == (None, False)
    text = 'k = 2\n[groups]\nshops = ["shop.example", "books.example"]\n'
    rules = ActivePolicy(read(text, "test", preset))
    for recipient in ("https://www.books.example/a", "shop.example:443", "@shops"):
        assert rules.pool(recipient) == "@shops"
    assert rules.pool("a.other.example") == "other.example"
    for recipient in ("@shop", "shops!", "@"):
        with pytest.raises(UsageError):
            rules.pool(recipient)


def test_a_world_and_its_first_model_have_rules_of_their_own() -> None:
    """Though both have the same name and digest; whichever is asked about first."""
    world = made_world(1)
    for order in ((world, world.every[0]), (world.every[0], world)):
        rules = ActivePolicy(read("k = 2", "test", preset), [world])
        for model in order:
            terms = rules.terms(model, "shop.example", "", MONDAY.date())
            assert terms is not None
            assert terms.ruling is not None
            assert [*terms.ruling.attributes] == [each.name for each in model.attributes]
