"""Each screen, drawn from messages that do not change: it looks as it did.

    python -m pytest tests/tui/test_pictures.py --snapshot-update

draws anew what was changed on purpose; the pictures are SVG, to be looked at before they are kept.
"""

import re
from dataclasses import replace
from datetime import timedelta

import pytest
from msgspec.structs import replace as changed
from syrupy.assertion import SnapshotAssertion
from syrupy.extensions.image import SVGImageSnapshotExtension

from agent.tui.actions import TITLES
from agent.wire.state import ProfileFacts
from tests.cli.daemon import RULES
from tests.tui.double import FOUND, LARGE, NOTHING, USUAL, Double, Many
from tests.vault.values import facts_of
from tests.wire.fake import says
from tests.worlds.messages import AT, HELD, KNOWN, PEOPLE, SHOP, attribute, handled, review

DARK, LIGHT = "textual-dark", "textual-light"
GROUP = changed(SHOP, pool="@ads", sites=["a.example", "b.example"], blocked=True)
ATTRIBUTES = [
    attribute("region", disclose="always"),
    attribute("age", disclose="ask", sensitivity_bits=0.15),
    attribute("hours", scope="request"),
]


@pytest.mark.parametrize(
    ("size", "theme"),
    [(USUAL, DARK), (LARGE, LIGHT)],
    ids=lambda each: each if isinstance(each, str) else f"{each[0]}x{each[1]}",
)
async def test_each_screen_looks_as_it_did(
    size: tuple[int, int], theme: str, daemon: Double, snapshot: SnapshotAssertion
) -> None:
    """At two sizes, in the dark and in the light."""
    many = Many(daemon)
    many.past = [
        handled(
            number,
            kind=kind,
            code=code,
            disclosed=names,
            at=AT - timedelta(number),
            read_as=read,
        )
        for number, kind, code, names, read in (
            (3, "forgotten", "answered", [], None),
            (2, "nothing", "unknown query", [], None),
            (1, "disclosed", "answered", ["region"], KNOWN),
        )
    ]
    many.waits = [review()]
    daemon.calls |= {
        "attributes": says(ATTRIBUTES),
        "profile": says(ProfileFacts(facts=facts_of(region="a"))),
        "recipients": lambda recipient=None: [HELD] if recipient else [SHOP, GROUP],
        "rules": says(changed(RULES, effective=[*RULES.effective, PEOPLE])),
    }
    environment = replace(NOTHING, doctor=lambda: FOUND)
    async with daemon.shown(size, environment=environment) as shown:
        shown.app.theme = theme
        for number, where in enumerate(TITLES, 1):
            await shown.pilot.press(str(number))
            await shown.settled()
            picture = shown.app.export_screenshot()
            svg = re.sub(r"@font-face \{.*?\}\s*", "", picture, flags=re.DOTALL)  # from elsewhere
            assert svg == snapshot(name=where, extension_class=SVGImageSnapshotExtension)
