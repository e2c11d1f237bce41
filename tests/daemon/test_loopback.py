"""The query door on 127.0.0.1."""

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.daemon.server import admitted
from agent.daemon.sockets import at_port
from agent.wire.routes import CONTROL, QUERY, ROUTES
from tests.daemon.fakes import ASK, Running, Said, asked, serving

PAGE = "https://search.example"
SECRET = "t" * 43
NO_HOSTS = [
    *("127.0.0.1", "localhost", "127.0.0.1:1", ""),  # without the port
    *("LOCALHOST:{port}", "localhost.:{port}", "127.1:{port}", "0.0.0.0:{port}", "[::1]:{port}"),
    *("evil.example:{port}", "127.0.0.1.evil.example:{port}"),
    *("user@127.0.0.1:{port}", "127.0.0.1:{port} ,x"),
]
NO_PAGES = [
    *("null", "https://evil.example", "http://search.example"),
    *(f"{PAGE}/", f"{PAGE}.evil.example", PAGE.upper()),
]


@pytest.fixture(scope="module")
def loopback() -> Iterator[Running]:
    """Serve the query door at a port of this machine, to one page as well."""
    with (
        at_port(0) as listening,
        serving(
            QUERY, listening, lambda made: admitted(made, listening, [PAGE], SECRET)
        ) as running,
    ):
        yield running


def ask(running: Running, method: str = "POST", path: str = "/v1/decide", **headers: str) -> Said:
    """Ask as a program does that may, but for the headers given; one that is empty is left out."""
    running.calls.made.clear()
    given = {"Host": f"127.0.0.1:{running.address}", "Authorization": f"Bearer {SECRET}", **headers}
    body = {**ASK, "recipient": "search.example"} if method == "POST" else None
    with running.connect() as opened:
        return asked(
            opened,
            method,
            path,
            body,
            {name.replace("_", "-"): text for name, text in given.items()},
        )


@pytest.mark.parametrize("name", ["127.0.0.1", "localhost"])
def test_who_has_the_token_is_answered(loopback: Running, name: str) -> None:
    """By both names of the address."""
    said = ask(loopback, Host=f"{name}:{loopback.address}")
    assert (said.status, said.body["code"]) == (200, "answered")
    assert "Access-Control-Allow-Origin" not in said.headers


def test_only_what_the_query_door_has_is_there(loopback: Running) -> None:
    """With or without the token, nothing of control."""
    here = {(route.method, route.path) for route in ROUTES if QUERY in route.doors}
    for route in ROUTES:
        if (route.method, route.path) not in here:
            path = (
                route.path.replace("{id}", "1").replace("{recipient}", "x").replace("{name}", "x")
            )
            assert CONTROL in route.doors
            assert ask(loopback, route.method, path).status in {404, 405}
            assert ask(loopback, route.method, path, Authorization="x").status == 401
    assert loopback.calls.made == []


@pytest.mark.parametrize("host", NO_HOSTS)
def test_another_host_is_refused(loopback: Running, host: str) -> None:
    """A name that was made to lead here (rebinding) is one of these."""
    said = ask(loopback, Host=host.format(port=loopback.address))
    assert (said.status, said.body["code"]) == (403, "refused")
    assert loopback.calls.made == []


def test_no_host_and_two_hosts_are_refused(loopback: Running) -> None:
    """Even if one of the two is right."""
    right = f"Host: 127.0.0.1:{loopback.address}\r\n".encode()
    rest = f"Authorization: Bearer {SECRET}\r\nConnection: close\r\n\r\n".encode()
    loopback.calls.made.clear()
    for hosts in (b"", right + b"Host: evil.example\r\n", b"Host: evil.example\r\n" + right):
        answer = loopback.raw(b"GET /v1/status HTTP/1.1\r\n" + hosts + rest)
        assert answer.split(b" ")[1] in {b"400", b"403"}
    assert loopback.calls.made == []
    assert loopback.raw(b"GET /v1/status HTTP/1.1\r\n" + right + rest).split(b" ")[1] == b"200"


@pytest.mark.parametrize("origin", NO_PAGES)
def test_a_page_that_is_not_allowed_is_refused(loopback: Running, origin: str) -> None:
    """Even with the token; and it cannot read why."""
    for method in ("POST", "OPTIONS"):
        said = ask(loopback, method, Origin=origin, Access_Control_Request_Method="POST")
        assert (said.status, said.body["code"]) == (403, "refused")
        assert not [name for name in said.headers if name.startswith("Access-Control")]
    assert loopback.calls.made == []


def test_a_page_that_is_allowed_is_told_what_it_may_send(loopback: Running) -> None:
    """Before it sends anything, and without the token; it needs that for all else."""
    ask_may = {"Origin": PAGE, "Access_Control_Request_Method": "POST", "Authorization": ""}
    said = ask(loopback, "OPTIONS", **ask_may)
    assert (said.status, said.body) == (204, None)
    assert said.headers["Access-Control-Allow-Origin"] == PAGE
    assert said.headers["Access-Control-Allow-Headers"] == "Authorization, Content-Type"
    assert "Access-Control-Allow-Private-Network" not in said.headers
    assert "Access-Control-Allow-Credentials" not in said.headers
    private = ask(loopback, "OPTIONS", **ask_may, Access_Control_Request_Private_Network="true")
    assert private.headers["Access-Control-Allow-Private-Network"] == "true"
    assert loopback.calls.made == []
    for said, status in (
        (ask(loopback, Origin=PAGE), 200),
        (ask(loopback, Origin=PAGE, Authorization="x"), 401),
    ):
        assert said.status == status
        assert said.headers["Access-Control-Allow-Origin"] == PAGE
        assert said.headers["Vary"] == "Origin"


def test_options_that_ask_for_nothing_are_a_wrong_method(loopback: Running) -> None:
    """With the token; without it, nobody."""
    assert ask(loopback, "OPTIONS").status == 405
    assert ask(loopback, "OPTIONS", Authorization="").status == 401


@given(
    text=st.text(
        st.characters(min_codepoint=33, max_codepoint=255, exclude_categories=["C", "Z"]),
        max_size=50,
    )
)
def test_any_other_token_is_refused(loopback: Running, text: str) -> None:
    """Whatever it looks like."""
    said = ask(loopback, Authorization=f"Bearer {text}")
    assert said.status == (200 if text == SECRET else 401)
    assert len(loopback.calls.made) == (text == SECRET)


@pytest.mark.parametrize(
    "text", ["", SECRET, f"Basic {SECRET}", f"Bearer {SECRET}x", f"bearer{SECRET}"]
)
def test_a_token_that_is_not_given_as_one_is_refused(loopback: Running, text: str) -> None:
    """It is a bearer's (RFC 6750)."""
    said = ask(loopback, Authorization=text)
    assert (said.status, said.body["code"]) == (401, "refused")
    assert loopback.calls.made == []
