"""A recipient is a pool: what a rule says of one part holds for all, however it is named."""

from collections.abc import Mapping
from datetime import timedelta
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.errors import UsageError
from policy.hosts import HostPattern, odd_ending, site_of
from policy.match import Rulebook, Ruling, known
from policy.read import preset, read
from policy.rules import NAMELESS, Pools, named_host
from policy.services import assistants, companies, engines, owned_with
from policy.settings import OF_HOSTS
from tests.policy.strategies import DOMAINS, NAMES, TODAY, Document, documents, rendered

GROUPS = "[groups]\nfam = ['one.example', 'two.example', 'intranet']\n"
POOLS: Mapping[str, tuple[str, ...]] = {  # of each, whatever names a part of it
    "google.com": ("google.com", "www.google.de", "*.google.co.uk", "gemini.google.com"),
    "chatgpt.com": ("chatgpt.com", "openai.com", "api.openai.com", "https://chatgpt.com/c/1"),
    "claude.ai": ("claude.ai", "anthropic.com", "console.anthropic.com", "claude.com"),
    "bing.com": ("bing.com", "copilot.microsoft.com", "www.bing.com"),
    "shop.example": ("shop.example", "www.shop.example", "*.shop.example", "*.news.shop.example"),
    "localhost": ("localhost", "127.0.0.1", "127.8.0.1", "::1", "searx.localhost"),
    "@fam": ("fam", "@fam", "one.example", "www.two.example"),
}
HOSTS = {
    pool: [HostPattern.parse(each).host for each in parts if "." in each or ":" in each]
    for pool, parts in POOLS.items()
}
NAMED = [(part, pool) for pool, parts in POOLS.items() for part in parts]
CLOSING = {
    "nothing = true": ("nothing", True),
    "k = 7": ("k", 7),
    "new_facts_per_week = 0": ("new_facts_per_week", 0),
    "memory = 'remembers'": ("memory", "remembers"),
}


def ruled(text: str, host: str) -> Ruling:
    return Rulebook(read(text, "p", preset), known(*NAMES)).match(host, "", TODAY)


@pytest.mark.parametrize(("part", "pool"), NAMED)
def test_what_restricts_a_part_restricts_the_whole(part: str, pool: str) -> None:
    """Blocks, limits, and what is said of a fact; nobody else is affected."""
    fact = f"[[rule]]\nrecipient = '{part}'\nattribute = 'age'\ndisclose = 'never'\nguard = 1\n"
    for rule, (key, value) in CLOSING.items():
        text = f"{GROUPS}{fact}[[rule]]\nrecipient = '{part}'\n{rule}\n"
        for other, hosts in HOSTS.items():
            for host in (*hosts, "else.example"):
                ruling = ruled(text, host)
                mine = other == pool and host in hosts
                assert (ruling.pool == pool) == mine
                verdict = ruling.settings.get(key)
                assert (verdict is not None and verdict.value == value) >= mine
                assert (ruling.attributes["age"]["disclose"].value == "never") == mine
                assert ("guard" in ruling.attributes["age"]) == mine


@pytest.mark.parametrize(("pool", "parts"), POOLS.items())
def test_of_two_parts_the_stricter_decides(pool: str, parts: tuple[str, ...]) -> None:
    """Whichever is named more exactly; an opening holds for all where nothing else does."""
    text = f"disclose = 'ask'\n{GROUPS}"
    for one, other in product(parts, parts):
        closing = f"[[rule]]\nrecipient = '{other}'\ndisclose = 'never'\n"
        opening = f"[[rule]]\nrecipient = '{one}'\ndisclose = 'always'\n"
        for host in HOSTS[pool]:
            verdicts = ruled(f"{text}{opening}{closing}", host).attributes["age"]
            assert verdicts["disclose"].value == "never"
            assert ruled(f"{text}{opening}", host).attributes["age"]["disclose"].value == "always"


@given(documents(), st.sampled_from(DOMAINS), st.sampled_from(DOMAINS))
def test_hosts_of_one_kind_and_pool_are_ruled_alike(
    document: Document, one: str, other: str
) -> None:
    """But for how facts reach each of them."""
    book = Rulebook(read(rendered(document), "p", preset), known(*NAMES))
    for day in (TODAY, TODAY + timedelta(days=9)):
        hosts = (HostPattern.parse(each).host for each in (one, other))
        first, second = (book.match(each, "", day) for each in hosts)
        if (first.pool, first.kind) != (second.pool, second.kind):
            continue
        for key in first.settings.keys() - OF_HOSTS:
            assert first.settings[key].value == second.settings[key].value
        for name in NAMES:
            assert first.attributes[name] == second.attributes[name]


def test_the_tables_of_companies_agree() -> None:
    """Each domain is registered, is in one company, and each assistant is in its own."""
    for domain, whole in companies().items():
        assert site_of(domain) == domain
        assert domain in whole
        assert {companies()[each] for each in whole} == {whole}
    for each in assistants():
        whole = owned_with(each.recipient)
        assert {site_of(each.recipient), *each.domains, *each.company} <= {*whole}
    for engine in engines().values():
        assert {Pools({}).of(each) for each in engine.domains} == {*engine.domains[:1]}


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        *(("claude", "claude.ai"), ("Claude", "claude.ai"), ("anthropic", "anthropic.com")),
        *(("openai", "openai.com"), ("gemini", "gemini.google.com"), ("chat-gpt", "chatgpt.com")),
        *(("intra", "write its domain"), ("Claude-Desktop", "claude.ai")),
        *(("intranet", "write its domain"), ("xerox", "write its domain")),
    ],
)
def test_a_bare_name_is_no_recipient(name: str, meant: str) -> None:
    """It gets nothing whatever the rules say; who may be meant is named."""
    with pytest.raises(UsageError, match="it has no dot") as caught:
        named_host(name)
    assert meant in caught.value.hint
    ruling = ruled("nothing = false\n[[rule]]\nrecipient='any other site'\nnothing=false\n", name)
    assert ruling.settings["nothing"].rule is NAMELESS
    assert ruled(GROUPS, "intranet").settings["nothing"].value is False
    groups = read(GROUPS, "p", preset).groups
    assert named_host("intranet", groups) == "intranet"
    assert named_host("LOCALHOST", groups) == "localhost"


@pytest.mark.parametrize(
    ("host", "ending"),
    [
        *(("a1.exampel", "exampel"), ("claude.aii", "aii"), ("x.example", None), ("a.co.uk", None)),
        *(("printer.local", None), ("192.0.2.7", None), ("::1", None), ("x.foo.ck", None)),
    ],
)
def test_an_ending_that_nobody_has_is_doubted(host: str, ending: str | None) -> None:
    """Neither one of a network of one's own, nor one for documents."""
    assert odd_ending(host) == ending
