"""A recipient is a pool: what a rule says of one part holds for all, however it is named."""

from collections.abc import Mapping

import pytest

from agent.errors import UsageError
from policy.hosts import HostPattern, site_of
from policy.match import Rulebook, Ruling, known
from policy.read import preset, read
from policy.rules import NAMELESS, named_host
from policy.services import assistants, companies, owned_with
from tests.policy.strategies import NAMES, TODAY, Document, rendered

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
    HostPattern.parse(part).host: pool
    for pool, parts in {**POOLS, "else.example": ("else.example",)}.items()
    for part in parts
    if {*part} & {*".:"}
}
NAMED = [(part, pool) for pool, parts in POOLS.items() for part in parts]
CLOSING: Document = {"nothing": True, "k": 7, "new_facts_per_week": 0, "disclose": "never"}


def ruled(text: str, host: str) -> Ruling:
    return Rulebook(read(text, "p", preset), known(*NAMES)).match(host, "", TODAY)


@pytest.mark.parametrize(("part", "pool"), NAMED)
def test_what_restricts_a_part_restricts_the_whole(part: str, pool: str) -> None:
    """Whatever opens another part; nobody else is affected, and alone an opening holds for all."""
    opening: Document = {"recipient": POOLS[pool][0], "disclose": "always", "k": 5}
    for host, its in HOSTS.items():
        rules = [{"recipient": part, **CLOSING}, opening]
        for closed in (its == pool, False):
            ruling = ruled(f"{GROUPS}{rendered({'rule': rules})}", host)
            verdicts = {**ruling.settings, **ruling.attributes["age"]}
            values = {key: verdicts[key].value for key in CLOSING.keys() & verdicts}
            assert (ruling.pool, values == CLOSING) == (its, closed)
            assert its != pool or closed or values["disclose"] == "always"
            rules = [opening | {"recipient": part}]


def test_the_tables_of_companies_agree() -> None:
    """Each domain is registered, is in one company, and each assistant is in its own."""
    for domain, whole in companies().items():
        assert site_of(domain) == domain
        assert domain in whole
        assert {companies()[each] for each in whole} == {whole}
    for each in assistants():
        whole = owned_with(each.recipient)
        assert {site_of(each.recipient), *each.domains, *each.company} <= {*whole}


@pytest.mark.parametrize("name", ["claude", "Claude", "intranet", "com"])
def test_a_bare_name_is_no_recipient(name: str) -> None:
    """It gets nothing whatever the rules say, unless a group has it."""
    with pytest.raises(UsageError, match="it has no dot"):
        named_host(name, {})
    ruling = ruled("nothing = false\n[[rule]]\nrecipient='any other site'\nnothing=false\n", name)
    assert ruling.settings["nothing"].rule is NAMELESS
    groups = f"[groups]\nours = ['{name}']\n"
    assert ruled(groups, name).settings["nothing"].value is False
    assert named_host(name, read(groups, "p", preset).groups) == name.lower()
