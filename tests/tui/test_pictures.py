"""Each screen, drawn from what a real daemon once said: it looks as it did.

    python -m pytest tests/tui/test_pictures.py --snapshot-update

draws anew what was changed on purpose; the pictures are SVG, to be looked at before they are kept.
"""

import asyncio
import re
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

import msgspec
import pytest
from syrupy.assertion import SnapshotAssertion
from syrupy.extensions.image import SVGImageSnapshotExtension
from textual.message import Message

from agent.daemon.doctor import bad, ok, warn
from agent.tui.actions import TITLES
from agent.tui.app import ReviewApp
from agent.tui.link import DaemonNews, Link
from agent.wire.decide import Ask
from agent.wire.routes import ROUTES
from agent.wire.state import Status
from tests.developer import REQUESTS
from tests.tui.double import LARGE, NOTHING, USUAL, Running
from tests.worlds.daemons import living

DARK, LIGHT = "textual-dark", "textual-light"


@pytest.mark.parametrize(
    ("size", "theme"),
    [(USUAL, DARK), (LARGE, LIGHT)],
    ids=lambda each: each if isinstance(each, str) else f"{each[0]}x{each[1]}",
)
async def test_each_screen_looks_as_it_did(
    size: tuple[int, int], theme: str, snapshot: SnapshotAssertion
) -> None:
    """At two sizes, in the dark and in the light."""
    drawn: dict[str, str] = {}

    app = replayed(recorded())
    app.theme = theme
    async with app.run_test(size=size, notifications=True) as pilot:
        shown = Running(app, pilot)
        await shown.until(lambda: app.reachable)
        await visit(shown, lambda where: drawn.update({where: _picture(app)}))
    assert [*drawn] == [*TITLES]
    for where, svg in drawn.items():
        assert svg == snapshot(name=where, extension_class=SVGImageSnapshotExtension)


def _picture(app: ReviewApp) -> str:
    """Return the screen, without the fonts that a browser would fetch from elsewhere."""
    return re.sub(r"@font-face \{.*?\}\s*", "", app.export_screenshot(), flags=re.DOTALL)


RECORD = Path(__file__).with_name("recorded.json")
POLICY = """\
preset = "balanced"

[attributes]
int_python = "ask"
occupation = "ask"
salary = { disclose = "auto", guard = 1.0 }

[daemon]
lock_after_minutes = 0
"""
PLACE = "/home/mara"  # in the record, where the folder of the daemon was
FOUND = (
    ok("python", "Python 3.11.7"),
    warn("keyring", "this session has no keyring", "unlock with the passphrase"),
    bad("disk", "no room is left at /home/mara/data", "make room there"),
)
GIVES = {route.name: route.gives for route in ROUTES}
SIZE = (120, 40)


class Record(msgspec.Struct):
    """When it was recorded, and what was answered to each call."""

    at: datetime
    answers: dict[str, msgspec.Raw]


class Recording(Link):
    """The way to a real daemon, which keeps what it says."""

    answers: dict[str, msgspec.Raw]

    async def call(self, name: str, body: msgspec.Struct | None = None, /, **given: Any) -> Any:  # noqa: ANN401  (of the route's types)
        """Return what a call answers, and keep it."""
        answer = await super().call(name, body, **given)
        self.answers[_key(name, body, given)] = msgspec.Raw(msgspec.json.encode(answer))
        return answer


class Replaying(Link):
    """The way to no daemon: every call is answered as it was when it was recorded."""

    def __init__(self, record: Record) -> None:
        """Take what was recorded."""
        super().__init__(Path("nowhere"), lambda: None)
        self._record = record

    async def call(self, name: str, body: msgspec.Struct | None = None, /, **given: Any) -> Any:  # noqa: ANN401  (of the route's types)
        """Return what was answered once."""
        key = _key(name, body, given)
        assert key in self._record.answers, f"record anew: nobody asked {key}"
        return msgspec.json.decode(self._record.answers[key], type=GIVES[name])

    async def begin(self) -> bool:
        """Say that a daemon runs."""
        return False

    def follow(self, tell: Callable[[Message], object]) -> None:
        """Tell that it was heard, and nothing more."""
        found = msgspec.json.decode(self._record.answers[_key("status", None, {})], type=Status)
        tell(DaemonNews(found))


def recorded() -> Record:
    """Return what was recorded."""
    return msgspec.json.decode(RECORD.read_bytes(), type=Record)


def replayed(record: Record) -> ReviewApp:
    """Return the program over what was recorded."""
    return ReviewApp(
        Replaying(record), replace(NOTHING, clock=lambda: record.at, doctor=lambda: FOUND)
    )


def _key(name: str, body: msgspec.Struct | None, given: dict[str, Any]) -> str:
    """Return what tells a call from others."""
    asked = {each: value for each, value in given.items() if each != "attended"}
    text = "" if body is None else msgspec.json.encode(body).decode()
    return f"{name} {text} {sorted(asked.items())}"


async def visit(shown: Running, show: Callable[[str], object] = lambda _: None) -> None:
    """Look at each screen in turn; ``show``: is told of each that stands there."""
    for number, where in enumerate(TITLES, 1):
        await shown.pilot.press(str(number))
        await shown.settled()
        show(where)


async def _record() -> None:
    with living(POLICY) as live, live.client("query") as browser:
        for recipient, query in REQUESTS:
            browser.call("decide", Ask(query=query, recipient=recipient))
        link = Recording(live.paths.control, lambda: None)
        link.answers = {}
        now = datetime.now().astimezone()
        app = ReviewApp(link, replace(NOTHING, clock=lambda: now))
        async with app.run_test(size=SIZE) as pilot:
            shown = Running(app, pilot)
            await shown.until(lambda: app.reachable)
            await visit(shown)
        record = Record(now, dict(sorted(link.answers.items())))
        said = msgspec.json.encode(record).decode()
        said = said.replace(str(live.paths.config.parent), PLACE)
        RECORD.write_text(msgspec.json.format(said) + "\n", encoding="utf-8")


if __name__ == "__main__":
    asyncio.run(_record())
