"""The table of search engines: what it says is in the form that their makers document."""

import re
import tomllib
from collections.abc import Mapping
from datetime import date, timedelta
from itertools import product
from typing import Any, get_args
from urllib.parse import urlsplit

import msgspec
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from agent.errors import PolicyError, UsageError
from policy import settings
from policy.amend import with_assistant
from policy.hosts import host_of, site_of
from policy.match import Rulebook
from policy.read import preset, read
from policy.rules import Pools
from policy.sections import PRESETS
from policy.services import (
    Assistant,
    SearchEngine,
    codes,
    engine_at,
    engines,
    in_clear,
    own_address,
    well_known,
)
from tests.decision.histories import Rules, policies
from tests.policy.naive import claims, decided
from tests.policy.strategies import TODAY, Asked, rendered

NAMES = ("language", "country")
FORMS = {  # of the values, by the parameter
    "country": "[A-Z]{2}",
    "gl": "[a-z]{2}",
    "hl": "[a-z]{2}|zh-(CN|TW)",
    "kl": "[a-z]{2}-t?[a-z]{2}",
    "language": "[a-z]{2}|zh-(CN|TW)",
    "mkt": "[a-z]{2}-[A-Z]{2}",
    "search_lang": "[a-z]{2}|zh-han[st]",
}
TOLD = st.fixed_dictionaries(
    {}, optional={name: st.sampled_from(["unspecified", *codes(name)]) for name in NAMES}
)


@pytest.mark.parametrize("engine", engines().values(), ids=engines())
def test_the_table_is_sound(engine: SearchEngine) -> None:
    """Each parameter once, of what there is, with values in their form; sources on the web."""
    assert engine.source.startswith("https://")
    assert engine.title
    assert all(each == host_of(each) == site_of(each) for each in engine.domains)
    assert len({each.name for each in engine.parameters}) == len(engine.parameters) > 0
    for each in engine.parameters:
        assert 0 < len(each.of) == len({*each.of} & {*NAMES})
        assert not {text.lower() for text in each.same} & each.other.keys()
        assert len({*each.same}) == len(each.same)
        assert len({*each.values.values()}) == len(each.values)
        for key, value in each.values.items():
            assert re.fullmatch(FORMS[each.name], value)
            assert all(
                value in codes(name) for name, value in zip(each.of, key.split("-"), strict=True)
            )


def test_the_codes_are_of_the_lists() -> None:
    """Two letters of ISO 639-1 or 3166-1; Chinese by its script."""
    assert all(re.fullmatch("[a-z]{2}|zh_han[st]", each) for each in codes("language"))
    assert all(re.fullmatch("[a-z]{2}", each) for each in codes("country"))
    assert not {"uk", "el", "ja"} & {*codes("country")}  # of languages, or of no list
    assert not {"gb", "gr", "jp"} & {*codes("language")}


def test_rules_name_these_engines_and_no_preset_uses_one() -> None:
    """All are off until a rule lists one."""
    assert {*get_args(settings.Engine)} == engines().keys()
    for name in PRESETS:
        used = {key for rule in preset(name) for key in rule.settings}
        assert not used & {"search", "engine"}


@given(st.sampled_from([*engines().values()]), TOLD)
def test_a_parameter_is_made_of_what_is_told_alone(
    engine: SearchEngine, told: dict[str, str]
) -> None:
    """It is there only where all that it says is told, and then depends on nothing else."""
    sent = engine.address(told)
    for each in engine.parameters:
        if each.name in sent:
            assert {*each.of} <= engine.needs(told) <= told.keys()
            assert sent[each.name] == engine.address({n: told[n] for n in each.of})[each.name]
    assert engine.address({n: told[n] for n in engine.needs(told)}) == sent


@given(st.sampled_from([*engines().values()]), st.sets(st.sampled_from(NAMES)))
def test_what_is_needed_depends_on_the_names(engine: SearchEngine, names: set[str]) -> None:
    """And some value of it is documented, or there is no use in telling it."""
    needed = engine.needs(names)
    assert needed <= names
    assert needed == engine.needs(needed)
    values = product(*(codes(name) for name in sorted(needed)))
    assert not needed or any(
        engine.address(dict(zip(sorted(needed), each, strict=True))) for each in values
    )


