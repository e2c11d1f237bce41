"""What a web page may ask and read."""

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.daemon.server import BY_HAND, admitted, check_page
from agent.daemon.sockets import at_port
from agent.errors import RefusedError, UsageError
from agent.wire.decide import Ask
from agent.wire.policy import Verdict
from agent.wire.routes import QUERY, ROUTES
from agent.wire.state import Locked, Site
from tests.daemon.fakes import ASK, Running, Said, serving

PAGE = "https://books.example:8443"
EXTENSION = "moz-extension://5f1c9b1e-7f4b-4f0f-9d3b-2d5c3a0f7a11"
SECRET = "t" * 43
LISTED = ["clinic.example", "www.books.example", "books.example.org"]
BODIES: dict[str, dict[str, Any]] = {
    "decide": ASK,
    "clicked": {"query": "editor"},
    "offer": {"names": ["region"]},
    "refuse": {},
}
TAKING = [
    route
    for route in ROUTES
    if QUERY in route.doors and route.takes is not None and route.name not in {"relay", *BY_HAND}
]
LABELS = st.text("abcxyz019", min_size=1, max_size=4)
SITES = st.builds("{}.{}".format, LABELS, st.sampled_from(["example", "co.uk", "github.io"]))


@pytest.fixture(scope="module")
def loopback() -> Iterator[Running]:
    """Serve the query door at a port of this machine, to a page and to an extension."""
    with at_port(0) as listening:
        pages = (PAGE, EXTENSION)
        with serving(
            QUERY, listening, lambda made: admitted(made, listening, pages, SECRET)
        ) as running:
            yield running


def as_from(running: Running, origin: str | None) -> dict[str, str]:
    """Return the headers of a page, or of a program."""
    bearer = {"Authorization": f"Bearer {SECRET}", "Host": f"127.0.0.1:{running.address}"}
    return bearer if origin is None else {**bearer, "Origin": origin}


def ask(
    running: Running, name: str, host: str, origin: str | None, *, relayed: bool = False
) -> Said:
    """Make a call about a host, as a page or as a program does; ``relayed``: in an envelope."""
    running.calls.made.clear()
    running.before.clear()
    headers = as_from(running, origin)
    about = "host" if name == "clicked" else "recipient"
    body = {**BODIES[name], about: host}
    if relayed:
        return running.ask("POST", "/v1/relay", {"id": 1, "call": name, "body": body}, headers)
    return running.ask("POST", f"/v1/{name}", body, headers)


@pytest.mark.parametrize("name", [route.name for route in TAKING])
def test_a_page_asks_for_its_own_site_alone(loopback: Running, name: str) -> None:
    """Every call that says something about somebody; what is refused reaches nobody."""
    for host in ("books.example", "www.books.example", "https://shop.books.example:1/x"):
        assert ask(loopback, name, host, PAGE).status == 200
        assert [made[0] for made in loopback.calls.made] == [name]
    for host in ("other.example", "books.example.org", "notbooks.example", "example", "127.0.0.1"):
        said = ask(loopback, name, host, PAGE)
        assert (said.status, said.body["code"]) == (403, "refused")
        assert (loopback.calls.made, loopback.before) == ([], [])


@pytest.mark.parametrize("name", [route.name for route in TAKING])
def test_an_envelope_changes_nothing_of_that(loopback: Running, name: str) -> None:
    """What is in it is what a page asks."""
    said = ask(loopback, name, "other.example", PAGE, relayed=True)
    assert (said.body["status"], said.body["body"]["code"]) == (403, "refused")
    assert (loopback.calls.made, loopback.before) == ([], [])
    assert ask(loopback, name, "books.example", PAGE, relayed=True).body["status"] == 200
    assert [made[0] for made in loopback.calls.made] == [name]


@pytest.mark.parametrize("relayed", [False, True])
@pytest.mark.parametrize("name", sorted(BY_HAND))
def test_no_page_drafts_or_tells(loopback: Running, name: str, *, relayed: bool) -> None:
    """Not even for its own site: it is for the user's hand."""
    loopback.calls.made.clear()
    body = ASK | {"recipient": "books.example"} if name == "draft" else {"id": "x", "names": ["a"]}
    method, path = "POST", "/v1/relay" if relayed else f"/v1/{name}"
    sent = {"id": 1, "call": name, "body": body} if relayed else body
    said = loopback.ask(method, path, sent, as_from(loopback, PAGE)).body
    assert (said["body"] if relayed else said)["code"] == "refused"
    assert loopback.calls.made == []
    said = loopback.ask(method, path, sent, as_from(loopback, EXTENSION)).body
    assert [made[0] for made in loopback.calls.made] == [name]


def test_no_page_wants_to_be_among_the_assistants(loopback: Running) -> None:
    """Not even for its own site: the user wants it, in the popup."""
    body = {"recipient": "books.example", "address": "https://books.example/"}
    loopback.calls.made.clear()
    said = loopback.ask("POST", "/v1/offer", body, as_from(loopback, PAGE))
    assert (said.status, loopback.calls.made) == (403, [])
    assert loopback.ask("POST", "/v1/offer", body, as_from(loopback, EXTENSION)).status == 200


