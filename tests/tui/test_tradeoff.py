"""The screen of the trade-off, over a daemon that takes as long for a curve as a test wants."""

import threading
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from agent.decision.values import CROWD, Curve
from agent.errors import LockedError
from agent.tui.dialogs import Help
from agent.tui.screens.tradeoff import TradeoffScreen, choices, facts, figures_of, price_of
from agent.tui.unlocking import Unlocking
from agent.wire.decide import CurveAsk
from agent.wire.policy import Edited, Win
from tests.tui.double import LARGE, Double, Running
from tests.waiting import PATIENCE
from tests.wire.fake import says
from tests.worlds.messages import CURVE, handled, point

SHOP = "a.b"


class Curves:
    """A daemon that takes as long for a curve as a test wants; ``most``: computed at once."""

    def __init__(self, daemon: Double) -> None:
        """Begin with a curve at once."""
        self.daemon = daemon
        self.most = self._at_once = 0
        self.free = threading.Event()
        self.free.set()
        self.curve: Curve | Exception = CURVE
        daemon.calls |= {"curve": self.answer, "edit_policy": says(Edited(changed=True, wins=[]))}

    def answer(self, body: CurveAsk) -> Curve:  # noqa: ARG002  (the route's word)
        self._at_once += 1
        self.most = max(self.most, self._at_once)
        assert self.free.wait(PATIENCE)
        self._at_once -= 1
        if isinstance(self.curve, Exception):
            raise self.curve
        return self.curve

    @property
    def asked(self) -> list[CurveAsk]:
        return self.daemon.asked("curve")


@pytest.fixture
def found(daemon: Double) -> Iterator[Curves]:
    """A daemon with a curve."""
    curves = Curves(daemon)
    yield curves
    curves.free.set()


async def opened(shown: Running) -> None:
    """Go to the screen, and wait for its curve."""
    await shown.pilot.press("3")
    await drawn(shown)


async def drawn(shown: Running) -> None:
    await shown.until(lambda: "v shows the" in shown.text() and "computing" not in shown.text())


async def test_one_curve_is_computed_at_a_time_and_keys_go_on(found: Curves) -> None:
    """Of what was asked meanwhile only the last is computed, and shown."""
    async with found.daemon.shown() as shown:
        await opened(shown)
        found.free.clear()
        await shown.pilot.press("o")
        await shown.until(lambda: len(found.asked) == 2)
        for word in ("one", "two"):
            await shown.pilot.press("e", "ctrl+u", *word, "enter")
        assert "computing" in shown.text()
        await shown.pilot.press("question_mark")
        await shown.until(lambda: isinstance(shown.app.screen, Help))
        await shown.pilot.press("escape")
        found.free.set()
        await drawn(shown)
        assert found.most == 1
        assert [each.query for each in found.asked[1:]] == [None, "two"]


async def test_a_curve_that_comes_after_the_lock_is_not_shown(found: Curves) -> None:
    """Nor is what was asked."""
    async with found.daemon.shown() as shown:
        await opened(shown)
        found.free.clear()
        await shown.pilot.press("e", *"secret", "enter")
        await shown.until(lambda: len(found.asked) == 2)
        await shown.pilot.press("ctrl+l")
        await shown.until(lambda: isinstance(shown.app.screen, Unlocking))
        found.curve = LockedError()
        found.free.set()
        await shown.pilot.press(*"right", "enter")
        await shown.until(lambda: isinstance(shown.app.screen, TradeoffScreen))
        assert "secret" not in shown.text()


async def test_what_wins_over_a_price_is_said(found: Curves) -> None:
    """And which rule does; a curve need have no knee."""
    found.curve = replace(CURVE, knee=None)
    win = Win(key="anonymity_price", value=9.0, names=[], rule="for shops", line=4)
    found.daemon.calls["edit_policy"] = says(Edited(changed=True, wins=[win]))
    async with found.daemon.shown() as shown:
        await opened(shown)
        await shown.pilot.press("up", "a", "down", "enter")
        await shown.until(lambda: "for shops (line 4) still wins" in shown.notes())
        [edit] = found.daemon.asked("edit_policy")
        assert (edit.set, edit.recipient) == ({"anonymity_price": 0.0113}, None)


