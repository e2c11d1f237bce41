"""The table of search engines: what it says is in the form that their makers document."""

import json
import re
import subprocess
import tomllib
from collections.abc import Mapping
from datetime import date, timedelta
from itertools import cycle, product
from typing import Any, get_args

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from agent.daemon.instructions import with_assistant
from agent.errors import PolicyError, UsageError
from policy import services, settings
from policy.hosts import host_of, site_of
from policy.match import Rulebook
from policy.read import preset, read
from policy.rules import Pools
from policy.sections import PRESETS
from tests.decision.transcripts import Rules, policies
from tests.policy.naive import claims, decided
from tests.policy.strategies import DAYS, TODAY, Asked, rendered
from tests.programs import needs

NAMES = ("language", "country")
FORMS = {  # of the values, by the engine and the parameter
    ("bing", "mkt"): "[a-z]{2}-[A-Z]{2}",
    ("brave", "country"): "[A-Z]{2}",
    ("brave", "search_lang"): "[a-z]{2}|zh-han[st]",
    ("duckduckgo", "kl"): "[a-z]{2}-t?[a-z]{2}",
    ("google", "gl"): "[a-z]{2}",
    ("google", "hl"): "[a-z]{2}|zh-(CN|TW)",
    ("searxng", "language"): "[a-z]{2}|zh-(CN|TW)",
}
TOLD = st.fixed_dictionaries(
    {}, optional={name: st.sampled_from(["unspecified", *services.codes(name)]) for name in NAMES}
)


@pytest.mark.parametrize(("name", "engine"), services.engines().items(), ids=services.engines())
def test_the_table_is_sound(name: str, engine: services.SearchEngine) -> None:
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
            assert re.fullmatch(FORMS[name, each.name], value)
            assert all(
                value in services.codes(fact)
                for fact, value in zip(each.of, key.split("-"), strict=True)
            )


def test_rules_name_these_engines_and_no_preset_uses_one() -> None:
    """All are off until a rule lists one."""
    assert {*get_args(settings.Engine)} == services.engines().keys()
    for name in PRESETS:
        used = {key for rule in preset(name) for key in rule.settings}
        assert not used & {"search", "engine"}


@given(st.sampled_from([*services.engines().values()]), TOLD)
def test_a_parameter_is_made_of_what_is_told_alone(
    engine: services.SearchEngine, told: dict[str, str]
) -> None:
    """It is there only where all that it says is told, and then depends on nothing else."""
    sent = engine.address(told)
    for each in engine.parameters:
        if each.name in sent:
            assert {*each.of} <= engine.needs(told) <= told.keys()
            assert sent[each.name] == engine.address({n: told[n] for n in each.of})[each.name]
    assert engine.address({n: told[n] for n in engine.needs(told)}) == sent


@given(st.sampled_from([*services.engines().values()]), st.sets(st.sampled_from(NAMES)))
def test_what_is_needed_depends_on_the_names(
    engine: services.SearchEngine, names: set[str]
) -> None:
    """And some value of it is documented, or there is no use in telling it."""
    needed = engine.needs(names)
    assert needed <= names
    assert needed == engine.needs(needed)
    values = product(*(services.codes(name) for name in sorted(needed)))
    assert not needed or any(
        engine.address(dict(zip(sorted(needed), each, strict=True))) for each in values
    )


def test_a_group_with_one_domain_of_an_engine_has_all() -> None:
    """So none of them can be in another group; nor does it have who is called alike."""
    text = "[groups]\nads = ['google.de', 'ads.example']\n"
    pools = Pools(read(text, "test", preset).groups)
    assert pools.of("google.com") == pools.of("www.google.at") == pools.of("ads.example") == "@ads"
    for other in ("google.example", "google.com.evil.example", "google.github.io", "bing.com"):
        assert pools.of(other) == site_of(other)
    with pytest.raises(PolicyError, match=r"google\.fr is in 'ads' as well"):
        read(f"{text}french = ['google.fr']\n", "test", preset)


def _listed(text: str, today: date = TODAY) -> list[str]:
    return [each for _, each in Rulebook(read(text, "p", preset), {}).assistants(today)]


