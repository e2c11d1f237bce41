"""The calls of the API."""

import asyncio
import inspect
from contextlib import nullcontext
from pathlib import Path
from threading import Event as Flag

import pytest

from agent.daemon.api import Calls
from agent.errors import LockedError, ReticentError, UsageError, VaultError
from agent.model.file import write
from agent.vault.database import Database
from agent.vault.vault import unlock
from agent.vault.vault_files import Location
from agent.wire.decide import Allow, Answer, Ask, Clicked, Offer, Refuse
from agent.wire.policy import Decided, Lasting, Verdict
from agent.wire.records import Forget, ProfileChange
from agent.wire.routes import ROUTES
from agent.wire.state import Place
from tests.daemon.home import POLICY, Home
from tests.daemon.people import MODEL, SHOP
from tests.vault.worlds import TYPED

APPROVE = Verdict(decided="approve", lasting="always")
CLICK = Clicked(query="q", host="a.example")


def test_every_route_has_its_method() -> None:
    """With the body first, where it takes one, and each parameter by its name.

    What the door says of who asks is of no route.
    """
    for route in ROUTES:
        if route.name in ("events", "shutdown", "relay"):
            continue
        given = inspect.signature(getattr(Calls, route.name)).parameters
        bodies = [name for name, each in given.items() if each.kind is each.POSITIONAL_OR_KEYWORD]
        assert bodies == ["self", *(["body"] if route.takes is not None else [])]
        named = {name for name, each in given.items() if each.kind is each.KEYWORD_ONLY}
        by = {"by"} if route.name == "decide" else set()
        assert named == by | {each.name for each in route.parameters}
        gives = inspect.signature(getattr(Calls, route.name)).return_annotation
        assert gives == route.gives


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
        lambda: home.calls.knowledge(recipient="shop.example"),
        lambda: home.calls.forget(Forget(recipient="shop.example")),
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


def test_the_ledger_and_what_is_held_agree(opened: Home) -> None:
    """Of a recipient with its pool, the latest entries, the oldest of them first."""
    hosts = ["shop.example", "a.ads.test", "b.more.test", "www.shop.example", "a.ads.test"]
    for host in hosts:
        assert opened.calls.decide(Ask(query=SHOP.query, recipient=host)).id
    ledger = opened.calls.ledger()
    assert [entry.recipient for entry in ledger] == hosts
    assert [entry.number for entry in ledger] == [1, 2, 3, 4, 5]
    assert [each.number for each in opened.calls.ledger(recipient="shop.example")] == [1, 4]
    assert [each.number for each in opened.calls.ledger(recipient="@adverts")] == [2, 3, 5]
    assert [each.number for each in opened.calls.ledger(recipient="more.test", after=2)] == [3, 5]
    assert [each.number for each in opened.calls.ledger(limit=2)] == [4, 5]
    for recipient, first in (("www.shop.example", 0), ("@adverts", 1), ("https://ads.test/x", 1)):
        held = opened.calls.knowledge(recipient=recipient)
        assert held.values == ledger[first].disclosed
        assert {*held.since.values()} == {ledger[first].at}
        assert (held.people_left, held.people) == (ledger[first].people_left, 300)
        assert (held.recent, held.model) == (len(held.values), MODEL.id)
    nothing = opened.calls.knowledge(recipient="new.example")
    assert (nothing.values, nothing.people_left) == ({}, 300)
    with pytest.raises(UsageError):
        opened.calls.knowledge(recipient="@nobody")


def test_forgetting_is_for_the_whole_pool(opened: Home) -> None:
    """The ledger keeps what was told; a pool that was told nothing has nothing to forget."""
    assert not opened.calls.forget(Forget(recipient="@adverts")).done
    assert not opened.calls.forget(Forget(recipient="shop.example")).done
    for host in ("ads.test", "shop.example"):
        opened.calls.decide(Ask(query=SHOP.query, recipient=host))
    assert opened.calls.forget(Forget(recipient="@adverts")).done
    assert opened.calls.knowledge(recipient="more.test").values == {}
    assert opened.calls.knowledge(recipient="shop.example").values != {}
    assert [each.kind for each in opened.calls.ledger()] == ["disclosed"] * 2 + ["forgotten"]
    assert opened.calls.forget(Forget(recipient="www.shop.example")).done
    assert opened.calls.knowledge(recipient="shop.example").values == {}
    assert opened.bus.kinds.count("forget") == 2


def test_whoever_holds_an_older_value_is_named(opened: Home) -> None:
    """Until it was told the new one."""
    for host in ("ads.test", "shop.example"):
        opened.calls.decide(Ask(query=SHOP.query, recipient=host))
    changed = opened.calls.change_profile(ProfileChange(set={"age": "age2"}))
    assert [(each.name, each.pools) for each in changed.stale] == [
        ("age", ["@adverts", "shop.example"])
    ]
    assert opened.calls.decide(SHOP).attributes["age"] == "age2"
    again = opened.calls.change_profile(ProfileChange(unset=["age"]))
    assert [each.pools for each in again.stale] == [["@adverts", "shop.example"]]
    assert opened.calls.change_profile(ProfileChange(set={"job": "job1"})).stale == []
    own = {"gender": "unspecified", "region": "region2", "job": "job1"}
    assert opened.calls.profile().values == {MODEL.id: own}


