"""The search service: what it asks for, finds, ranks for and writes down, whoever asks."""

import asyncio
import json
import logging
import re
import signal
import socket
import subprocess
import sys
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from html.parser import HTMLParser
from io import StringIO
from pathlib import Path
from urllib.request import Request, urlopen

import http_sf
import pytest
from aiohttp import ClientResponse, web
from aiohttp.test_utils import TestClient, TestServer
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.decision.rerank import PULL
from agent.errors import UsageError
from agent.model.file import read, shipped_model
from agent.model.model import Model
from examples.search_service import page
from examples.search_service.__main__ import main
from examples.search_service.attributes import asked_of
from examples.search_service.engine import Engine, Found, Placed
from examples.search_service.journal import Journal
from examples.search_service.ranking import Ranker
from examples.search_service.service import POLICY, Service, application
from examples.search_service.texts import Entry, Question
from examples.shared_attributes import ACCEPT, SHARED
from tests.house.tree import ROOT
from tests.strategies import models
from tests.waiting import PATIENCE, bounded

Client = TestClient[web.Request, web.Application]


def asking(service: Service, do: Callable[[Client], Awaitable[None]]) -> None:
    async def inside() -> None:
        server = TestServer(application(service))
        async with asyncio.timeout(PATIENCE), TestClient(server) as client:
            await do(client)

    asyncio.run(inside())


def get(service: Service, path: str, **headers: str) -> tuple[ClientResponse, str]:
    found = []

    async def do(client: Client) -> None:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        async with client.get(path, headers=named) as answer:
            found.append((answer, await answer.text()))

    asking(service, do)
    return found[0]


def titles(text: str) -> list[str]:
    return re.findall(r'data-result="\d+">([^<]*)<', text)


@pytest.fixture(scope="session")
def model() -> Model:
    """That which comes with Reticent and has rows to rank by."""
    return read(shipped_model("so2017"))


@pytest.fixture(scope="session")
def engine(model: Model) -> Iterator[Engine]:
    made = Engine(model)
    yield made
    made.close()


@pytest.fixture(scope="session")
def service(engine: Engine, model: Model) -> Service:
    """The service; its journal writes into a text."""
    return Service(engine, model.attributes, asked_of(model), Journal(StringIO()))


TOLD = 'hobby="oss", int_dotnet, int_apple=?0'
CODES = {"hobby": 4, "int_dotnet": 2, "int_apple": 1}
PATHS = ["/", "/search?q=editor", "/result/0", "/style.css", "/chosen.js", "/nowhere"]


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


def test_it_ranks_for_what_it_is_told(service: Service) -> None:
    """As the engine ranks, and it says so; without a header it ranks for everyone."""
    for told, codes in ((TOLD, CODES), ("", {})):
        _, text = get(service, "/search?q=editor", **({"Shared_Attributes": told} if told else {}))
        found = service.engine.search("editor", codes)
        assert titles(text) == [each.entry.title for each in found.placed]
        assert ("<b>oss</b>" in text) == bool(told)
        assert ("ranked for everyone" in text) == (not told)


def test_the_log_says_what_is_ignored_without_names_or_values(
    service: Service, caplog: pytest.LogCaptureFixture
) -> None:
    """One line for a request, and none where nothing is ignored."""
    with caplog.at_level(logging.DEBUG, "search_service"):
        for told in ('secret="x", hobby="secret", int_java="odd"', TOLD):
            get(service, "/search?q=editor", Shared_Attributes=told)
        get(service, "/search?q=editor")
    said = [each.getMessage() for each in caplog.records if each.name == "search_service"]
    assert [each.removeprefix(f"ignored of {SHARED}: ") for each in said] == [
        "2 with a value that the attribute does not have; 1 that nobody asked for"
    ]


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
    second = service.engine.search("editor", CODES if header else {}).placed[1]
    assert line.keys() == {"time", "query", "rank", "rank_without", "header"}
    assert (line["query"], line["header"]) == ("Editor", header)
    assert (line["rank"], line["rank_without"]) == (2, second.plain)


