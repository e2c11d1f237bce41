"""The manifest says who the extension is, and asks for no more than it needs."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest

from agent.daemon.programs import EXTENSION as SOURCE
from agent.daemon.programs import FIREFOX_ID, HOST
from agent.wire import base
from examples.pack_extension import LEFT_OUT, STORES, pack
from tests.examples.extension.conftest import EXTENSION

MANIFEST: dict[str, Any] = json.loads((EXTENSION / "manifest.json").read_text())


def files(value: object) -> Iterator[str]:
    if isinstance(value, dict):
        value = [*value.values()]
    if isinstance(value, list):
        for each in value:
            yield from files(each)
    elif isinstance(value, str) and re.fullmatch(r"[\w/]+\.(js|html|css|png)", value):
        yield value


def test_it_is_the_one_that_the_relay_is_for() -> None:
    """By the key for a Chromium, by its id for Firefox; and it calls the relay by its name."""
    assert MANIFEST["browser_specific_settings"]["gecko"]["id"] == FIREFOX_ID
    assert f'"{HOST}"' in (EXTENSION / "lib" / "relay.js").read_text()


def test_its_permissions() -> None:
    """Exactly these; nothing of them is optional, and nothing is open to pages but the gate."""
    allowed = "alarms declarativeNetRequestWithHostAccess nativeMessaging scripting webRequest"
    assert MANIFEST["permissions"] == [*allowed.split(), "webRequestBlocking"]
    assert MANIFEST["host_permissions"] == ["http://*/*", "https://*/*"]
    assert MANIFEST["incognito"] == "not_allowed"
    [open_to_pages] = MANIFEST["web_accessible_resources"]
    assert open_to_pages["resources"] == ["chromium/gate.html"]
    assert open_to_pages["use_dynamic_url"] is True
    unwanted = {"externally_connectable", "optional_permissions", "optional_host_permissions"}
    assert not unwanted & MANIFEST.keys()
    assert "content_scripts" not in MANIFEST
    gecko = MANIFEST["browser_specific_settings"]["gecko"]
    assert gecko["data_collection_permissions"] == {"required": ["none"]}


def test_one_key_opens_the_popup_and_nothing_else_does() -> None:
    """The browser opens it: no page can, nor a message."""
    [[name, command]] = MANIFEST["commands"].items()
    assert (name, [*command]) == ("_execute_action", ["suggested_key"])
    assert MANIFEST["action"]["default_popup"] == "popup/popup.html"
    sources = [each.read_text() for each in EXTENSION.rglob("*.js")]
    assert not any("openPopup" in each for each in sources)


def test_its_pages_cannot_be_framed_and_run_their_own_code_alone() -> None:
    """By their security policy."""
    policy = MANIFEST["content_security_policy"]["extension_pages"]
    directives = dict(each.strip().split(" ", 1) for each in policy.split(";"))
    assert directives["default-src"] == directives["frame-ancestors"] == "'none'"
    assert directives["script-src"] == "'self'"


def test_what_it_names_is_there_and_its_limits_are_the_daemons() -> None:
    """Every file; and it sends nothing that would be refused."""
    assert [each for each in files(MANIFEST) if not (EXTENSION / each).is_file()] == []
    text = re.sub(r" //.*", "", (EXTENSION / "lib" / "limits.js").read_text())
    for name in ("LONGEST_QUERY", "LONGEST_SEARCH", "LONGEST_NAME", "MOST_NAMES"):
        assert f"export const {name} = {getattr(base, name)};" in text


PACKED = "manifest.json"
OF_OTHERS = {
    "chromium": {"key", "browser_specific_settings", "background.scripts", "permissions"},
    "firefox": {"key", "minimum_chrome_version", "background.service_worker"},
}


def flat(manifest: dict[str, Any]) -> dict[str, Any]:
    """Return a manifest with the parts of its background apart."""
    background = {f"background.{name}": each for name, each in manifest["background"].items()}
    return {**manifest, "background": None, **background}


@pytest.mark.parametrize("store", STORES)
def test_it_has_what_a_browser_reads_and_nothing_else(tmp_path: Path, store: str) -> None:
    """Byte for byte, and packed again the same; its manifest lacks what is for others alone."""
    path = pack(store, tmp_path)
    packed, again = ZipFile(path), path.read_bytes()
    here = {str(each.relative_to(SOURCE)): each for each in SOURCE.rglob("*") if each.is_file()}
    assert {*packed.namelist()} == here.keys() - LEFT_OUT
    same = {name for name, file in here.items() if name != PACKED and name not in LEFT_OUT}
    assert [name for name in same if packed.read(name) != here[name].read_bytes()] == []
    assert pack(store, tmp_path).read_bytes() == again
    there, own = flat(json.loads(packed.read(PACKED))), flat(MANIFEST)
    changed = {name for name in own if there.get(name) != own[name]}
    assert (changed, there.keys() - own.keys()) == (OF_OTHERS[store], set())
    lacking = {*own["permissions"]} - {*there["permissions"]}
    assert lacking == ({"webRequestBlocking"} if store == "chromium" else set())
