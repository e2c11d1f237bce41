"""Each screen, drawn from what a real daemon once said: it looks as it did.

    python -m pytest tests/tui/test_pictures.py --snapshot-update

draws anew what was changed on purpose; the pictures are SVG, to be looked at before they are kept.
"""

import re

import pytest
from syrupy.assertion import SnapshotAssertion
from syrupy.extensions.image import SVGImageSnapshotExtension

from agent.tui.actions import TITLES
from agent.tui.app import ReviewApp
from tests.tui.recorded import recorded, replayed, visit
from tests.tui.running import LARGE, USUAL, Running

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
