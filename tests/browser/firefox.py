"""Firefox ESR, driven by Marionette."""

import json
import os
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from agent.daemon.programs import FIREFOX_ID
from agent.paths import Paths
from tests.browser.driver import KEYWORD, Driver, Gone, told
from tests.programs import needs
from tests.waiting import PATIENCE, until

PROGRAM = "/usr/bin/firefox-esr"
UUID = "6f1c6a52-6f0c-4a0e-9d53-0d7f2c1b8e11"  # Firefox draws one for each profile otherwise
ELEMENT = "element-6066-11e4-a52e-4f735466cecf"  # WebDriver's name of an element
ENTER, CONTROL, SHIFT, ALT = "\ue007", "\ue009", "\ue008", "\ue00a"  # WebDriver's names
PREFERENCES: dict[str, object] = {
    "app.normandy.enabled": False,
    "app.update.enabled": False,
    "browser.newtabpage.enabled": False,
    "browser.safebrowsing.malware.enabled": False,
    "browser.safebrowsing.phishing.enabled": False,
    "browser.startup.page": 0,
    "datareporting.policy.dataSubmissionEnabled": False,
    "devtools.jsonview.enabled": False,  # its page would not be the extension's
    "dom.disable_open_during_load": False,  # tests open tabs from pages
    "dom.security.https_first": False,
    "dom.ipc.keepProcessesAlive.webIsolated.timed.max": 8,  # of sites whose last page has closed
    "dom.ipc.keepProcessesAlive.webIsolated.timed.seconds": 600,
    "extensions.webextensions.uuids": json.dumps({FIREFOX_ID: UUID}),
    "marionette.port": 0,  # any
    "network.captive-portal-service.enabled": False,
    "network.connectivity-service.enabled": False,
    "privacy.reduceTimerPrecision": False,
}

ENTERED = """
const done = arguments[0];
const { gURLBar } = Services.wm.getMostRecentWindow("navigator:browser");
gURLBar.focus();
gURLBar.search(TEXT);
gURLBar.lastQueryContextPromise.then(() => {
  gURLBar.handleCommand();
  done("entered");
}, (error) => done(String(error)));
"""

# How Firefox says that a page went away under a script: the last where its world had no room left.
GOING = ("unloaded", "navigat", "actor", "evalInSandbox")

COMMAND, REPLY = 0, 1


class MarionetteError(Exception):
    """A command failed."""


class Marionette:
    """A client of one Firefox's Marionette: JSON in frames, each after its length and a colon.

    Source: Mozilla's documents, "Protocol", version 3; the commands are WebDriver's.
    """

    def __init__(self, port: int) -> None:
        self._connection = socket.create_connection(("127.0.0.1", port), PATIENCE)
        self._reader, self._number = self._connection.makefile("rb"), 0
        assert self._frame()["marionetteProtocol"] == 3

    def close(self) -> None:
        self._reader.close()
        self._connection.close()

    def call(self, command: str, **given: object) -> Any:  # noqa: ANN401  (any JSON)
        self._number += 1
        data = json.dumps([COMMAND, self._number, command, given]).encode()
        self._connection.sendall(b"%d:%s" % (len(data), data))
        kind, number, error, result = self._frame()
        assert (kind, number) == (REPLY, self._number)
        if error is not None:
            raise MarionetteError(f"{error['error']}: {error['message']}")
        return result["value"] if isinstance(result, dict) and [*result] == ["value"] else result

    def _frame(self) -> Any:  # noqa: ANN401  (any JSON)
        length = b""
        while (byte := self._reader.read(1)) != b":":
            assert byte, "Firefox is gone"
            length += byte
        return json.loads(self._reader.read(int(length)))


