"""Run Debian's searx with the plugin on 127.0.0.1, until Ctrl-C.

.venv/bin/python -m examples.searxng [--port 8711]

It runs as a process of its own, by the system's Python, from a folder that is gone afterwards.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from secrets import token_hex
from string import Template
from tempfile import TemporaryDirectory

import http_sf
import typing_extensions

PORT, MOST = 8711, 65535
PYTHON, SHARE = "/usr/bin/python3", Path("/usr/share/python3-searx")
HERE = Path(__file__).parent
ABSENT = """\
searxng: error: the package searx is not installed
searxng: hint: run `sudo apt install --no-install-recommends searx` on Debian 12"""


def prepared(folder: Path, port: int) -> dict[str, str]:
    """Write settings and a copy of the static files into a folder; return the environment.

    The system's Python finds three things in it: this package, the reader of the two headers, and
    the library that parses them.
    """
    shutil.copytree(SHARE / "static", folder / "static")
    texts = {"static": folder / "static", "engine": HERE / "engine", "secret": token_hex(32)}
    given = {name: json.dumps(str(text)) for name, text in texts.items()}  # which YAML reads too
    written = Template((HERE / "settings.yml").read_text("utf-8")).substitute(given, port=port)
    settings = folder / "settings.yml"
    settings.touch(0o600)
    settings.write_text(written, "utf-8")
    path = folder / "path"
    path.mkdir()
    for each in (HERE.parent, Path(http_sf.__file__).parent, Path(typing_extensions.__file__)):
        (path / each.name).symlink_to(each)
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    return {**kept, "PYTHONPATH": str(path), "SEARX_SETTINGS_PATH": str(settings)}


def main(arguments: list[str]) -> int:
    """Run it until it ends, and return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m examples.searxng", description=__doc__)
    parser.add_argument("--port", type=int, default=PORT, help=f"by default {PORT}")
    port = parser.parse_args(arguments).port
    if not 0 < port <= MOST:
        parser.error(f"argument --port: give a number from 1 to {MOST}")
    if not SHARE.is_dir():
        print(ABSENT, file=sys.stderr)
        return 1
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # ends as Ctrl-C does
    command = [PYTHON, "-m", "searx.webapp"]
    with (
        suppress(KeyboardInterrupt),
        TemporaryDirectory(prefix="reticent-searx-") as folder,
        subprocess.Popen(command, cwd=folder, env=prepared(Path(folder), port)) as running,  # noqa: S603
    ):
        try:
            print(f"http://searx.localhost:{port}/ until Ctrl-C", flush=True)
            return running.wait()
        finally:
            running.terminate()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
