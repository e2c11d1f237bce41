"""Draw the screen of requests as examples/requests.svg, the picture in the README.

A daemon of a fictional person, whose vault goes afterwards, answers what `reticent demo` asks;
then the screen is looked at.
"""

import asyncio
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path

from agent.cli.demo import REQUESTS
from agent.errors import DaemonError
from agent.paths import HOME, Paths, paths
from agent.tui.app import ReviewApp
from agent.tui.link import Link
from agent.tui.page import Environment
from agent.wire.client import Client
from agent.wire.decide import Ask
from agent.wire.state import Unlock

PICTURE = Path(__file__).with_name("requests.svg")
RETICENT = [sys.executable, "-m", "agent.cli"]
POLICY = """\
preset = "balanced"

[attributes]
diet = "ask"
credit = "ask"
"""
PASSPHRASE = "of a vault that is gone in a moment"  # noqa: S105  (it opens nothing that stays)
SIZE = (116, 32)  # columns and lines
PATIENCE = 30.0  # seconds for the daemon to begin, and to read texts
DRAWN = 3.0  # seconds for all that is asked to stand there
KEYS = ("down",) * 3  # below what waits, to a request that carried something
ELSEWHERE = re.compile(r"@font-face \{.*?\}\s*", re.DOTALL)  # fonts that would be fetched


def picture() -> str:
    """Draw an SVG of the screen as it is now."""
    with tempfile.TemporaryDirectory(prefix="r") as folder:
        told = os.environ | {HOME: folder}
        with daemon(told, POLICY):
            return ELSEWHERE.sub("", asyncio.run(_looked_at(paths(told))))


@contextmanager
def daemon(told: Mapping[str, str], policy: str) -> Iterator[None]:
    """Have a daemon run that has answered all requests, by a policy."""
    make = ["init", "--passphrase-stdin", "--profile", "demo"]
    secret = PASSPHRASE.encode()
    subprocess.run([*RETICENT, *make], input=secret, env=told, check=True, capture_output=True)  # noqa: S603  (ours)
    places = paths(told)
    places.policy.write_text(policy, encoding="utf-8")
    process = subprocess.Popen(  # noqa: S603  (ours)
        [*RETICENT, "daemon"], env=told, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        with Client(places.control) as client:
            _wait(client)
            client.call("unlock", Unlock(method="passphrase", secret=PASSPHRASE))
            for recipient, query in REQUESTS:
                client.call("decide", Ask(query=query, recipient=recipient))
        yield
    finally:
        process.terminate()
        process.wait()


def _wait(client: Client) -> None:
    """Wait until the daemon answers."""
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        with suppress(DaemonError):
            client.call("status")
            return
        time.sleep(0.1)
    raise TimeoutError


async def _looked_at(places: Paths) -> str:
    """Wait for what the screen shows, once all of it is there."""

    def now() -> datetime:
        return datetime.now().astimezone()

    outside = Environment(list, lambda _path, _line: None, now, lambda name, _text: name)
    app = ReviewApp(Link(places.control, lambda: None), outside)
    async with app.run_test(size=SIZE) as pilot:
        await pilot.pause(DRAWN)
        for key in KEYS:
            await pilot.press(key)
        await pilot.pause(DRAWN)
        return app.export_screenshot(title="reticent")


if __name__ == "__main__":
    PICTURE.write_text(picture(), encoding="utf-8")
