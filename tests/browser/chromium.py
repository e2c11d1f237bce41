"""Debian's Chromium, driven by Playwright."""

import json
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from playwright.sync_api import BrowserContext, Error, Page, Playwright, Worker, sync_playwright

from agent.daemon.programs import CHROMIUM_ID, HOST
from agent.paths import Paths
from tests.browser.driver import Driver, Gone, killed, told
from tests.programs import needs
from tests.waiting import PATIENCE, bounded, until

PROGRAM = "/usr/bin/chromium"
Bound = Callable[[], AbstractContextManager[None]]
_RUNNING: list[Playwright] = []
POPUP, SHORTCUT = "popup/popup.html", "Alt+Shift+Y"
FLAGS = ("--disable-quic", "--disable-gpu", "--disable-background-networking")


class _Chromium(Driver):
    """A Chromium that runs; ``bound``: what ends it if something that waits for it takes too long.

    Playwright bounds what it does itself, and not the scripts that it runs.
    """

    name = "chromium"
    origin = f"chrome-extension://{CHROMIUM_ID}"

    def __init__(self, context: BrowserContext, bound: Bound) -> None:
        self._context, self._bound = context, bound
        self.present: Page = context.pages[0]

    def go(self, url: str) -> None:
        try:
            self.present.goto(url, wait_until="commit")
        except Error as error:  # it went on elsewhere, as it does through the gate
            if not {"ERR_ABORTED", "interrupted", "ERR_BLOCKED"} & _words(error):
                raise

    def run(self, script: str) -> Any:  # noqa: ANN401  (any JSON)
        try:
            with self._bound():
                return self.present.evaluate(f"() => {{ {script} }}")
        except Error as error:
            if {"context", "navigation"} & _words(error):
                raise Gone from error
            raise

    def click(self, selector: str) -> None:
        self.present.click(selector, no_wait_after=True)

    def write(self, selector: str, text: str, *, enter: bool = False) -> None:
        self.present.fill(selector, text)
        if enter:
            self.present.press(selector, "Enter", no_wait_after=True)

    def types(self, text: str) -> None:
        self.present.keyboard.type(text)

    def undoes(self) -> None:
        self.present.keyboard.press("Control+z")

    def summon(self) -> None:
        # A Chromium without a window takes no shortcut: this opens what the shortcut would.
        assert self.inside("api.commands.getAll()")[0]["shortcut"] == SHORTCUT
        self.inside("api.action.openPopup()")

    def summoned(self, script: str) -> Any:  # noqa: ANN401  (any JSON)
        # Playwright knows nothing of it, so it is spoken to through the page below it.
        session, answers = self._context.new_cdp_session(self.present), list[Any]()
        session.on("Target.receivedMessageFromTarget", lambda got: answers.append(got["message"]))

        def answered() -> bool:
            self.present.wait_for_timeout(1)  # in which Playwright hears what has come
            return bool(answers)

        targets = session.send("Target.getTargets")["targetInfos"]
        ours = [each["targetId"] for each in targets if each["url"] == f"{self.origin}/{POPUP}"]
        call = {"expression": f"(() => {{ {script} }})()", "returnByValue": True}
        message = json.dumps({"id": 1, "method": "Runtime.evaluate", "params": call})
        try:
            for each in ours:
                whole = session.send("Target.attachToTarget", {"targetId": each, "flatten": False})
                session.send("Target.sendMessageToTarget", {**whole, "message": message})
                until(answered, "the popup's answer", PATIENCE / 10)
                return json.loads(answers[0])["result"]["result"].get("value")
        except (AssertionError, Error, KeyError):  # it has closed meanwhile
            return None
        finally:
            session.detach()
        return None

    def keyword(self, text: str) -> None:
        # Nobody but a person gets at the address bar: the worker is told that it was entered.
        entered = "(text) => chrome.omnibox.onInputEntered.dispatch(text, 'currentTab')"
        with self._bound():
            self.worker().evaluate(entered, text)

    def tabs(self) -> list[Page]:
        # Playwright hears of pages that come and go while it waits, in one that is there.
        self._context.pages[0].wait_for_timeout(1)
        return self._context.pages

    def switch(self, tab: Page) -> None:
        self.present = tab

    def opened(self) -> None:
        self.present = self._context.new_page()

    def close(self) -> None:
        self.present.close()
        self.present = self._context.pages[-1]

    def front(self) -> None:
        self.present.bring_to_front()

    def inside(self, expression: str) -> Any:  # noqa: ANN401  (any JSON)
        with self._bound():
            return self.worker().evaluate(
                f"async () => {{ const api = chrome; return {expression} }}"
            )

    def worker(self) -> Worker:
        if not self._context.service_workers:
            self._context.wait_for_event("serviceworker")
        return self._context.service_workers[-1]

    def end_worker(self) -> None:
        with self._bound():
            session = self._context.new_cdp_session(self.present)
            session.send("ServiceWorker.enable")
            session.send("ServiceWorker.stopAllWorkers")


@contextmanager
def _playwright() -> Iterator[Playwright]:
    """Yield the one Playwright that a thread can have, and end it after who came first."""
    if _RUNNING:
        yield _RUNNING[0]
        return
    with sync_playwright() as playwright:
        _RUNNING.append(playwright)
        try:
            yield playwright
        finally:
            _RUNNING.clear()


@contextmanager
def chromium(folder: Path, places: Paths | None, *extensions: Path) -> Iterator[_Chromium]:
    """Yield a Chromium with extensions in it and a folder for what it keeps.

    ``places``: the daemon's, of which it is told; None where it was told already.
    """
    needs(PROGRAM)
    if places is not None:
        told("chromium", folder, places, folder / "NativeMessagingHosts" / f"{HOST}.json")
    loaded = [f"--load-extension={','.join(map(str, extensions))}"] if extensions else []
    bound = partial(bounded, partial(killed, f"--user-data-dir={folder}"))
    with _playwright() as playwright:
        context = playwright.chromium.launch_persistent_context(
            folder,
            executable_path=PROGRAM,
            chromium_sandbox=False,
            ignore_default_args=["--disable-extensions"],
            args=[*FLAGS, *loaded],
        )
        try:
            driven = _Chromium(context, bound)
            if extensions:
                until(driven.worker, "the worker")
            yield driven
        finally:
            with bound():
                context.close()


def _words(error: Error) -> set[str]:
    return {*error.message.replace("net::", "").replace(";", " ").split()}
