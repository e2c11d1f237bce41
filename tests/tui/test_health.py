"""The screen of health: what is wrong first, each with its fix, over the machine's own doctor."""

import os
import sys
from collections.abc import Callable, Sequence

from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from agent import __version__
from agent.daemon.artifacts import Machine
from agent.daemon.browsers import usual_manager
from agent.daemon.checks import bad, ok, warn
from agent.daemon.doctor import examine
from agent.tui.page import Environment
from agent.tui.screens.health import LOOK, LOOKING, ORDER, Seen, drawn, headline, seen
from agent.tui.virtual_list import Listing
from agent.wire.state import Finding
from tests.tui.double import Double
from tests.tui.running import LARGE, NOTHING, NOW, Running, running
from tests.wire.fake import Raw, says
from tests.worlds.daemons import living

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
    """In the order of the doctor else; and each is known again by what was looked at."""
    items = seen(found)
    places = [ORDER.index(each.found.state) for each in items]
    assert places == sorted(places)
    assert len({LOOK.key(each) for each in items}) == len(items)
    for state in ORDER:
        own = [
            (each.found.name, each.found.what, each.found.fix)
            for each in items
            if each.found.state == state
        ]
        wanted = [(each.name, each.what, each.fix) for each in found if each.state == state]
        assert own == wanted


@given(FINDINGS)
def test_the_sentence_on_top_counts(found: list[Finding]) -> None:
    """Problems, and notes."""
    counts = {state: sum(each.state == state for each in found) for state in ORDER}
    text = headline(seen(found))
    wanted = f"{counts['bad']} problem" if counts["bad"] else "Nothing is wrong"
    assert text.startswith(wanted)
    assert (f", {counts['warn']} note" in text) == bool(counts["warn"])


def test_why_nothing_is_attached_stands_first() -> None:
    """A daemon that does not run is no fault of the machine, and nothing is right without it."""
    stopped = warn("daemon", "it does not run", "start it")
    found = seen([warn("keyring", "none", "no"), ok("disk", "fine"), stopped])
    assert found[0].found.fix == "start it"
    assert headline(found).startswith("! daemon: it does not run")
    assert "Nothing is wrong" not in headline(found)


@given(FINDINGS, st.integers(12, 130))
def test_a_line_is_as_wide_as_there_is_room(found: list[Finding], width: int) -> None:
    """A word or a sign says how each is, and nothing steers the terminal."""
    for each in seen(found):
        text = "".join(part.text for part in drawn(each, width))
        assert cell_len(text) == width
        assert text.isprintable()
        assert {"bad": "BAD", "warn": "note", "ok": "ok"}[each.found.state] in text


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


async def shows(shown: Running) -> Listing[Seen]:
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
        assert (under.found.name, under.found.what) == ("disk", "8 MiB free")


async def test_it_needs_no_daemon(daemon: Double) -> None:
    """Least of all then: it says what is wrong with it."""
    async with daemon.shown(environment=by(Doctor())) as shown:
        daemon.calls["status"] = says(Raw(500, b"", "text/html"))
        daemon.end()
        await shown.until(lambda: "out of date" in shown.text())
        await shows(shown)
        assert "1 problem" in shown.text()


async def test_it_is_the_doctor_of_the_command_line() -> None:
    """Over a real daemon: nothing is wrong with it, and its vault is open."""
    with living() as live:
        machine = Machine(live.paths, os.environ, NOW, usual_manager(), sys.executable)
        look = by(lambda: examine(machine))
        async with running(live.paths.control, LARGE, environment=look) as shown:
            listing = await shows(shown)
            found = {each.found.name: each.found for each in listing.items}
            assert found["daemon"].what == f"process {live.process.pid}, version {__version__}"
            assert found["vault"].state == "ok"
            assert f"process {live.process.pid}" in shown.text()
