"""The extension: how much later a search reaches its site, from the click until the site has it."""

import json
import statistics
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from agent.model.file import read, shipped_model
from tests.bench.timing import at
from tests.browser import chromium, firefox
from tests.browser.driver import Driver
from tests.browser.installed import EXTENSION, listing
from tests.browser.recipient import SEARCH, Recipient
from tests.daemon.whole_daemon import Live, living
from tests.waiting import until

CLICKS = 40
WARMING = 3  # clicks before those that count
HOST = "search"
CLICKED = """
document.addEventListener('click', () => {
  sessionStorage.clicked = performance.timeOrigin + performance.now();
}, {capture: true});
"""
Click = Callable[[Driver, str, str], None]


class Way(NamedTuple):
    """A way to search, in a browser; ``bar``: milliseconds that it may add."""

    title: str
    click: Click
    bar: int


def by_form(browser: Driver, query: str, _: str) -> None:
    """Write a query, and push the button."""
    browser.write("input", query)
    browser.click("button")


def by_link(browser: Driver, _: str, address: str) -> None:
    """Follow a link to a search."""
    browser.run(f"document.querySelector('#link').href = {json.dumps(address)}")
    browser.click("#link")


KINDS = (
    (
        "Chromium",
        chromium.PROGRAM,
        chromium.chromium,
        (Way("a form", by_form, 20), Way("a link, by the gate", by_link, 80)),
    ),
    (
        "Firefox",
        firefox.PROGRAM,
        firefox.firefox,
        (Way("a form", by_form, 5), Way("a link", by_link, 5)),
    ),
)


def figures() -> Iterator[str]:
    """Yield a line for each way in each browser, or that a browser is not here."""
    with Recipient() as recipient:
        search = recipient.url(HOST, SEARCH + "?q={query}")
        with living(listing(search)) as live:
            for title, program, driven, ways in KINDS:
                if not Path(program).exists():
                    yield f"{title}: not measured, as there is no {program}"
                    continue
                times = _timed(driven, (recipient, live), ways)
                for way, each in zip(ways, zip(*times, strict=True), strict=True):
                    yield _line(f"{title}, {way.title}", way.bar, Times(*each))


class Times(NamedTuple):
    """Milliseconds of each click; ``locked``: with the extension, while nothing is decided."""

    plain: list[float]
    carrying: list[float]
    locked: list[float]


def _line(title: str, bar: int, times: Times) -> str:
    """Return what is said of a way."""
    plain, carrying, locked = map(statistics.median, times)
    return (
        f"{title}, from the click until the site has the search: p50 {plain:.1f} ms without the "
        f"extension, {carrying:.1f} with it: {carrying - plain:.1f} more (bar: {bar}), "
        f"{locked - plain:.1f} more where the vault is locked and nothing decided; "
        f"p90 {at(times.plain, 90)} and {at(times.carrying, 90)}"
    )


def _timed(
    driven: Callable[..., object], ends: tuple[Recipient, Live], ways: tuple[Way, ...]
) -> Iterator[list[list[float]]]:
    """Yield the milliseconds of each click by way, for each of the `Times`."""
    recipient, live = ends
    with TemporaryDirectory() as folder, _opened(driven, Path(folder), live, ()) as browser:
        yield _clicks(browser, recipient, ways)
    with (
        TemporaryDirectory() as folder,
        _opened(driven, Path(folder), live, (EXTENSION,)) as browser,
    ):
        until(lambda: _carries(browser, recipient), "a header")
        yield _clicks(browser, recipient, ways)
        with live.client() as client:
            client.call("lock")
        yield _clicks(browser, recipient, ways)
        live.unlock()


def _clicks(browser: Driver, recipient: Recipient, ways: tuple[Way, ...]) -> list[list[float]]:
    """Return the milliseconds of each click, for each way."""
    return [
        [_once(browser, recipient, way, query) for query in _queries()][WARMING:] for way in ways
    ]


@contextmanager
def _opened(
    driven: Callable[..., object], folder: Path, live: Live, extensions: tuple[Path, ...]
) -> Iterator[Driver]:
    """Yield a browser whose relay leads to a daemon."""
    with driven(folder / "browser", live.paths, *extensions) as browser:  # type: ignore[attr-defined]
        yield browser


def _queries() -> list[str]:
    """Return what is searched for: the model's own queries, over and over."""
    known = [each.text for each in read(shipped_model("so2017")).queries]
    return [known[number % len(known)] for number in range(CLICKS + WARMING)]


def _carries(browser: Driver, recipient: Recipient) -> bool:
    """Search, and say whether that brought a header."""
    browser.go(recipient.search("version control", HOST))
    browser.shows("version control")
    return recipient.searches()[-1].header is not None


def _once(browser: Driver, recipient: Recipient, way: Way, query: str) -> float:
    """Search, and return the milliseconds from the click until the site has it."""
    browser.go(recipient.url(HOST))
    browser.shows(f"{HOST}/")
    recipient.forget()
    browser.run(CLICKED)
    way.click(browser, query, recipient.search(query, HOST))
    [came] = recipient.arrived(query)
    browser.shows(query)
    return came.at * 1e3 - float(browser.run("return sessionStorage.clicked"))
