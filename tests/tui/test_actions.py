"""What a person can do: each action has a method, a key, a place in help and palette, a command."""

import shlex
from collections import Counter

import click
import pytest
from textual.command import CommandPalette, DiscoveryHit, Hit
from textual.containers import VerticalScroll
from textual.style import Style

from agent.cli.main import program
from agent.tui.actions import ACTIONS, EVERYWHERE, TITLES, Action, Where, actions_of, keys
from agent.tui.app import PAGES, Actions, ReviewApp
from agent.tui.dialogs import Help
from agent.tui.page import Page
from agent.tui.privacy_lock import Unlocking
from agent.tui.screens.health import HealthScreen
from tests.tui.double import Double, Running

MOVES = (
    "blocks",
    "help",
    "renew",
    "turn(-1)",
    "turn(1)",
    "change_theme",
    "command_palette",
    "quit",
)
EVERY = [(where, each) for where, own in ACTIONS.items() for each in own]
HERE_ALONE = ("switch", "reset", "put_aside")  # which a command line has no use for
WIDEST = 5  # of its own, that the footer of a screen has room for
NARROW, BROAD = 40, 400  # columns


def test_every_action_is_there_and_the_command_line_can_do_it_too() -> None:
    """By the method that its name says; the command exists, and has the options that are named."""
    for where, action in EVERY:
        check(where, action)


def check(where: Where, action: Action) -> None:
    """Check one action."""
    of = ReviewApp if where == "everywhere" else type(PAGES[where]())
    assert callable(getattr(of, f"action_{action.name.split('(')[0]}"))
    assert action.label
    assert action.help.endswith(".")
    if not action.command:
        assert action.name in (*MOVES, *HERE_ALONE) or action.name.startswith("only_"), action
        return
    command: click.Command = program
    words = shlex.split(action.command)
    with click.Context(program) as context:
        while isinstance(command, click.Group) and words:
            found = command.get_command(context, words[0])
            assert found is not None, f"no command {words[0]}"
            command, words = found, words[1:]
    assert not isinstance(command, click.Group)
    options = {name for each in command.params for name in (*each.opts, *each.secondary_opts)}
    for word in words:
        assert not word.startswith("-") or word.split("=")[0] in options, word


@pytest.mark.parametrize("where", TITLES)
def test_names_and_keys_of_a_screen_are_its_own_and_fit_its_footer(where: Where) -> None:
    """Nor has one of all screens the same; all come from the registry."""
    found, own = actions_of(where), ACTIONS[where]
    taken = Counter(key for each in keys(found) for key in each.key.split(","))
    assert [key for key, count in taken.items() if count > 1] == []
    labels = [each.label.casefold() for each in found]
    assert sorted(labels) == sorted({*labels})
    assert sum(each.footer == "always" for each in own) <= WIDEST
    given = {(each.key, each.action) for each in type(PAGES[where]()).BINDINGS}  # type: ignore[union-attr]
    assert given == {(each.key, each.name) for each in own if each.key}


async def opened(shown: Running) -> VerticalScroll:
    """Ask for help, and return what it stands in."""
    await shown.pilot.press("question_mark")
    await shown.until(lambda: isinstance(shown.app.screen, Help))
    return shown.app.screen.query_one(VerticalScroll)


async def test_help_begins_with_what_is_focused_and_a_key_leads_back(daemon: Double) -> None:
    """Its tooltip, on every screen: nobody needs a mouse to read it; q does not leave for good."""
    ways = ["escape", "q", "question_mark", "f1"] * 2
    async with daemon.shown() as shown:
        for (where, title), way in zip(TITLES.items(), ways, strict=False):
            page = await shown.go(where)
            await shown.until(lambda: shown.app.focused)
            assert shown.app.focused is not None
            tooltip = str(shown.app.focused.tooltip or "")
            assert tooltip
            await opened(shown)
            assert " ".join(tooltip.split()[:4]) in shown.text()
            assert title in shown.text().splitlines()[0]
            await shown.pilot.press(way)
            await shown.until(lambda: shown.app.screen is page)  # noqa: B023  (waited for here)
        assert shown.app.is_running


async def test_the_name_of_every_action_finds_it_in_the_palette_before_all_others(
    daemon: Double, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On each screen, in the order of the help; it is done where its method is."""
    done: list[tuple[str, object]] = []

    async def note(action: str, namespace: object) -> None:
        done.append((action, namespace))

    async with daemon.shown() as shown:
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
                    for words in (each.label, f" {each.label.upper()} "):
                        await (await _best(page, words)).command()
                        assert done.pop() == (each.name, belongs)
                    hits = [
                        hit async for hit in Actions(page, Style()).search(each.help.split()[0])
                    ]
                    assert any((hit.text or "").startswith(f"{each.label}:") for hit in hits)


async def _best(page: Page, words: str) -> Hit:
    found = [each async for each in Actions(page, Style()).search(words)]
    best = max(found, key=lambda each: each.score)
    assert [each.score for each in found].count(best.score) == 1
    assert isinstance(best, Hit)
    return best


async def test_keys_lead_through_the_palette_but_not_while_the_vault_is_locked(
    daemon: Double,
) -> None:
    """Escape does nothing else; no action is done behind the question for the key."""
    async with daemon.shown() as shown:
        page = await shown.go("requests")
        await _typed(shown, "health", "escape")
        await shown.until(lambda: shown.app.screen is page)
        await _typed(shown, "health", "enter")
        await shown.until(lambda: isinstance(shown.app.screen, HealthScreen))
        await _typed(shown, "lock", "enter")
        await shown.until(lambda: isinstance(shown.app.screen, Unlocking))
        actions = Actions(shown.app.screen, Style())
        assert [each async for each in actions.discover()] == []
        assert [each async for each in actions.search("lock")] == []


async def _typed(shown: Running, words: str, key: str) -> None:
    """Open the palette, type words, and press a key once something is found."""
    await shown.pilot.press("ctrl+p")
    await shown.until(lambda: isinstance(shown.app.screen, CommandPalette))
    await shown.pilot.press(*words)
    await shown.until(lambda: f"{words.capitalize()}: " in shown.text())
    await shown.pilot.press(key)
