"""The service over HTTP: what it asks for, for what it ranks, and what it writes down."""

import html
import json
import logging
import re
from io import StringIO

import http_sf
import pytest

from agent.model.model import Model
from examples.search_service.attributes import ACCEPT, SHARED
from examples.search_service.journal import Journal
from examples.search_service.service import Service
from examples.search_service.texts import questions
from tests.examples.search_service.serving import Client, asking, get, titles

TOLD = 'region="west_europe", int_dotnet, dev_web, int_java=?0'


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
