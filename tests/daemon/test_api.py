"""The calls of the API."""

import asyncio
import inspect
import os
from datetime import timedelta
from functools import partial
from pathlib import Path
from threading import Event as Flag
from typing import Any
from unittest.mock import Mock

import pytest

from agent.daemon.api import CALLS
from agent.daemon.request_log import ASSISTED, Asker
from agent.errors import LockedError, ReticentError, UsageError, VaultError
from agent.model.file import SHIPPED, write
from agent.vault.ledger import Ledger
from agent.wire.base import RecipientName
from agent.wire.decide import Allowed, Answer, Ask, Clicked, Offer, SearchResults
from agent.wire.policy import Word
from agent.wire.routes import ROUTES
from agent.wire.state import Pause, Place, ProfileChange, WithoutFacts
from agent.words.figures import moment
from tests.worlds.homes import POLICY, Home
from tests.worlds.people import MODEL, SHOP

APPROVE = Word(disclose="auto", lasting="always")
ASKING = POLICY.replace('region = "ask"', 'age = "ask"')
CLICK = Clicked(query="q", host="a.example")


def test_every_route_has_its_function() -> None:
    """With the body first, where it takes one, and each parameter by its name.

    What the socket says of who asks is of no route.
    """
    assert CALLS.keys() == {route.name for route in ROUTES} - {"events", "shutdown", "relay"}
    for route in ROUTES:
        if route.name not in CALLS:
            continue
        signature = inspect.signature(CALLS[route.name].function)
        kinds = [each.kind for each in signature.parameters.values()]
        assert kinds.count(inspect.Parameter.POSITIONAL_OR_KEYWORD) == 2 + (route.takes is not None)
        named = {n for n, each in signature.parameters.items() if each.kind is each.KEYWORD_ONLY}
        by = {"by"} if route.name in {"decide", "disclosed", "reranked"} else set()
        assert named == by | {*route.parameters}
        assert signature.return_annotation == route.gives


def test_a_locked_vault_says_nothing(home: Home) -> None:
    """Nothing is attached, and what is in it cannot be asked for."""
    assert home.calls.decide(SHOP) == Answer(code="locked")
    assert home.calls.explain(SHOP).code == "locked"
    assert home.calls.locked().locked
    status = home.calls.status()
    assert (status.vault, status.locked, status.entries) == (True, True, None)
    assert status.lock_after_minutes == 3
    for call in (
        home.calls.profile,
        home.calls.ledger,
        home.calls.recipients,
        lambda: home.calls.recipients(recipient="shop.example")[0],
        lambda: home.calls.forget(RecipientName(recipient="shop.example")),
        lambda: home.calls.change_profile(ProfileChange(set={"age": "age1"})),
        lambda: asyncio.run(home.calls.backup(Place(path=str(home.paths.data / "copy")))),
    ):
        with pytest.raises(LockedError):
            call()
    assert not home.calls.clicked(CLICK).done


@pytest.mark.parametrize("said", [None, False, True])
def test_visits_are_noted_where_the_policy_lets_browsers_tell(
    opened: Home, said: bool | None
) -> None:
    """Whoever tells: by default of none."""
    if said is not None:
        clicks = f"[daemon]\nclicks = {str(said).lower()}\n"
        opened.paths.policy.write_text(POLICY.replace("[daemon]\n", clicks))
        opened.calls.status()
    assert opened.calls.clicked(CLICK).done is (said is True)


def test_to_forget_is_for_the_whole_pool_and_said_once(opened: Home) -> None:
    """A pool that was told nothing, or nothing since, has nothing to forget."""
    forget = partial(opened.calls.forget, RecipientName(recipient="adverts"))
    assert not forget().done
    opened.calls.decide(Ask(query=SHOP.query, recipient="ads.test"))
    assert opened.calls.recipients(recipient="more.test")[0].values
    assert [forget().done, forget().done] == [True, False]
    assert opened.calls.recipients(recipient="more.test")[0].values == {}
    told = [(each.kind, each.recipient) for each in opened.calls.ledger()]
    assert told == [("disclosed", "ads.test"), ("forgotten", "ads.test")]
    assert opened.bus.kinds.count("forget") == 1


