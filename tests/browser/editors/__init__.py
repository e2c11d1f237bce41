"""Pages with a message box, one for each way in which chats make theirs."""

import json
import os
from functools import cache
from pathlib import Path
from typing import Any

from tests.browser.world import World
from tests.house.tree import ran
from tests.programs import MODULES, PACKAGES, needs
from tests.waiting import until

SOURCE = Path(__file__).with_name("editors.js")
NAMES = ("textarea", "react", "contenteditable", "prosemirror", "lexical", "quill", "codemirror")
PAGE = """<!doctype html><html lang="en"><meta charset="utf-8"><title>chat/{name}</title>
<link rel="icon" href="data:,">
<style>
  textarea, [contenteditable] {{ font: 16px sans-serif; width: 30em; min-height: 3em }}
  .ProseMirror, .ql-editor, [data-lexical-editor] {{ white-space: pre-wrap }}
  .ql-clipboard {{ position: absolute; left: -99999px; height: 1px; overflow: hidden }}
</style>
<form><div id="box"></div><button>Send</button></form>
<script src="/editors.js"></script>
"""


@cache
def bundle() -> str:
    """Return the script of all of them, made of what npm has installed."""
    needs(PACKAGES)
    command = (MODULES / ".bin/esbuild", SOURCE, "--bundle", "--minify", "--format=iife")
    node = {**os.environ, "NODE_PATH": str(MODULES)}
    return ran(*command, '--define:process.env.NODE_ENV="production"', env=node).stdout


def pages() -> dict[str, str]:
    return {"/editors.js": bundle(), **{f"/chat/{name}": PAGE.format(name=name) for name in NAMES}}


def chat(world: World, host: str, text: str = "", name: str = "textarea") -> None:
    """Show a chat whose message has the focus, with a text in it."""
    world.recipient.pages.update(pages())
    world.browser.go(world.recipient.url(host, f"/chat/{name}"))
    world.browser.shows(f"chat/{name}")
    if text:
        world.browser.run(f"box.set({json.dumps(text)})")
        until(lambda: held(world) == plain(name, text), "the text")


def held(world: World) -> Any:  # noqa: ANN401  (any JSON)
    """Return the text that the editor's own model has."""
    return world.browser.run("return box.text()")


def plain(name: str, text: str) -> str:
    """Return a text as an editor has it: one without a model of its own has no tabs."""
    return text.replace("\t", " ") if name == "contenteditable" else text
