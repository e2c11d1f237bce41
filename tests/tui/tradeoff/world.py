"""A daemon that is none, whose curves take as long as a test wants; and the way to the screen."""

import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from agent.wire.policy import Edited, PolicyEdit
from agent.wire.what_if import CurveAsk, TradeOffs
from tests.tui.double import Double
from tests.tui.running import Running
from tests.tui.tradeoff.values import CURVE
from tests.wire.fake import FakeDaemon, Handler, says, short_folder

SHOP = "shop.example"


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


async def drawn(shown: Running) -> None:
    """Wait for a curve."""
    await shown.until(lambda: "v shows the" in shown.text() and "computing" not in shown.text())