def test_browsers_are_told_where_they_may_act(opened: Home) -> None:
    """By the policy, and by what was approved; while it is locked, by the policy alone."""
    ruled = 'search = "http://localhost:8710/find?q={query}"\n'
    opened.rule(ruled + POLICY + "clicks = true\n")
    [site] = opened.calls.locked().sites
    assert (site.recipient, site.search) == ("localhost", "http://localhost:8710/find?q={query}")
    assert opened.calls.locked().clicks
    search = "https://www.shop.example/?q={query}"
    offer = Offer(recipient="www.shop.example", names=["gender"], search=search)
    opened.calls.offer(offer)
    [review] = opened.calls.reviews()
    opened.calls.verdict(APPROVE, id=review.id)
    sites = opened.calls.locked().sites
    assert [each.recipient for each in sites] == ["localhost", "www.shop.example"]
    assert opened.calls.locked().sites is sites
    opened.calls.lock()
    assert opened.calls.locked().sites == [site]
    opened.unlock()
    assert opened.calls.locked().sites == sites
    opened.paths.policy.write_text(POLICY)
    opened.now += timedelta(seconds=9)
    assert [each.recipient for each in opened.calls.locked().sites] == ["www.shop.example"]
    assert not opened.calls.locked().clicks
    opened.paths.policy.unlink()
    assert opened.calls.locked().sites == []


def test_models_come_and_go(opened: Home) -> None:
    """A policy whose model is gone attaches nothing."""
    assert [each.name for each in opened.calls.models()] == [*SHIPPED, "mine"]
    write(MODEL, opened.paths.models / "copy.safetensors")
    assert [each.name for each in opened.calls.models()] == [*SHIPPED, "copy", "mine"]
    (opened.paths.models / "mine.safetensors").unlink()
    opened.calls.models()
    assert opened.calls.decide(SHOP).code == "no model"
    assert opened.bus.kinds.count("models") == 2