def test_an_assistant_is_listed_where_its_own_rule_decides() -> None:
    """Neither where it gets nothing, nor on a day that its rule does not cover."""
    rule = "[[rule]]\nrecipient = '{}'\naddress = '{}'\nassistant = {}\n"
    own = rule.format("chat.example", "https://chat.example:443", "true")
    assert _listed(own) == ["https://chat.example"]
    assert _listed(rule.format("localhost", "http://localhost:8710/", "true")) == [
        "http://localhost:8710"
    ]
    assert _listed(rule.format("localhost", "http://localhost:0", "true")) == []  # goes nowhere
    below = rule.format("a.chat.example", "https://a.chat.example", "false")
    above = rule.format("chat.example", "https://a.chat.example", "true")
    for text in (
        f"{own}nothing = true\n",
        f"{own}expires = 2026-03-01\n",
        own.replace("true", "false"),
        f"{above}{below}",
    ):
        assert _listed(text) == [], text


def test_each_can_be_listed_as_it_stands() -> None:
    """By a rule for its recipient, whose own address it is; by name, each once."""
    names = [each.name for each in services.assistants()]
    assert names == sorted({*names}, key=str.casefold)
    with pytest.raises(UsageError):  # somebody else's
        services.own_address("https://a.github.io/", "github.io")
    text = 'preset = "balanced"\n'
    for each in services.assistants():
        assert services.own_address(each.address, host_of(each.recipient)) == each.address
        text = with_assistant(text, each.recipient, each.address)
    assert _listed(text) == [each.address.rstrip("/") for each in services.assistants()]


