"""`reticent daemon` and `proxy`, the way to a daemon, and what commands make of its answers."""

import json
import socket
import sys
from itertools import islice
from pathlib import Path

import msgspec
import pytest

from agent.cli.assistants import PORT, checked
from agent.cli.daemon import ended
from agent.errors import UsageError
from agent.paths import paths
from agent.wire.client import Client
from agent.wire.decide import Allowed
from tests.cli.conftest import Run, process
from tests.cli.daemon import ANSWERS, HOSTILE, LONG, REGION, steering
from tests.waiting import PATIENCE
from tests.wire.fake import FakeDaemon, says

START = [sys.executable, "-m", "agent.cli", "daemon", "--json"]


@pytest.mark.usefixtures("home")
def test_it_answers_until_it_is_stopped(run: Run) -> None:
    """It says first where; a second one is refused; its end is no error, and leaves no socket."""
    with process(*START) as started:
        assert started.stdout is not None
        said = "".join(islice(started.stdout, 6))
        assert json.loads(said)["control"] == str(paths().control)
        with Client(paths().control) as client:
            status = client.call("status")
        assert (status.vault, status.locked, status.process) == (False, True, started.pid)
        assert "run" in run("daemon").refusal(code=1)[0]
        assert "nothing is attached" in run("daemon", "stop").page
        assert started.wait(PATIENCE) == 0
    assert not paths().control.exists()
    with ended(paths()):
        pass
    assert run("daemon", "stop").refusal(code=4)[0] == "the daemon is not running"


@pytest.fixture
def user(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A user without a service."""
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    monkeypatch.delenv("SUDO_USER", raising=False)
    return home


def test_what_is_found_is_a_page_and_what_is_bad_has_an_exit_code(run: Run, user: Path) -> None:
    """Before anything is made, with the way on; then on the page, and in the object."""
    ran = run("doctor")
    assert (ran.code, ran.err) == (0, "")
    lines = ran.out.splitlines()
    place = lines.index("note  vault: no vault yet")
    assert lines[place + 1].strip() == "reticent init"
    assert lines[-1].startswith("Nothing is wrong, ")
    (user / "config").mkdir(0o700)
    (user / "config" / "policy.toml").write_text("k = 0\n\x1b = 1\n")
    page, record = run("doctor"), run("doctor", "--json")
    assert (page.code, record.code) == (1, 1)
    assert "BAD   policy: " in page.out
    assert "\x1b" not in page.out
    assert page.out.splitlines()[-1].startswith("1 problem")
    found = json.loads(record.out)["findings"]
    assert {"name", "state", "what", "fix"} == {*found[0]}
    assert [each["name"] for each in found if each["state"] == "bad"] == ["policy"]


# Commands, the route whose answer each shows, and the key it has in the object, where not alone.
SHOWN: dict[tuple[str, ...], tuple[str, str | None]] = {
    ("ask", "a.example", "weather"): ("decide", None),
    ("ask", "a.example", "weather", "--explain"): ("explain", None),
    ("lock",): ("lock", None),
    ("policy", "block", "a.example"): ("refuse", None),
    ("policy", "block", "a.example", "--undo"): ("allow", None),
    ("profile", "unset", "region"): ("change_profile", None),
    ("approve", "3"): ("verdict", None),
    ("requests", "forget", "weather.example", "--yes"): ("forget", None),
    ("requests", "list"): ("requests", "requests"),
    ("requests", "list", "--waiting"): ("reviews", "waiting"),
    ("requests", "recipients"): ("recipients", "recipients"),
    ("requests", "undo"): ("undo", None),
    ("status",): ("status", None),
    ("unlock",): ("status", None),
}
SAID = {**ANSWERS, "allow": Allowed(rule="mine"), "attributes": [REGION]}
PAGES = [*SHOWN, ("profile", "show", "--reveal"), ("requests", "list", "--values")]


def test_the_object_is_the_message(run: Run, fake: FakeDaemon) -> None:
    """As openapi.json describes it."""
    fake.handlers |= {route: says(SAID[route]) for route, _ in SHOWN.values()}
    for command, (route, key) in SHOWN.items():
        message = msgspec.json.decode(msgspec.json.encode(SAID[route]))
        shown = run(*command, "--json").record
        assert shown == (message if key is None else {key: message}), command


def test_nothing_that_the_daemon_says_steers_the_terminal(run: Run, fake: FakeDaemon) -> None:
    """Names of sites, queries and rules may come from anywhere; a long one fits in 80 columns."""
    for text in (HOSTILE, LONG[:40]):
        fake.handlers |= {name: says(steering(message, text)) for name, message in SAID.items()}
        for command in PAGES:
            ran = run(*command)
            assert (ran.out + ran.err).replace("\n", "").isprintable(), command
            assert max(map(len, ran.out.splitlines())) <= 80, command


SERVICE = "https://api.openai.com/v1"
WHOM = ("--recipient", "openai.com")


def test_a_base_url_is_https_or_of_this_machine(run: Run) -> None:
    """What stands before /chat/completions is all that is asked for; the network reads the rest."""
    assert checked(f"{SERVICE}/") == SERVICE
    for given in (
        *(SERVICE, "https://api.openai.com", "https://[2001:db8::1]:8443/a%20b"),
        *("http://localhost:11434/v1", "http://127.0.0.1:8000/v1", "http://[::1]:1/v1"),
    ):
        assert checked(given) == given
    for given in (
        *("api.openai.com/v1", "ftp://api.openai.com", "https://", "https:///v1", "", "x"),
        *("https://me:key@api.openai.com/v1", f"{SERVICE}?a=b", f"{SERVICE}#a", "https://a b/v1"),
        *(f"{SERVICE}\r\nHost: evil", "https://[::1/v1", "https://é.example/é", f"{SERVICE}\0"),
    ):
        with pytest.raises(UsageError, match="is not a base URL") as error:
            checked(given)
        assert error.value.hint == f"write it as in {SERVICE}"
    for host in ("api.openai.com", "localhost.evil.example", "10.0.0.1"):
        error_, hint = run("proxy", "--upstream", f"http://{host}/v1", *WHOM).refusal()
        assert "the network could read what is sent to this service" in error_
        assert "use its https address" in hint


def test_a_port_that_is_taken(run: Run) -> None:
    """It says which; before that, whether the service is of another recipient."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        error, _ = run("proxy", "--upstream", SERVICE, *WHOM, "--port", port).refusal(1)
        other = run("proxy", "--upstream", "https://api.deepseek.com/v1", *WHOM, "--port", port)
        run("proxy", "--upstream", SERVICE, "--recipient", "chatgpt.com", "--port", port).refusal(1)
    assert error.startswith(f"cannot listen at 127.0.0.1:{port}: ")
    assert "note: api.deepseek.com learns what counts as known to openai.com" in other.err
    assert PORT == 8377
