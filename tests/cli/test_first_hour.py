"""The first hour: from an empty home, by one command, to facts told at every door."""

import json
import re
from contextlib import ExitStack
from pathlib import Path

from agent.daemon.programs import BROWSERS, FIREFOX_ID, manifest_path
from agent.daemon.sockets import listens
from agent.paths import paths
from tests import waiting
from tests.assistants.test_proxy import CHAT, ask, chat
from tests.assistants.test_server import CONTEXT
from tests.assistants.test_stdio import modern
from tests.assistants.upstream import proxied, serving
from tests.cli.conftest import process
from tests.tui.test_terminal import terminal
from tests.worlds.daemons import end
from tests.worlds.doors import hosting
from tests.worlds.people import machine_at

DINNER = "quick dinner ideas for a weeknight"
_, *LINES = Path(__file__).with_name("first_hour.txt").read_text().splitlines()
WALK = [tuple(map(str.strip, line.split(">"))) for line in LINES]


def ended() -> None:
    """End the daemon, if it came to that."""
    if listens(paths().control):
        end(paths())


def told_over_mcp(file: Path) -> object:
    """Start the server as a program with this file would, and return the facts for a question."""
    entry = json.loads(file.read_text())["mcpServers"]["reticent"]
    with process(entry["command"], *entry["args"]) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        print(json.dumps(modern(1, CONTEXT, {"question": DINNER})), file=server.stdin, flush=True)
        return json.loads(server.stdout.readline())["result"]["structuredContent"]["facts"]


def test_from_an_empty_home_to_the_first_facts(home: Path) -> None:
    """Told to an assistant, to a page by what the browser starts, and through the proxy."""
    (home / ".mozilla/firefox").mkdir(parents=True)
    (home / ".config/Claude").mkdir(parents=True)
    told = {"HOME": str(home), "PATH": str(home), "LC_ALL": "en_US.UTF-8", "XDG_CONFIG_HOME": ""}
    with ExitStack() as ends, terminal(paths(), told=told) as shown:
        ends.callback(ended)
        for question, answer in WALK:
            waiting.until(lambda: question in shown.everything(), question)  # noqa: B023  (at once)
            if "last 6" in question:  # which Enter alone does not dismiss
                [code] = re.findall(r"-(\w{6})$", shown.everything(), re.MULTILINE)
                shown.press("Enter", code)
            shown.press(*([answer] if answer else []), "Enter")
        assert "Sent " in shown.shows("All set.")
        assert not [each for each in (WALK[0][1], code) if each in shown.everything()]
        assert told_over_mcp(home / ".config/Claude/claude_desktop_config.json")
        host = json.loads(manifest_path(BROWSERS[-1], machine_at(home)).read_text())
        with hosting(Path("/none"), host["path"], FIREFOX_ID) as relay:
            answer = relay.ask(1, "decide", {"recipient": "recipes.example", "query": DINNER})
            assert answer["body"]["attributes"]
        with serving() as service, proxied(paths(), service.port) as proxy:
            assert ask(proxy, CHAT, chat(DINNER))[0] == 200
            assert service.asked[0].line is not None
        [line] = proxy.noted
        assert ("  POST chat/completions: 200, told " in line, DINNER in line) == (True, False)
