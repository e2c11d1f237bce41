"""The zips for the stores: the extension, without what only the other kind of browser knows."""

import json
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest

from agent.daemon.browsers import EXTENSION as SOURCE
from examples.pack_extension import LEFT_OUT, STORES, pack

MANIFEST = "manifest.json"
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
    """Byte for byte; packed again, on another day, it is the same."""
    path = pack(store, tmp_path)
    packed, again = ZipFile(path), path.read_bytes()
    here = {str(each.relative_to(SOURCE)): each for each in SOURCE.rglob("*") if each.is_file()}
    assert {*packed.namelist()} == here.keys() - LEFT_OUT
    assert [
        name
        for name in packed.namelist()
        if name != MANIFEST and packed.read(name) != here[name].read_bytes()
    ] == []
    assert pack(store, tmp_path).read_bytes() == again


@pytest.mark.parametrize("store", STORES)
def test_its_manifest_lacks_what_is_for_others(tmp_path: Path, store: str) -> None:
    """All the rest of it is as in the source."""
    there = flat(json.loads(ZipFile(pack(store, tmp_path)).read(MANIFEST)))
    here = flat(json.loads((SOURCE / MANIFEST).read_text()))
    changed = {name for name in here if there.get(name) != here[name]}
    assert (changed, there.keys() - here.keys()) == (OF_OTHERS[store], set())
    lacking = {*here["permissions"]} - {*there["permissions"]}
    assert lacking == ({"webRequestBlocking"} if store == "chromium" else set())


def test_it_declares_that_it_collects_nothing() -> None:
    """To Firefox, from the first version that asks."""
    gecko = json.loads((SOURCE / MANIFEST).read_text())["browser_specific_settings"]["gecko"]
    assert gecko["data_collection_permissions"] == {"required": ["none"]}
