"""The screen of requests where a daemon says what none says at once: empty, broken, hostile."""

import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from agent.errors import UsageError
from agent.wire.policy import Review, Ruled
from agent.wire.records import Entry, Handled
from agent.wire.state import Event
from agent.wire.what_if import Weighed, WhatIf
from tests.tui.double import OPEN
from tests.tui.requests.values import AT, handled, review, row, weighed, weight
from tests.tui.requests.world import page, told, words
from tests.tui.running import LARGE, SMALL, USUAL, Running, running
from tests.wire.fake import FakeDaemon, Handler, short_folder


class Double:
    """A daemon of which a test says all; what it was asked stands in ``asked``."""

    def __init__(self) -> None:
        """Begin with nothing in it."""
        self.past: list[Handled] = []
        self.waits: list[Review] = []
        self.asked: list[tuple[str, Any]] = []
        self.error: UsageError | None = None
        self.news: list[Event] = []
        self.more = threading.Semaphore(0)
        self.ended = False

    def happen(self, kind: str) -> None:
        """Tell of an event."""
        number = len(self.news) + 1
        self.news.append(Event(number=number, kind=kind, at=AT))  # type: ignore[arg-type]  # one of them
        self.more.release()

    def end(self) -> None:
        """Tell of nothing more."""
        self.ended = True
        self.more.release()

    def events(self) -> Iterator[Event]:
        """Yield what happens until the test ends."""
        while True:
            self.more.acquire(timeout=20)
            if self.ended:
                return
            yield self.news[-1]

    def requests(self, limit: int) -> list[Handled]:
        """Return the latest."""
        self.asked.append(("requests", limit))
        return self.past[-limit:]

    def whatif(self, body: WhatIf) -> Weighed:
        """Return what was asked about, or fail."""
        self.asked.append(("whatif", body))
        if self.error is not None:
            raise self.error
        after = weight("region", *body.add, breaks="k" if body.add else None)
        rows = [row("gender"), row("region", inside=True, title="\x1b[31mthe region")]
        return weighed(weighed=after, rows=rows)

    def ledger(self, **_: Any) -> list[Entry]:  # noqa: ANN401  (of the call)
        """Return the entries from the first on."""
        return [
            Entry(
                number=each.number,
                kind="disclosed",
                at=each.at,
                recipient=each.recipient,
                disclosed={"region": f"value of {each.number}"},
            )
            for each in self.past
        ]

    def verdict(self, body: object, id: int) -> Ruled:  # noqa: A002  (the route's word)
        """Settle it, with a rule that wins over it."""
        self.asked.append(("verdict", body))
        self.waits = [each for each in self.waits if each.id != id]
        return Ruled(written=None, without_effect=["gender"], decided_by=["strict"])


@contextmanager
def double() -> Iterator[tuple[Double, Path]]:
    """Yield such a daemon, and its socket."""
    found = Double()
    handlers: dict[str, Handler] = {
        "status": lambda: OPEN,
        "attributes": lambda **_: [],
        "requests": found.requests,
        "reviews": lambda: found.waits,
        "whatif": found.whatif,
        "ledger": found.ledger,
        "verdict": found.verdict,
        "events": found.events,
    }
    with short_folder() as folder, FakeDaemon(folder / "control.sock", handlers):
        try:
            yield found, folder / "control.sock"
        finally:
            found.end()


@asynccontextmanager
async def over(found: Double, path: Path, size: tuple[int, int] = USUAL) -> AsyncIterator[Running]:
    """Yield the screens over it, once all is shown that there is."""
    async with running(path, size) as shown:
        await shown.until(lambda: ("requests", 10_000) in found.asked)
        await shown.settled()
        yield shown


async def test_nothing_yet_says_what_fills_it() -> None:
    """And a key there does nothing but say so."""
    with double() as (found, path):
        async with over(found, path) as shown:
            assert "No requests yet." in shown.text()
            assert "`reticent ask`" in shown.text()
            await shown.pilot.press("enter")
            await shown.until(lambda: told(shown, "no request chosen"))
            found.past.append(handled(1))
            found.happen("answer")
            await shown.until(lambda: "No requests yet." not in shown.text())
            assert "shop.example" in shown.text()


@pytest.mark.parametrize("size", [SMALL, USUAL, LARGE], ids=str)
async def test_text_from_outside_steers_nothing(size: tuple[int, int]) -> None:
    """Nor is it taken for markup."""
    with double() as (found, path):
        strange = {"recipient": "[b]x\x1b[2J", "pool": "@\x1b", "query": "[red]\n\x07 é 語"}
        found.past = [handled(1, disclosed=["a\x1b"], **strange)]
        found.waits = [review(1, names=["[/b]"], **strange)]
        async with over(found, path, size) as shown:
            await shown.pilot.press("enter")
            await shown.until(lambda: "the region" in shown.text())
            text = shown.text()
            assert "[b]x" in text
            assert all(each.isprintable() for each in text.split("\n"))


