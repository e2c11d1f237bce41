"""The program: reaching the daemon, what it tells, and the end of it."""

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace as changed
from textual.worker import WorkerFailed

from agent.daemon.doctor import bad, ok, warn
from agent.errors import DaemonError
from agent.tui.app import ReviewApp
from agent.tui.link import Connected, DaemonEvent, Disconnected
from agent.tui.page import Environment, Page
from agent.tui.screens.health import LOOKING, ORDER, headline, worst_first
from agent.tui.screens.requests import RequestsScreen
from agent.tui.status_bar import MOST, DaemonState, trouble_of
from agent.tui.virtual_list import Listing
from agent.wire.state import Event, Finding, ModelStatus, PolicyStatus, Status
from tests.tui.double import BEGAN, LARGE, MODEL, NOTHING, OPEN, Double, Running
from tests.wire.fake import Raw, says
from tests.worlds.messages import POLICY


async def test_the_state_is_said_in_words_and_signs_and_asked_for_from_time_to_time(
    daemon: Double, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody needs the colour; a daemon looks at its policy when it is asked something."""
    monkeypatch.setattr("agent.tui.privacy_lock.LOOKS", 0.05)
    async with daemon.shown() as shown:
        assert "● 2 √ open" in shown.text()
        assert "Requests" in shown.text()
        await shown.pilot.resize_terminal(*LARGE)
        await shown.until(lambda: "● 2 waiting · √ open" in shown.text())
        daemon.status = changed(OPEN, policy=changed(POLICY, in_use=False))
        await shown.until(lambda: "! no policy" in shown.text())
        await shown.pilot.press("u")
        await shown.until(lambda: "Denied region: undone." in shown.text())


async def test_no_vault_says_what_makes_one(daemon: Double) -> None:
    """There is nothing to unlock."""
    daemon.set(locked=True, vault=False)
    async with daemon.shown() as shown:
        await shown.until(lambda: "reticent init" in shown.text())
        assert isinstance(shown.app.screen, RequestsScreen)


async def test_it_starts_a_daemon_if_none_runs_and_survives_its_end(path: Path) -> None:
    """A banner says that what is shown is old; it goes when the daemon is back."""
    daemon = Double(path)

    def start() -> None:
        daemon.listen().__enter__()

    try:
        async with daemon.shown(start=start) as shown:
            await shown.until(lambda: "√ open" in shown.text())
            daemon.end()
            daemon.fake.__exit__(None, None, None)
            await shown.until(lambda: "out of date" in shown.text() and "✗ stopped" in shown.text())
            daemon.ended = False
            start()
            await shown.until(lambda: "out of date" not in shown.text())
    finally:
        daemon.end()
        daemon.fake.__exit__(None, None, None)


async def taken_away(daemon: Double, then: Callable[[ReviewApp, Page], None]) -> None:
    """Do something to the program and its screen once that has lost its parts."""
    async with daemon.shown() as shown:
        app, page = shown.app, shown.app.page()
        assert page is not None

        async def late() -> None:
            while app.is_running or page.query("#first"):  # noqa: ASYNC110  (nobody tells of it)
                await asyncio.sleep(0)
            then(app, page)

        ending = asyncio.create_task(asyncio.wait_for(late(), 60))
    await ending


async def test_a_screen_that_is_taken_away_shows_nothing_more(daemon: Double) -> None:
    """What it asked for may come when it has lost its parts, and is no defect then."""
    came: list[bool] = []

    def asks(_: ReviewApp, page: Page) -> None:
        async def shows() -> None:
            came.append(bool(page.query("#first")))
            page.query_one("#first")

        page.do(shows)

    await taken_away(daemon, asks)
    await asyncio.sleep(0)
    assert came == [False]


async def test_what_the_daemon_tells_at_the_end_is_let_pass(daemon: Double) -> None:
    """Screens that have lost their parts can neither be hidden nor be cleared any more."""
    same: list[bool] = []

    def tells(app: ReviewApp, _: Page) -> None:
        before = app.state
        app.on_disconnected(Disconnected(DaemonError("it ended", hint="start it")))
        app.on_connected(Connected(changed(OPEN, locked=True)))
        app.on_daemon_event(DaemonEvent(Event(number=1, kind="lock", at=BEGAN)))
        same.append(app.state is before)

    await taken_away(daemon, tells)
    assert same == [True]


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


@st.composite
def statuses(draw: st.DrawFn) -> Status:
    """A daemon in any state."""
    policy: PolicyStatus = changed(POLICY, in_use=draw(st.booleans()), problems=draw(LINES))
    models: list[ModelStatus] = draw(st.lists(st.sampled_from([MODEL, BROKEN]), max_size=2))
    figures = {"vault": draw(st.booleans()), "locked": draw(st.booleans())}
    waiting = draw(st.integers(0, 2000))
    return changed(
        OPEN, policy=policy, models=models, waiting=waiting, notes=draw(LINES), **figures
    )


@given(statuses())
def test_it_is_open_only_where_something_may_be_attached(status: Status) -> None:
    """And where it may not, though the vault is open, the banner says why."""
    usable = status.policy.in_use and any(each.problem is None for each in status.models)
    opened = "√ open" in DaemonState(status).summary()
    if status.vault:
        assert opened == (usable and not status.locked)
        assert usable or "Nothing is attached" in trouble_of(status)


@given(statuses())
def test_a_banner_is_a_few_plain_lines(status: Status) -> None:
    """Of a policy's text nothing steers the terminal, and no screen is filled by it."""
    lines = trouble_of(status).split("\n")
    assert len(lines) <= MOST
    assert all(each.isprintable() for each in lines)


def test_the_way_out_fits_what_is_missing() -> None:
    """No policy, a broken one, one that was right before, no model, no vault, no daemon."""
    found = trouble_of(changed(OPEN, policy=NONE))
    assert "balanced" in found
    assert POLICY.path in found
    assert "init" not in found
    broken = trouble_of(changed(OPEN, policy=changed(NONE, problems=MISTAKES)))
    assert "Nothing is attached" in broken
    assert MISTAKES[0] in broken
    before = trouble_of(changed(OPEN, policy=changed(POLICY, problems=MISTAKES)))
    assert "Nothing is attached" not in before
    assert MISTAKES[0] in before
    assert "reticent model add" in trouble_of(changed(OPEN, models=[BROKEN]))
    assert "reticent init" in trouble_of(changed(OPEN, vault=False, policy=NONE))
    assert trouble_of(OPEN) == ""
    assert trouble_of(changed(OPEN, notes=["line 4: no 'dev_wbe'"])) == "line 4: no 'dev_wbe'"


TEXTS = st.text(max_size=30)
FINDINGS = st.lists(
    st.builds(Finding, TEXTS, st.sampled_from(("ok", "warn", "bad")), TEXTS, TEXTS), max_size=8
)
FOUND = [
    ok("disk", "9 MiB free"),
    warn("keyring", "no keyring", "ask for the passphrase"),
    bad("files", "others can read them", "chmod -R go= it"),
]


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


def test_why_nothing_is_attached_stands_first() -> None:
    """A daemon that does not run is no fault of the machine, and nothing is right without it."""
    stopped = warn("daemon", "it does not run", "start it")
    found = worst_first([warn("keyring", "none", "no"), ok("disk", "fine"), stopped])
    assert found[0].fix == "start it"
    assert headline(found).startswith("! daemon: it does not run")
    assert "Nothing is wrong" not in headline(found)


class Doctor:
    """Finds what it is told to, and counts how often it looks."""

    def __init__(self) -> None:
        """Take what there is."""
        self.found, self.looks = FOUND, 0

    def __call__(self) -> Sequence[Finding]:
        """Look."""
        self.looks += 1
        return self.found


def by(doctor: Callable[[], Sequence[Finding]]) -> Environment:
    """Return what others do, with a doctor."""
    return Environment(doctor, NOTHING.edit, NOTHING.clock)


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
    doctor = Doctor()
    async with daemon.shown(environment=by(doctor)) as shown:
        listing = await shows(shown)
        assert "1 problem, 1 note." in shown.text()
        assert "✗ BAD   files: others can read them" in shown.text()
        assert "chmod -R go= it" in shown.text()
        await shown.pilot.press("down")
        assert "ask for the passphrase" in shown.text()
        assert "chmod" not in shown.text()
        await shown.pilot.press("down")
        before = doctor.looks
        doctor.found = [FOUND[1], ok("disk", "8 MiB free")]
        await shown.pilot.press("r")
        await shown.until(lambda: "Nothing is wrong, 1 note." in shown.text())
        assert doctor.looks == before + 1
        under = listing.under
        assert under is not None
        assert (under.name, under.what) == ("disk", "8 MiB free")


async def test_it_needs_no_daemon(daemon: Double) -> None:
    """Least of all then: it says what is wrong with it."""
    async with daemon.shown(environment=by(Doctor())) as shown:
        daemon.calls["status"] = says(Raw(500, b"", "text/html"))
        daemon.end()
        await shown.until(lambda: "out of date" in shown.text())
        await shows(shown)
        assert "1 problem" in shown.text()