def test_a_profile_changes_whole_or_not(opened: Home) -> None:
    """By the name of a model, by its id, or for all that have the attribute."""
    before = opened.calls.profile()
    for change in (
        ProfileChange(set={"age": "age2", "region": "nowhere"}),
        ProfileChange(set={"hours": "hours1"}),
        ProfileChange(model="other", set={"age": "age2"}),
    ):
        with pytest.raises(ReticentError):
            opened.calls.change_profile(change)
        assert opened.calls.profile() == before
    opened.calls.change_profile(ProfileChange(model=MODEL.id, set={"job": "job1"}, replace=True))
    assert opened.calls.profile().values == {MODEL.id: {"job": "job1"}}


def test_a_verdict_that_lasts_holds_from_the_next_request(opened: Home) -> None:
    """It is in the policy file, with all that stood there."""
    opened.calls.change_profile(ProfileChange(set={"age": "age1"}))
    opened.paths.policy.write_text("# mine\n" + POLICY.replace('region = "ask"', 'age = "ask"'))
    opened.calls.reload()
    assert "age" not in opened.calls.decide(SHOP).attributes
    [review] = opened.calls.reviews()
    assert opened.calls.status().waiting == 1
    assert opened.calls.verdict(APPROVE, id=review.id).written is not None
    assert opened.calls.decide(SHOP).attributes["age"] == "age1"
    assert opened.paths.policy.read_text().startswith("# mine\n" + POLICY[:20])
    assert opened.calls.reviews() == []
    for call in (lambda: opened.calls.dismiss(id=99), lambda: opened.calls.verdict(APPROVE, id=99)):
        with pytest.raises(UsageError):
            call()


@pytest.mark.parametrize("lasting", ["once", "until restart", "always"])
@pytest.mark.parametrize("decided", ["approve", "deny"])
def test_a_policy_is_told_of_where_one_was_written(
    opened: Home, decided: Decided, lasting: Lasting
) -> None:
    """A word that is kept in memory changes no file, and so does one that is said already."""
    opened.paths.policy.write_text(POLICY.replace('region = "ask"', 'age = "ask"'))
    opened.calls.reload()
    opened.calls.decide(SHOP)
    opened.bus.kinds.clear()
    [review] = opened.calls.reviews()
    opened.calls.verdict(Verdict(decided=decided, lasting=lasting), id=review.id)
    assert opened.bus.kinds == [*(["policy"] if lasting == "always" else []), "review"]
    for _ in range(2):
        opened.calls.refuse(Refuse(recipient="shop.example"))
    assert opened.bus.kinds.count("policy") == 1 + (lasting == "always")


def test_an_offer_is_taken_up(opened: Home) -> None:
    """Of it what a model has: that is all that is asked, while it waits and once approved."""
    assert opened.calls.explain(SHOP).disclosed != ["gender"]
    offer = Offer(recipient="https://www.shop.example/", names=["gender", "shoe_size"])
    assert not opened.calls.offer(Offer(recipient="a.example", names=["shoe_size"])).done
    assert opened.calls.offer(offer).done
    [review] = opened.calls.reviews()
    assert (review.kind, review.recipient, review.names) == ("offer", "shop.example", ["gender"])
    assert opened.calls.explain(SHOP).disclosed == ["gender"]
    opened.calls.verdict(APPROVE, id=review.id)
    assert opened.calls.explain(SHOP).disclosed == ["gender"]
    assert not opened.calls.offer(offer).done  # nothing of it waits any more
    opened.calls.lock()
    opened.unlock()
    assert opened.calls.explain(SHOP).disclosed == ["gender"]
    assert "offer" in opened.bus.kinds


def test_a_recipient_that_is_refused_gets_nothing(opened: Home) -> None:
    """From the next request on, whoever asked for that."""
    assert opened.calls.decide(SHOP).attributes
    opened.calls.refuse(Refuse(recipient="shop.example"))
    answer = opened.calls.decide(SHOP)
    assert (answer.code, answer.attributes) == ("blocked", {})
    assert opened.calls.explain(SHOP).code == "blocked"


def test_models_come_and_go(opened: Home, tmp_path: Path) -> None:
    """A policy whose model is gone attaches nothing."""
    assert [each.name for each in opened.calls.models()] == ["so2017", "mine"]
    copy = tmp_path / "copy.safetensors"
    write(MODEL, copy)
    added = opened.calls.add_model(Place(path=str(copy)))
    assert opened.calls.models()[1] == added
    opened.calls.remove_model(name="mine")
    assert opened.calls.decide(SHOP).code == "no model"
    assert opened.bus.kinds.count("models") == 2
    for path in ("copy.safetensors", "~/copy.safetensors"):
        with pytest.raises(UsageError):
            opened.calls.add_model(Place(path=path))


