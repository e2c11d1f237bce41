"""What a test asks of the screen, and of the daemon beside it."""

import tomllib
from typing import Any

from textual.widgets import Static

from agent.tui.dialogs import Choice
from agent.tui.screens.profile import ProfileScreen
from agent.tui.screens.profile_view import cells
from agent.wire.policy import AttributeStatus
from agent.wire.records import Profile
from agent.words.titles import value_title
from tests.daemon.whole_daemon import Live
from tests.tui.running import Running

POLICY = """\
preset = "balanced"
[attributes]
region = "always"
[daemon]
lock_after_minutes = 0
"""
FIRST = "gender"
OWN = "west_europe"  # a value that stands nowhere else on the screen
SHOWN = value_title(OWN)


def attribute(name: str, refines: str | None = None, **other: object) -> AttributeStatus:
    """Return an attribute that may leave when it is worth it."""
    usual: dict[str, object] = {
        "title": f"the {name}",
        "scope": "person",
        "values": ["unspecified", "a", "b"],
        "model": "world",
        "disclose": "auto",
        "sensitivity_bits": 0.0,
        "guard": 0.0,
        "rule": "attributes",
        "line": 3,
    }
    return AttributeStatus(name=name, refines=refines, **(usual | other))  # type: ignore[arg-type]


def page(shown: Running) -> ProfileScreen:
    """Return the screen."""
    found = shown.app.page()
    assert isinstance(found, ProfileScreen)
    return found


def row(shown: Running, name: str) -> list[str]:
    """Return what stands in a row."""
    listing = page(shown).listing
    found = next(each for each in listing.items if each.attribute.name == name)
    return [cell.strip() for cell in cells(found, listing.size.width)]


def told(shown: Running) -> str:
    """Return what is said of the attribute under the cursor."""
    return str(page(shown).query_one("#detail Static", Static).content)


def notes(shown: Running) -> str:
    """Return what was said at the edge of the screen."""
    return "\n".join(each.message for each in shown.app._notifications)  # noqa: SLF001  (not wrapped)


async def come(shown: Running, name: str = FIRST) -> None:
    """Go to the screen, and to an attribute."""
    await shown.pilot.press("4")
    await shown.until(lambda: isinstance(shown.app.page(), ProfileScreen))
    listing = page(shown).listing
    await shown.until(lambda: len(listing.items) > 1)
    await shown.settled()
    listing.put(name)
    await shown.pilot.pause()
    assert listing.under is not None
    assert listing.under.attribute.name == name


async def choose(shown: Running, *keys: str) -> None:
    """Ask for the values that there are, and press keys among them."""
    await shown.pilot.press("s")
    await shown.until(lambda: isinstance(shown.app.screen, Choice))
    await shown.pilot.press(*keys)


def values(live: Live) -> dict[str, str]:
    """Return the values that are kept."""
    with live.client() as client:
        found: Profile = client.call("profile")
    [own] = found.values.values()
    return own


def ruled(live: Live, name: str) -> Any:  # noqa: ANN401  (as TOML has it)
    """Return what the policy file says of an attribute."""
    return tomllib.loads(live.paths.policy.read_text()).get("attributes", {}).get(name)
