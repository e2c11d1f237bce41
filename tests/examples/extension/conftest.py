"""The extension's modules in Node: their functions are called as those of Python are."""

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest

from tests.house.tree import ROOT
from tests.programs import needs
from tests.waiting import bounded

EXTENSION = ROOT / "agent" / "browser_extension"
HERE = Path(__file__).parent


class Modules:
    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def __call__(self, module: str, name: str, *given: object) -> Any:  # noqa: ANN401  (any JSON)
        """Call a function of a module that takes and gives JSON alone."""
        calls, answers = cast("Any", (self._process.stdin, self._process.stdout))
        with bounded(self._process.kill):
            calls.write(json.dumps([(EXTENSION / module).as_uri(), name, given]) + "\n")
            calls.flush()
            line = answers.readline()
        assert line, f"{name} of {module} broke off at {given}"
        return json.loads(line)[0]


@pytest.fixture(scope="session")
def modules() -> Iterator[Modules]:
    """Start one Node for all tests."""
    command = [needs("node"), str(HERE / "ask.mjs")]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8"
    ) as process:
        yield Modules(process)
        with bounded(process.kill):
            process.communicate()
