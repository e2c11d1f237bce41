"""Draw the popup over a chat as examples/popup.png, the picture in the README.

A daemon of a fictional person, whose vault goes afterwards, drafts the line; the popup's own page
shows it, in a Chromium that Playwright drives, and is laid over a drawn chat.
"""

import base64
import json
import os
import tempfile
from pathlib import Path
from urllib.parse import urlsplit

import msgspec
from playwright.sync_api import Browser, Route, sync_playwright

from agent.paths import HOME, paths
from agent.wire.client import Client
from agent.wire.decide import Ask, Draft
from examples.draw_requests import daemon

PICTURE = Path(__file__).with_name("popup.png")
EXTENSION = Path(__file__).parents[1] / "agent/browser_extension"
CHROMIUM = "/usr/bin/chromium"
HOST = "chat.example"
QUESTION = "Quick dinner ideas for a weeknight?"
POLICY = f"""\
preset = "balanced"

[[rule]]
recipient = "{HOST}"
address = "https://{HOST}/"
assistant = true
"""
WIDTH, HEIGHT = 760, 612
KINDS = {".html": "text/html", ".css": "text/css", ".js": "text/javascript"}
STUB = """
window.chrome = {
  runtime: { sendMessage: async () => (TOLD) },
  tabs: { query: async () => [{ id: 1, url: ADDRESS }] },
};
"""
CHAT = """<!doctype html><meta charset="utf-8"><style>
body { margin: 0; height: 612px; background: #eef1f3; font: 15px/1.5 system-ui, sans-serif; }
nav { height: 40px; background: #d5dde1; border-bottom: 1px solid #c2ccd1; }
nav span { position: absolute; top: 7px; padding: 2px 16px; border-radius: 99px; background: #fff;
  left: 20px; width: 520px; color: #56646c; }
nav b { position: absolute; top: 8px; right: 32px; width: 24px; height: 24px; border-radius: 6px;
  background: #1f4e5f; color: #fff; text-align: center; font-size: 14px; line-height: 24px; }
h1 { position: absolute; left: 44px; top: 170px; width: 280px; font-size: 22px; color: #38444a; }
p { position: absolute; left: 36px; top: 240px; width: 300px; min-height: 84px; margin: 0;
  padding: 12px 16px; border: 1px solid #c2ccd1; border-radius: 14px; background: #fff; }
img { position: absolute; top: 46px; right: 24px; width: 360px; border-radius: 8px;
  box-shadow: 0 6px 28px #0006; }
</style><nav><span>HOST</span><b>r</b></nav><h1>What is on your mind?</h1><p>QUESTION</p>
<img src="data:image/png;base64,POPUP">"""


def drafted() -> Draft:
    """Make what the daemon of the demo's fictional person drafts."""
    with tempfile.TemporaryDirectory(prefix="r") as folder:
        told = os.environ | {HOME: folder}
        with daemon(told, POLICY), Client(paths(told).query) as client:
            draft: Draft = client.call("draft", Ask(query=QUESTION, recipient=f"https://{HOST}"))
            return draft


def popup(browser: Browser, draft: Draft) -> bytes:
    """Take a picture of the popup's own page as it shows a draft."""
    told = {"search": None, "state": "", "fault": None, "offered": None, "refused": None}
    chat = {"origin": f"https://{HOST}", "text": QUESTION, "fault": None}
    whole = {**told, "chat": {**chat, "draft": msgspec.to_builtins(draft)}}
    stub = STUB.replace("TOLD", json.dumps(whole)).replace("ADDRESS", json.dumps(HOST))

    def serve(route: Route) -> None:
        file = EXTENSION / urlsplit(route.request.url).path.lstrip("/")
        route.fulfill(body=file.read_bytes(), content_type=KINDS[file.suffix])

    page = browser.new_page(viewport={"width": 360, "height": 100}, device_scale_factor=2)
    page.add_init_script(stub)
    page.route("**/*", serve)
    page.goto("http://popup.localhost/popup/popup.html")
    page.wait_for_selector("#put:visible")
    page.evaluate("document.activeElement.blur()")
    return page.screenshot(full_page=True)


def draw() -> bytes:
    """Draw the picture, a PNG."""
    draft = drafted()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, chromium_sandbox=False)
        page = browser.new_page(
            viewport={"width": WIDTH, "height": HEIGHT}, device_scale_factor=1.25
        )
        shown = base64.b64encode(popup(browser, draft)).decode()
        text = CHAT.replace("HOST", HOST).replace("QUESTION", QUESTION)
        page.set_content(text.replace("POPUP", shown))
        return page.screenshot()


if __name__ == "__main__":
    PICTURE.write_bytes(draw())
