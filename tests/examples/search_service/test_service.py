"""The service over HTTP: what it asks for, ranks for and writes down, whoever asks."""

import html
import json
import logging
import re
from html.parser import HTMLParser
from io import StringIO
from typing import Any

import http_sf
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.model.attributes import Attribute
from agent.model.model import Model
from examples.search_service import page
from examples.search_service.attributes import asked_of, codes_of, values_of
from examples.search_service.engine import Found, Placed
from examples.search_service.journal import Journal
from examples.search_service.service import LONGEST, POLICY, Service
from examples.search_service.texts import Entry, Question, questions
from examples.shared_attributes import ACCEPT, SHARED, accepting
from tests.examples.search_service.serving import Client, asking, get, raw, titles

TOLD = 'education="bachelor", student="yes", age="35_44"'
CODES = {"education": 5, "student": 2, "age": 4}
few = settings(max_examples=30)
PATHS = ["/", "/search?q=garden", "/result/0", "/style.css", "/chosen.js", "/nowhere"]


@pytest.mark.parametrize("path", ["/search", "/search?q=", "/search?q=garden", "/search?q=zzz"])
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


def test_it_ranks_for_what_it_is_told(service: Service) -> None:
    """As the engine ranks, and it says so; without a header it ranks for everyone."""
    for told, codes in (
        (TOLD, CODES),
        ("", {}),
    ):
        _, text = get(service, "/search?q=garden", **({"Shared_Attributes": told} if told else {}))
        found = service.engine.search("garden", codes)
        assert titles(text) == [each.entry.title for each in found.placed]
        assert ("<b>bachelor</b>" in text) == bool(told)
        assert ("ranked for everyone" in text) == (not told)


def test_the_log_says_what_is_ignored_without_names_or_values(
    service: Service, caplog: pytest.LogCaptureFixture
) -> None:
    """One line for a request, and none where nothing is ignored."""
    with caplog.at_level(logging.DEBUG, "search_service"):
        get(service, "/search?q=garden", Shared_Attributes='secret="x", education="secret", age')
        get(service, "/search?q=garden", Shared_Attributes=TOLD)
        get(service, "/search?q=garden")
    said = [each.getMessage() for each in caplog.records if each.name == "search_service"]
    assert [each.removeprefix(f"ignored of {SHARED}: ") for each in said] == [
        "2 with a value that the attribute does not have; 1 that nobody asked for"
    ]


def test_every_question_and_result_has_a_page(service: Service, model: Model) -> None:
    """The first page leads to every question, and that to its results."""

    async def do(client: Client) -> None:
        links = re.findall(r'href="(/search[^"]*)"', await (await client.get("/")).text())
        for link, question in zip(links, questions(model.queries), strict=True):
            found = await (await client.get(link)).text()
            results = re.findall(r'href="(/result[^"]*)"', found)
            assert len(results) == len(question.results)
            text = html.unescape(await (await client.get(results[-1])).text())
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
        async with client.get("/search", params={"q": "Garden "}, headers=headers) as answer:
            text = await answer.text()
        (link, name, number) = re.findall(
            r'href="(/result/\d+\?page=[^"]+)" data-page="([^"]+)" data-result="(\d+)"', text
        )[1]
        if script:
            async with client.post("/chosen", data={"page": name, "result": number}) as answer:
                assert answer.status == 204
        async with client.get(link) as answer:
            assert 'value="Garden"' in await answer.text()

    asking(noting, do)
    (line,) = map(json.loads, book.getvalue().splitlines())
    codes = CODES if header else {}
    second = service.engine.search("garden", codes).placed[1]
    assert line.keys() == {"time", "query", "rank", "rank_without", "header"}
    assert (line["query"], line["header"]) == ("Garden", header)
    assert (line["rank"], line["rank_without"]) == (2, second.plain)


@few
@given(st.lists(st.binary(max_size=60), min_size=1, max_size=5))
def test_no_header_is_an_error(service: Service, told: list[bytes]) -> None:
    """Whatever bytes a header holds, a page comes, and it is not ranked for them.

    400 is what aiohttp says of bytes that are no HTTP.
    """

    async def do(client: Client) -> None:
        for each in told:
            status, text = await raw(client, b"garden", b"Shared-Attributes: " + each + b"\r\n")
            assert status in {200, 400}
            assert status == 400 or b"ranked for everyone" in text

    asking(service, do)


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


OWN = ("127.0.0.1", "127.0.0.1:8710", "LOCALHOST:1", "search.localhost:8710")
OTHERS = ("evil.example", "localhost.evil.example", "evillocalhost", "127.0.0.1.evil.example:8710")
ODD = ("[::1]:8710", "127.0.0.2", "localhost:", "localhost:8710:8710")


