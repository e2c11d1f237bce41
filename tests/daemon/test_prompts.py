"""Dialogs of the daemon: who may cause one, how often, and what comes of it."""

import asyncio
import os
import tomllib
from collections.abc import Coroutine, Iterator
from contextlib import suppress
from dataclasses import replace
from functools import partial
from itertools import product
from pathlib import Path

import pytest

from agent.daemon import prompts
from agent.daemon.prompts import PinentryError, chosen, find, shows
from agent.daemon.request_log import Asker
from agent.model.file import write
from agent.wire.base import RecipientName
from agent.wire.decide import Answer, Ask, Offer
from agent.wire.state import ProfileChange
from policy.settings import DaemonSettings
from tests import waiting
from tests.daemon.test_pinentry import SCREEN, Scripted, typed
from tests.daemon.test_questions import ANYTHING_GOES
from tests.vault.worlds import PASSPHRASE
from tests.worlds.homes import OPEN, POLICY, Home
from tests.worlds.people import MODEL, SHOP

NOT_NOW = "ERR 83886179 Operation cancelled\n"
OTHER = "ERR 83886194 Not confirmed\n"
LATE = "ERR 83886142 Timeout\n"
STEPS, BEGUN = ("lock", "unlock"), ("greeting", "asking")
RIGHT, FALSE = typed(PASSPHRASE), typed("wrong")


class Desk:
    """A home whose policy has a scripted program ask, and a clock that a test sets."""

    def __init__(self, folder: Path) -> None:
        self.program, self.home = Scripted(folder / "program"), Home(folder)
        text = (
            POLICY.replace('region = "ask"', 'age = "ask"')
            + f'prompt = "pinentry"\npinentry = "{self.program.path}"\n'
        )
        self.home.rule(text)
        self.clock = 0.0
        self.prompts = self.home.calls.api.prompts
        self.prompts._clock = lambda: self.clock  # noqa: SLF001
        self.prompts.use({"DISPLAY": ":7"})

    def ask(self, by: Asker = "user", ask: Ask = SHOP) -> Answer:
        answer: Answer = self.home.calls.decide(ask, by=by)
        return answer

    async def done(self) -> None:
        """Wait until the dialog is over, if there is one."""
        if (task := self.prompts._task) is not None:  # noqa: SLF001
            with suppress(asyncio.CancelledError):
                await task

    async def shown(self, times: int = 1) -> None:
        """Wait until a dialog has asked so often."""
        await asyncio.to_thread(self.program.wait, times)

    async def asked(self, by: Asker = "user", ask: Ask = SHOP) -> Answer:
        answer = self.ask(by, ask)
        await self.done()
        return answer


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    """Yield one whose vault is locked."""
    made = Desk(tmp_path)
    with made.home:
        yield made


def run(steps: Coroutine[None, None, None]) -> None:
    asyncio.run(asyncio.wait_for(steps, waiting.PATIENCE))


@pytest.mark.parametrize("by", ["user", "assistant"])
def test_the_next_request_profits(desk: Desk, by: Asker) -> None:
    """The one that opened the dialog was answered at once, with nothing; and it counts as use."""
    counted: list[str] = []
    desk.home.agent.commanded = lambda: counted.append("used")
    desk.program.answers(GETPIN=[RIGHT])

    async def steps() -> None:
        assert (await desk.asked(by)).code == "locked"
        assert desk.ask(by).code == "answered"

    run(steps())
    assert counted == ["used"]
    assert desk.program.asked() == 1
    assert any("shop.example" in line for line in desk.program.told() if "SETDESC" in line)
    assert PASSPHRASE not in "".join(desk.program.told())
    assert desk.program.gone()


def test_nobody_else_opens_one(desk: Desk) -> None:
    """Neither a page nor a program, however often it asks; nor what could not be answered anyway.

    In clear, to no host, to one that gets nothing; without a screen, a vault, or the setting.
    """

    async def steps() -> None:
        for by in ("page", "program", "command"):
            for _ in range(50):
                await desk.asked(by)
        await desk.asked(ask=Ask(query="a", recipient="http://shop.example"))
        await desk.asked(ask=Ask(query="a", recipient="a b"))
        desk.home.calls.refuse(RecipientName(recipient="shop.example"))
        await desk.asked()
        vault = desk.home.paths.vault
        vault.rename(vault.with_suffix(".away"))
        await desk.asked(ask=Ask(query="a", recipient="other.example"))
        vault.with_suffix(".away").rename(vault)
        desk.prompts._screen.clear()  # noqa: SLF001
        await desk.asked(ask=Ask(query="a", recipient="other.example"))
        desk.prompts.use({"DISPLAY": ":7"})
        desk.home.paths.policy.write_text(POLICY)  # where the terminal asks
        desk.home.calls.reload()
        await desk.asked(ask=Ask(query="a", recipient="other.example"))

    run(steps())
    assert desk.program.started() == 0


