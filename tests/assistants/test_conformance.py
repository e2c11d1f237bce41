"""The protocol's own judges: its conformance suite, and the Inspector's command line.

Both are programs for Node.js 22, which `make extension` installs with them.
"""

import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
import uvicorn

from agent.assistants.server import AssistantTools, server_for
from tests.assistants.asking import CONTEXT, TOLD
from tests.house.tree import ran
from tests.programs import MODULES, PACKAGES, needs
from tests.worlds.daemons import PATIENCE, Live, living

NODES = [*MODULES.glob("node-linux-*/bin/node")]
SUITE = MODULES / "@modelcontextprotocol/conformance/dist/index.js"
INSPECTOR = MODULES / "@modelcontextprotocol/inspector/clients/launcher/build/index.js"


@pytest.fixture(scope="module")
def live() -> Iterator[Live]:
    """Return an unlocked daemon."""
    needs(PACKAGES)
    with living() as running:
        yield running


@contextmanager
def over_http(live: Live) -> Iterator[str]:
    """Serve the same server at a port of this machine, which the suite can reach; yield its URL."""
    app = server_for(AssistantTools(live.paths.query, "suite.example")).streamable_http_app()
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        serving = uvicorn.Server(uvicorn.Config(app, log_level="critical", ws="none"))
        thread = Thread(target=serving.run, args=([listening],))
        thread.start()
        try:
            yield f"http://127.0.0.1:{listening.getsockname()[1]}/mcp"
        finally:
            serving.should_exit = True
            thread.join(PATIENCE)


@pytest.mark.parametrize("scenario", ["server-initialize", "ping", "tools-list"])
def test_the_conformance_suite_is_content(live: Live, scenario: str) -> None:
    """As far as it applies: its other scenarios want tools, prompts and resources of their own."""
    with over_http(live) as url:
        done = ran(NODES[0], SUITE, "server", "--url", url, "--scenario", scenario)
    assert "Passed: 1/1, 0 failed, 0 warnings" in done.stdout


@pytest.fixture
def configured(live: Live, tmp_path: Path) -> list[str]:
    """Return how the Inspector is started with the file that `reticent connect` wrote."""
    home = {"HOME": str(tmp_path), "RETICENT_HOME": str(live.paths.config.parent)}
    told = [sys.executable, "-m", "agent.cli", "connect", "cursor"]
    recipient = ["--recipient", "inspector.example"]
    ran(*told, *recipient, env={**os.environ, **home})
    file = tmp_path / ".cursor/mcp.json"
    return [str(INSPECTOR), "--cli", "--config", str(file), "--server", "reticent"]


def inspected(tmp_path: Path, *arguments: str) -> Any:  # noqa: ANN401  (of JSON)
    """Return what the Inspector prints, run in a folder that has nothing to do with us."""
    alone = {"HOME": str(tmp_path), "PATH": os.defpath, "MCP_INSPECTOR_SECRET_STORE": "memory"}
    done = subprocess.run(
        [NODES[0], *arguments],
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE,
        cwd=tmp_path,
        env=alone,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_the_inspector_finds_nothing_to_object_to(configured: list[str], tmp_path: Path) -> None:
    """In the schemas of both tools, read strictly."""
    found = inspected(tmp_path, *configured, "--method", "tools/list", "--strict")
    assert [each["name"] for each in found["tools"]] == [CONTEXT, TOLD]
    assert all(each["outputSchema"] for each in found["tools"])


def test_the_inspector_is_answered(configured: list[str], tmp_path: Path) -> None:
    """Started as a host starts it, with next to nothing of the environment."""
    call = ["--method", "tools/call", "--tool-name", CONTEXT]
    found = inspected(tmp_path, *configured, *call, "--tool-arg", "question=job site")
    assert found["structuredContent"]["facts"]
    assert found["content"][0]["text"] == found["structuredContent"]["line"]