async def test_arrows_walk_along_the_sets(found: Curves) -> None:
    """Of the latest request: less leaves further up; at the top nothing leaves."""
    found.daemon.calls["requests"] = says([handled(1), handled(2, query="database")])
    async with found.daemon.shown(LARGE) as shown:
        await opened(shown)
        assert [each.query for each in found.asked] == ["database"]
        for keys, here, elsewhere in (
            (["up"], "change:", "shares: nothing"),
            (["down"], "shares:", "change:"),
            (["up"] * 5, "shares: nothing", "Beyond it"),
        ):
            await shown.pilot.press(*keys)
            assert here in shown.text()
            assert elsewhere not in shown.text()
        await shown.pilot.press(*["down"] * 5, "v")
        beside = " ".join(line.rpartition("│")[2].strip() for line in shown.text().splitlines())
        assert "the same set from 0 to" in beside


def test_beaten_sets_are_no_choice() -> None:
    """But for the present one; what shares less comes first."""
    beaten = tuple(replace(each, beaten=True) for each in CURVE.points)
    assert choices(CURVE) == [*reversed(CURVE.points)]
    assert choices(replace(CURVE, points=beaten)) == [beaten[CURVE.present]]


async def test_other_queries_all_of_them_and_those_of_a_recipient(found: Curves) -> None:
    """Nothing typed is anybody again; a price is written for one of them, or everyone, if asked."""
    async with found.daemon.shown(LARGE) as shown:
        await opened(shown)
        for keys, query, recipient in (
            (["e", *"vi", "enter"], "vi", None),
            (["r", *SHOP, "enter"], "vi", SHOP),
            (["o"], None, SHOP),
        ):
            await shown.pilot.press(*keys)
            await drawn(shown)
            assert (found.asked[-1].query, found.asked[-1].recipient) == (query, recipient)
        assert f"All queries, on average, asked of {SHOP}" in shown.text()
        await shown.pilot.press("a")
        await shown.until(lambda: "Your policy does this already" in shown.notes())
        await shown.pilot.press("up", "a", "enter")  # leaves it
        await shown.pilot.press("a", "down", "enter")
        await shown.until(lambda: f"for {SHOP}, from the next request on" in shown.notes())
        await shown.pilot.press("a", "down", "down", "enter")
        await shown.until(lambda: "for everyone" in shown.notes())
        edits = [(each.set, each.recipient) for each in found.daemon.asked("edit_policy")]
        assert edits == [({"anonymity_price": 0.0113}, SHOP), ({"anonymity_price": 0.0113}, None)]
        await shown.pilot.press("r", "ctrl+u", "enter")
        await drawn(shown)
        assert found.asked[-1].recipient is None


TITLES = {"a": "age", "b": "[b]old", "c": "city"}
LAMBDAS = st.floats(0, 65_536, allow_nan=False)


@given(LAMBDAS, LAMBDAS)
def test_the_price_of_a_point_is_one_at_which_it_is_chosen(one: float, other: float) -> None:
    """Of three digits, if there is one such."""
    least, most = sorted((one, other))
    found = price_of(point(least, most))
    assert least / CROWD <= found <= most / CROWD
    assert found in (least / CROWD, most / CROWD) or found == float(f"{found:.3g}")


def test_the_figures_are_those_of_the_point() -> None:
    """In words, with the unit of the cost."""
    chosen = CURVE.points[2]
    said = dict([*facts(CURVE, chosen, TITLES), *figures_of(CURVE, chosen)])
    assert said["shares"].startswith("age and d.")
    assert said["people"] == "To the recipient, about 33 people still look like you."
    assert said["helps"].startswith("0.100 bits more useful")
    higher = "a 1.00 % higher chance that one guess finds you; in bits 0.113"
    assert said["costs"].startswith(higher)
    assert said["change"].startswith("With d and without [b]old: -0.100 bits more useful")
    assert said["price"].endswith(
        "an answer that leaves only 1,000 people like you must help by 0.0113 bits, one that "
        "leaves 500 by 0.0226"
    )
    assert dict(facts(CURVE, CURVE.points[3], TITLES))["shares"].startswith("nothing.")
