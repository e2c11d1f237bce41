"""JavaScript: it parses, what it imports is there, and the extension does nothing it may not."""

import json
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

from tests.house.javascript import imports, names, parsed
from tests.house.tree import ROOT, sources

EXTENSION = ROOT / "agent" / "browser_extension"
BUNDLED = ROOT / "tests/browser/editors"  # the one folder whose modules need npm's packages
PACKAGES = json.loads((ROOT / ".ci/package.json").read_text())["devDependencies"]

MAKES_HTML = "innerHTML outerHTML insertAdjacentHTML setHTMLUnsafe createContextualFragment write"
RUNS_TEXT = "eval Function importScripts"
REACHES_OUT = "fetch XMLHttpRequest WebSocket EventSource WebTransport sendBeacon"
KEEPS = "storage localStorage sessionStorage indexedDB caches cookie cookies"
FORBIDDEN = {*f"{MAKES_HTML} {RUNS_TEXT} {REACHES_OUT} {KEEPS}".split()}


def wrong_imports(path: Path, text: str) -> Iterator[str]:
    """Yield what a module imports and does not use, and what is not there, nor Node's, nor npm's.

    Whether a file has the name shows where the module is loaded.
    """
    root = parsed(text)
    written = [name for name, _ in names(root)]
    for source, here in imports(root):
        yield from (f"{each} is not used" for each in here if written.count(each) == 1)
        of_node = source.startswith("node:") and EXTENSION not in path.parents
        beside = source.startswith(("./", "../")) and (path.parent / source).is_file()
        of_npm = BUNDLED in path.parents and {source, source.rpartition("/")[0]} & PACKAGES.keys()
        if not of_node and not of_npm and not beside:
            yield source


class Page(HTMLParser):
    """Notes what a page of the extension may not have: code in it, and addresses elsewhere."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.wrong: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if tag == "script" and not given.get("src"):
            self.wrong.append("a script in the page")
        self.wrong += [name for name in given if name.startswith("on")]
        self.wrong += [text for text in given.values() if re.match(r"\s*(\w+:|//)", text)]


def test_imports_exist_and_are_used() -> None:
    """There is no build that would notice."""
    for path in sources(".js", ".mjs"):
        assert [*wrong_imports(path, path.read_text())] == [], path
    text = 'import {a} from "./gone.mjs"; import {c} from "path"; c(a); import b from "node:os";'
    here = ROOT / "examples/clients/here.mjs"
    assert [*wrong_imports(here, text)] == ["./gone.mjs", "path", "b is not used"]


def test_the_extension_makes_no_html_and_reaches_nobody() -> None:
    """Nor does it run text or keep anything; whom it asks is the daemon, by the relay."""
    for path in (each for each in sources(".js", ".mjs") if EXTENSION in each.parents):
        written = names(parsed(path.read_text()))
        assert [each for each in written if each[0] in FORBIDDEN] == [], path
    text = '// eval\nconst {fetch: f} = globalThis; a.innerHTML = "caches"; chrome.storage?.session'
    found = {name for name, _ in names(parsed(text))}
    assert found & FORBIDDEN == {"fetch", "innerHTML", "storage"}


def test_a_page_holds_no_code_and_nothing_from_elsewhere() -> None:
    """All of it comes with the extension."""
    for path in EXTENSION.rglob("*.html"):
        assert Page(path.read_text()).wrong == [], path
    text = "<script>1</script><p onclick='f()'><img src=//a.example><script src='a.js'></script>"
    assert Page(text).wrong == ["a script in the page", "onclick", "//a.example"]
