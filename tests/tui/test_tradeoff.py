"""The trade-off screen: walking along the curve, asking for others, applying a lambda."""

import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
from msgspec.structs import replace

from agent.errors import LockedError, UsageError
from agent.tui.help import Help
from agent.tui.screens.tradeoff.plot import Plot
from agent.tui.screens.tradeoff.screen import TradeOff
from agent.tui.unlock import Unlocking
from agent.wire.asking import Ask
from agent.wire.policing import Edited, PolicyEdit, Win
from agent.wire.routes import QUERY
from agent.wire.weighing import CurveAsk, TradeOffs
from tests.daemon.whole_daemon import Live, living
from tests.tui.running import LARGE, SMALL, USUAL, Running, running
from tests.tui.running import run as going
from tests.tui.test_app import Double
from tests.tui.test_tradeoff_words import CURVE
from tests.wire.fake import FakeDaemon, Handler, says, short_folder

SHOP = "shop.example"


@pytest.fixture(scope="module")
def live() -> Iterator[Live]:
    """A daemon that answered a request."""
    with living() as found, found.client(QUERY) as client:
        client.call("decide", Ask(query="editor", recipient=SHOP))
        yield found


class Curves(Double):
    """A daemon that takes as long for a curve as a test wants."""

    def __init__(self) -> None:
        """Begin with a curve at once."""
        super().__init__()
        self.asked: list[CurveAsk] = []
        self.edits: list[PolicyEdit] = []
        self.most = 0
        self.free = threading.Event()
        self.free.set()
        self.curve: TradeOffs | Exception = CURVE
        self.edited = Edited(changed=True, wins=[])
        self._at_once = 0

    def answer(self, body: CurveAsk) -> TradeOffs:
        """Return the curve, once that is let."""
        self.asked.append(body)
        self._at_once += 1
        self.most = max(self.most, self._at_once)
        self.free.wait(20)
        self._at_once -= 1
        if isinstance(self.curve, Exception):
            raise self.curve
        return self.curve

    def edit(self, body: PolicyEdit) -> Edited:
        """Note an edit."""
        self.edits.append(body)
        return self.edited

    def handlers(self) -> dict[str, Handler]:
        """Return what answers the calls of the screen too."""
        mine: dict[str, Handler] = {
            "curve": self.answer,
            "attributes": lambda **_: [],
            "edit_policy": self.edit,
            "recipients": says([]),
        }
        return {**super().handlers(), **mine}


@contextmanager
def curves() -> Iterator[tuple[Curves, Path]]:
    """Yield a daemon that is none, and its socket."""
    with ExitStack() as ends:
        path = ends.enter_context(short_folder()) / "control.sock"
        found = Curves()
        ends.enter_context(FakeDaemon(path, found.handlers()))
        ends.callback(found.events.set)
        ends.callback(found.free.set)
        yield found, path


async def opened(shown: Running) -> None:
    """Go to the screen, and wait for its curve."""
    await shown.pilot.press("3")
    await drawn(shown)


def notes(shown: Running) -> list[str]:
    """Return what was said in passing."""
    return [each.message for each in shown.app._notifications]  # noqa: SLF001  (as shown)


async def drawn(shown: Running) -> None:
    """Wait for a curve."""
    await shown.until(lambda: "lambda now" in shown.text() and "computing" not in shown.text())


@pytest.mark.parametrize("size", [SMALL, USUAL, LARGE])
def test_it_begins_with_the_latest_request_at_the_present_lambda(
    live: Live, size: tuple[int, int]
) -> None:
    """At every size: the curve, its signs, and what leaves."""

    async def test() -> None:
        async with running(live.paths.control, size) as shown:
            await opened(shown)
            text = shown.text()
            assert "“editor”, asked of anybody" in text
            assert "●N" in text or "N●" in text
            assert "K" in text
            assert "as it is now" in text
            assert "leaves" in text
            assert max(map(len, text.splitlines())) <= size[0]

    going(test())


def test_the_arrows_walk_along_the_curve(live: Live) -> None:
    """Less leaves to the left; k and n go where they say."""

    async def test() -> None:
        async with running(live.paths.control, LARGE) as shown:
            await opened(shown)
            assert "nothing changes" in shown.text()
            await shown.pilot.press("left")
            assert "nothing changes" not in shown.text()
            assert "drops" in shown.text()
            await shown.pilot.press("right")
            assert "nothing changes" in shown.text()
            await shown.pilot.press("k")
            assert "the knee" in shown.text()
            await shown.pilot.press("n")
            assert "nothing changes" in shown.text()
            for _ in range(15):
                await shown.pilot.press("left")
            assert "leaves      nothing" in shown.text()
            for _ in range(15):
                await shown.pilot.press("right")
            assert "the same from 0 to" in shown.text()

    going(test())


def test_a_click_selects_the_point_that_is_there(live: Live) -> None:
    """In the corner nothing leaves."""

    async def test() -> None:
        async with running(live.paths.control, LARGE) as shown:
            await opened(shown)
            plot = shown.app.screen.query_one(Plot)
            await shown.pilot.click(Plot, offset=(9, plot.size.height - 3))
            await shown.until(lambda: "leaves      nothing" in shown.text())

    going(test())


def test_an_unknown_query_says_the_way_out_and_another_is_drawn(live: Live) -> None:
    """Where the curve would be."""

    async def test() -> None:
        async with running(live.paths.control) as shown:
            await opened(shown)
            await shown.pilot.press("e", *["backspace"] * 10, *"zebra", "enter")
            await shown.until(lambda: "the model does not know this query" in shown.text())
            assert "o shows all of them together" in shown.text()
            await shown.pilot.press("e", *["backspace"] * 10, *"gif", "enter")
            await drawn(shown)
            assert "“gif”" in shown.text()

    going(test())