class _Firefox(Driver):
    name = "firefox"
    origin = f"moz-extension://{UUID}"

    def __init__(self, marionette: Marionette) -> None:
        self._call = marionette.call
        self._inner: str | None = None
        self.present = self._call("WebDriver:GetWindowHandle")

    def go(self, url: str) -> None:
        self._call("WebDriver:Navigate", url=url)

    def run(self, script: str) -> Any:  # noqa: ANN401  (any JSON)
        try:
            return self._call("WebDriver:ExecuteScript", script=script, args=[], sandbox=None)
        except MarionetteError as error:
            if any(each in str(error) for each in GOING):
                raise Gone from error
            raise

    def click(self, selector: str) -> None:
        self._call("WebDriver:ElementClick", id=self._element(selector))

    def write(self, selector: str, text: str, *, enter: bool = False) -> None:
        found = self._element(selector)
        self._call("WebDriver:ElementClear", id=found)
        self._call("WebDriver:ElementSendKeys", id=found, text=text + ENTER * enter)

    def types(self, text: str) -> None:
        for each in text:  # so that the page takes each up before the next
            self._press(each)

    def undoes(self) -> None:
        self._press(f"{CONTROL}z")

    def summon(self) -> None:
        keys = (ALT, SHIFT, "Y")
        down = [{"type": "keyDown", "value": each} for each in keys]
        up = [{"type": "keyUp", "value": each} for each in reversed(keys)]
        self._call("Marionette:SetContext", value="chrome")
        try:
            typed = [{"type": "key", "id": "keys", "actions": [*down, *up]}]
            self._call("WebDriver:PerformActions", actions=typed)
        finally:
            self._call("Marionette:SetContext", value="content")

    def summoned(self, script: str) -> Any:  # noqa: ANN401  (any JSON)
        views = "api.extension.getViews({type: 'popup'})"
        return self.inside(
            f"{views}.map((window) => {{ const document = window.document; {script} }})[0]"
        )

    def keyword(self, text: str) -> None:
        self._call("Marionette:SetContext", value="chrome")
        try:
            script = ENTERED.replace("TEXT", json.dumps(f"{KEYWORD} {text}"))
            said = self._call("WebDriver:ExecuteAsyncScript", script=script, args=[])
        finally:
            self._call("Marionette:SetContext", value="content")
        assert said == "entered", said

    def tabs(self) -> list[str]:
        return [each for each in self._call("WebDriver:GetWindowHandles") if each != self._inner]

    def switch(self, tab: str) -> None:
        self._call("WebDriver:SwitchToWindow", handle=tab, focus=False)
        self.present = tab

    def opened(self) -> None:
        made = self._call("WebDriver:NewWindow", type="tab", focus=True)
        self.switch(made["handle"])

    def close(self) -> None:
        self._call("WebDriver:CloseWindow")
        self.switch(self.tabs()[-1])

    def front(self) -> None:
        self._call("WebDriver:SwitchToWindow", handle=self.present, focus=True)

    def inside(self, expression: str) -> Any:  # noqa: ANN401  (any JSON)
        script = (
            "const done = arguments[0], api = browser;"
            f"Promise.resolve({expression}).then(done, (error) => done(String(error)))"
        )
        self._call("WebDriver:SwitchToWindow", handle=self._inner, focus=False)
        try:
            return self._call("WebDriver:ExecuteAsyncScript", script=script, args=[])
        finally:
            self._call("WebDriver:SwitchToWindow", handle=self.present, focus=False)

    def prepare(self) -> None:
        self._inner = self._call("WebDriver:NewWindow", type="tab", focus=False)["handle"]
        self._call("WebDriver:SwitchToWindow", handle=self._inner, focus=False)
        self._call("WebDriver:Navigate", url=f"{self.origin}/manifest.json")
        here = "WebDriver:GetCurrentURL"
        until(lambda: self._call(here).startswith(self.origin), "a page of the extension")
        self.switch(self.present)
        self.front()

    def reload(self) -> None:
        self._call("WebDriver:Refresh")

    def end_worker(self) -> None:
        """Leave it: a Firefox that is driven keeps it."""

    def _press(self, keys: str) -> None:
        active = self._call("WebDriver:GetActiveElement")[ELEMENT]
        self._call("WebDriver:ElementSendKeys", id=active, text=keys)

    def _element(self, selector: str) -> str:
        found = self._call("WebDriver:FindElement", using="css selector", value=selector)
        return str(found[ELEMENT])


@contextmanager
def firefox(folder: Path, places: Paths, *extensions: Path) -> Iterator[_Firefox]:
    """Yield a Firefox with extensions in it and a folder for what it keeps; places: the daemon."""
    profile, home = folder / "profile", folder / "home"
    profile.mkdir(parents=True)
    told("firefox", home, places)
    lines = (f"user_pref({json.dumps(k)}, {json.dumps(v)});\n" for k, v in PREFERENCES.items())
    (profile / "user.js").write_text("".join(lines))
    with _process(profile, home) as process, (folder / "output").open("w"):
        marionette = Marionette(until(lambda: _port(profile, process), "Firefox"))
        try:
            patience = {"script": 120_000}  # ms: on a busy machine a page may open slowly
            asked = {"pageLoadStrategy": "none", "timeouts": patience}
            marionette.call("WebDriver:NewSession", capabilities=asked)
            for each in extensions:
                marionette.call("Addon:Install", path=str(each), temporary=True)
            driven = _Firefox(marionette)
            if extensions:
                driven.prepare()
            yield driven
            marionette.call("Marionette:Quit", flags=["eForceQuit"])
            process.wait(PATIENCE)
        finally:
            marionette.close()


@contextmanager
def _process(profile: Path, home: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Yield a Firefox that begins, and end it."""
    needs(PROGRAM)
    flags = ["--headless", "--no-remote", "--marionette", "--remote-allow-system-access"]
    process = subprocess.Popen(
        [PROGRAM, *flags, "--profile", str(profile)],
        env={**os.environ, "HOME": str(home)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        yield process
    finally:
        if process.poll() is None:
            process.kill()
        process.wait(PATIENCE)


def _port(profile: Path, process: subprocess.Popen[bytes]) -> int:
    """Return where it listens, 0 as long as it does not."""
    assert process.poll() is None, "Firefox ended"
    told_in = profile / "MarionetteActivePort"
    return int(told_in.read_text() or 0) if told_in.exists() else 0
