"""The registry: every action has a method, a way to reach it, and a command that does the same."""

import shlex
from collections import Counter

import click
import pytest

from agent.cli.main import program
from agent.tui.actions import ACTIONS, TITLES, Action, Where, actions_of, keys
from agent.tui.app import PAGES, Review

MOVES = (
    "blocks",
    "help",
    "renew",
    "turn(-1)",
    "turn(1)",
    "change_theme",
    "command_palette",
    "quit",
)  # of the screens alone
EVERY = [(where, each) for where, own in ACTIONS.items() for each in own]
IDS = [f"{where}-{each.name}" for where, each in EVERY]
WIDEST = 5  # of its own, that the footer of a screen has room for


@pytest.mark.parametrize(("where", "action"), EVERY, ids=IDS)
def test_every_action_is_there_and_reachable(where: Where, action: Action) -> None:
    """From the palette, which has all of them; and by the method that its name says."""
    of = Review if where == "everywhere" else type(PAGES[where]())
    assert callable(getattr(of, f"action_{action.name.split('(')[0]}"))
    assert action in actions_of("requests" if where == "everywhere" else where)
    assert action.label
    assert action.help.endswith(".")


@pytest.mark.parametrize("action", [each for _, each in EVERY], ids=IDS)
def test_the_command_line_can_do_it_too(action: Action) -> None:
    """The command exists, and has the options that are named."""
    if not action.command:
        assert action.name in MOVES or action.name.startswith("only_"), "it does more than move"
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
def test_no_two_actions_of_a_screen_have_one_key(where: Where) -> None:
    """Nor one of a screen and one of all screens."""
    found = actions_of(where)
    taken = Counter(key for each in keys(found) for key in each.key.split(","))
    assert [key for key, count in taken.items() if count > 1] == []


@pytest.mark.parametrize("where", TITLES)
def test_a_footer_has_room_for_what_stands_in_it(where: Where) -> None:
    """The rest is in the palette and in the help."""
    own = [each for each in ACTIONS[where] if each.footer == "always"]
    assert len(own) <= WIDEST


@pytest.mark.parametrize("where", PAGES)
def test_every_screen_has_its_keys_from_the_registry(where: Where) -> None:
    """And no others."""
    own = [each for each in ACTIONS[where] if each.key]
    given = {(each.key, each.action) for each in type(PAGES[where]()).BINDINGS}  # type: ignore[union-attr]
    assert given == {(each.key, each.name) for each in own}
