"""Packs the browser extension for the stores: `make extension` writes one zip for either.

The source is one for both kinds of browsers, and each store objects to what is for the other. The
same source gives the same bytes.
"""

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

SOURCE = Path(__file__).parents[1] / "agent/browser_extension"
STORES = ("chromium", "firefox")
LEFT_OUT = {"README.md", "package.json"}  # for people, and for Node
FIREFOX_ONLY = "webRequestBlocking"
EPOCH = (1980, 1, 1, 0, 0, 0)  # the first time that a zip can hold
MODE = 0o100644 << 16


def manifest_for(store: str, manifest: Mapping[str, Any]) -> dict[str, Any]:
    """Copy the manifest without what only the other kind of browser knows."""
    background = dict(manifest["background"])
    found = {**manifest, "background": background}
    if store == "firefox":
        del found["key"], found["minimum_chrome_version"], background["service_worker"]
        return found
    del found["browser_specific_settings"], background["scripts"]
    del found["key"]  # the store has its own, and with it another id than `browsers.KEY` gives
    found["permissions"] = [each for each in manifest["permissions"] if each != FIREFOX_ONLY]
    return found


def pack(store: str, folder: Path) -> Path:
    """Write the zip for a store into a folder, and return its path."""
    manifest = json.loads((SOURCE / "manifest.json").read_text())
    path = folder / f"reticent-{store}.zip"
    with ZipFile(path, "w") as packed:
        for file in sorted(each for each in SOURCE.rglob("*") if each.is_file()):
            name, data = file.relative_to(SOURCE).as_posix(), file.read_bytes()
            if name == "manifest.json":
                data = (json.dumps(manifest_for(store, manifest), indent=2) + "\n").encode()
            if name not in LEFT_OUT:
                entry = ZipInfo(name, EPOCH)
                entry.compress_type, entry.external_attr = ZIP_DEFLATED, MODE
                packed.writestr(entry, data)
    return path


if __name__ == "__main__":
    place = Path(*sys.argv[1:] or ["dist"])
    place.mkdir(exist_ok=True)
    for each in STORES:
        print(pack(each, place))
