"""Opening the vault while others are answered."""

import asyncio
import gc
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import get_ident
from typing import NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.daemon import agent
from agent.daemon.agent import Agent
from agent.daemon.consent import Consent
from agent.daemon.model_registry import ModelRegistry
from agent.decision.knowledge import Knowledge
from agent.errors import LockedError, VaultError, WrongSecretError
from agent.vault.secrets import Secret
from agent.vault.vault import Vault, unlock
from agent.vault.vault_files import Location
from agent.wire.decide import Ask, CurveAsk, Offer, WhatIf
from agent.wire.state import Status, Unlock
from policy import hosts
from tests.worlds.homes import OPEN, WRONG, Calls, Home
from tests.worlds.people import SHOP

STEPS = ("unlock", "unlock", "wrong", "lock", "decide", "finish", "finish")
TURNS = 20  # of the loop, in which all that can be done is done
RING = Unlock(method="keyring")
MARK = "vxqz"[::-1]  # which no other text has, nor this file, of which a copy may be in memory
TEXT = 'preset = "none"\nanonymity_price = 0\npopulation = "mine"\nunknown_queries = "standing"\n'


class Asked(NamedTuple):
    """An unlocking that was asked for, and how many calls to lock came before it."""

    task: asyncio.Task[Status]
    locks: int


class Steps:
    """Calls that come in some order while vaults are opened as slowly as a test wants."""

    def __init__(self, folder: Path) -> None:
        self.home = Home(folder, self.opening)
        self.home.agent.reader.loaded = True  # nothing is waited for but the gates
        self.gates: list[asyncio.Future[None]] = []
        self.asked: list[Asked] = []
        self.locks = 0

    async def opening(self, place: Location, secret: Secret) -> Vault:
        """Open a vault, once its turn has come."""
        assert all(gate.done() for gate in self.gates), "two are opened at a time"
        gate: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.gates.append(gate)
        await gate
        return unlock(place, secret)

    async def take(self, step: str) -> None:
        """Make one call, or let the vault that is being opened be open; check what must hold."""
        calls = self.home.calls
        if step in {"unlock", "wrong"}:
            task = asyncio.create_task(calls.unlock(OPEN if step == "unlock" else WRONG))
            self.asked.append(Asked(task, self.locks))
        elif step == "lock":
            self.locks += 1
            assert calls.lock().locked
        elif step == "finish" and self.gates and not self.gates[-1].done():
            self.gates[-1].set_result(None)
        for _ in range(TURNS):
            await asyncio.sleep(0)
        self.check()

    def check(self) -> None:
        """A request is answered just where an unlocking since the last lock has come about."""
        done = [each for each in self.asked if each.task.done()]
        opened = [each for each in done if each.task.exception() is None]
        unlocked = any(each.locks == self.locks for each in opened)
        assert self.home.calls.decide(SHOP).code == ("answered" if unlocked else "locked")
        assert self.home.calls.locked().locked == (not unlocked)
        for each in done:
            error = each.task.exception()
            assert error is None or isinstance(error, LockedError | WrongSecretError)
            assert not isinstance(error, LockedError) or each.locks < self.locks

    async def all(self, steps: Sequence[str]) -> None:
        """Take all steps; then let every call come to its end."""
        for step in steps:
            await self.take(step)
        for _ in self.asked:
            await self.take("finish")
        assert all(each.task.done() for each in self.asked)
        await self.take("lock")
        self.asked.append(Asked(asyncio.create_task(self.home.calls.unlock(OPEN)), self.locks))
        await self.take("nothing")
        await self.take("finish")
        assert self.asked[-1].task.result().locked is False, "some vault was left open"


@settings(max_examples=10, deadline=None)
@given(st.lists(st.sampled_from(STEPS), max_size=12))
def test_the_later_word_counts(steps: list[str]) -> None:
    """Whatever comes in which order, and never are two vaults open."""
    with TemporaryDirectory() as folder:
        made = Steps(Path(folder))
        with made.home:
            asyncio.run(made.all(steps))