@pytest.mark.parametrize("answer", [NOT_NOW, LATE, "OK\n" * 9, "DIE", "ENDLESS", "what?\n"])
def test_not_now_holds_ten_minutes(desk: Desk, answer: str) -> None:
    """As does whatever is no passphrase."""
    desk.program.answers(GETPIN=[answer])

    async def steps() -> None:
        for at, times in ((0, 1), (1, 1), (599, 1), (600, 2), (700, 2)):
            desk.clock = at
            assert (await desk.asked()).code == "locked"
            assert desk.program.started() == times

    run(steps())
    assert desk.program.gone()


def test_a_wrong_passphrase_is_asked_again_twice(desk: Desk) -> None:
    """By the same program, which says how many tries are left."""
    desk.program.answers(GETPIN=[FALSE])

    async def steps() -> None:
        await desk.asked()
        assert (desk.program.asked(), desk.program.started()) == (3, 1)
        desk.clock = 600
        desk.program.answers(GETPIN=[FALSE, typed(""), RIGHT])
        await desk.asked()
        assert (desk.program.asked(), desk.program.started()) == (6, 2)
        assert desk.ask().code == "answered"

    run(steps())
    errors = [line for line in desk.program.told() if line.startswith("SETERROR")]
    assert [line.split(". ")[1] for line in errors[:2]] == ["2 tries left.", "1 try left."]


def test_two_requests_open_one_dialog(desk: Desk) -> None:
    """While it is open nothing waits for it; and the end of the daemon ends it."""
    desk.program.answers(GETPIN=["SLEEP"])

    async def steps() -> None:
        for _ in range(20):
            assert desk.ask().code == "locked"
        await desk.shown()
        desk.ask("assistant")  # and `asyncio.run` cancels what is left

    run(steps())
    assert desk.program.started() == 1
    assert desk.program.gone()


@pytest.mark.parametrize(("step", "begun"), [("lock", "asked"), *product(STEPS, BEGUN)])
def test_it_is_closed_once_nothing_can_come_of_it(desk: Desk, step: str, begun: str) -> None:
    """That was not the user's "not now"; and its program may only be starting."""
    desk.program.answers(GETPIN=["SLEEP"], GREETING=["SLEEP" if begun == "greeting" else "OK\n"])

    async def steps() -> None:
        desk.ask()
        if begun == "asking":
            await desk.shown()
        elif begun == "greeting":
            started = partial(waiting.until, lambda: desk.program.started() > 0, "the program")
            await asyncio.to_thread(started)
        if step == "lock":
            desk.home.calls.lock()
        else:
            await desk.home.calls.unlock(OPEN)
        await desk.done()
        assert desk.program.gone()
        assert desk.program.asked() == (begun == "asking")
        assert desk.home.calls.locked().locked == (step == "lock")
        desk.home.calls.lock()
        desk.program.answers(GETPIN=[RIGHT])
        await desk.asked()
        assert not desk.home.calls.locked().locked

    run(steps())


def test_only_control_says_where_the_screen_is(desk: Desk) -> None:
    """Through `unlock`, which leaves it as it is where it names none."""
    desk.program.answers(GETPIN=[NOT_NOW])

    async def steps() -> None:
        await desk.home.calls.unlock(OPEN)
        desk.home.calls.lock()
        await desk.asked()
        assert desk.program.environment()["DISPLAY"] == ":7"
        moved = {"WAYLAND_DISPLAY": "wayland-0", "LD_PRELOAD": "/evil", "PATH": "/evil"}
        desk.prompts.use({**moved, "XAUTHORITY": "a\0b", "DISPLAY": "\ud800"})
        desk.clock = 600
        await desk.asked()
        found = desk.program.environment()
        assert found["WAYLAND_DISPLAY"] == "wayland-0"
        assert not {"DISPLAY", "XAUTHORITY", "LD_PRELOAD", "PATH"} & found.keys()

    run(steps())


def waits(desk: Desk) -> list[str]:
    return [name for each in desk.home.calls.reviews() for name in each.names]


@pytest.mark.parametrize("answer", [OTHER, "OK\n", NOT_NOW, LATE, "DIE"])
def test_what_waits_is_settled_as_was_said(desk: Desk, answer: str) -> None:
    """The answer of the request left without it; closing the dialog, and Enter, allow nothing."""
    desk.program.answers(CONFIRM=[answer])

    async def steps() -> None:
        await desk.home.calls.unlock(OPEN)
        desk.home.fill()
        assert "age" not in (await desk.asked()).attributes
        assert waits(desk) == ([] if answer in {OTHER, "OK\n"} else ["age"])
        desk.prompts.use({})
        for has in (answer == OTHER, False):
            desk.home.calls.forget(RecipientName(recipient=SHOP.recipient))
            assert ("age" in desk.ask("page").attributes) == has

    run(steps())
    assert desk.program.started() == 1
    assert desk.program.gone()