@pytest.mark.parametrize(
    "text",
    [
        "[x]\ntitle = 'X'\ndomains = []\nsource = 'https://x.example'\n",
        "[x]\ntitle = 'X'\ndomains = []\nsource = ''\nparameters = [{ name = 'a' }]",
        "[x]\ntitle = 'X'\ndomains = 'x'\nsource = ''\nparameters = []",
        "[x]\ntitle = 'X'\ndomains = []\nsource = ''\nparameters = []\nmore = 1",
    ],
)
def test_a_table_of_another_form_is_refused(text: str) -> None:
    """Nothing that is missing or unknown is passed over."""
    with pytest.raises(msgspec.ValidationError):
        msgspec.toml.decode(text, type=dict[str, SearchEngine])


def test_the_domains_of_an_engine_are_one_recipient() -> None:
    """Of that engine only, whoever else is called like it."""
    pools = Pools({})
    assert {pools.of(each) for each in engines()["google"].domains} == {"google.com"}
    assert pools.of("www.google.co.uk") == "google.com"
    for other in ("google.example", "google.com.evil.example", "google.github.io", "bing.com"):
        assert pools.of(other) == site_of(other)
    assert engine_at("google.github.io") is None
    assert engine_at("html.duckduckgo.com") == "duckduckgo"


def test_a_group_with_one_domain_of_an_engine_has_all() -> None:
    """But for those that are in another group."""
    text = "[groups]\nads = ['google.de', 'ads.example']\nfrench = ['google.fr']\n"
    pools = Pools(read(text, "test", preset).groups)
    assert pools.of("google.com") == pools.of("www.google.at") == pools.of("ads.example") == "@ads"
    assert pools.of("google.fr") == "@french"
    assert pools.of("duckduckgo.com") == "duckduckgo.com"


HOSTS = ["chat.example", "a.chat.example", "shop.example", "localhost"]
ADDRESS_FORMS = [
    "https://{}/",
    "https://{}",
    "http://{}:8710/",
    "https://{}:8443",
    "https://{}:443/",
]


@st.composite
def documents(draw: st.DrawFn) -> Mapping[str, Any]:
    """Draw a policy of rules that say where some assistants are, and who gets nothing."""
    rules = []
    for _ in range(draw(st.integers(0, 4))):
        host, form = draw(st.sampled_from(HOSTS)), draw(st.sampled_from(ADDRESS_FORMS))
        own = draw(st.sampled_from([host, *(each for each in HOSTS if each.endswith(host))]))
        found = st.sampled_from([{}, {"assistant": True, "address": form.format(own)}])
        switch = st.fixed_dictionaries({}, optional={"nothing": st.booleans(), "k": st.just(5)})
        rule = {**draw(found), **draw(switch)} or {"assistant": False}
        ends = {"expires": draw(st.sampled_from([date(2026, 3, 1), TODAY]))}
        rules.append({"recipient": host, **rule, **(ends if draw(st.booleans()) else {})})
    return {"rule": rules}


def origin(address: str) -> str:
    """Return what a browser calls the place of an address here."""
    return address.rstrip("/").removesuffix(":443")


@given(documents())
@example({"rule": [{"recipient": "localhost", "address": "http://localhost", "assistant": True}]})
def test_what_is_listed_is_what_is_ruled(document: Mapping[str, Any]) -> None:
    """Exactly the address that decides about its own host, of each that is let in and gets any."""
    try:
        policy = read(rendered(document), "test", preset)
    except PolicyError:
        assume(False)

    def ruled(host: str, key: str) -> set[Any]:
        found = claims(document, Asked(host, "", TODAY), key, None)
        return {claim.value for claim in decided(found, key)} if found else set()

    expected = {
        (host, origin(address))
        for host in HOSTS
        for address in ruled(host, "address")
        if origin(address).partition("://")[2].partition(":")[0] == host
        if ruled(host, "assistant") == {True} and not any(ruled(host, "nothing"))
    }
    found = {*Rulebook(policy, {}).assistants(TODAY)}
    assert found == expected
    assert not any(in_clear(place) for _, place in found)


