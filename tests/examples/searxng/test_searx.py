"""The real searx, over HTTP: what it says, what it hears, and what it makes of that."""

import signal
from collections.abc import Iterator
from pathlib import Path

import http_sf
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.decision.engine import Engine
from agent.model.file import SHIPPED, read, shipped_model
from examples.search_service.attributes import asked_of as helpful
from examples.searxng.__main__ import PYTHON, SHARE, prepared
from examples.searxng.adapter import INTERESTS, STUDIES, asked_of, categories_for, language_for
from examples.shared_attributes import MOST_BYTES, PRICE
from tests.examples.searxng.serving import Answer, answers, free, get, started
from tests.house.tree import ran
from tests.waiting import PATIENCE

SEARCH = "/search?q=version+control&format=json"
SHARED = "Shared-Attributes"
AMERICAN = ("Accept-Language", "en-US,en;q=0.5")
EVERYONE = ["us", "uk", "in", "de", "at"]
TOLD = 'region="uk_ireland_anz", int_java'


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    found = free()
    with started(found):
        yield found


def ask(port: int, *told: str | bytes, target: str = SEARCH) -> Answer:
    """Search as an American browser would; ``told``: each a line of the header."""
    return get(port, target, [AMERICAN, *((SHARED, each) for each in told)])


def test_a_search_says_what_it_can_use(port: int) -> None:
    """A List of Tokens, whether or not it was told anything; pages without a search say nothing."""
    for each in (ask(port), ask(port, TOLD), ask(port, "(")):
        read = http_sf.parse(each.headers["accept-shared-attributes"].encode(), tltype="list")
        assert isinstance(read, list)
        names = [str(item[0]) for item in read if isinstance(item, tuple)]
        assert {"region", "int_java", "language"} <= {*names}
        assert each.headers["vary"] == SHARED
    for target in ("/", "/preferences", "/about", "/search?q="):
        assert "accept-shared-attributes" not in get(port, target).headers


def test_the_language_and_the_categories_follow_what_it_was_told(port: int) -> None:
    """The region moves its pages up, the interest adds those on computing before them."""
    assert ask(port).results == EVERYONE
    assert ask(port).changes == []
    found = ask(port, TOLD)
    assert found.results == ["git", "uk", "us", "in", "de", "at"]
    assert found.changes == ['language en-GB, category "it" added']
    found = ask(port, 'language="de", country="AT"')
    assert found.results[:2] == ["at", "de"]
    assert found.changes == ["language de-AT"]
    nurse = "/search?q=work+as+a+nurse&format=json"
    found = ask(port, "study_now", target=nurse)
    assert found.changes == []  # a Boolean, where the models have a String
    found = ask(port, 'study_now="four-year college"', target=nurse)
    assert (found.results[-1], found.changes) == ("science", ['category "science" added'])


def test_nothing_lasts_longer_than_its_request(port: int) -> None:
    """Neither for the next search, nor in the form of the page that was adapted."""
    page = ask(port, TOLD, target="/search?q=version+control").body.decode()
    assert "Adapted to what you shared" in page
    assert '<option value="en-US" selected="selected">' in page
    assert 'name="category_it" checked' not in page
    assert ask(port).results == EVERYONE


def test_what_the_user_chose_stays(port: int) -> None:
    """A language or a category that is not the usual one is a choice."""
    for more, changed in (
        ("&language=fr", 'category "it" added'),
        ("&language=en-US", 'language en-GB, category "it" added'),  # as the browser asks
        ("&categories=science", "language en-GB"),
        ("&categories=general,it", "language en-GB"),
        ("&category_general=on", 'language en-GB, category "it" added'),
        ("&engines=pages", "language en-GB"),
        ("&q=:de+version+control", 'category "it" added'),
        ("&q=!pgit+version+control", "language en-GB"),
    ):
        base = "/search?format=json" if "q=" in more else SEARCH
        assert ask(port, TOLD, target=base + more).changes == [changed], more


HOSTILE: tuple[str | bytes, ...] = (
    *("", "region", "region=west_europe", 'region="<script>alert(1)</script>"'),
    *('region="../../etc/passwd", language="xx-XX"', 'language="all", country="en"'),
    *('region="uk_ireland_anz', 'region="uk_ireland_anz",', "int_java=1, int_php=?2"),
    *('region=%"s%c3%bcd"', 'region=%"%ff%fe"', 'region=%"%E4"', b"region=\xff\xfe\x80"),
    *(b'region="s\xc3\xbcd"', b"int_java\x0b", "(" * 1000, "a=(" * 300),
    *('int_java;a="' + "x" * 2 * MOST_BYTES + '"', TOLD + ";" + "x" * 30_000),
)