@pytest.mark.parametrize("name", [route.name for route in TAKING])
@pytest.mark.parametrize("origin", [EXTENSION, None])
def test_an_extension_and_a_program_ask_for_anybody(
    loopback: Running, name: str, origin: str | None
) -> None:
    """Both are the user's own."""
    assert ask(loopback, name, "other.example", origin).status == 200
    assert [made[0] for made in loopback.calls.made] == [name]


@pytest.mark.parametrize("relayed", [False, True])
@pytest.mark.parametrize(
    ("origin", "seen"),
    [(PAGE, ["www.books.example"]), (EXTENSION, LISTED), (None, LISTED)],
    ids=["page", "extension", "program"],
)
def test_a_page_reads_the_searches_of_its_own_site(
    loopback: Running, origin: str | None, seen: list[str], *, relayed: bool
) -> None:
    """All of them would tell it which sites the user trusts."""
    sites = [Site(recipient=each, search=f"https://{each}/?q={{query}}") for each in LISTED]
    told = Locked(version="0", locked=False, sites=sites, assistants=["https://books.example"])
    before = loopback.calls.instead["locked"]
    loopback.calls.instead["locked"] = lambda: told
    try:
        headers = as_from(loopback, origin)
        envelope = {"id": 1, "call": "status", "body": None}
        method, path = ("POST", "/v1/relay") if relayed else ("GET", "/v1/status")
        said = loopback.ask(method, path, envelope if relayed else None, headers).body
    finally:
        loopback.calls.instead["locked"] = before
    found = said["body"] if relayed else said
    assert [each["recipient"] for each in found["sites"]] == seen
    assert found["assistants"] == ([] if origin == PAGE else ["https://books.example"])
    assert found["locked"] is False


@pytest.mark.parametrize(
    ("origin", "by", "asker"),
    [
        (None, None, "program"),
        (None, "user", "program"),
        (None, "page", "program"),
        (None, "assistant", "program"),
        (EXTENSION, None, "program"),
        (EXTENSION, "user", "program"),
        (PAGE, None, "page"),
        (PAGE, "user", "page"),
        (PAGE, "page", "page"),
        (PAGE, "assistant", "page"),
    ],
)
def test_no_page_can_say_that_it_is_the_user(
    loopback: Running, origin: str | None, by: str | None, asker: str
) -> None:
    """Who asks is what the door says: at this port no envelope is believed, as no relay uses it."""
    loopback.calls.made.clear()
    headers = as_from(loopback, origin)
    body = {**ASK, "recipient": "books.example"}
    if by is None:
        said = loopback.ask("POST", "/v1/decide", body, headers)
    else:
        envelope = {"id": 1, "call": "decide", "by": by, "body": body}
        said = loopback.ask("POST", "/v1/relay", envelope, headers)
    assert said.status == 200
    assert [named for _, _, named in loopback.calls.made] == [{"by": asker}]


@pytest.mark.parametrize("field", [{"by": "user"}, {"asker": "user"}])
def test_who_asks_is_no_part_of_a_plain_request(loopback: Running, field: dict[str, str]) -> None:
    """Nor has an envelope another word for it."""
    headers = as_from(loopback, None)
    said = loopback.ask("POST", "/v1/decide", {**ASK, **field}, headers)
    assert (said.status, said.body["code"]) == (400, "malformed")
    envelope = {"id": 1, "call": "decide", "by": "command", "body": ASK}
    assert loopback.ask("POST", "/v1/relay", envelope, headers).body["code"] == "malformed"


def test_a_page_at_another_door_is_a_page() -> None:
    """Somebody may have led a port to the socket."""
    with pytest.raises(RefusedError, match="only for its own site"):
        check_page([PAGE], Verdict(decided="approve", lasting="once"))
    with pytest.raises(RefusedError, match="only for its own site"):
        check_page(["null"], Ask(query="x", recipient="a.example"))


@given(page=SITES, own=LABELS, other=SITES, scheme=st.sampled_from(["https", "app"]))
def test_sites_are_those_of_the_public_suffixes(
    page: str, own: str, other: str, scheme: str
) -> None:
    """What has one registrant is one site, whatever is below it."""
    origin = f"{scheme}://{own}.{page}"
    check_page([origin], Ask(query="x", recipient=page))
    check_page([origin], Ask(query="x", recipient=f"a.{page}"))
    if other != page:
        with pytest.raises(RefusedError):
            check_page([origin], Ask(query="x", recipient=other))
        with pytest.raises(RefusedError):
            check_page([EXTENSION, origin], Ask(query="x", recipient=other))


def test_a_page_that_the_network_reads_asks_for_nothing() -> None:
    """What it is told would leave in clear; one of this machine does not leave it."""
    message = Ask(query="x", recipient="books.example")
    with pytest.raises(RefusedError, match="the network could read"):
        check_page(["http://books.example"], message)
    check_page(["http://localhost:8710"], Ask(query="x", recipient="localhost"))


def test_what_is_no_host_is_said_to_be_none() -> None:
    """As to anybody else."""
    with pytest.raises(UsageError):
        check_page([PAGE], Ask(query="x", recipient="a b"))