@pytest.mark.parametrize("host", [*OWN, *OTHERS, *ODD])
def test_only_its_own_names_are_answered(service: Service, host: str) -> None:
    """A page of somebody else's name for this address reads nothing here (rebinding)."""
    answer, text = get(service, "/search?q=garden", Host=host)
    assert answer.status == (200 if host in OWN else 421)
    assert bool(titles(text)) == (ACCEPT in answer.headers) == (host in OWN)


@pytest.mark.parametrize("path", PATHS)
def test_every_answer_is_held_to_itself(service: Service, path: str) -> None:
    """Nothing from elsewhere runs in it, nothing frames or keeps it, and a search alone asks."""
    answer, text = get(service, path)
    assert (ACCEPT in answer.headers) == path.startswith("/search")
    assert answer.headers["Content-Security-Policy"] == POLICY
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert answer.headers["Cache-Control"] == "no-store"
    assert "Server" not in answer.headers
    assert not re.search(r"https?://|@import|url\(|style=|<script>", text)


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


nasty = st.text(st.sampled_from("<>&\"' a=/é\n"), min_size=1, max_size=12)
TITLES = {"region": "region of the world", "python": "interested in Python"}


class Reading(HTMLParser):
    """Takes down the tags and texts of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, tuple[str, ...]]] = []
        self.values: list[str | None] = []
        self.text = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Take down a tag with the names of its attributes."""
        self.tags.append((tag, tuple(name for name, _ in attrs)))
        self.values += [value for name, value in attrs if name == "value"]

    def handle_data(self, data: str) -> None:
        """Take down text."""
        self.text += data


def view(word: str, *places: tuple[int, int]) -> page.View:
    """Return a view in which everything that can be is a word."""
    entry = Entry(word, word)
    placed = tuple(Placed(rank, entry, rank, plain, 0.25) for rank, plain in places)
    found = Found(Question(word, word, word, (entry,)), placed, ("region",))
    return page.View(word, found, word, {"region": word, "python": "yes"}, TITLES)


@given(nasty)
def test_no_text_is_taken_for_a_tag(word: str) -> None:
    """Whatever the words are, the tags and their attributes are those of a harmless word."""
    for made in (
        lambda text: page.results(view(text, (1, 2), (2, 1)), [], text),
        lambda text: page.result(Question("q", text, text, ()), Entry(text, text), text),
        lambda text: page.home([Question(text, text, text, ())], text, text),
        lambda text: page.empty([Question(text, text, text, ())], text),
        page.problem,
    ):
        nasty_one, harmless = Reading(made(word)), Reading(made("word"))
        assert nasty_one.tags == harmless.tags
        assert word.strip() in nasty_one.text


@given(nasty)
def test_the_form_keeps_what_was_typed(word: str) -> None:
    """As it was typed."""
    assert word in Reading(page.results(view(word, (1, 1)), [], "")).values


def test_it_says_what_it_was_ranked_for_and_what_was_told_in_vain() -> None:
    """Titles of attributes, and the values that were told."""
    text = Reading(page.results(view("west_europe", (1, 1)), [], "")).text
    assert "ranked for: region of the world: west_europe\n" in text
    assert "told, but of no use here: interested in Python: yes\n" in text


def test_it_says_that_it_was_ranked_for_everyone() -> None:
    """Where nothing was told, or nothing of use."""
    found = view("x", (1, 1)).found
    nobody = page.View("x", Found(found.question, found.placed), "p", {}, TITLES)
    text = Reading(page.results(nobody, [], "")).text
    assert "ranked for everyone" in text
    assert "told" not in text


def test_results_say_how_far_they_moved() -> None:
    """Up, down, and nothing where they are as for everyone."""
    text = page.results(view("x", (1, 3), (2, 2), (3, 1)), [], "")
    assert 'aria-label="2 up, from place 3 for everyone">▲ 2<' in text
    assert 'aria-label="2 down, from place 1 for everyone">▼ 2<' in text
    assert text.count("aria-label") == 3  # with that of the form


def test_what_helps_some_query_is_asked_for(model: Model) -> None:
    """In the order of the model, as a list of tokens; an empty list is no header."""
    asked = asked_of(model)
    read: Any = http_sf.parse(accepting(each.name for each in asked).encode(), tltype="list")
    assert [str(item[0]) for item in read] == [each.name for each in asked]
    assert 0 < len(asked) < len(model.attributes)
    assert accepting(()) == ""


@pytest.fixture(scope="module")
def asked(model: Model) -> tuple[Attribute, ...]:
    """The attributes that the service asks for."""
    return asked_of(model)


@given(st.data())
def test_a_value_has_its_code(asked: tuple[Attribute, ...], data: st.DataObject) -> None:
    """And not specified, which is never told, has none."""
    told = {name: data.draw(st.sampled_from(may)) for name, may in values_of(asked).items()}
    codes = codes_of(told, asked)
    assert {each.name: each.values[codes[each.name]] for each in asked} == told
    assert 0 not in codes.values()
    assert codes_of({}, asked) == {}