@pytest.mark.parametrize(
    ("rule", "answers"),
    [("auto", [OTHER]), ("never", ["OK\n"]), ("ask", [NOT_NOW, LATE]), (None, [LATE])],
)
def test_a_family_is_asked_about_once(desk: Desk, rule: str | None, answers: list[str]) -> None:
    """By a rule for all recipients of the kind; what is to be asked each time is asked as well."""
    age, *others = MODEL.attributes
    attributes = (replace(age, name="debt", concept="debt"), *others)
    write(replace(MODEL, attributes=attributes), desk.home.paths.models / "mine.safetensors")
    _, _, daemon = desk.home.paths.policy.read_text().partition("[daemon]")
    desk.home.rule(f"{ANYTHING_GOES}population = 'mine'\n[daemon]{daemon}")
    desk.program.answers(CONFIRM=answers)

    async def steps() -> None:
        await desk.home.calls.unlock(OPEN)
        desk.home.calls.change_profile(ProfileChange(set={"debt": "age1"}))
        assert "debt" not in (await desk.asked()).attributes
        assert waits(desk) == ([] if rule in {"auto", "never"} else ["debt"])

    run(steps())
    rules = tomllib.loads(desk.home.paths.policy.read_text()).get("rule", [])
    scope = {"recipient": "any other site", "attribute": "debt", "disclose": rule}
    assert [scope] * bool(rule) == [{key: each[key] for key in scope} for each in rules]
    assert desk.program.asked() == len(answers)
    assert any("debt facts to any other site" in line for line in desk.program.told())


def test_one_for_each_question_that_is_raised(desk: Desk) -> None:
    """Once, and so many a day; a group counts as one; pages and their offers open none."""
    desk.program.answers(CONFIRM=[NOT_NOW])
    hosts = ("ads.test", "more.test", "other.example")
    *adverts, other = (Ask(query="python today", recipient=each) for each in hosts)
    desk.home.rule(desk.home.paths.policy.read_text() + "questions_per_day = 2\n")

    async def steps() -> None:
        await desk.home.calls.unlock(OPEN)
        desk.home.fill()
        for by in ("page", "program", "command"):
            await desk.asked(by)
        desk.home.calls.offer(Offer(recipient="a.example", names=["age"]))
        assert desk.program.started() == 0
        for ask, times in ((SHOP, 1), (SHOP, 1), (adverts[0], 2), (adverts[1], 2), (other, 2)):
            await desk.asked(ask=ask)
            assert desk.program.started() == times
        waiting = [each for each in desk.home.calls.reviews() if each.kind == "ask"]
        assert {each.pool: each.raised for each in waiting} == {
            "shop.example": True,
            "@adverts": True,
            "other.example": False,
        }

    run(steps())


def test_a_lock_closes_what_asks_for_a_word(desk: Desk) -> None:
    """Whom it was about is not said while locked, and nothing is decided."""
    desk.program.answers(CONFIRM=["SLEEP"])

    async def steps() -> None:
        await desk.home.calls.unlock(OPEN)
        desk.home.fill()
        desk.ask()
        await desk.shown()
        desk.home.calls.lock()
        await desk.done()
        assert desk.program.gone()
        await desk.home.calls.unlock(OPEN)

    run(steps())
    assert waits(desk) == ["age"]


def test_the_usual_program_is_found(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where none is named; one that anybody can write to is none."""
    monkeypatch.setattr(prompts, "FOLDERS", (str(desk.program.path.parent),))
    with pytest.raises(PinentryError, match="no pinentry is installed"):
        chosen(DaemonSettings(), SCREEN)
    desk.program.path.rename(renamed := desk.program.path.with_name("pinentry-qt"))
    assert chosen(DaemonSettings(), SCREEN) == renamed
    renamed.chmod(0o722)
    assert find(SCREEN) is None
    renamed.rename(curses := renamed.with_name("pinentry-curses"))
    curses.chmod(0o700)
    terminal = {"GPG_TTY": "/dev/pts/7", "TERM": "xterm"}
    assert (find(terminal), shows(terminal)) == (curses, True)
    assert (find({**terminal, **SCREEN}), find({}), shows({"TERM": "xterm"})) == (None, None, False)


def test_the_desktop_is_told_once_in_each_lock(
    desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """That requests of the user's carry nothing: of nobody else's, and where no dialog asks."""
    told, program = tmp_path / "told", tmp_path / "gdbus"
    program.write_text(f'#!/bin/sh\necho "$*" >>{told}\n')
    program.chmod(0o700)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    desk.home.rule(POLICY)
    for _ in range(2):
        for by in ("page", "program", "user", "assistant", "user"):
            assert desk.ask(by).code == "locked"
        desk.home.unlock()
        desk.home.calls.lock()
    waiting.until(lambda: told.exists() and told.read_text().count("The vault is locked") == 2)
