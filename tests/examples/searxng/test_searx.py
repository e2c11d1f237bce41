"""The real searx, over HTTP: what it says, what it hears, and what it makes of that."""

from collections.abc import Iterator

import http_sf
import pytest

from examples.shared_attributes import MOST_BYTES
from tests.examples.searxng.serving import Answer, get, searx

SEARCH = "/search?q=version+control&format=json"
SHARED = "Shared-Attributes"
AMERICAN = ("Accept-Language", "en-US,en;q=0.5")
EVERYONE = ["us", "uk", "in", "de", "at"]
TOLD = 'region="uk_ireland_anz", int_java'


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    """Where it listens."""
    with searx() as found:
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
    found = ask(port, "student", target="/search?q=work+as+a+nurse&format=json")
    assert found.changes == []  # a Boolean, where the models have a String
    found = ask(port, 'student="full_time"', target="/search?q=work+as+a+nurse&format=json")
    assert (found.results[-1], found.changes) == ("science", ['category "science" added'])


def test_nothing_lasts_longer_than_its_request(port: int) -> None:
    """Neither for the next search, nor in the form of the page that was adapted."""
    page = ask(port, TOLD, target="/search?q=version+control").body.decode()
    assert "Adapted to what you shared" in page
    assert '<option value="en-US" selected="selected">' in page
    assert 'name="category_it" checked' not in page
    assert ask(port).results == EVERYONE


@pytest.mark.parametrize(
    ("more", "changes"),
    [
        ("&language=fr", ['category "it" added']),
        ("&language=en-US", ['language en-GB, category "it" added']),  # as the browser asks
        ("&categories=science", ["language en-GB"]),
        ("&categories=general,it", ["language en-GB"]),
        ("&category_general=on", ['language en-GB, category "it" added']),
        ("&engines=pages", ["language en-GB"]),
        ("&q=:de+version+control", ['category "it" added']),
        ("&q=!pgit+version+control", ["language en-GB"]),
    ],
)
def test_what_the_user_chose_stays(port: int, more: str, changes: list[str]) -> None:
    """A language or a category that is not the usual one is a choice."""
    base = "/search?format=json" if "q=" in more else SEARCH
    assert ask(port, TOLD, target=base + more).changes == changes


HOSTILE: list[tuple[str | bytes, ...]] = [
    ("",),
    ("region",),
    ("region=west_europe",),
    ('region="<script>alert(1)</script>"',),
    ('region="../../etc/passwd", language="xx-XX"',),
    ('language="all", country="en"',),
    ('region="uk_ireland_anz',),
    ('region="uk_ireland_anz",',),
    ("int_java=1, int_php=?2",),
    ('region=%"s%c3%bcd"',),
    ('region=%"%ff%fe"',),
    ('region=%"%E4"',),
    (b"region=\xff\xfe\x80",),
    (b'region="s\xc3\xbcd"',),
    (b"int_java\x0b",),
    ("(" * 1000,),
    ("a=(" * 300,),
    ('int_java;a="' + "x" * 2 * MOST_BYTES + '"',),
    (TOLD + ";" + "x" * 30_000,),
    tuple([TOLD] * 60),
    (TOLD, "("),
]


@pytest.mark.parametrize("told", HOSTILE, ids=range(len(HOSTILE)))
def test_what_is_malformed_or_hostile_is_ignored(port: int, told: tuple[str | bytes, ...]) -> None:
    """The page is the one for everyone, and nothing of the header is on it."""
    found = ask(port, *told)
    assert (found.status, found.results, found.changes) == (200, EVERYONE, [])
    page = ask(port, *told, target="/search?q=version+control")
    assert page.status == 200
    assert b"alert(1)" not in page.body


def test_several_lines_are_one(port: int) -> None:
    """RFC 9651, section 4.2."""
    found = ask(port, 'region="uk_ireland_anz"', "int_java")
    assert found.results == ask(port, TOLD).results
    assert ask(port, TOLD, "int_php, other=1, region=2").changes == ['category "it" added']
