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


@asynccontextmanager
async def at(path: Path, where: Where) -> AsyncIterator[tuple[Running, Page]]:
    """Yield the program with a screen in front."""
    async with running(path) as shown:
        yield shown, await shown.go(where)


def test_the_names_on_a_screen_are_its_own() -> None:
    """Nobody could tell two apart in the palette."""
    for where in TITLES:
        labels = [each.label.casefold() for each in actions_of(where)]
        assert sorted(labels) == sorted({*labels}), where


async def test_every_action_is_there_and_its_name_finds_it_before_all_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """On each screen, in the order of the help; it is done where its method is."""
    done: list[tuple[str, object]] = []

    async def note(action: str, namespace: object) -> None:
        done.append((action, namespace))

    with double() as (_, path):
        async with running(path) as shown:
            for where in TITLES:
                page = await shown.go(where)
                every = [each async for each in Actions(page, Style()).discover()]
                assert all(isinstance(each, DiscoveryHit) for each in every)
                assert [each async for each in Actions(page, Style()).search("zzqqxx")] == []
                wanted = [(each.label, each.help) for each in actions_of(where)]
                assert [(each.text, each.help) for each in every] == wanted
                with monkeypatch.context() as patch:
                    patch.setattr(shown.app, "run_action", note)
                    for each in actions_of(where):
                        belongs = shown.app if each in EVERYWHERE else page
                        for words in (each.label, each.label.upper(), f" {each.label} "):
                            best = await _best(page, words)
                            await best.command()
                            assert done.pop() == (each.name, belongs)
                        assert hasattr(belongs, f"action_{each.name.split('(')[0]}")
                        assert each in await _found(page, each.help.split()[0])


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


async def test_keys_lead_through_it() -> None:
    """From its key to what was named: to another screen, and to the lock."""
    with double() as (_, path):
        async with at(path, "requests") as (shown, _):
            await _typed(shown, "health")
            await shown.until(lambda: isinstance(shown.app.screen, HealthScreen))
            await _typed(shown, "lock")
            await shown.until(lambda: isinstance(shown.app.screen, Unlocking))


async def _typed(shown: Running, words: str) -> None:
    """Open the palette, type words, and take what stands first."""
    await shown.pilot.press("ctrl+p")
    await shown.until(lambda: isinstance(shown.app.screen, CommandPalette))
    await shown.pilot.press(*words)
    await shown.until(lambda: f"{words.capitalize()}: " in shown.text())
    await shown.pilot.press("enter")


async def test_it_is_left_by_escape_and_does_nothing() -> None:
    """What stood there stands there again."""
    with double() as (_, path):
        async with at(path, "requests") as (shown, page):
            await shown.pilot.press("ctrl+p")
            await shown.until(lambda: isinstance(shown.app.screen, CommandPalette))
            await shown.pilot.press("escape")
            await shown.until(lambda: shown.app.screen is page)


async def test_there_is_nothing_of_a_screen_while_the_vault_is_locked() -> None:
    """No action is done behind the question for the key."""
    with double() as (found, path):
        found.set(locked=True)
        async with running(path) as shown:
            await shown.until(lambda: isinstance(shown.app.screen, Unlocking))
            actions = Actions(shown.app.screen, Style())
            assert [each async for each in actions.discover()] == []
            assert [each async for each in actions.search("lock")] == []
