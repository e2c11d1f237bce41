"""The popup over a chat: from the shortcut until its line is shown, and in the message."""

import json
import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.bench.browsers import KINDS
from tests.bench.timing import at
from tests.browser.chatting import QUESTION, READY, policy
from tests.browser.driver import Driver
from tests.browser.editors import pages
from tests.browser.installed import EXTENSION
from tests.browser.recipient import Recipient
from tests.daemon.whole_daemon import living
from tests.programs import MODULES
from tests.waiting import until

TIMES = 12  # each to an assistant of its own, which knows nothing yet
BAR = 2000  # milliseconds


def figures() -> Iterator[str]:
    """Yield a line for each browser, or that it is not here."""
    if not MODULES.is_dir():
        yield "chats: not measured, as npm's packages are not there"
        return
    hosts = [f"chat{number}" for number in range(TIMES)]
    for title, program, driven, _ in KINDS:
        if not Path(program).exists():
            yield f"{title}: not measured, as there is no {program}"
            continue
        with Recipient() as recipient, living(policy(*map(recipient.url, hosts))) as live:
            recipient.pages.update(pages())
            with (
                TemporaryDirectory() as folder,
                driven(Path(folder) / "browser", live.paths, EXTENSION) as browser,
            ):
                with browser.popup():  # so that it is known which are listed
                    pass
                times = [_once(browser, recipient.url(host, "/chat/textarea")) for host in hosts]
        shown, put = ([each[index] for each in times] for index in (0, 1))
        yield (
            f"{title}, from the shortcut until the popup shows the line: p50 {at(shown, 50)} ms, "
            f"the first {shown[0]:.0f}; until it is in the message, confirmed at once: p50 "
            f"{at(put, 50)} ms, the first {put[0]:.0f}, worst after it {at(put[1:], 100)} "
            f"(bar: {BAR})"
        )


def _once(browser: Driver, address: str) -> tuple[float, float]:
    """Return the milliseconds until the line is shown, and until it is in the message."""
    browser.go(address)
    browser.shows("chat/textarea")
    browser.run(f"box.set({json.dumps(QUESTION)})")
    begin = time.perf_counter()
    browser.summon()
    until(lambda: browser.summoned(READY), "a line")
    shown = time.perf_counter()
    browser.summoned("document.querySelector('#put').click()")
    until(lambda: browser.run("return box.text()") != QUESTION, "the line in the message")
    put = time.perf_counter()
    until(lambda: browser.summoned("return 1") is None, "that the popup is gone")
    return (shown - begin) * 1e3, (put - begin) * 1e3