def test_what_is_wrong_is_noted(opened: Home) -> None:
    """The policy, the models and the profile."""
    assert opened.calls.status().notes == []
    opened.paths.policy.write_text("lamda = 1\n")
    status = opened.calls.reload()
    assert (status.in_use, len(status.problems)) == (True, 1)
    (opened.paths.models / "bad.safetensors").write_bytes(b"no model")
    notes = opened.calls.status().notes
    assert [note.split(":")[0] for note in notes] == ["policy", "model bad"]
    opened.paths.policy.unlink()
    assert not opened.calls.reload().in_use
    assert opened.calls.status().notes[0].startswith("no policy is in use")
    assert opened.calls.decide(SHOP).code == "no policy"


def test_a_backup_is_a_vault(opened: Home, tmp_path: Path) -> None:
    """Whole, and never in place of another file."""
    opened.calls.decide(SHOP)
    to = tmp_path / "backup.db"
    assert asyncio.run(opened.calls.backup(Place(path=str(to)))).done
    with unlock(Location(to, tmp_path / "own.json"), TYPED) as copy:
        assert copy.ledger.count == 1
    with pytest.raises(VaultError):
        asyncio.run(opened.calls.backup(Place(path=str(to))))
    with pytest.raises(UsageError):
        asyncio.run(opened.calls.backup(Place(path="backup.db")))


@pytest.mark.parametrize("locked", [False, True])
def test_while_a_backup_is_written_others_are_answered(
    opened: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, locked: bool
) -> None:
    """Before its first step is done; to lock ends it, and leaves no file."""
    begun, go, whole = Flag(), Flag(), Database._check_open  # noqa: SLF001  (called before each step)

    def slow(database: Database, *progress: int) -> None:
        begun.set()
        assert go.wait(10)
        while locked and not database._closing:  # noqa: SLF001  (until that has begun)
            pass
        whole(database, *progress)

    async def scenario() -> None:
        copying = asyncio.create_task(opened.calls.backup(Place(path=str(tmp_path / "copy.db"))))
        await asyncio.to_thread(begun.wait, 10)
        assert opened.calls.decide(SHOP).id == 1
        go.set()
        if locked:
            opened.calls.lock()
        with pytest.raises(VaultError, match="closed before") if locked else nullcontext():
            await copying

    monkeypatch.setattr(Database, "_check_open", slow)
    asyncio.run(scenario())
    assert [each.name for each in tmp_path.glob("copy*")] == ["copy.db"] * (not locked)


def test_rules_older_than_the_file_are_said_with_every_answer(opened: Home) -> None:
    """Until the file is mended; whoever asks may not know of the notes in the status."""

    def said() -> set[bool]:
        decided, explained = opened.calls.decide(SHOP), opened.calls.explain(SHOP)
        return {decided.stale_rules, explained.stale_rules, opened.calls.locked().stale_rules}

    assert said() == {False}
    good = opened.paths.policy.read_text()
    opened.paths.policy.write_text("lamda = 3\n")
    opened.calls.reload()
    assert said() == {True}
    opened.agent.lock()
    assert said() == {True}
    opened.paths.policy.write_text(good)
    opened.calls.reload()
    assert said() == {False}


def test_a_refusal_goes_by_the_file_and_not_by_older_rules(opened: Home) -> None:
    """It said that a rule gave nothing, and wrote none: the rule had gone a moment before."""
    policy, host = opened.paths.policy, SHOP.recipient
    whole = policy.read_text()
    policy.write_text(f'{whole}[[rule]]\nrecipient = "{host}"\nnothing = true\n')
    opened.calls.reload()
    assert opened.calls.decide(SHOP).code == "blocked"
    policy.write_text(whole)
    opened.calls.refuse(Refuse(recipient=host))
    assert host in policy.read_text()
    assert opened.calls.decide(SHOP).code == "blocked"
    written = policy.read_text()
    opened.calls.refuse(Refuse(recipient=host))
    assert policy.read_text() == written
    policy.write_text("lamda = 3\n")
    with pytest.raises(UsageError, match="nothing was written"):
        opened.calls.refuse(Refuse(recipient=host))


def test_undo_passes_no_later_word_over(opened: Home) -> None:
    """A change of the user's values is not taken back in place of what came after it."""
    shop = "shop.example"
    for later in (
        lambda: opened.calls.refuse(Refuse(recipient=shop)),
        lambda: opened.calls.allow(Allow(recipient=shop)),
    ):
        opened.calls.change_profile(ProfileChange(unset=["age"]))
        later()
        with pytest.raises(UsageError, match="nothing to undo"):
            opened.calls.undo()
        opened.fill()
