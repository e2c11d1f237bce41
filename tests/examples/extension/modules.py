"""The extension's modules in Node: their functions are called as those of Python are."""

import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, cast

from tests.house.tree import ROOT
from tests.programs import needs
from tests.waiting import bounded

EXTENSION = ROOT / "agent" / "browser_extension"
HERE = Path(__file__).parent


class Modules:
    """A Node that runs."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process
        self._asked = cast("IO[str]", process.stdin)
        self._answered = cast("IO[str]", process.stdout)

    def __call__(self, module: str, name: str, *given: object) -> Any:  # noqa: ANN401  (any JSON)
        """Return what a function of a module returns; of one that takes and gives JSON alone."""
        source = (EXTENSION / module).as_uri()
        with bounded(self._process.kill):
            self._asked.write(json.dumps([source, name, given]) + "\n")
            self._asked.flush()
            line = self._answered.readline()
        assert line, f"{name} of {module} broke off at {given}"
        return json.loads(line)[0]


@contextmanager
def running() -> Iterator[Modules]:
    """Yield a Node that ends with the `with`."""
    with subprocess.Popen(
        [needs("node"), str(HERE / "ask.mjs")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        encoding="utf-8",
    ) as process:
        try:
            yield Modules(process)
        finally:
            with bounded(process.kill):
                process.communicate()