@pytest.mark.parametrize(
    ("rule", "key", "what"),
    [
        ("assistant = true", "assistant", "nothing says where the assistant is"),
        ("address = 'https://chat.example/'", "address", "nothing says what is there"),
        ("assistant = true\naddress = 'https://a.example/'", "address", "a.example is not a"),
        ("assistant = true\naddress = 'http://chat.example/'", "address", "is not the https"),
        ("assistant = true\naddress = 'https://chat.example/new'", "address", "of a whole site"),
        ("assistant = true\nquery = 'x'\naddress = 'https://chat.example'", "assistant", "queries"),
    ],
)
def test_a_rule_that_lists_nothing_is_a_mistake(rule: str, key: str, what: str) -> None:
    """With the way out."""
    text = f"[[rule]]\nrecipient = 'chat.example'\n{rule}\n"
    with pytest.raises(PolicyError) as caught:
        read(text, "test", preset)
    found = caught.value.problems[0]
    assert found.key == f"rule[1].{key}"
    assert what in found.what
    assert found.hint


def test_a_rule_for_nobody_has_no_address() -> None:
    """An address belongs to its recipient."""
    with pytest.raises(PolicyError, match="not a recipient of this rule"):
        read("[[rule]]\naddress = 'https://a.example'\nassistant = true\n", "test", preset)


def test_a_port_that_is_none_lists_nothing() -> None:
    """Browsers go nowhere."""
    text = "[[rule]]\nrecipient = 'localhost'\naddress = 'http://localhost:0'\nassistant = true\n"
    assert not [*Rulebook(read(text, "test", preset), {}).assistants(TODAY)]


def listed(text: str, today: date = TODAY) -> list[str]:
    """Return the origins of the assistants of a policy."""
    return [each for _, each in Rulebook(read(text, "p", preset), {}).assistants(today)]


def test_each_can_be_listed_as_it_stands() -> None:
    """By a rule for its recipient, whose own address it is; by name, each once."""
    names = [each.name for each in well_known()]
    assert names == sorted({*names}, key=str.casefold)
    text = 'preset = "balanced"\n'
    for each in well_known():
        assert own_address(each.address, host_of(each.recipient)) == each.address
        text = with_assistant(text, each.recipient, each.address)
    assert listed(text) == [each.address.rstrip("/") for each in well_known()]


@given(policies(["everyone", "me"]), st.sampled_from(well_known()), st.none() | st.just(TODAY))
def test_a_rule_lists_it_and_changes_nothing_else(
    rules: Rules, chosen: Assistant, until: date | None
) -> None:
    """What stood there stays, and the rule ends on its day."""
    address, recipient = chosen.address, chosen.recipient
    before = rules.policy.text
    after = with_assistant(before, recipient, address, until)
    old, new = tomllib.loads(before), tomllib.loads(after)
    rule = new["rule"].pop()
    assert new.get("rule", []) == old.get("rule", [])
    assert {**new, "rule": None} == {**old, "rule": None}
    assert (rule["recipient"], rule["address"], rule["assistant"]) == (recipient, address, True)
    assert listed(after) == [address.rstrip("/")]
    assert listed(after, TODAY + timedelta(days=1)) == (
        [address.rstrip("/")] if until is None else []
    )


@pytest.mark.parametrize(
    ("address", "host"),
    [
        ("https://chat.evil.example/", "shop.example"),
        ("https://shop.example.evil.com/", "shop.example"),
        ("http://shop.example/", "shop.example"),
        ("https://shop.example/chat", "shop.example"),
        ("https://shop.example/?x", "shop.example"),
        ("https://user@shop.example/", "shop.example"),
        ("https://shop.example:99999/", "shop.example"),
        ("javascript:alert(1)", "shop.example"),
        ("https://a.github.io/", "github.io"),
        ("", "shop.example"),
    ],
)
def test_no_other_address_is_listed(address: str, host: str) -> None:
    """Than that of a whole site of the recipient's own, which nobody else reads."""
    with pytest.raises(UsageError):
        own_address(address, host)


@given(st.text(max_size=40))
def test_any_text_is_an_address_or_an_error(text: str) -> None:
    """And an address leads to no other host than it says."""
    try:
        address = own_address(text, "shop.example")
    except UsageError:
        return
    assert urlsplit(address).hostname == "shop.example" or (
        urlsplit(address).hostname or ""
    ).endswith(".shop.example")
