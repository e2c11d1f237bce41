"""The screen of health: what is wrong first, each with its fix, over the machine's own doctor."""

from collections.abc import Callable, Sequence

from hypothesis import given
from hypothesis import strategies as st

from agent.daemon.checks import bad, ok, warn
from agent.tui.page import Environment
from agent.tui.screens.health import LOOKING, ORDER, headline, worst_first
from agent.tui.virtual_list import Listing
from agent.wire.state import Finding
from tests.tui.double import Double
from tests.tui.running import NOTHING, Running
from tests.wire.fake import Raw, says

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
    items = worst_first(found)
    places = [ORDER.index(each.state) for each in items]
    assert places == sorted(places)
    for state in ORDER:
        own = [each for each in items if each.state == state]
        assert sorted(own, key=repr) == sorted((e for e in found if e.state == state), key=repr)


@given(FINDINGS)
def test_the_sentence_on_top_counts(found: list[Finding]) -> None:
    """Problems, and notes."""
    counts = {state: sum(each.state == state for each in found) for state in ORDER}
    text = headline(worst_first(found))
    wanted = f"{counts['bad']} problem" if counts["bad"] else "Nothing is wrong"
    assert text.startswith(wanted)
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
