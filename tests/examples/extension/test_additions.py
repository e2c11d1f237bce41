"""What is added to an address: that alone, once, and nothing where any of it is odd."""

from typing import Any
from urllib.parse import parse_qsl, urlsplit

import http_sf
from http_sf.errors import StructuredFieldError
from hypothesis import example, given
from hypothesis import strategies as st

from tests.examples.extension.conftest import Modules

ADDITIONS = "lib/additions.js"
SEARCH = "https://a.example/search?hl=en&q={query}"
shown = st.characters(exclude_categories=["C", "Z"])
texts = st.builds(
    lambda words, last: " ".join([*words, last]),
    st.lists(st.text(shown, min_size=1, max_size=4), max_size=2),
    st.text(shown, max_size=4).map(lambda text: f"{text}z"),
)
queries = st.text(st.characters(exclude_categories=["Cs"]), min_size=1)
rests = st.sampled_from(["", "&ia=web", "&q=other&x=%20+'", "#top", "&a=b#q=c&kl=x", "&kl=own"])


def led(modules: Modules, carry: str, address: str, answer: object) -> str:
    """Return where a search goes that has an answer."""
    site = modules("lib/sites.js", "siteOf", listed(carry))
    additions: Any = modules(ADDITIONS, "additionsOf", site, address, answer)
    return str(modules(ADDITIONS, "withAdditions", site, address, additions))


def listed(carry: str) -> dict[str, str]:
    return {"recipient": "a.example", "search": SEARCH, "carry": carry}


def typed(modules: Modules, query: str, rest: str) -> str:
    site = modules("lib/sites.js", "siteOf", listed("words"))
    return str(modules("lib/sites.js", "addressOf", site, query)) + rest


def pairs(address: str) -> list[tuple[str, str]]:
    return parse_qsl(urlsplit(address).query, keep_blank_values=True, errors="replace")


@given(queries, rests, texts)
@example("it is python?", "", "Python")
def test_words_stand_after_the_query(modules: Modules, query: str, rest: str, words: str) -> None:
    """Everything else is as it was; with them in it, it is as it is."""
    address = typed(modules, query, rest)
    with_words = led(modules, "words", address, {"words": words, "header": "h"})
    before = modules("lib/sites.js", "addressOf", {**listed("words")}, query)
    if with_words == address:
        signs = not words.replace(" ", "").isalnum()  # which are not compared
        assert words.lower().rstrip("z") in query.lower() or signs
    else:
        assert with_words.startswith(before + "+")
        assert with_words.endswith(rest)
        site = modules("lib/sites.js", "siteOf", listed("words"))
        assert modules("lib/sites.js", "queryOf", site, with_words) == f"{query} {words}"
        assert pairs(with_words)[0] == ("hl", "en")
    assert led(modules, "words", with_words, {"words": words}) == with_words


@given(queries, rests, st.dictionaries(st.sampled_from(["kl", "hl", "q", "mkt", "a b"]), texts))
def test_parameters_are_set_unless_they_are(
    modules: Modules, query: str, rest: str, parameters: dict[str, str]
) -> None:
    """Behind all others, whose values stay; set once."""
    address = typed(modules, query, rest)
    with_them = led(modules, "parameters", address, {"parameters": parameters, "words": "x"})
    names = {name for name, _ in pairs(address)}
    new = [each for each in parameters.items() if each[0] not in names]
    assert pairs(with_them) == pairs(address) + new
    assert urlsplit(with_them).fragment == urlsplit(address).fragment
    assert led(modules, "parameters", with_them, {"parameters": parameters}) == with_them


UNSEEN = ("", " ", "a\nb", " a", "a ", "\u202eb", "a\u200bb", "a\0", "\ud800")
ODD = (*UNSEEN, "x" * 1025, 7, ["a"], {"a": "b"}, None, True)


def test_nothing_odd_is_added(modules: Modules) -> None:
    """Nor any of what comes with it."""
    address = typed(modules, "x", "")
    for odd in ODD:
        answers: list[tuple[str, object]] = [
            ("words", {"words": odd}),
            ("parameters", {"parameters": {"kl": "de", "gl": odd}}),
            *([("parameters", {"parameters": {odd: "de"}})] if isinstance(odd, str) else []),
            *([] if isinstance(odd, dict) else [("parameters", {"parameters": odd})]),
            ("parameters", {"parameters": "de"}),
            *(("parameters", None), ("words", None)),
        ]
        for carry, answer in answers:
            assert led(modules, carry, address, answer) == address, odd


@given(queries, texts)
def test_each_site_gets_what_its_rule_says(modules: Modules, query: str, text: str) -> None:
    """A header is none of it, and what is not known is no site."""
    answer = {"header": "h", "words": text, "parameters": {"kl": text}}
    address = typed(modules, query, "")
    assert led(modules, "header", address, answer) == address
    assert "kl=" not in led(modules, "words", address, answer).replace(address, "")
    assert led(modules, "parameters", address, answer).startswith(f"{address}&kl=")
    assert modules("lib/sites.js", "siteOf", listed("cookie")) is None


ALPHABET = 'ab*A09_-.:/,; \t="\\()?@%f!\0é'
pieces = st.sampled_from(
    [
        *("region", "a", "*", "A:b/c", "int_python", ",", ", ", " ,\t", ";", "; ", "=", " ", "\t"),
        *("1", "-1", "1.5", "-0.125", "1.1234", "9" * 15, "9" * 16, "1" * 13 + ".5", "1.", "-"),
        *('"', '"x"', '"a\\"b"', '"\\a"', "?1", "?2", "@1", "@-5", "@1.5", ":YQ==:", ":YQ:", ":Y:"),
        *('%"f%c3%bc"', '%"%ff"', '%"%C3"', "(a b)", "()", "k", "*k-.9", "K", "é"),
    ]
)


def read(text: str) -> list[str] | None:
    """Return the tokens of a list as http_sf has them, None where it is not one of tokens."""
    try:
        members: Any = http_sf.parse(text.encode("latin-1"), tltype="list")
    except (StructuredFieldError, OverflowError):
        return None
    tokens = [str(item) for item, _ in members if isinstance(item, http_sf.Token)]
    return tokens if len(tokens) == len(members) else None


LONG = ("a" * 100_000, "a," * 50_000, "a" + ";b" * 50_000, ";" * 100_000)


@given(st.lists(pieces, max_size=10).map("".join) | st.text(ALPHABET))
@example("a;x=:YQ=:")
@example("a;x=::, b")
@example("a;b;b=1")
@example("a ;b")
def test_tokens_are_read_as_http_sf_reads_them(modules: Modules, text: str) -> None:
    """Tokens with parameters, what looks like them, and any text."""
    assert modules("lib/header.js", "tokens", text) == read(text)


def test_long_ones_take_no_time(modules: Modules) -> None:
    """An expression that looks back would not come to an end."""
    for text in LONG:
        assert modules("lib/header.js", "tokens", text) == read(text)