OWN = ("127.0.0.1", "127.0.0.1:8710", "LOCALHOST:1", "search.localhost:8710")
OTHERS = ("evil.example", "localhost.evil.example", "evillocalhost", "127.0.0.1.evil.example:8710")
ODD = ("[::1]:8710", "127.0.0.2", "localhost:", "localhost:8710:8710")


def test_only_its_own_names_are_answered(service: Service) -> None:
    """A page of somebody else's name for this address reads nothing here (rebinding)."""
    for host in (*OWN, *OTHERS, *ODD):
        answer, text = get(service, "/search?q=editor", Host=host)
        assert answer.status == (200 if host in OWN else 421), host
        assert bool(titles(text)) == (ACCEPT in answer.headers) == (host in OWN)


def test_every_answer_is_held_to_itself(service: Service) -> None:
    """Nothing from elsewhere runs in it, nothing frames or keeps it, and a search alone asks."""
    wanted = {"Content-Security-Policy": POLICY, "Cache-Control": "no-store"}
    wanted["X-Content-Type-Options"] = "nosniff"
    for path in PATHS:
        answer, text = get(service, path)
        assert (ACCEPT in answer.headers) == path.startswith("/search")
        assert wanted.items() <= {*answer.headers.items()}, path
        assert "Server" not in answer.headers
        assert not re.search(r"https?://|@import|url\(|style=|<script>", text)


nasty = st.text(st.sampled_from("<>&\"' a=/é\n"), min_size=1, max_size=12)
TITLES = {"region": "region of the world", "python": "interested in Python"}


