"""The user's editor, from the screen of the policy: where it opens, and where it cannot."""

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext

import pytest

from agent.errors import UsageError
from tests.tui.policy.world import (
    POLICY,
    SHUT,
    WRONG,
    WRONG_LINE,
    World,
    go_to,
    outside,
    shows,
    under,
)
from tests.tui.running import LARGE, running


async def test_a_broken_file_shows_its_line_and_enter_opens_it_there(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the user then saves is read; the cursor is on what else there is."""
    outside = world.outside(POLICY.replace("k = 3", "k = 4"))
    async with running(world.live.paths.control, LARGE, environment=outside) as shown:
        monkeypatch.setattr(shown.app, "suspend", nullcontext)
        await shows(shown)
        world.write(WRONG)
        await shown.until(lambda: "1 to mend" in shown.text())
        assert f"✗ line {WRONG_LINE}" in shown.text()
        await shown.pilot.press("home")
        await shown.until(lambda: "0 is not a whole number" in under(shown).text)
        await shown.pilot.press("enter")
        await shown.until(lambda: "Read." in shown.text())
        await shown.until(lambda: "to mend" not in shown.text())
        assert world.edited == [(str(world.live.paths.policy), WRONG_LINE)]
        await go_to(shown, "shut")
        assert "k = 4" in under(shown).text


async def test_the_editor_opens_at_the_rule_under_the_cursor(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the other key too; what is of no file opens it where it begins."""
    async with running(world.live.paths.control, environment=world.outside()) as shown:
        monkeypatch.setattr(shown.app, "suspend", nullcontext)
        await shows(shown)
        await go_to(shown, "shut")
        await shown.pilot.press("e")
        await shown.until(lambda: "Read." in shown.text())
        await go_to(shown, "preset balanced")
        await shown.pilot.press("e")
        path = str(world.live.paths.policy)
        await shown.until(lambda: world.edited == [(path, SHUT), (path, None)])


async def test_where_no_editor_can_be_shown_it_is_said(world: World) -> None:
    """With another way; nothing is read, and no editor began."""
    async with running(world.live.paths.control, LARGE, environment=world.outside()) as shown:
        await shows(shown)
        await shown.pilot.press("e")
        await shown.until(lambda: "no editor can be shown in this terminal" in shown.text())
        assert "reticent policy set" in shown.text()
        assert world.edited == []


async def test_an_editor_that_does_not_run_is_said(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the way out that whoever runs the screens names."""

    def edit(_path: str, _line: int | None) -> None:
        raise UsageError("no editor is named", "name one")

    resumed = []

    @contextmanager
    def suspend() -> Iterator[None]:
        """Resume as Textual does: not where an error leaves it."""
        yield
        resumed.append(True)

    async with running(world.live.paths.control, LARGE, environment=outside(edit)) as shown:
        monkeypatch.setattr(shown.app, "suspend", suspend)
        await shows(shown)
        await shown.pilot.press("e")
        await shown.until(lambda: "no editor is named" in shown.text())
        assert "name one" in shown.text()
        assert resumed
