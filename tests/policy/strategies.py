"""Policies that are valid by FORMAT.md, and requests that meet their rules."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import date, datetime, time, timedelta
from typing import Any, NamedTuple, get_args

import tomlkit
from hypothesis import strategies as st

from policy.amend import RuleScope, with_settings
from policy.families import TopicProbabilities
from policy.hosts import KINDS, host_of
from policy.match import NO_TOPICS
from policy.read import preset, read
from policy.rules import Policy
from policy.sections import MISPLACED
from policy.settings import DAYS as DAYS_OF_WEEK
from policy.settings import SETTINGS, Carry, Door, Value

NO_PRESET = 'preset = "none"\n'
LABELS = st.sampled_from(["a", "b", "ab", "1", "_x", "xn--bcher-kva", "localhost", "github", "co"])
ANY_DOMAINS = st.builds(
    lambda labels, top: ".".join([*labels, top]),
    st.lists(LABELS, max_size=3),
    st.sampled_from(["a", "ab", "localhost", "io", "uk", "kobe.jp"]),
)
ADDRESSES = st.one_of(
    st.ip_addresses().map(str), st.sampled_from(["1.2.3.4", "2.3.4.1", "::1", "2001:db8::1"])
)
ANY_HOSTS = (ANY_DOMAINS | ADDRESSES).map(host_of)
# Pieces of hosts and URLs, so that many texts are hosts, or nearly.
PIECES = st.lists(
    st.sampled_from([*".:/@[]%*-_\\ #?。．ßςẞİ…℀", "xn--", "http://", "::", "1", "0x", "a", "ü"])
    | st.characters(),
    max_size=12,
).map("".join)

Document = dict[str, Any]


TODAY = date(2027, 3, 1)
NAMES = ("age", "region", "gender", "salary", "dev_web", "dev_ops")
DOMAINS = (
    *("shop.example", "www.shop.example", "*.shop.example", "*.example", "*.www.shop.example"),
    *("books.example", "ads.test", "*.co.uk", "a.co.uk", "192.0.2.7", "localhost"),
    *("openai.com", "www.chatgpt.com", "127.0.0.1", "app.localhost", "*.com"),
)
MEMBERS: Mapping[str, tuple[str, ...]] = {
    "adverts": ("shop.example", "ads.test", "*.track.test", "www.ads.test"),
    "others": ("www.a.co.uk", "192.0.2.7", "*.books.example", "openai.com", "app.localhost"),
}
PATTERNS = (
    *("*", "dev_*", "*_ops", "d*v_*", "age", "region", "dev_web", "height"),
    *("@money", "@home", "#7"),
)
TOPICS = ("health", "money", "Medical_Bills", "sleeping better?", "flights", "other")
WORDS = ("flu", "debt", "fl*", "shoe*", "new shoes", "new sho*", "de* new")
SAMPLES = ("flu", "flux", "debt", "debts", "shoes", "new", "new shoes", "NEW  Shoes", "debt new")
HOSTS = (
    *("shop.example", "www.shop.example", "a.www.shop.example", "m.shop.example", "other.example"),
    *("books.example", "ads.test", "x.ads.test", "track.test", "b.a.co.uk", "c.co.uk", "192.0.2.7"),
    *("api.openai.com", "chatgpt.com", "127.0.0.1", "app.localhost"),
    *("localhost", "WWW.Shop.Example.", "https://a.co.uk:8443/x?y#z", "2001:db8::1"),
    *("claude.ai", "www.claude.ai", "duckduckgo.com"),
)

READ = {  # what topics are called: of two families, of one, of none
    name: frozenset({name, title})
    for name, title in (
        ("medical bills", "costs of care"),
        ("sleep better", "sleeping better"),
        ("flights", "finding flights"),
    )
}
PROBABILITIES = st.sampled_from([0.02, 0.05, 0.0625, 0.1, 0.25, 0.375, 0.5])

WHOLE, NUMBERS = st.integers(0, 50), st.integers(0, 9) | st.floats(0, 50, width=16)
PER_ATTRIBUTE: Mapping[str, st.SearchStrategy[Any]] = {
    "disclose": st.sampled_from(["never", "ask", "auto", "always"]),
    "sensitivity": NUMBERS,
    "guard": NUMBERS,
    "own": st.sampled_from(["never", "ask", "auto"]),
    "relevance": st.sampled_from(["kind", "fact"]),
    "coarse": st.booleans(),
}
ORDERED: Mapping[str, st.SearchStrategy[Any]] = {
    "anonymity_price": NUMBERS,
    "k": st.integers(1, 200),
    "people": st.integers(1, 200),
    "violations": st.floats(0, 0.75, width=16),
    "risk": st.floats(0.01, 1),
    "attributes_per_request": WHOLE,
    "nothing": st.booleans(),
    "protect": st.sampled_from(["everyone", "me"]),
}
OF_RECIPIENTS: Mapping[str, st.SearchStrategy[Any]] = {
    "new_facts_per_week": WHOLE,
    "new_facts_per_day": WHOLE,
    "requests_per_day": WHOLE,
    "horizon": WHOLE,
    "page_requests_per_minute": WHOLE,
    "unknown_queries": st.sampled_from(["nothing", "standing"]),
    "memory": st.sampled_from(["remembers", "forgets"]),
    "results": st.sampled_from(["send", "both", "rerank"]),
    "population": st.just("so2017"),
}
UNORDERED: Mapping[str, st.SearchStrategy[Any]] = {
    "mode": st.sampled_from(["dynamic", "standing", "planned"])
}
OF_THE_DAEMON: Mapping[str, st.SearchStrategy[Any]] = {
    "lock_after_minutes": NUMBERS,
    "questions_per_day": WHOLE,
    "clicks": st.booleans(),
    "prompt": st.sampled_from(["terminal", "pinentry"]),
    "keep_texts_days": st.integers(0, 9),
    "pinentry": st.sampled_from(["", "/usr/bin/pinentry"]),
}
OF_THE_JUDGE = st.fixed_dictionaries(
    {
        "url": st.sampled_from(["http://127.0.0.1:11434/v1", "http://localhost", "http://[::1]/"]),
        "model": st.just("llama3.2:3b"),
    }
)
CALLED = ("mine", "für", 'a "b" [c]')
SEARCH = "https://www.shop.example/find?q={query}"
HOURS = ("22:00-07:00", "07:00-22:00", "00:00-24:00", "06:59-06:59")
CLOCKS = [time(6, 59), time(7), time(21, 59, 59), time(22), time(0), time(23, 59)]
LISTS = {"shops": ["shop.example", "*.books.example"], "few": "ads.test"}
DAYS = st.integers(-2, 2).map(lambda days: TODAY + timedelta(days=days))


class Asked(NamedTuple):
    """A request as a rulebook is asked about it."""

    recipient: str
    query: str
    today: date
    topics: TopicProbabilities = NO_TOPICS
    door: str = ""


@st.composite
def requests(draw: st.DrawFn) -> Asked:
    """Draw a request; most of them meet some rule."""
    query = draw(st.lists(st.sampled_from((*SAMPLES, "of")), max_size=3))
    host = draw(st.sampled_from(HOSTS[:3]) | st.sampled_from(HOSTS))
    names = draw(st.sets(st.sampled_from(sorted(READ))))
    topics = {READ[name]: draw(PROBABILITIES) for name in sorted(names)}
    at, door = draw(DAYS), draw(st.sampled_from(["", *get_args(Door)]))
    if draw(st.booleans()):
        at = datetime.combine(at, draw(st.sampled_from(CLOCKS)))
    return Asked(host, " ".join(query), at, topics, door)


@st.composite
def documents(draw: st.DrawFn) -> Document:
    """Draw what a policy says; what has no order has one value in all of it."""
    fixed = {key: st.just(draw(values)) for key, values in UNORDERED.items()}
    whole = {**ORDERED, **fixed}
    document: Document = draw(_some({**whole, **OF_RECIPIENTS, **PER_ATTRIBUTE}, 3))
    document.update(draw(_parts()))
    groups = draw(st.sets(st.sampled_from(sorted(MEMBERS))))
    if groups:
        document["groups"] = {name: draw(_some_of(MEMBERS[name])) for name in sorted(groups)}
    named = sorted(groups)
    if draw(st.booleans()):
        document["lists"], named = LISTS, [*named, *LISTS, *(f"@{each}" for each in LISTS)]
    context = {"attributes": _one_or_more(PATTERNS), "recipients": _one_or_more((*named, *DOMAINS))}
    if draw(st.integers(0, 2)) == 0:
        contexts = st.dictionaries(st.sampled_from("ab"), st.fixed_dictionaries(context))
        document["contexts"] = draw(contexts)
    if draw(st.integers(0, 3)) == 0:
        pair = st.permutations(NAMES).map(lambda names: names[:2])
        prices = st.fixed_dictionaries({"facts": pair, "price": NUMBERS})
        document["together"] = draw(st.lists(prices, min_size=1, max_size=2))
    if "queries" in document and draw(st.booleans()):
        document["queries"]["except"] = draw(_one_or_more((*named, *DOMAINS)))
    few = draw(st.integers(0, 4))
    rules = draw(st.lists(_rules(whole, named), min_size=min(few, 2), max_size=6))
    for number, rule in enumerate(rules):
        if draw(st.integers(0, 3)) == 0:
            rule["name"] = f"{draw(st.sampled_from(CALLED))} {number}"
    return {**document, "rule": rules} if rules else document


@st.composite
def _parts(draw: st.DrawFn) -> Document:
    """Draw the parts of a policy that are neither settings, groups nor rules."""
    parts: Document = {}
    if draw(st.booleans()):
        parts["preset"] = draw(st.sampled_from(["none", "balanced", "generous", "strict"]))
    if draw(st.integers(0, 4)) == 0:
        parts["format"] = 1
        parts["trusted_keys"] = draw(
            st.sampled_from([f"ed25519:{'0a' * 32}", [f"ed25519:{'f' * 64}"]])
        )
    if draw(st.integers(0, 3)) == 0:
        parts["daemon"] = draw(_some(OF_THE_DAEMON, 3))
        parts["judge"] = draw(OF_THE_JUDGE)
    if draw(st.booleans()):
        blocks = {"block": _one_or_more(WORDS), "block_topics": _one_or_more(TOPICS)}
        parts["queries"] = draw(st.fixed_dictionaries({}, optional=blocks))
    entries = PER_ATTRIBUTE["disclose"] | _some(PER_ATTRIBUTE, 2, least=1)
    attributes = draw(st.dictionaries(st.sampled_from(PATTERNS), entries, max_size=4))
    for entry in attributes.values():
        if isinstance(entry, dict) and draw(st.integers(0, 2)) == 0:
            entry["expires"] = draw(DAYS)
    return {**parts, "attributes": attributes} if attributes else parts


CARRY = get_args(Carry)
NARROW = {"query", "topic", "hours", "days", "door"}  # a rule with one has none of OF_RECIPIENTS


@st.composite
def _rules(
    draw: st.DrawFn, whole: Mapping[str, st.SearchStrategy[Any]], groups: list[str]
) -> Document:
    """Draw a rule that sets something it may."""
    rule: Document = {}
    may = {**PER_ATTRIBUTE}
    if draw(st.integers(0, 3)):
        named = groups and draw(st.integers(0, 2)) == 0
        rule["recipient"] = draw(_one_or_more((*(groups if named else ()), *DOMAINS[:4])))
        if draw(st.integers(0, 3)) == 0:
            rule["recipient"] = draw(_one_or_more((*groups, *KINDS, *DOMAINS)))
    if draw(st.booleans()):
        rule["query"] = draw(_one_or_more(WORDS))
    if draw(st.integers(0, 2)) == 0:
        rule["topic"] = draw(_one_or_more(TOPICS))
    if draw(st.integers(0, 2)) == 0:
        rule |= draw(_some(CONDITIONS, 2, least=1))
    if draw(st.booleans()):
        rule["attribute"] = draw(_one_or_more(PATTERNS))
    else:
        may |= whole if rule.keys() & NARROW else {**whole, **OF_RECIPIENTS}
    rule |= draw(_some(may, 3, least=1))
    is_whole = not rule.keys() & {*NARROW, "attribute"}
    if is_whole and rule.get("recipient") == "shop.example":
        rule["search"] = SEARCH
        rule |= draw(st.fixed_dictionaries({}, optional={"carry": st.sampled_from(CARRY)}))
    if is_whole and rule.get("recipient") == "books.example":
        rule |= {"assistant": True, "address": "https://books.example/"}
    if draw(st.integers(0, 2)) == 0:
        rule["expires"] = draw(DAYS)
    return rule


def rendered(document: Mapping[str, Any]) -> str:
    """Return a document as TOML: what stands at the top first, then the tables."""
    return tomlkit.dumps(dict(sorted(document.items(), key=lambda pair: _is_table(pair[1]))))


def _is_table(value: object) -> bool:
    inner = value[:1] if isinstance(value, list) else [value]
    return any(isinstance(each, dict) for each in inner)


def _some(
    values: Mapping[str, st.SearchStrategy[Any]], most: int, *, least: int = 0
) -> st.SearchStrategy[Document]:
    keys = st.lists(st.sampled_from(sorted(values)), min_size=least, max_size=most, unique=True)
    return keys.flatmap(lambda drawn: st.fixed_dictionaries({key: values[key] for key in drawn}))


def _some_of(texts: tuple[str, ...]) -> st.SearchStrategy[list[str]]:
    return st.lists(st.sampled_from(texts), min_size=1, max_size=3, unique=True)


def _one_or_more(texts: tuple[str, ...]) -> st.SearchStrategy[str | list[str]]:
    return st.sampled_from(texts) | _some_of(texts)


CONDITIONS: Mapping[str, st.SearchStrategy[Any]] = {
    "hours": st.sampled_from(HOURS),
    "days": _one_or_more(DAYS_OF_WEEK[:4]),
    "door": _one_or_more(get_args(Door)),
    "except": _one_or_more(DOMAINS),
}
LAST_DAYS = st.integers(0, 2).map(lambda days: TODAY + timedelta(days=days))
VALUES = {**PER_ATTRIBUTE, **ORDERED, **OF_RECIPIENTS, **UNORDERED}


@st.composite
def policies(draw: st.DrawFn) -> Policy:
    """Draw a valid policy with a comment of its own on each line."""
    lines = rendered(draw(documents())).splitlines()
    text = "".join(f"{line}  # {number:03}\n" for number, line in enumerate(lines))
    return read(text, "policy.toml", preset)


@st.composite
def scopes(draw: st.DrawFn, policy: Policy) -> RuleScope:
    """Draw for which requests something is set, often for all."""
    recipient = draw(st.none() | st.sampled_from([*policy.groups, *policy.lists, *KINDS, *DOMAINS]))
    attribute = draw(st.none() | st.sampled_from(PATTERNS))
    query = draw(st.none() | st.none() | st.sampled_from(WORDS))
    where = RuleScope(recipient, attribute, query, draw(st.none() | st.none() | LAST_DAYS))
    lists = {"recipient": _some_of(DOMAINS), "attribute": _some_of(NAMES)}
    more = {**CONDITIONS, "topic": _one_or_more(TOPICS)}
    more |= {key: each for key, each in lists.items() if getattr(where, key) is None}
    some = draw(st.just([]) | st.lists(st.sampled_from([*more]), max_size=2, unique=True))
    return replace(where, more={key: draw(more[key]) for key in some})


@st.composite
def changes(draw: st.DrawFn) -> tuple[Policy, RuleScope, dict[str, Value], Policy]:
    """Draw a policy, a scope, a setting that may stand there, and the policy that has it."""
    before = draw(policies())
    where = draw(scopes(before))
    barred = {about for part in where.parts() if part in MISPLACED for about in MISPLACED[part][1]}
    keys = [key for key in VALUES if SETTINGS[key].about not in barred]
    key = draw(st.sampled_from(keys))
    values = {key: draw(VALUES[key])}
    after = read(with_settings(before.text, before, where, values), "policy.toml", preset)
    return before, where, values, after