class Reading(HTMLParser):
    """Takes down the tags and texts of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, tuple[str, ...]]] = []
        self.text = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, tuple(name for name, _ in attrs)))

    def handle_data(self, data: str) -> None:
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


PROGRAM = [sys.executable, "-m", "examples.search_service"]


def test_it_serves_until_it_is_interrupted(tmp_path: Path) -> None:
    """It says where, answers there, writes what is chosen, and ends quietly."""
    book = tmp_path / "chosen.jsonl"
    with ExitStack() as ending:
        command, pipe = [*PROGRAM, "--port", "0", "--log", str(book)], subprocess.PIPE
        process = subprocess.Popen(command, cwd=ROOT, stdout=pipe, stderr=pipe, text=True)
        running = ending.enter_context(process)
        ending.callback(running.kill)
        assert running.stdout is not None
        with bounded(running.kill):
            line = running.stdout.readline()
        where = re.match(r"http://127\.0\.0\.1:\d+", line)
        assert where, line
        assert " of the 42 attributes" in line
        carried = {"Shared-Attributes": 'hobby="oss"'}
        search = Request(f"{where[0]}/search?q=editor", headers=carried)  # noqa: S310
        with urlopen(search, timeout=PATIENCE) as answer:  # noqa: S310
            (first, *_) = re.findall(r'href="(/result[^"]*)"', answer.read().decode())
        with urlopen(where[0] + first, timeout=PATIENCE) as answer:  # noqa: S310
            assert answer.status == 200
        running.send_signal(signal.SIGINT)
        _, told = running.communicate(timeout=PATIENCE)
    assert (running.returncode, told) == (0, "")
    assert '"rank": 1' in book.read_text()
    assert book.stat().st_mode & 0o777 == 0o600


def test_what_cannot_be_served_is_one_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """And a way out."""
    missing = str(tmp_path / "no" / "file")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        for option, value in (("--port", port), ("--log", missing), ("--model", missing)):
            assert main([option, value]) == 2
            out, err = capsys.readouterr()
            assert out == ""
            assert [line.split(": ")[1] for line in err.splitlines()] == ["error", "hint"]
            assert value in err.splitlines()[0]


KNOWN = {"hobby": 2, "years_job": 4, "int_php": 1}


def test_a_query_is_ranked_as_the_ranker_ranks_it(engine: Engine, model: Model) -> None:
    """Every query, for somebody and for everyone; numbers lead to what is shown."""
    ranker, names = Ranker(model), set()
    for index, query in enumerate(model.queries):
        found = engine.search(query.text, KNOWN)
        ranking, everyone = ranker.rank(index, KNOWN), ranker.rank(index, {})
        assert found.question is not None
        assert found.question.name == query.text
        assert found.used == ranking.used
        for placed, intent in zip(found.placed, ranking.order, strict=True):
            assert placed.entry == found.question.results[intent]
            assert (placed.rank, placed.plain) == (ranking.rank(intent), everyone.rank(intent))
            assert placed.probability == ranking.probabilities[intent]
            assert engine.result(placed.number) == (found.question, placed.entry)
            names.add(placed.number)
    assert names == set(range(sum(len(query.intents) for query in model.queries)))


def test_words_find_the_question(engine: Engine) -> None:
    """As agents read it, else by its words or those of its results, which then come first."""
    for text, query, first in (
        ("Version AND control", "version_control", None),
        ("best text editor for coding", "editor", None),
        ("notepad", "editor", "Notepad++"),
        ("of subversion", "version_control", "Subversion"),
        ("zebra subversion", None, "Subversion"),
    ):
        found = engine.search(text, {})
        assert (found.question and found.question.name) == query
        assert first in (None, found.placed[0].entry.title)


@settings(max_examples=300)
@given(text=st.text(max_size=40) | st.text('"*:^(){}-+ NEAROTDabc', max_size=30))
def test_any_text_finds_something_or_nothing(engine: Engine, text: str) -> None:
    """No text is an operator of the index; ranks are 1, 2, 3 and so on, results differ."""
    placed = engine.search(text, {}).placed
    assert [each.rank for each in placed] == list(range(1, len(placed) + 1))
    assert sorted(each.plain for each in placed) == [each.rank for each in placed]
    assert len({each.number for each in placed}) == len(placed)


few_engine = settings(max_examples=20)
Asking = tuple[Model, int, dict[str, int]]


@st.composite
def askings(draw: st.DrawFn) -> Asking:
    """Draw a model, one of its queries, and codes of some of its attributes."""
    drawn = draw(models())
    pulls = st.sampled_from([0.0, 0.5, 5.0, 200.0])  # 0: as a model may be built
    model = replace(
        drawn, queries=tuple(replace(each, shrinkage=draw(pulls)) for each in drawn.queries)
    )
    attributes = draw(st.lists(st.sampled_from(model.attributes), unique=True))
    codes = {each.name: draw(st.integers(0, len(each.values) - 1)) for each in attributes}
    return model, draw(st.integers(0, len(model.queries) - 1)), codes


def smoothed(model: Model, query: int, codes: dict[str, int]) -> list[float]:
    """Return P(x|q,a) by going through the rows one after the other."""
    table, names = model.rows(query), [each.name for each in model.attributes]
    rows = [
        (intent, dict(zip(names, (*table.person[user].tolist(), *request), strict=True)))
        for user, intent, request in zip(
            table.user.tolist(), table.intent.tolist(), table.request.tolist(), strict=True
        )
    ]
    every = range(len(model.queries[query].intents))
    pull, asked = model.queries[query].shrinkage or PULL, Counter(intent for intent, _ in rows)
    prior = [(asked[each] + 0.5) / (len(rows) + len(every) / 2) for each in every]
    if not codes:
        return prior
    group = [intent for intent, row in rows if codes.items() <= row.items()]
    return [(group.count(each) + pull * prior[each]) / (len(group) + pull) for each in every]


@few_engine
@given(askings())
def test_the_probabilities_are_smoothed_counts(asking: Asking) -> None:
    """They are those of the names used, sum to 1, and give the order; ties go by index."""
    model, query, codes = asking
    with pytest.raises(UsageError, match="unknown fact 'Nobody'"):
        Ranker(model).rank(query, codes | {"Nobody": 0})
    ranking = Ranker(model).rank(query, codes)
    used = {name: codes[name] for name in ranking.used}
    assert ranking.probabilities == pytest.approx(smoothed(model, query, used), rel=1e-12)
    assert ranking.probabilities.sum() == pytest.approx(1)
    by_rule = sorted(ranking.order, key=lambda each: (-ranking.probabilities[each], each))
    assert list(ranking.order) == by_rule
    assert sorted(by_rule) == list(range(len(model.queries[query].intents)))
    assert [ranking.rank(each) for each in ranking.order] == list(range(1, len(by_rule) + 1))