def test_while_a_backup_reaches_the_disk_others_are_answered(
    opened: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It never takes the place of a file."""
    begun, go = Flag(), Flag()
    place = Place(path=str(tmp_path / "copy.db"))

    def slow(_path: Path) -> None:
        begun.set()
        assert go.wait(60)

    async def scenario() -> None:
        copying = asyncio.create_task(opened.calls.backup(place))
        try:
            assert await asyncio.to_thread(begun.wait, 60)
            assert opened.calls.decide(SHOP).id == 1
        finally:
            go.set()
        await copying

    monkeypatch.setattr("agent.vault.database.fsync", slow)
    asyncio.run(scenario())
    assert (tmp_path / "copy.db").exists()
    with pytest.raises(ReticentError, match="exists"):
        asyncio.run(opened.calls.backup(place))


def test_rules_older_than_the_file_are_said_with_every_answer(opened: Home) -> None:
    """Until the file is mended; whoever asks may not know of the notes in the status."""

    def said() -> set[bool]:
        decided, explained = opened.calls.decide(SHOP), opened.calls.explain(SHOP)
        return {decided.stale_rules, explained.stale_rules, opened.calls.locked().stale_rules}

    assert said() == {False}
    good = opened.paths.policy.read_text()
    opened.rule("lamda = 3\n")
    assert said() == {True}
    opened.agent.lock()
    assert said() == {True}
    opened.rule(good)
    assert said() == {False}


def test_a_refusal_goes_by_the_file_and_not_by_older_rules(opened: Home) -> None:
    """It said that a rule gave nothing, and wrote none: the rule had gone a moment before."""
    policy, host = opened.paths.policy, SHOP.recipient
    whole = policy.read_text()
    policy.write_text(f'{whole}[[rule]]\nrecipient = "{host}"\nnothing = true\n')
    opened.calls.reload()
    assert opened.calls.decide(SHOP).code == "blocked"
    policy.write_text(whole)
    opened.calls.refuse(RecipientName(recipient=host))
    assert host in policy.read_text()
    assert opened.calls.decide(SHOP).code == "blocked"
    written = policy.read_text()
    opened.calls.refuse(RecipientName(recipient=host))
    assert policy.read_text() == written
    policy.write_text("lamda = 3\n")
    with pytest.raises(UsageError, match="nothing was written"):
        opened.calls.refuse(RecipientName(recipient=host))


def test_why_an_answer_cannot_be_recorded_is_noted(
    opened: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Until one can be: whoever asks is told no more than that it failed."""
    full = Mock(side_effect=VaultError("the disk is full", "make room"))
    with monkeypatch.context() as patched:
        patched.setattr(Ledger, "append", full)
        with pytest.raises(VaultError):
            opened.calls.decide(SHOP)
    [note] = opened.calls.status().notes
    assert note == "the last request could not be answered: the disk is full (make room)"
    assert opened.calls.decide(SHOP).id
    assert opened.calls.status().notes == []


def test_a_word_on_what_no_model_has_is_refused(opened: Home) -> None:
    """With the name that was probably meant."""
    word = Word(recipient="shop.example", names=["age", "regoin"], disclose="never", lasting="once")
    with pytest.raises(UsageError, match="unknown fact 'regoin'") as raised:
        opened.calls.override(word)
    assert raised.value.hint == "did you mean 'region'?"
    assert "age" in opened.calls.explain(SHOP).disclosed


def test_a_refusal_is_taken_out_of_the_policy(opened: Home) -> None:
    """Once; one that is for more than that recipient stays, and is named."""
    assert opened.calls.allow(RecipientName(recipient="shop.example")) == Allowed(done=False)
    for named in ("shop.example", "https://www.shop.example/page"):
        opened.calls.refuse(RecipientName(recipient=named))
        assert opened.calls.decide(SHOP).code == "blocked"
        assert opened.calls.allow(RecipientName(recipient=named)) == Allowed(done=True)
        assert opened.calls.decide(SHOP).code == "answered"
    assert opened.paths.policy.read_text().strip() == POLICY.strip()
    theirs = f'{POLICY}[[rule]]\nname = "mine"\nrecipient = "*.example"\nnothing = true\n'
    opened.rule(theirs)
    kept = Allowed(done=False, rule="mine")
    assert opened.calls.allow(RecipientName(recipient="shop.example")) == kept
    assert (opened.paths.policy.read_text(), opened.calls.decide(SHOP).code) == (theirs, "blocked")


def test_a_pause_lets_nothing_out_and_outlasts_a_lock(opened: Home) -> None:
    """Until its time is over, or it is ended."""
    sent = opened.calls.decide(SHOP).attributes
    opened.calls.pause(Pause(minutes=60))
    paused = opened.now + timedelta(hours=1)
    assert opened.calls.decide(SHOP) == Answer(code=opened.calls.explain(SHOP).code)
    opened.calls.lock()
    assert opened.unlock().paused_until == paused
    assert opened.calls.decide(SHOP) == Answer(code="paused")
    opened.now = paused
    assert opened.calls.decide(SHOP).attributes == sent != {}
    opened.calls.pause(Pause(minutes=60))
    opened.calls.pause(Pause(minutes=0))
    assert opened.calls.status().paused_until is None
    assert opened.calls.decide(SHOP).attributes == sent


def test_what_a_lock_cost_is_counted_and_said(opened: Home) -> None:
    """While it lasts and for an hour after; nothing of a query is kept."""
    since = opened.calls.lock().without_facts.since
    assert [opened.calls.decide(SHOP).code for _ in range(3)] == ["locked"] * 3
    status = opened.calls.status()
    assert status.without_facts == WithoutFacts(since=since, requests=3)
    assert status.notes == [f"locked since {moment(since)}: 3 requests left without facts"]
    assert "3 requests left without facts" in str(opened.unlock().notes)
    assert opened.calls.requests() == []
    opened.now += timedelta(hours=1)
    assert opened.calls.status().notes == []
    assert opened.calls.lock().without_facts.requests == 0


def test_nothing_leaves_while_the_policy_is_being_written(opened: Home) -> None:
    """Neither by the old rules nor by half of the new ones; `policy check` takes it as it is."""

    def written(text: str) -> None:
        opened.paths.policy.write_text(text)
        at = opened.now.timestamp() + 0.5
        os.utime(opened.paths.policy, (at, at))

    for text in (POLICY + "clicks = true\n", POLICY):  # the second lacks an end
        written(text)
        assert opened.calls.decide(SHOP) == Answer(code="policy changing")
        assert any("is being written" in each for each in opened.calls.status().notes) == (
            text == POLICY
        )
        opened.calls.reload()
        assert opened.calls.decide(SHOP).attributes


def test_what_was_approved_once_waits_again_where_it_has_changed(opened: Home) -> None:
    """As long as nothing changes nobody is asked twice; what the value is counts for nothing."""
    opened.rule(ASKING)

    def sent(age: str) -> Any:  # noqa: ANN401  (of a call)
        opened.calls.change_profile(ProfileChange(set={"age": age}))
        answer = opened.calls.decide(SHOP)
        waits = [each.names for each in opened.calls.reviews()]
        assert waits == ([] if "age" in answer.attributes else [["age"]])
        return answer.attributes.get("age")

    def approve() -> None:
        [review] = opened.calls.reviews()
        opened.calls.verdict(Word(disclose="auto", lasting="once"), id=review.id)

    assert sent("age1") is None
    approve()
    assert [sent("age1"), sent("age1")] == ["age1"] * 2
    assert [sent("age2"), sent("age1")] == [None] * 2
    approve()
    assert [sent("age1"), sent("age1")] == ["age1"] * 2
    opened.rule(ASKING.replace("ask", "auto"))
    assert sent("age2") == "age2"


def test_results_are_ordered_here_and_nowhere_kept(opened: Home) -> None:
    """Where the policy says so, without a trace; not for programs, nor where nothing is decided."""
    results = [(title, "snippet") for title in ("a", "b", "c", "d", "other")]
    body = SearchResults(recipient="shop.example", query="python today", results=results)
    as_given, best = [0, 1, 2, 3, 4], [1, 3, 2, 0, 4]  # b and d first, as age1 has it
    here = f'{POLICY}[[rule]]\nrecipient = "shop.example"\nresults = "rerank"\n'

    def order(by: Asker = "user") -> object:
        return asyncio.run(opened.calls.reranked(body, by=by))

    def kept() -> object:
        files = [each.read_bytes() for each in opened.paths.data.rglob("vault*")]
        return files, opened.agent.silent_requests.count, [*opened.bus.kinds]

    for how, wanted in (("send", as_given), ("both", best), ("rerank", best)):
        opened.rule(here.replace("rerank", how))
        before = kept()
        assert order() == order("page") == order("command") == wanted
        assert all(order(each) == as_given for each in ("program", *ASSISTED))
        assert kept() == before
    assert opened.calls.decide(SHOP, by="page").code == "ordered here"
    opened.rule(f"{here}page_requests_per_minute = 4\n")
    assert (order("page"), order("page"), order()) == (best, as_given, best)
    opened.rule(f'{here}[[rule]]\ndoor = "page"\nnothing = true\n')
    assert (order("page"), order()) == (as_given, best)
    opened.calls.pause(Pause(minutes=1))
    assert order() == as_given
    opened.agent.lock()
    assert order() == as_given
