"""The service against whoever is not kind: headers, hosts, bytes, and choices that are none."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from examples.search_service.attributes import ACCEPT
from examples.search_service.service import LONGEST, POLICY, Service
from tests.examples.search_service.serving import Client, asking, get, raw, titles

few = settings(max_examples=30)


@few
@given(st.lists(st.binary(max_size=60), min_size=1, max_size=5))
def test_no_header_is_an_error(service: Service, told: list[bytes]) -> None:
    """Whatever bytes a header holds, a page comes, and it is not ranked for them.

    400 is what aiohttp says of bytes that are no HTTP.
    """

    async def do(client: Client) -> None:
        for each in told:
            status, text = await raw(client, b"editor", b"Shared-Attributes: " + each + b"\r\n")
            assert status in {200, 400}
            assert status == 400 or b"ranked for everyone" in text

    asking(service, do)


def test_a_header_of_more_than_a_kibibyte_is_ignored(service: Service) -> None:
    """Whole."""
    _, text = get(service, "/search?q=editor", Shared_Attributes="int_dotnet, " + "x" * 1024)
    assert "ranked for everyone" in text


@pytest.mark.parametrize(
    "path", ["/result/99999", "/result/-1", "/result/x", "/result/", "/search/"]
)
def test_what_is_not_there_is_not_found(service: Service, path: str) -> None:
    """404."""
    assert get(service, path)[0].status == 404


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"page=x&result=1", 204),
        (b"page=x&result=one", 400),
        (b"page=x&result=%D9%A3", 400),
        (b"page=x&result=" + b"1" * 10, 400),
        (b"\xff\0%ff;;&&==", 400),
        (b"", 400),
        (b"page=x&result=1&" + b"x" * 1024, 413),
    ],
)
def test_a_choice_that_is_none_is_refused(service: Service, body: bytes, status: int) -> None:
    """What is shaped like one, but of a page that nobody was shown, is let go."""

    async def do(client: Client) -> None:
        async with client.post("/chosen", data=body) as answer:
            assert answer.status == status
        async with client.get("/chosen") as answer:
            assert answer.status == 405

    asking(service, do)


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("127.0.0.1", 200),
        ("127.0.0.1:8710", 200),
        ("LOCALHOST:1", 200),
        ("search.localhost:8710", 200),
        ("evil.example", 421),
        ("localhost.evil.example", 421),
        ("evillocalhost", 421),
        ("127.0.0.1.evil.example:8710", 421),
        ("[::1]:8710", 421),
        ("127.0.0.2", 421),
        ("localhost:", 421),
        ("localhost:8710:8710", 421),
    ],
)
def test_only_its_own_names_are_answered(service: Service, host: str, status: int) -> None:
    """A page of somebody else's name for this address reads nothing here (rebinding)."""
    answer, text = get(service, "/search?q=editor", Host=host)
    assert answer.status == status
    assert bool(titles(text)) == (status == 200)
    assert (ACCEPT in answer.headers) == (status == 200)


@pytest.mark.parametrize(
    "path", ["/", "/search?q=editor", "/result/0", "/style.css", "/chosen.js", "/nowhere"]
)
def test_every_answer_is_held_to_itself(service: Service, path: str) -> None:
    """Nothing from elsewhere runs in it, nothing frames it, nothing keeps it."""
    answer, text = get(service, path)
    assert answer.headers["Content-Security-Policy"] == POLICY
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert answer.headers["Cache-Control"] == "no-store"
    assert "Server" not in answer.headers
    assert not re.search(r"https?://|@import|url\(", text)


def test_a_long_text_is_cut(service: Service) -> None:
    """So that no request makes the service work for long."""
    _, text = get(service, "/search?q=" + "a" * (LONGEST + 1))
    assert "a" * LONGEST in text
    assert "a" * (LONGEST + 1) not in text


@pytest.mark.parametrize("query", [b"\xff", b"%ff%ed%a0%80", b"%00", b"<script>", b"%3Cscript%3E"])
def test_any_bytes_can_be_searched_for(service: Service, query: bytes) -> None:
    """They come back as text, if at all."""

    async def do(client: Client) -> None:
        status, text = await raw(client, query)
        assert status in {200, 400}
        assert b"<script>" not in text

    asking(service, do)
