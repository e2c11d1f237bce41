"""The service over HTTP: its headers, its pages, and what it keeps to itself."""

import asyncio
import html
import json
import logging
import re
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from io import StringIO

import http_sf
import pytest
from aiohttp import ClientResponse, web
from aiohttp.test_utils import TestClient, TestServer
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.model.model import Model
from examples.search_service.attributes import ACCEPT, SHARED, asked_of
from examples.search_service.engine import Engine
from examples.search_service.journal import Journal
from examples.search_service.service import LONGEST, POLICY, Service, application
from examples.search_service.texts import questions

Client = TestClient[web.Request, web.Application]
TOLD = 'region="west_europe", int_dotnet, dev_web, int_java=?0'
few = settings(max_examples=30)


@pytest.fixture(scope="module")
def service(engine: Engine, model: Model) -> Service:
    """The service over the shipped model; its journal writes into a text."""
    return Service(engine, model.attributes, asked_of(model), Journal(StringIO()))


@asynccontextmanager
async def client_of(service: Service) -> AsyncIterator[Client]:
    """Serve it, and yield a client."""
    async with TestClient(TestServer(application(service))) as client:
        yield client


def asking(service: Service, do: Callable[[Client], Awaitable[None]]) -> None:
    """Do something with a client."""

    async def inside() -> None:
        async with client_of(service) as client:
            await do(client)

    asyncio.run(inside())


def get(service: Service, path: str, **headers: str) -> tuple[ClientResponse, str]:
    """Get a path."""
    found = []

    async def do(client: Client) -> None:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        async with client.get(path, headers=named) as answer:
            found.append((answer, await answer.text()))

    asking(service, do)
    return found[0]


async def raw(client: Client, query: bytes, headers: bytes = b"") -> tuple[int, bytes]:
    """Search with bytes that no client would send, and return the status and all that comes."""
    reader, writer = await asyncio.open_connection(client.host, client.port)
    first = b"GET /search?q=" + query + b" HTTP/1.1\r\nHost: localhost\r\n"
    writer.write(first + headers + b"Connection: close\r\n\r\n")
    answer = await reader.read()
    writer.close()
    await writer.wait_closed()
    return int(answer.split()[1]), answer


def titles(text: str) -> list[str]:
    """Return the titles of the results of a page."""
    return re.findall(r'data-result="\d+">([^<]*)<', text)


@pytest.mark.parametrize("path", ["/search", "/search?q=", "/search?q=editor", "/search?q=zzz"])
@pytest.mark.parametrize("told", [TOLD, "no dictionary ("])
def test_every_search_page_says_what_it_asks_for(service: Service, path: str, told: str) -> None:
    """A List of Tokens, of names of the model, the same on each: it is asked once."""
    answer, _ = get(service, path, Shared_Attributes=told)
    tokens = http_sf.parse(answer.headers[ACCEPT].encode(), tltype="list")
    assert isinstance(tokens, list)
    assert [str(each[0]) for each in tokens if isinstance(each, tuple)] == [
        each.name for each in service.asked
    ]
    assert answer.headers["Vary"] == SHARED


@pytest.mark.parametrize("path", ["/", "/result/0", "/style.css", "/chosen.js", "/nowhere"])
def test_no_other_page_asks(service: Service, path: str) -> None:
    """Only what a search can be ranked for is asked."""
    assert ACCEPT not in get(service, path)[0].headers


def test_it_ranks_for_what_it_is_told(service: Service) -> None:
    """As the engine ranks, and it says so; without a header it ranks for everyone."""
    for told, codes in (
        (TOLD, {"region": 8, "int_dotnet": 2, "dev_web": 2, "int_java": 1}),
        ("", {}),
    ):
        _, text = get(service, "/search?q=editor", **({"Shared_Attributes": told} if told else {}))
        found = service.engine.search("editor", codes)
        assert titles(text) == [each.entry.title for each in found.placed]
        assert ("ranked for: works as web developer: <b>yes</b>" in text) == bool(told)
        assert ("ranked for everyone" in text) == (not told)


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


def test_the_log_says_what_is_ignored_without_names_or_values(
    service: Service, caplog: pytest.LogCaptureFixture
) -> None:
    """One line for a request, and none where nothing is ignored."""
    with caplog.at_level(logging.DEBUG, "search_service"):
        get(service, "/search?q=editor", Shared_Attributes='secret="x", region="secret", hobby')
        get(service, "/search?q=editor", Shared_Attributes=TOLD)
        get(service, "/search?q=editor")
    assert [
        record.getMessage() for record in caplog.records if record.name == "search_service"
    ] == [
        f"ignored of {SHARED}: 2 with a value that the attribute has not; 1 that nobody asked for"
    ]


def test_every_question_and_result_has_a_page(service: Service, model: Model) -> None:
    """The first page leads to every question, and that to its results."""

    async def do(client: Client) -> None:
        async with client.get("/") as first:
            links = re.findall(r'href="(/search[^"]*)"', await first.text())
        assert len(links) == len(model.queries)
        for link, question in zip(links, questions(model.queries), strict=True):
            async with client.get(link) as answer:
                results = re.findall(r'href="(/result[^"]*)"', await answer.text())
            assert len(results) == len(question.results)
            async with client.get(results[-1]) as answer:
                assert answer.status == 200
                text = html.unescape(await answer.text())
                assert any(f"<h1>{each.title}</h1>" in text for each in question.results)

    asking(service, do)


@pytest.mark.parametrize(
    "path", ["/result/99999", "/result/-1", "/result/x", "/result/", "/search/"]
)
def test_what_is_not_there_is_not_found(service: Service, path: str) -> None:
    """404."""
    assert get(service, path)[0].status == 404


@pytest.mark.parametrize(
    ("told", "header"), [(TOLD, True), ("", False), ("broken (", False), ("nobody_asked", False)]
)
@pytest.mark.parametrize("script", [True, False])
def test_a_choice_is_written_once_with_both_ranks(
    service: Service, told: str, header: bool, script: bool
) -> None:
    """Told by the script, by the page that is opened, or by both."""
    book = StringIO()
    noting = Service(service.engine, service.attributes, service.asked, Journal(book))

    async def do(client: Client) -> None:
        headers = {SHARED: told} if told else {}
        async with client.get("/search", params={"q": "Editor "}, headers=headers) as answer:
            text = await answer.text()
        (link, name, number) = re.findall(
            r'href="(/result/\d+\?page=[^"]+)" data-page="([^"]+)" data-result="(\d+)"', text
        )[1]
        if script:
            async with client.post("/chosen", data={"page": name, "result": number}) as answer:
                assert answer.status == 204
        async with client.get(link) as answer:
            assert 'value="Editor"' in await answer.text()

    asking(noting, do)
    (line,) = map(json.loads, book.getvalue().splitlines())
    codes = {"int_dotnet": 2, "dev_web": 2, "int_java": 1} if header else {}
    second = service.engine.search("editor", codes).placed[1]
    assert line.keys() == {"time", "query", "rank", "rank_without", "header"}
    assert (line["query"], line["header"]) == ("Editor", header)
    assert (line["rank"], line["rank_without"]) == (2, second.plain)


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