def test_the_thread_opens_the_vault_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the loop decides by is touched on the loop alone."""
    seen: dict[str, set[int]] = {}

    def noting(owner: object, name: str) -> None:
        whole: Callable[..., object] = getattr(owner, name)

        def noted(*given: object, **named: object) -> object:
            seen.setdefault(name, set()).add(get_ident())
            return whole(*given, **named)

        monkeypatch.setattr(owner, name, noted)

    of_agent = ((agent, "unlock"), (Agent, "opened"), (Agent, "look"))
    for owner, name in (*of_agent, (Consent, "reviews"), (ModelRegistry, "status")):
        noting(owner, name)
    with Home(tmp_path) as home:
        home.unlock()
    opened = seen.pop("unlock")
    assert len(opened) == 1
    assert opened != {get_ident()}
    assert {*seen} == {"opened", "look", "reviews", "status"}
    assert all(threads == {get_ident()} for threads in seen.values())


def test_what_fails_after_the_vault_is_open_closes_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So that it can be opened again."""
    with Home(tmp_path) as home:
        with monkeypatch.context() as patched:
            patched.setattr(Agent, "opened", lambda *_: (_ for _ in ()).throw(VaultError("x", "y")))
            with pytest.raises(VaultError):
                home.unlock()
        assert home.agent.vault is None
        assert not home.unlock().locked


@pytest.mark.usefixtures("ring")
def test_the_keyring_opens_it(tmp_path: Path) -> None:
    """Where it has the key of a slot."""
    with Home(tmp_path) as home:
        with unlock(home.agent.place, Secret("passphrase", OPEN.secret)) as vault:
            vault.add_slot("keyring")
        assert not asyncio.run(home.calls.unlock(RING)).locked


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Home]:
    """Return a machine with an unlocked daemon, by whose policy nothing waits."""
    with Home(tmp_path) as home:
        home.rule(TEXT)
        home.unlock(OPEN)
        home.fill()
        yield home


def ask(calls: Calls) -> None:
    """Ask what the model knows and what it does not, of somebody with a mark, in two ways."""
    for query in (SHOP.query, f"{MARK} {SHOP.query}", f"of {MARK} matters"):
        calls.decide(Ask(query=query, recipient=f"https://{MARK}.example/"))
        calls.explain(Ask(query=query, recipient=f"www.{MARK}.example"))
        asyncio.run(calls.curve(CurveAsk(query=query, recipient=f"{MARK}.example")))
        asyncio.run(calls.whatif(WhatIf(query=query, recipient=f"{MARK}.example")))
    calls.offer(Offer(recipient=f"{MARK}.example", names=["age"]))
    calls.dismiss(id=1)


def marked() -> list[object]:
    def has_mark(text: object) -> bool:
        return isinstance(text, str) and MARK in text and text != MARK

    return [each for each in gc.get_objects() if any(map(has_mark, gc.get_referents(each)))]


def known() -> int:
    """Return how often it is in memory that a recipient holds something."""
    return sum(isinstance(each, Knowledge) and bool(each.codes) for each in gc.get_objects())


def test_the_first_request_does_not_wait_for_the_public_suffixes(tmp_path: Path) -> None:
    """They are there once the vault is open."""
    loaded = hosts.load_suffixes
    with Home(tmp_path) as home:
        loaded.cache_clear()
        home.unlock(OPEN)
        assert loaded.cache_info().currsize == 1


def test_what_was_asked_is_forgotten(opened: Home) -> None:
    """By the models, the rules and what was said; then it is decided as before."""
    gc.collect()
    before = known()
    assert marked() == []
    ask(opened.calls)
    assert marked()
    assert known() > before
    entries = opened.calls.status().entries
    opened.calls.lock()
    gc.collect()
    assert marked() == []
    assert known() == before
    opened.unlock(OPEN)
    assert opened.calls.status().entries == entries
    assert opened.calls.explain(SHOP).code == "answered"
