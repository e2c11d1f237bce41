"""The program: reaching the daemon, what it tells, and the end of it."""

import asyncio
import shlex
from collections import Counter
from dataclasses import replace
from functools import partial
from pathlib import Path
from unittest.mock import Mock

import click
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace as changed
from textual.worker import WorkerFailed

from agent.cli.main import program
from agent.daemon.doctor import ok
from agent.errors import DaemonError
from agent.tui.actions import ACTIONS, TITLES, Where, actions_of, keys
from agent.tui.app import PAGES, ReviewApp
from agent.tui.dialogs import Help
from agent.tui.link import DaemonNews
from agent.tui.page import Page
from agent.tui.screens.health import LOOKING, ORDER, headline, worst_first
from agent.tui.status_bar import DaemonState, trouble_of
from agent.tui.virtual_list import Listing
from agent.wire.state import Event, Finding, Status
from tests.tui.double import BEGAN, FOUND, LARGE, MODEL, NOTHING, OPEN, Double, Running
from tests.wire.fake import Raw, says
from tests.worlds.messages import POLICY


async def test_the_state_is_said_in_words_and_signs_and_asked_for_from_time_to_time(
    daemon: Double, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody needs the colour; a daemon looks at its policy when it is asked something."""
    monkeypatch.setattr("agent.tui.app.LOOKS", 0.05)
    async with daemon.shown() as shown:
        assert "● 2 waiting" in shown.text()
        assert "Requests" in shown.text()
        await shown.pilot.resize_terminal(*LARGE)
        await shown.until(lambda: "● 2 waiting · ✓ open" in shown.text())
        daemon.status = changed(OPEN, policy=changed(POLICY, in_use=False))
        await shown.until(lambda: "! no policy" in shown.text())
        await shown.pilot.press("u")
        await shown.until(lambda: "Denied region: undone." in shown.text())


async def test_it_starts_a_daemon_if_none_runs_and_survives_its_end(path: Path) -> None:
    """A banner says that what is shown is old; it goes when the daemon is back."""
    daemon = Double(path)

    def start() -> None:
        daemon.listen().__enter__()

    try:
        async with daemon.shown(start=start) as shown:
            await shown.until(lambda: "2 waiting" in shown.text())
            daemon.end()
            daemon.fake.__exit__(None, None, None)
            await shown.until(lambda: "out of date" in shown.text() and "✗ stopped" in shown.text())
            daemon.ended = False
            start()
            await shown.until(lambda: "out of date" not in shown.text())
    finally:
        daemon.end()
        daemon.fake.__exit__(None, None, None)


async def test_a_screen_that_is_taken_away_shows_nothing_more(daemon: Double) -> None:
    """What it asked for, or what the daemon tells, may come when it has lost its parts."""
    came: list[bool] = []

    async def late(app: ReviewApp, page: Page) -> None:
        async def shows() -> None:
            came.append(bool(page.query("#first")))
            page.query_one("#first")

        while app.is_running or page.query("#first"):  # noqa: ASYNC110  (nobody tells of it)
            await asyncio.sleep(0)
        page.do(shows)
        before = app.state
        lost, happened = DaemonError("it ended", "start it"), Event(number=1, kind="lock", at=BEGAN)
        for news in (lost, changed(OPEN, locked=True), happened):
            app.on_daemon_news(DaemonNews(news))
        assert app.state is before

    async with daemon.shown() as shown:
        page = shown.app.page()
        assert page is not None
        ending = asyncio.create_task(asyncio.wait_for(late(shown.app, page), 60))
    await ending
    await asyncio.sleep(0)
    assert came == [False]


@pytest.mark.parametrize("kind", [RuntimeError, WorkerFailed])
async def test_a_defect_ends_it_without_a_word_about_values(
    daemon: Double, capsys: pytest.CaptureFixture[str], kind: type[Exception]
) -> None:
    """Whoever ran it gets the error; what a screen has not is a defect while it stands, too."""

    async def test() -> None:
        async with daemon.shown() as shown:
            page, values = shown.app.page(), "secret value"
            assert page is not None

            def fails() -> None:
                raise RuntimeError(values)

            async def shows() -> None:
                page.query_one("#nowhere")

            if kind is RuntimeError:
                shown.app.call_later(fails)
            else:
                page.do(shows)
            await shown.until(lambda: shown.app.defect is not None)
            assert str(shown.app.defect) == values or kind is WorkerFailed

    with pytest.raises(kind):
        await test()
    said = capsys.readouterr()
    assert "secret" not in said.out + said.err


NONE = changed(POLICY, in_use=False)
MISTAKES = ["line 3: 'aks' is none of ask, never"]
BROKEN = changed(MODEL, problem="its signature does not fit")
LINES = st.lists(st.text(max_size=30), max_size=9)

STATUSES: st.SearchStrategy[Status] = st.builds(
    partial(changed, OPEN),
    policy=st.builds(partial(changed, POLICY), in_use=st.booleans(), problems=LINES),
    models=st.lists(st.sampled_from([MODEL, BROKEN]), max_size=2),
    waiting=st.integers(0, 2000),
    raised=st.integers(0, 2000),
    notes=LINES,
    vault=st.booleans(),
    locked=st.booleans(),
)


@given(STATUSES)
def test_it_is_open_only_where_something_may_be_attached(status: Status) -> None:
    """And where it may not, though the vault is open, the banner says why."""
    usable = status.policy.in_use and any(each.problem is None for each in status.models)
    opened = "✓ open" in DaemonState(status).summary()
    if status.vault:
        assert opened == (usable and not status.locked)
        assert usable or "Nothing is attached" in trouble_of(status)


def test_the_way_out_fits_what_is_missing() -> None:
    """No policy, one that was right before, no model, no vault, no daemon."""
    found = trouble_of(changed(OPEN, policy=NONE))
    assert "balanced" in found
    assert POLICY.path in found
    assert "init" not in found
    before = trouble_of(changed(OPEN, policy=changed(POLICY, problems=MISTAKES)))
    assert "Nothing is attached" not in before
    assert MISTAKES[0] not in before  # it stands once, in Policy
    assert "reticent model add" in trouble_of(changed(OPEN, models=[BROKEN]))
    assert "reticent init" in trouble_of(changed(OPEN, vault=False, policy=NONE))
    assert trouble_of(OPEN) == ""
    assert trouble_of(changed(OPEN, notes=["line 4: no 'dev_wbe'"])) == "line 4: no 'dev_wbe'"


TEXTS = st.text(max_size=30)
FINDINGS = st.lists(
    st.builds(Finding, TEXTS, st.sampled_from(("ok", "warn", "bad")), TEXTS, TEXTS), max_size=8
)


@given(FINDINGS)
def test_the_worst_stands_first_and_all_of_it_is_there(found: list[Finding]) -> None:
    """In the order of the doctor else; the sentence on top counts problems and notes."""
    items = worst_first(found)
    places = [ORDER.index(each.state) for each in items]
    assert places == sorted(places)
    assert sorted(items, key=repr) == sorted(found, key=repr)
    counts = {state: sum(each.state == state for each in found) for state in ORDER}
    text = headline(items)
    assert text.startswith(f"{counts['bad']} problem" if counts["bad"] else "Nothing is wrong")
    assert (f", {counts['warn']} note" in text) == bool(counts["warn"])


async def shows(shown: Running) -> Listing[Finding]:
    """Go to the screen, and wait until something was found."""
    await shown.pilot.press("6")
    await shown.until(lambda: list(shown.app.screen.query(Listing)))
    listing = shown.app.screen.query_one(Listing)
    await shown.until(lambda: listing.items and LOOKING not in shown.text())
    return listing


async def test_what_is_wrong_is_seen_with_what_mends_it_and_looked_for_again(
    daemon: Double,
) -> None:
    """First the worst; the fix of another as the cursor goes there, which stays there after."""
    doctor = Mock(return_value=FOUND)
    async with daemon.shown(environment=replace(NOTHING, doctor=doctor)) as shown:
        listing = await shows(shown)
        assert "1 problem, 1 note." in shown.text()
        assert "✗ BAD   disk: no room is left" in shown.text()
        assert "make room there" in shown.text()
        await shown.pilot.press("down")
        assert "unlock with the passphrase" in shown.text()
        assert "make room" not in shown.text()
        await shown.pilot.press("down")
        before = doctor.call_count
        doctor.return_value = [FOUND[1], ok("python", "Python 3.12")]
        await shown.pilot.press("r")
        await shown.until(lambda: "Nothing is wrong, 1 note." in shown.text())
        assert doctor.call_count == before + 1
        under = listing.under
        assert under is not None
        assert (under.name, under.what) == ("python", "Python 3.12")


async def test_it_needs_no_daemon(daemon: Double) -> None:
    """Least of all then: it says what is wrong with it."""
    async with daemon.shown(environment=replace(NOTHING, doctor=lambda: FOUND)) as shown:
        daemon.calls["status"] = says(Raw(500, b"", "text/html"))
        daemon.end()
        await shown.until(lambda: "out of date" in shown.text())
        await shows(shown)
        assert "1 problem" in shown.text()


MOVES = ("help", "renew", "quit", "copy")
HERE_ALONE = ("switch", "reset", "put_aside")  # which a command line has no use for
WIDEST = 5  # of its own, that the footer of a screen has room for


def test_every_action_is_there_and_the_command_line_can_do_it_too() -> None:
    """By the method that its name says; the command exists, and has the options that are named."""
    for where, action in ((where, each) for where, own in ACTIONS.items() for each in own):
        of = ReviewApp if where == "everywhere" else type(PAGES[where]())
        assert callable(getattr(of, f"action_{action.name.split('(')[0]}"))
        assert action.label
        assert action.help.endswith(".")
        if not action.command:
            assert action.name in (*MOVES, *HERE_ALONE) or action.name.startswith("only_"), action
            continue
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
    assert sum(each.shown for each in own) <= WIDEST
    given = {(each.key, each.action) for each in type(PAGES[where]()).BINDINGS}  # type: ignore[union-attr]
    assert given == {(each.key, each.name) for each in own if each.key}


async def test_help_begins_with_what_is_focused_and_a_key_leads_back(daemon: Double) -> None:
    """Its tooltip, on every screen: nobody needs a mouse to read it; q does not leave for good."""
    ways = ["escape", "q", "f1"]
    async with daemon.shown() as shown:
        for (where, title), way in zip(TITLES.items(), ways, strict=False):
            page = await shown.go(where)
            await shown.until(lambda: shown.app.focused)
            assert shown.app.focused is not None
            tooltip = str(shown.app.focused.tooltip or "")
            assert tooltip
            await shown.pilot.press("question_mark")
            await shown.until(lambda: isinstance(shown.app.screen, Help))
            assert " ".join(tooltip.split()[:4]) in shown.text()
            assert title in shown.text().splitlines()[0]
            await shown.pilot.press(way)
            await shown.until(lambda: shown.app.screen is page)  # noqa: B023  (waited for here)
        assert shown.app.is_running
