"""`reticent proxy`: which services it takes, and what it refuses before it listens."""

import socket

import pytest

from agent.cli.assistants import PORT, checked
from agent.errors import UsageError
from tests.cli.conftest import Run

SERVICE = "https://api.openai.com/v1"
WHOM = ("--recipient", "openai.com")


@pytest.mark.parametrize(
    ("given", "used"),
    [
        (SERVICE, SERVICE),
        (f"{SERVICE}/", SERVICE),
        ("https://api.openai.com", "https://api.openai.com"),
        ("https://[2001:db8::1]:8443/a%20b", "https://[2001:db8::1]:8443/a%20b"),
        *((each, each) for each in ("http://localhost:11434/v1", "http://127.0.0.1:8000/v1")),
        ("http://[::1]:1/v1", "http://[::1]:1/v1"),
    ],
)
def test_https_or_this_machine(given: str, used: str) -> None:
    """What stands before /chat/completions is all that is asked for."""
    assert checked(given) == used


@pytest.mark.parametrize(
    "given",
    [
        *("api.openai.com/v1", "ftp://api.openai.com", "https://", "https:///v1", "", "x"),
        *("https://me:key@api.openai.com/v1", f"{SERVICE}?a=b", f"{SERVICE}#a", "https://a b/v1"),
        *(f"{SERVICE}\r\nHost: evil", "https://[::1/v1", "https://é.example/é", f"{SERVICE}\0"),
    ],
)
def test_what_is_no_base_url_is_refused(given: str) -> None:
    """With an example of one."""
    with pytest.raises(UsageError, match="is not a base URL") as error:
        checked(given)
    assert error.value.hint == f"write it as in {SERVICE}"


@pytest.mark.parametrize("host", ["api.openai.com", "localhost.evil.example", "10.0.0.1"])
def test_http_is_for_this_machine_alone(run: Run, host: str) -> None:
    """The network reads the key and the facts."""
    ran = run("proxy", "--upstream", f"http://{host}/v1", *WHOM)
    error, hint = ran.refusal()
    assert "the network could read what is sent to this service" in error
    assert "use its https address" in hint


def test_who_gets_the_facts_has_to_be_said(run: Run) -> None:
    """By a name that is one."""
    assert run("proxy", "--upstream", SERVICE).refusal()[0] == "missing option '--recipient'"
    assert run("proxy", *WHOM).refusal()[0] == "missing option '--upstream'"
    ran = run("proxy", "--upstream", SERVICE, "--recipient", "a b")
    assert "not a host name" in ran.refusal()[0]


def test_a_port_that_is_taken(run: Run) -> None:
    """It says which."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        error, _ = run("proxy", "--upstream", SERVICE, *WHOM, "--port", port).refusal(1)
    assert error.startswith(f"cannot listen at 127.0.0.1:{port}: ")
    assert PORT == 8377
