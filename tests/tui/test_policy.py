"""The screen of the policy: its rules, what is wrong, and the user's editor."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from datetime import timedelta

import pytest
from msgspec.structs import replace

from agent.errors import UsageError
from agent.tui.page import Environment
from agent.tui.screens.policy import LEGEND, PolicyItem
from agent.tui.virtual_list import Listing
from agent.wire.policy import RulesStatus
from tests.cli.policing import BOOKS, BROKEN, OLD, PATH, RULES, SHADOWED, STRICT, WRONG
from tests.tui.double import Double
from tests.tui.running import LARGE, NOTHING, SMALL, Running
from tests.wire.fake import says
from tests.wire.states import POLICY

SHUT = replace(BOOKS, name="shut", line=15, fired_at=None, remarks=[SHADOWED])
LATER = replace(SHUT, fired_at=BOOKS.fired_at and BOOKS.fired_at + timedelta(hours=1))


class Rules:
    """A daemon's policy, and an editor that notes what it is to open, and mends it."""

    def __init__(self, daemon: Double) -> None:
        """Begin without a mistake."""
        self.daemon = daemon
        self.edited: list[tuple[str, int | None]] = []
        self.now: RulesStatus
        self.have(replace(RULES, rules=[STRICT, BOOKS, OLD, SHUT]))
        daemon.calls |= {"rules": lambda: self.now, "reload": says(POLICY)}

    def have(self, rules: RulesStatus) -> None:
        """Have other rules, or the same with other figures."""
        self.now = rules
        self.daemon.happen("policy")

    def edit(self, path: str, line: int | None) -> None:
        """Do as an editor does."""
        self.edited.append((path, line))
        self.now = replace(self.now, problems=[])


@pytest.fixture
def rules(daemon: Double) -> Rules:
    """A daemon with a policy."""
    return Rules(daemon)


def by(edit: Callable[[str, int | None], None]) -> Environment:
    """Return what others do, with an editor."""
    return Environment(list, edit, NOTHING.clock)


async def shows(shown: Running) -> Listing[PolicyItem]:
    """Go to the screen, and wait until the rules are there."""
    await shown.pilot.press("5")
    await shown.until(lambda: LEGEND in shown.text())
    listing = shown.app.screen.query_one(Listing)
    await shown.until(lambda: listing.items)
    return listing


async def go_to(shown: Running, words: str) -> None:
    """Put the cursor on what begins with these words."""
    listing = shown.app.screen.query_one(Listing)
    listing.put(next(each for each in listing.items if each.text.startswith(words)).key)
    await shown.pilot.pause()


def under(shown: Running) -> PolicyItem:
    """Return what the cursor is on."""
    item: PolicyItem | None = shown.app.screen.query_one(Listing).under
    assert item is not None
    return item


@pytest.mark.parametrize("size", [SMALL, LARGE], ids=str)
async def test_each_rule_is_shown_with_what_is_to_be_said_of_it(
    rules: Rules, size: tuple[int, int]
) -> None:
    """What is never used, and what is over, by its sign and whole in a sentence."""
    async with rules.daemon.shown(size) as shown:
        listing = await shows(shown)
        said = "\n".join(each.text for each in listing.items)
        for words in (SHADOWED.what, "up to and including 2020-01-01", "preset strict"):
            assert words in said
        await go_to(shown, "shut")
        assert "recipient books.example; query novel*:" in shown.text()
        assert "! shut" in " ".join(shown.text().replace("–", " ").split())


async def test_what_decided_last_moves_with_a_request_and_the_cursor_stays(rules: Rules) -> None:
    """By itself; also as rules come around its own; where that is gone, it is on none."""
    async with rules.daemon.shown(LARGE) as shown:
        await shows(shown)
        await go_to(shown, "shut")
        assert "It has decided nothing since" in shown.text()
        rules.have(replace(RULES, rules=[replace(OLD, name="new"), STRICT, BOOKS, LATER]))
        await shown.until(lambda: "It last decided something at" in shown.text())
        assert under(shown).text.startswith("shut")
        assert "*" in under(shown).cells[0].text
        top = next(line for line in shown.text().splitlines() if "Decided last, at" in line)
        assert "shut" in top
        rules.have(RULES)
        await shown.until(lambda: shown.app.screen.query_one(Listing).under is None)


async def test_one_key_goes_from_part_to_part_and_round(rules: Rules) -> None:
    """It stands on the first of each, never on a title."""
    async with rules.daemon.shown() as shown:
        listing = await shows(shown)
        pairs = zip(listing.items, listing.items[1:], strict=False)
        firsts = [after.key for before, after in pairs if before.title]
        assert len(firsts) == len(("file", "preset", "what holds"))
        seen = [under(shown).key]
        for _ in firsts:
            await shown.pilot.press("b")
            seen.append(under(shown).key)
        assert seen == [*firsts, firsts[0]]


async def test_a_broken_file_shows_its_line_and_the_editor_opens_there(
    rules: Rules, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The old rules hold until what the user saves is read; what is of no file opens it."""
    async with rules.daemon.shown(LARGE, environment=by(rules.edit)) as shown:
        monkeypatch.setattr(shown.app, "suspend", nullcontext)
        await shows(shown)
        rules.now = BROKEN
        await shown.pilot.press("r")
        await shown.until(lambda: "Read: 1 to mend; the last good rules stay" in shown.text())
        assert rules.daemon.asked("reload")
        assert f"✗ line {WRONG.line}" in shown.text()
        await shown.pilot.press("home")
        await shown.until(lambda: WRONG.what in under(shown).text)
        await shown.pilot.press("enter")
        await shown.until(lambda: "to mend" not in shown.text())
        for words in ("books", "preset strict"):
            await go_to(shown, words)
            await shown.pilot.press("e")
        wanted = [(PATH, WRONG.line), (PATH, BOOKS.line), (PATH, None)]
        await shown.until(lambda: rules.edited == wanted)


async def test_where_no_editor_can_be_shown_it_is_said(rules: Rules) -> None:
    """With another way; nothing is read, and no editor began."""
    async with rules.daemon.shown(LARGE, environment=by(rules.edit)) as shown:
        await shows(shown)
        await shown.pilot.press("e")
        await shown.until(lambda: "no editor can be shown in this terminal" in shown.text())
        assert "reticent policy set" in shown.text()
        assert rules.edited == []


async def test_an_editor_that_does_not_run_is_said(
    rules: Rules, monkeypatch: pytest.MonkeyPatch
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

    async with rules.daemon.shown(LARGE, environment=by(edit)) as shown:
        monkeypatch.setattr(shown.app, "suspend", suspend)
        await shows(shown)
        await shown.pilot.press("e")
        await shown.until(lambda: "no editor is named" in shown.text())
        assert "name one" in shown.text()
        assert resumed
