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


def files(*suffixes: str, below: Path = ROOT) -> list[str]:
    """Return where the files of a kind lie in the checkout, all or those below a folder."""
    found = (path for path in sources(*suffixes) if path.is_relative_to(below))
    return [str(path.relative_to(ROOT)) for path in found]


SCRIPTS = files(".js", ".mjs")


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

    def __init__(self) -> None:
        super().__init__()
        self.wrong: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Look at one element."""
        given = {name: value or "" for name, value in attrs}
        if tag == "script" and not given.get("src"):
            self.wrong.append("a script in the page")
        self.wrong += [name for name in given if name.startswith("on")]
        self.wrong += [text for text in given.values() if re.match(r"\s*(\w+:|//)", text)]


def wrong_in_page(text: str) -> list[str]:
    """Return what a page of the extension has that it may not."""
    page = Page()
    page.feed(text)
    return page.wrong


def test_imports_exist_and_are_used() -> None:
    """There is no build that would notice."""
    found = {name: [*wrong_imports(ROOT / name, (ROOT / name).read_text())] for name in SCRIPTS}
    assert {name: wrong for name, wrong in found.items() if wrong} == {}
    text = (
        'import {a} from "./gone.mjs"; import {join} from "path"; join(a); import b from "node:os";'
    )
    here = ROOT / "examples/clients/here.mjs"
    assert [*wrong_imports(here, text)] == ["./gone.mjs", "path", "b is not used"]


def test_the_extension_makes_no_html_and_reaches_nobody() -> None:
    """Nor does it run text or keep anything; whom it asks is the daemon, by the relay."""
    for name in files(".js", ".mjs", below=EXTENSION):
        written = names(parsed((ROOT / name).read_text()))
        assert [each for each in written if each[0] in FORBIDDEN] == [], name
    text = '// eval\nconst {fetch: f} = globalThis; a.innerHTML = "caches"; chrome.storage?.session'
    found = {name for name, _ in names(parsed(text))}
    assert found & FORBIDDEN == {"fetch", "innerHTML", "storage"}


def test_a_page_holds_no_code_and_nothing_from_elsewhere() -> None:
    """All of it comes with the extension."""
    for name in files(".html", below=EXTENSION):
        assert wrong_in_page((ROOT / name).read_text()) == [], name
    text = "<script>1</script><p onclick='f()'><img src=//a.example><script src='a.js'></script>"
    assert wrong_in_page(text) == ["a script in the page", "onclick", "//a.example"]
