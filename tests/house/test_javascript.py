"""JavaScript: it parses, what it imports is there, and the extension does nothing it may not."""

import json
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

import pytest

from tests.house.javascript import imports, is_module, names, parsed
from tests.house.tree import ROOT, ran, sources
from tests.programs import needs

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


@pytest.mark.parametrize("name", files(".js", ".mjs"))
def test_it_parses(name: str) -> None:
    """As a module if it is one, as a classic script otherwise."""
    text = (ROOT / name).read_text()
    kind = "module" if is_module(ROOT / name, parsed(text)) else "commonjs"
    done = ran(needs("node"), "--check", f"--input-type={kind}", given=text, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("name", files(".js", ".mjs"))
def test_what_it_imports_is_there_and_is_used(name: str) -> None:
    """There is no build that would notice."""
    assert [*wrong_imports(ROOT / name, (ROOT / name).read_text())] == []


@pytest.mark.parametrize("name", files(".js", ".mjs", below=EXTENSION))
def test_the_extension_makes_no_html_and_reaches_nobody(name: str) -> None:
    """Nor does it run text or keep anything; whom it asks is the daemon, by the relay."""
    written = names(parsed((ROOT / name).read_text()))
    assert [each for each in written if each[0] in FORBIDDEN] == []


@pytest.mark.parametrize("name", files(".html", below=EXTENSION))
def test_a_page_holds_no_code_and_nothing_from_elsewhere(name: str) -> None:
    """All of it comes with the extension."""
    assert wrong_in_page((ROOT / name).read_text()) == []


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('import {call} from "./reticent_client.mjs"; call();', []),
        ('import {call as a} from "./reticent_client.mjs"; a();', []),
        ('import {call} from "./reticent_client.mjs";', ["call is not used"]),
        ('import * as all from "./reticent_client.mjs"; all.call();', []),
        ('import one, * as all from "./reticent_client.mjs"; all();', ["one is not used"]),
        ('export {offer} from "./reticent_client.mjs";', []),
        ('export * from "./gone.mjs";', ["./gone.mjs"]),
        ('import "./gone.mjs";', ["./gone.mjs"]),
        ('import {join} from "node:path"; join();', []),
        ('import {join} from "path"; join();', ["path"]),
    ],
)
def test_the_search_for_imports_itself(text: str, found: list[str]) -> None:
    """Each way to import, there and not there."""
    assert [*wrong_imports(ROOT / "examples/clients/here.mjs", text)] == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('// eval\nconst a = "innerHTML";', set()),
        ("a.innerHTML = b", {"innerHTML"}),
        ("const {fetch: f} = globalThis", {"fetch"}),
        ("const {localStorage} = window; f({eval})", {"localStorage", "eval"}),
        ("chrome.storage?.session.set()", {"storage"}),
    ],
)
def test_the_search_for_names_itself(text: str, found: set[str]) -> None:
    """In code, and not in what is only said."""
    assert {name for name, _ in names(parsed(text))} & FORBIDDEN == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('<script type="module" src="popup.js"></script><a href="#x">a</a>', []),
        ("<script>1</script>", ["a script in the page"]),
        ("<p onclick='f()'>", ["onclick"]),
        (
            "<img src='https://a.example/x'><img src=//a.example>",
            ["https://a.example/x", "//a.example"],
        ),
        ("<a href=' javascript:1'>", [" javascript:1"]),
    ],
)
def test_the_search_in_pages_itself(text: str, found: list[str]) -> None:
    """What may stand there, and what may not."""
    assert wrong_in_page(text) == found