def test_all_queries_and_then_those_of_a_recipient(live: Live) -> None:
    """What it knows counts; nothing typed is anybody again."""

    async def test() -> None:
        async with running(live.paths.control) as shown:
            await opened(shown)
            await shown.pilot.press("o")
            await drawn(shown)
            assert "All queries, on average" in shown.text()
            await shown.pilot.press("e", *"editor", "enter")
            await drawn(shown)
            await shown.pilot.press("r", *SHOP, "enter")
            await drawn(shown)
            assert f"“editor”, asked of {SHOP}" in shown.text()
            await shown.pilot.press("r", *["backspace"] * len(SHOP), "enter")
            await drawn(shown)
            assert "asked of anybody" in shown.text()

    going(test())


def test_a_lambda_is_applied_to_a_recipient_or_to_everyone(live: Live) -> None:
    """The policy file says it, and the curve has it as the present one."""
    policy = live.paths.policy

    async def test() -> None:
        async with running(live.paths.control, LARGE) as shown:
            await opened(shown)
            await shown.pilot.press("r", *SHOP, "enter")
            await drawn(shown)
            await shown.pilot.press("left", "a", "enter")
            await shown.until(lambda: f'recipient = "{SHOP}"\nlambda = ' in policy.read_text())
            await shown.until(lambda: "nothing changes" in shown.text())
            await shown.pilot.press("left", "a", "down", "down", "enter")  # leaves it
            assert policy.read_text().count("lambda") == 1
            await shown.pilot.press("a", "down", "enter")
            await shown.until(lambda: policy.read_text().count("lambda") == 2)
            await shown.until(lambda: any("for everyone" in each for each in notes(shown)))

    going(test())


def test_one_curve_is_computed_at_a_time_and_keys_go_on() -> None:
    """Of what was asked meanwhile only the last is computed, and shown."""

    async def test(found: Curves, path: Path) -> None:
        async with running(path) as shown:
            await opened(shown)
            found.free.clear()
            await shown.pilot.press("o")
            await shown.until(lambda: len(found.asked) == 2)
            for word in ("one", "two"):
                await shown.pilot.press("e", *["backspace"] * 9, *word, "enter")
            assert "computing" in shown.text()
            await shown.pilot.press("question_mark")
            await shown.until(lambda: isinstance(shown.app.screen, Help))
            await shown.pilot.press("escape")
            found.free.set()
            await drawn(shown)
            assert found.most == 1
            assert [each.query for each in found.asked[1:]] == [None, "two"]

    with curves() as (found, path):
        going(test(found, path))


def test_a_curve_that_comes_after_the_lock_is_not_shown() -> None:
    """Nor is what was asked."""

    async def test(found: Curves, path: Path) -> None:
        async with running(path) as shown:
            await opened(shown)
            found.free.clear()
            await shown.pilot.press("e", *"secret", "enter")
            await shown.until(lambda: len(found.asked) == 2)
            await shown.pilot.press("ctrl+l")
            await shown.until(lambda: isinstance(shown.app.screen, Unlocking))
            found.curve = LockedError()
            found.free.set()
            await shown.pilot.press(*"right", "enter")
            await shown.until(lambda: isinstance(shown.app.screen, TradeOff))
            assert "secret" not in shown.text()

    with curves() as (found, path):
        going(test(found, path))


def test_nothing_is_computed_again_that_is_not_old() -> None:
    """Only another policy or model makes it so."""

    async def test(found: Curves, path: Path) -> None:
        async with running(path) as shown:
            await opened(shown)
            await shown.pilot.press("1", "3", "f5")
            await shown.until(lambda: isinstance(shown.app.screen, TradeOff))
            assert len(found.asked) == 1
            loaded = found.status.started_at
            found.status = replace(
                found.status, policy=replace(found.status.policy, loaded_at=loaded)
            )
            await shown.pilot.press("left", "f5")
            await shown.until(lambda: len(found.asked) == 2)
            await drawn(shown)
            assert "drops" in shown.text()  # what was selected is selected still

    with curves() as (found, path):
        going(test(found, path))


def test_what_wins_over_a_lambda_is_said() -> None:
    """And which rule does."""

    async def test(found: Curves, path: Path) -> None:
        win = Win(key="lambda", value=9.0, names=[], rule="for shops", line=4)
        found.edited = Edited(changed=True, wins=[win])
        async with running(path) as shown:
            await opened(shown)
            await shown.pilot.press("left", "a", "enter")
            wins = "for shops, line 4 still wins"
            await shown.until(lambda: any(wins in each for each in notes(shown)))
            assert [each.set for each in found.edits] == [{"lambda": 11.3}]
            assert found.edits[0].recipient is None

    with curves() as (found, path):
        going(test(found, path))


def test_a_curve_without_a_knee_says_so() -> None:
    """It is one point, or a straight line."""

    async def test(found: Curves, path: Path) -> None:
        found.curve = replace(CURVE, knee=None)
        async with running(path) as shown:
            await opened(shown)
            await shown.pilot.press("k")
            await shown.until(lambda: "This curve has no knee" in shown.text())

    with curves() as (found, path):
        going(test(found, path))


def test_an_error_leaves_the_keys_alone() -> None:
    """There is nothing to walk along, or to apply."""

    async def test(found: Curves, path: Path) -> None:
        found.curve = UsageError("there is no curve", "`reticent doctor` says how to mend it")
        async with running(path) as shown:
            await shown.pilot.press("3")
            await shown.until(lambda: "reticent doctor" in shown.text())
            await shown.pilot.press("left", "right", "k", "n", "a")
            assert isinstance(shown.app.screen, TradeOff)
            assert found.edits == []

    with curves() as (found, path):
        going(test(found, path))
