"""The dialog that a person would see: GTK's pinentry, on a screen of its own."""

import asyncio
import os
import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from agent.daemon.prompts import DECLINED, UNANSWERED, Reply, opened
from agent.words import notices
from tests import waiting
from tests.programs import needs
from tests.worlds.messages import HOSTILE, review

pytestmark = pytest.mark.browser
GTK = Path("/usr/bin/pinentry-gtk-2")


@pytest.fixture(scope="module")
def display() -> Iterator[str]:
    """Yield the name of a screen that nobody sees."""
    program = needs("Xvfb", "xdotool", str(GTK))
    read, write = os.pipe()
    with subprocess.Popen(
        [program, "-displayfd", str(write), "-nolisten", "tcp"],
        pass_fds=[write],
        stderr=subprocess.DEVNULL,
    ) as server:
        os.close(write)
        with os.fdopen(read) as number, waiting.living(server):
            yield f":{number.readline().strip()}"


def do(display: str, *command: str) -> subprocess.CompletedProcess[bytes]:
    """Run a program on the screen."""
    there = os.environ | {"DISPLAY": display}
    return subprocess.run(command, env=there, capture_output=True, check=False)


def answered(display: str, kind: str, text: str, keys: list[str]) -> Reply:
    def press() -> None:
        find = ("xdotool", "search", "--onlyvisible", "--name", "Reticent")
        waiting.until(lambda: do(display, *find).stdout, "the window")
        do(display, *find, "windowfocus", "--sync")
        do(display, "xdotool", "key", "--delay", "30", *keys)

    async def ask() -> Reply:
        async with opened(GTK, {"DISPLAY": display, "LC_ALL": "C.UTF-8"}) as dialog:
            await dialog.tell("SETPROMPT", "Passphrase:")
            buttons = ["Unlock", "Not now"]
            if kind == "CONFIRM":
                buttons = ["No", "Decide later", "Yes, once"]
            pressing = asyncio.create_task(asyncio.to_thread(press))
            reply = await dialog.show(kind, text, *buttons)
            await pressing
            return reply

    with ThreadPoolExecutor() as apart:  # a browser of other tests may keep a loop in this thread
        return apart.submit(asyncio.run, ask()).result()


def test_a_passphrase_is_typed_into_it(display: str) -> None:
    """As is what a line of the protocol has to escape."""
    keys = [*"ab", "percent", "Return"]
    reply = answered(display, "GETPIN", notices.dialog_locked("shop.example"), keys)
    assert reply.data == b"ab%"


def test_no_key_that_comes_by_chance_says_yes(display: str) -> None:
    """Whoever types when it opens has decided nothing; "Yes" must be gone to."""
    text = notices.dialog_asks(review(names=["age", "region"]), HOSTILE)
    for key in ("Return", "space", "Escape"):
        assert answered(display, "CONFIRM", text, [key]).error in UNANSWERED, key
    assert answered(display, "CONFIRM", "Send it?", ["Tab", "Return"]).error == DECLINED
