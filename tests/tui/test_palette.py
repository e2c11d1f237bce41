"""The palette: every action of every screen is found there, and does the same as its key."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from textual.command import CommandPalette, DiscoveryHit, Hit
from textual.style import Style

from agent.tui.actions import EVERYWHERE, TITLES, Action, Where, actions_of
from agent.tui.app import Actions
from agent.tui.page import Page
from agent.tui.privacy_lock import Unlocking
from agent.tui.screens.health import HealthScreen
from tests.tui.double import double
from tests.tui.running import Running, running
from tests.tui.running import run as going


@asynccontextmanager
async def at(path: Path, where: Where) -> AsyncIterator[tuple[Running, Page]]:
    """Yield the program with a screen in front."""
    async with running(path) as shown:
        await shown.pilot.press(str([*TITLES].index(where) + 1))
        await shown.until(lambda: getattr(shown.app.screen, "where", "") == where)
        page = shown.app.page()
        assert page is not None
        yield shown, page


def test_the_names_on_a_screen_are_its_own() -> None:
    """Nobody could tell two apart in the palette."""
    for where in TITLES:
        labels = [each.label.casefold() for each in actions_of(where)]
        assert sorted(labels) == sorted({*labels}), where


@pytest.mark.parametrize("where", TITLES)
def test_every_action_is_there_before_a_word_is_typed(where: Where) -> None:
    """With what it does, in the order of the help."""

    async def test(path: Path) -> None:
        async with at(path, where) as (_, page):
            found = [each async for each in Actions(page, Style()).discover()]
            assert all(isinstance(each, DiscoveryHit) for each in found)
            wanted = [(each.label, each.help) for each in actions_of(where)]
            assert [(each.text, each.help) for each in found] == wanted

    with double() as (_, path):
        going(test(path))


@pytest.mark.parametrize("where", TITLES)
def test_its_name_finds_it_before_all_others_and_it_is_done(
    where: Where, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where it belongs: in the program or in the screen, where its method is."""

    async def test(path: Path) -> None:
        async with at(path, where) as (shown, page):
            done: list[tuple[str, object]] = []

            async def note(action: str, namespace: object) -> bool:
                done.append((action, namespace))
                return True

            monkeypatch.setattr(shown.app, "run_action", note)
            for each in actions_of(where):
                for words in (each.label, each.label.upper(), f" {each.label} "):
                    best = await _best(page, words)
                    await best.command()
                    belongs = shown.app if each in EVERYWHERE else page
                    assert done.pop() == (each.name, belongs)
                    assert hasattr(belongs, f"action_{each.name.split('(')[0]}")
                assert each in await _found(page, each.help.split()[0])

    with double() as (_, path):
        going(test(path))


async def _best(page: Page, words: str) -> Hit:
    found = [each async for each in Actions(page, Style()).search(words)]
    best = max(found, key=lambda each: each.score)
    assert [each.score for each in found].count(best.score) == 1
    assert isinstance(best, Hit)
    return best


async def _found(page: Page, words: str) -> list[Action]:
    """Return the actions that words lead to."""
    texts = [each.text or "" async for each in Actions(page, Style()).search(words)]
    return [
        each
        for each in actions_of(page.where)
        if any(text.startswith(f"{each.label}:") for text in texts)
    ]


def test_what_no_action_is_called_finds_nothing() -> None:
    """And nothing is done in its place."""

    async def test(path: Path) -> None:
        async with at(path, "health") as (_, page):
            assert [each async for each in Actions(page, Style()).search("zzqqxx")] == []

    with double() as (_, path):
        going(test(path))


def test_keys_lead_through_it() -> None:
    """From its key to what was named: to another screen, and to the lock."""

    async def test(path: Path) -> None:
        async with at(path, "requests") as (shown, _):
            await _typed(shown, "health")
            await shown.until(lambda: isinstance(shown.app.screen, HealthScreen))
            await _typed(shown, "lock")
            await shown.until(lambda: isinstance(shown.app.screen, Unlocking))

    with double() as (_, path):
        going(test(path))


async def _typed(shown: Running, words: str) -> None:
    """Open the palette, type words, and take what stands first."""
    await shown.pilot.press("ctrl+p")
    await shown.until(lambda: isinstance(shown.app.screen, CommandPalette))
    await shown.pilot.press(*words)
    await shown.until(lambda: f"{words.capitalize()}: " in shown.text())
    await shown.pilot.press("enter")


def test_it_is_left_by_escape_and_does_nothing() -> None:
    """What stood there stands there again."""

    async def test(path: Path) -> None:
        async with at(path, "requests") as (shown, page):
            await shown.pilot.press("ctrl+p")
            await shown.until(lambda: isinstance(shown.app.screen, CommandPalette))
            await shown.pilot.press("escape")
            await shown.until(lambda: shown.app.screen is page)

    with double() as (_, path):
        going(test(path))


def test_there_is_nothing_of_a_screen_while_the_vault_is_locked() -> None:
    """No action is done behind the question for the key."""

    async def test(path: Path) -> None:
        async with running(path) as shown:
            await shown.until(lambda: isinstance(shown.app.screen, Unlocking))
            found = Actions(shown.app.screen, Style())
            assert [each async for each in found.discover()] == []
            assert [each async for each in found.search("lock")] == []

    with double() as (found, path):
        found.set(locked=True)
        going(test(path))