async def test_what_cannot_be_weighed_is_said_and_the_rest_stays() -> None:
    """With the way out; what is known of the request is shown all the same."""
    with double() as (found, path):
        found.past = [handled(1)]
        found.error = UsageError("the model is gone", "add it again")
        async with over(found, path) as shown:
            await shown.pilot.press("enter")
            await shown.until(lambda: told(shown, "the model is gone") and told(shown, "add it"))
            assert "Sent 1 fact to shop.example: region" in words(shown)
            await shown.pilot.press("space")
            await shown.until(lambda: told(shown, "no attribute chosen"))


async def test_what_was_forgotten_is_not_weighed() -> None:
    """There is nothing to weigh."""
    with double() as (found, path):
        found.past = [handled(1, kind="forgotten", query="", disclosed=[])]
        async with over(found, path) as shown:
            assert "~" in shown.text()
            await shown.pilot.press("enter")
            await shown.until(lambda: "The ledger still lists what it was sent." in words(shown))
            await shown.settled()
            assert not any(name == "whatif" for name, _ in found.asked)


async def test_only_what_came_since_is_asked_for_once_all_is_known() -> None:
    """Unless something between may be missing."""
    with double() as (found, path):
        found.past = [handled(n, at=AT + timedelta(minutes=n)) for n in range(1, 301)]
        async with over(found, path) as shown:
            found.past.append(handled(301, at=AT + timedelta(minutes=301)))
            found.happen("answer")
            await shown.until(lambda: len(page(shown).listing.items) == 302)
            assert [each for name, each in found.asked if name == "requests"] == [10_000, 200]
            more = range(302, 602)
            found.past += [handled(n, at=AT + timedelta(minutes=n)) for n in more]
            found.happen("answer")
            await shown.until(lambda: len(page(shown).listing.items) == 602)
            found.happen("forget")


async def test_another_rule_weighs_the_detail_anew_and_keeps_what_is_tried() -> None:
    """The cursor stays, too; what breaks a limit says so."""
    with double() as (found, path):
        found.past = [handled(1)]
        async with over(found, path) as shown:
            await shown.pilot.press("enter")
            await shown.until(lambda: "[x]" in shown.text())
            await shown.pilot.press("down", "space")
            await shown.until(lambda: "breaks the limit k" in words(shown))
            count = len(found.asked)
            found.happen("policy")
            await shown.until(lambda: any(name == "whatif" for name, _ in found.asked[count:]))
            body = next(each for name, each in found.asked[count:] if name == "whatif")
            assert body.add == ["gender"]
            await shown.settled()
            assert page(shown).detail.row() == "gender"
            assert "[+]" in shown.text()


async def test_values_of_one_request_are_not_shown_with_another() -> None:
    """They go with what they belong to."""
    with double() as (found, path):
        found.past = [handled(1), handled(2, at=AT + timedelta(minutes=1))]
        async with over(found, path, LARGE) as shown:
            await shown.pilot.press("m")
            await shown.until(lambda: "value of 2" in shown.text())
            await shown.pilot.press("down")
            await shown.until(lambda: "value of 1" in shown.text())
            assert "value of 2" not in shown.text()
            await shown.pilot.press("m")
            await shown.until(lambda: "value of" not in shown.text())


async def test_a_review_that_goes_by_itself_leaves_no_other_under_the_key() -> None:
    """A yes that was meant for it is said to nobody."""
    with double() as (found, path):
        found.waits = [review(1, names=["race"]), review(2)]
        async with over(found, path) as shown:
            assert isinstance(page(shown).listing.under, Review)
            found.waits = [found.waits[0]]
            found.happen("review")
            await shown.until(lambda: page(shown).listing.under is None)
            for key in ("a", "enter"):
                await shown.pilot.press(key)
                await shown.until(lambda: told(shown, "has left the list"))
            assert not any(name == "verdict" for name, _ in found.asked)
            assert not page(shown).has_class("opened")
            await shown.pilot.press("down", "enter")
            await shown.until(lambda: page(shown).has_class("opened"))


async def test_a_key_is_not_meant_for_what_is_out_of_view() -> None:
    """It brings it into view; the next one is."""
    with double() as (found, path):
        found.waits = [review(1)]
        async with over(found, path) as shown:
            found.waits = [*found.waits, *(review(n, recipient="b.example") for n in range(2, 60))]
            found.happen("review")
            await shown.until(lambda: len(page(shown).listing.items) == 60)
            await shown.pilot.press("a")
            await shown.until(lambda: told(shown, "was out of view"))
            assert not any(name == "verdict" for name, _ in found.asked)
            await shown.pilot.press("a")
            await shown.until(lambda: any(name == "verdict" for name, _ in found.asked))


async def test_a_word_without_effect_says_which_rule_wins() -> None:
    """In the same breath."""
    with double() as (found, path):
        found.waits = [review(1)]
        async with over(found, path) as shown:
            await shown.pilot.press("a")
            await shown.until(lambda: told(shown, "No effect on gender: 'strict' still wins."))
            await shown.until(lambda: "No requests yet." in shown.text())