@given(
    policies(["everyone", "me"]), st.sampled_from(services.assistants()), st.none() | st.just(TODAY)
)
def test_a_rule_lists_it_and_changes_nothing_else(
    rules: Rules, chosen: services.Assistant, until: date | None
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
    assert _listed(after) == [address.rstrip("/")]
    assert _listed(after, TODAY + timedelta(days=1)) == (
        [address.rstrip("/")] if until is None else []
    )


HOSTS = ("shop.example", "www.shop.example", "a.www.shop.example", "other.example")
PLACES = {
    "shop.example": "shop.example",
    "SHOP.example.": "shop.example",
    "bücher.example": "xn--bcher-kva.example",
    "xn--bcher-kva.example": "xn--bcher-kva.example",
    "127.0.0.1": "127.0.0.1",
    "[::1]": "[::1]",
    "[2001:DB8:0::1]": "[2001:db8::1]",
    "search.localhost": "search.localhost",
}
HERE = ("127.0.0.1", "[::1]", "search.localhost")
PATHS = ("", "/", "/find", "/it's", "/a//b/", "/%C3%BC;x=1/~me", "/...", "/a/.b")
PARAMETERS = ("hl=en", "x", "", "a=%20b+c", "q2=1", "src=/a:b@c")
PORTS = ("", ":80", ":443", ":8710")
SLOTS = ("q", "query", "p.q", "_-9")
AS_BROWSERS = (
    "const found = JSON.parse(process.argv[1]).map((each) => new URL(each));"
    "console.log(JSON.stringify(found.map((each) => ["
    "each.href, each.hostname, [...each.searchParams].filter((pair) => pair[1] === 'W0RD')])))"
)


@st.composite
def addresses(draw: st.DrawFn) -> tuple[str, services.Search]:
    """Draw an address that browsers can use, and what it is to be read as."""
    scheme = draw(st.sampled_from(["http", "https"]))
    place = draw(st.sampled_from(sorted(PLACES if scheme == "https" else HERE)))
    port = draw(st.none() | st.sampled_from([80, 443]) | st.integers(1, 65_535))
    path = draw(st.sampled_from(PATHS))
    slot = f"{draw(st.sampled_from(NAMES))}={{query}}"
    before, after = (draw(st.lists(st.sampled_from(PARAMETERS), max_size=2)) for _ in range(2))
    rest = "&".join([*before, slot, *after])
    written = "" if port is None else f":{port}"
    kept = "" if (scheme, port) in (("http", 80), ("https", 443)) else written
    text = f"{scheme}://{PLACES[place]}{kept}{path or '/'}?{rest}"
    found = services.Search(PLACES[place].strip("[]"), text)
    return f"{scheme}://{place}{written}{path}?{rest}", found


@given(addresses())
def test_an_address_is_read_in_one_way(drawn: tuple[str, services.Search]) -> None:
    """Its host is the recipient, and reading it again changes nothing."""
    text, search = drawn
    assert services.Search.parse(text) == search == services.usable(text)
    assert services.Search.parse(search.text) == search
    assert host_of(search.text.replace("{query}", "q")) == search.host == host_of(search.host)


def test_it_is_written_as_browsers_write_it() -> None:
    """So that an extension compares text, and the words are where it looks for them."""
    starts = ["".join(each) for each in product(("https://",), PLACES, PORTS, PATHS)]
    starts += ["".join(each) for each in product(("http://",), HERE, PORTS, PATHS)]
    rests = cycle(f"{one}&{name}={{query}}" for name, one in product(SLOTS, PARAMETERS))
    found = [services.Search.parse(f"{each}?{next(rests)}") for each in starts]
    given_ = [each.text.replace("{query}", "W0RD") for each in found]
    command = [needs("node"), "-e", AS_BROWSERS, json.dumps(given_)]
    done = subprocess.run(command, capture_output=True, check=True, timeout=60)
    for each, address, (href, host, words) in zip(
        found, given_, json.loads(done.stdout), strict=True
    ):
        assert (href, host.strip("[]"), len(words)) == (address, each.host, 1)


@given(st.text("aq{}ery:/?#@[]&=%.\\ \n'", max_size=40) | st.text(max_size=20))
def test_damaged_addresses_are_refused_or_read_whole(tail: str) -> None:
    """Nothing of what was written is dropped, but what browsers leave out."""
    for text in (f"https://shop.example/{tail}", f"https://shop.example/?q={{query}}{tail}"):
        search = services.usable(text)
        if search is not None:
            assert search.text == text
            assert search.host == "shop.example"


def test_the_largest_addresses_are_refused_at_once() -> None:
    """By what they are, not by what is in them."""
    start = "https://shop.example/?q={query}&a="
    fits = start + "a" * (services.LONGEST - len(start))
    assert services.Search.parse(fits).text == fits
    for large in (f"{fits}a", start + "a" * 10**5, "{query}" * 10**5, "https://" + "[" * 10**5):
        with pytest.raises(UsageError, match=f"more than {services.LONGEST} characters") as caught:
            services.Search.parse(large)
        assert len(str(caught.value)) < services.LONGEST
    start = "https://bücher.example/?q={query}&a="
    with pytest.raises(UsageError, match=f"more than {services.LONGEST} characters"):
        services.Search.parse(start + "a" * (services.LONGEST - len(start)))


OVERRULED = {
    "rule": [
        {"recipient": "shop.example", "search": "https://www.shop.example/find?q={query}"},
        {"recipient": "www.shop.example", "search": "https://a.www.shop.example/find?q={query}"},
    ]
}


@st.composite
def documents(draw: st.DrawFn) -> Mapping[str, Any]:
    """Draw a policy of rules that say where some hosts are searched, and who gets nothing."""
    top = draw(st.fixed_dictionaries({}, optional={"search": _search(), "nothing": st.booleans()}))
    return {**top, "rule": draw(st.lists(_rules(), max_size=5))}


@st.composite
def _rules(draw: st.DrawFn) -> Mapping[str, Any]:
    host = draw(st.sampled_from(HOSTS))
    if draw(st.integers(0, 3)) == 0:
        rule = {"recipient": host, "query": "flu", "nothing": True}
    else:
        wanted = {"search": _search(host), "nothing": st.booleans(), "k": st.just(5)}
        some = draw(st.fixed_dictionaries({}, optional=wanted))
        rule = {"recipient": host, **(some or {"k": 6})}
    return rule if draw(st.booleans()) else {**rule, "expires": draw(DAYS)}


def _search(above: str = "") -> st.SearchStrategy[str]:
    """Draw an address of a host or one below it, most of which browsers can use."""
    below = [host for host in HOSTS if host.endswith(above)]
    forms = ["https://{}/find?q={{query}}", "http://{}:8710/?p={{query}}", "https://{}/{{query}}"]
    return st.builds(str.format, st.sampled_from(forms), st.sampled_from(below))


@given(documents(), DAYS)
@example(OVERRULED, TODAY)
def test_what_is_listed_is_what_is_ruled(document: Mapping[str, Any], today: date) -> None:
    """Exactly the search that decides about its own host, of each host that gets anything."""
    try:
        policy = read(rendered(document), "test", preset)
    except PolicyError:
        assume(False)
    expected = {
        search
        for host in HOSTS
        for claim in _decide(document, host, today, "search")
        for search in [services.usable(claim)]
        if search is not None and search.host == host
        if not any(_decide(document, host, today, "nothing"))
    }
    assert {*Rulebook(policy, {}).searches(today)} == expected


def _decide(document: Mapping[str, Any], host: str, today: date, key: str) -> set[Any]:
    """Return what is ruled of a host, by rules that hold whatever the query."""
    found = claims(document, Asked(host, "", today), key, None)
    return {claim.value for claim in decided(found, key)} if found else set()