def test_what_is_malformed_or_hostile_is_ignored(port: int) -> None:
    """The page is the one for everyone, and nothing of the header is on it."""
    for told in (*((each,) for each in HOSTILE), (TOLD,) * 60, (TOLD, "(")):
        found = ask(port, *told)
        assert (found.status, found.results, found.changes) == (200, EVERYONE, []), told
        page = ask(port, *told, target="/search?q=version+control")
        assert (page.status, b"alert(1)" in page.body) == (200, False)


KNOWN = frozenset(
    ["de", "de-AT", "de-DE", "en", "en-GB", "en-IN", "en-US", "es-MX", "pt-BR", "sv-SE", "zh"]
)
ASKED = asked_of(KNOWN)
USUAL = ("all", "auto", "de", "en", "en-GB", "en-US", "es", "fr-CA", "sv-SE")
facts = st.fixed_dictionaries(
    {}, optional={name: st.sampled_from(may) for name, may in ASKED.items()}
)


def tongue(code: str) -> str:
    """Return a code without its region."""
    return code.partition("-")[0]


@given(facts, st.sampled_from(USUAL))
def test_the_language_told_decides(told: dict[str, str], usual: str) -> None:
    """With the region that it names; else with the country, if the engine has that.

    A region narrows it and never changes it: nobody in Mexico who searches in English is sent to
    Spanish pages.
    """
    language, country = told.get("language", usual), told.get("country")
    found = language_for(told, usual, KNOWN)
    assert tongue(found) == tongue(language)
    if "language" in told and "-" in language:
        assert found == language
    elif country is not None and f"{tongue(language)}-{country}" in KNOWN:
        assert found == f"{tongue(language)}-{country}"


@given(facts)
def test_a_category_needs_its_fact(told: dict[str, str]) -> None:
    """A no says nothing, and each comes once."""
    found = categories_for(told)
    assert ("it" in found) == any(told.get(each) == "yes" for each in INTERESTS)
    assert ("science" in found) == STUDIES.get(told.get("study_now", ""), False)
    assert set(found) <= {"it", "science"}
    assert len({*found}) == len(found)


def test_as_the_table_of_the_readme_says() -> None:
    """One line for each case."""
    for told, usual, language in (
        ({"region": "uk_ireland_anz"}, "en-US", "en-GB"),
        ({"region": "usa_canada"}, "en", "en-US"),
        ({"region": "latin_america"}, "es", "es-MX"),
        ({"region": "latin_america"}, "en-US", "en-US"),
        ({"region": "south_asia", "country": "AT"}, "en-US", "en-US"),
        ({"language": "de", "region": "south_asia"}, "en-US", "de"),
        ({"language": "de", "country": "AT"}, "en-US", "de-AT"),
        ({"language": "de-DE", "country": "AT"}, "en-US", "de-DE"),
        ({"language": "sv"}, "en-US", "sv-SE"),
        ({"region": "usa_canada"}, "all", "all"),
    ):
        assert language_for(told, usual, KNOWN) == language, (told, usual)


def test_what_is_asked_for_helps_some_query() -> None:
    """By one of the shipped models; each value that may come is read."""
    models = [read(shipped_model(name)) for name in SHIPPED]
    studying = Engine(models[:1]).decide("student_aid", anonymity_price=PRICE)
    usable = {*studying.share, *(each.name for each in helpful(models[1]))}
    asked = {*ASKED} - {"language", "country"}  # these are of no model
    assert asked <= usable
    for each in (each for model in models for each in model.attributes if each.name in asked):
        assert {*each.values[1:]} <= {*ASKED[each.name]}


def test_its_settings_are_its_owners_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With a secret of their own each time, wherever the folder lies; Debian's are not touched."""
    monkeypatch.setenv("PYTHONHOME", "/nowhere")
    secrets = set()
    for name in ("a", 'b "quoted" $name: #'):
        folder = tmp_path / name
        folder.mkdir()
        environment = prepared(folder, 8711)
        assert "PYTHONHOME" not in environment
        settings = Path(environment["SEARX_SETTINGS_PATH"])
        assert settings.stat().st_mode & 0o777 == 0o600
        script = "import searx; s = searx.settings; print(s['server']['secret_key'], s['ui'])"
        said = ran(PYTHON, "-c", script, cwd=folder, env=environment).stdout
        secrets.add(said.split()[0])
        assert repr(str(folder / "static")) in said
    assert len(secrets) == 2
    assert min(map(len, secrets)) == 64
    assert not (SHARE / "static/plugins/external_plugins").exists()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_it_ends_whole(
    number: signal.Signals, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The engine too, which a terminal's Ctrl-C may not reach, and nothing of it is left."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    port = free()
    with started(port) as program:
        assert [*tmp_path.iterdir()] != []
        program.send_signal(number)
        assert program.wait(PATIENCE) == 0
    assert [*tmp_path.iterdir()] == []
    assert not answers(port)
