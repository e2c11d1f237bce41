"""What a policy rules, written from FORMAT.md alone: every rule compared with every other."""

import tomllib
from collections.abc import Iterator, Mapping
from datetime import date, datetime, timedelta
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path as File
from typing import Any, NamedTuple

from policy.families import TopicProbabilities
from policy.settings import HOSTED
from tests.policy.strategies import Asked

Document = Mapping[str, Any]
Path = tuple[str | int, ...]
Part = str | list[str] | None

POLICIES = File(__file__).parents[2] / "policy"
PER_ATTRIBUTE = ("disclose", "sensitivity", "guard", "own", "relevance", "coarse")
LARGER = ("sensitivity", "guard", "anonymity_price", "k", "people", "nothing", "coarse")
SMALLER = (
    *("violations", "risk", "horizon"),
    *("attributes_per_request", "new_facts_per_week", "page_requests_per_minute"),
    *("new_facts_per_day", "requests_per_day"),
)
FROM_OPEN_TO_STRICT = {
    "disclose": ("always", "auto", "ask", "never"),
    "own": ("auto", "ask", "never"),
    "relevance": ("fact", "kind"),
    "unknown_queries": ("standing", "nothing"),
    "memory": ("forgets", "remembers"),
    "results": ("send", "both", "rerank"),
    "protect": ("everyone", "me"),
}
OF_HOSTS = ("search", "carry", "engine", "assistant", "address")
COMPANIES = (("chatgpt.com", "openai.com"),)  # of those in the two tables
OF_FILES = ("format", "preset", "trusted_keys", "attributes", "groups", "lists", "contexts")
OF_RULES = ("recipient", "attribute", "query", "topic", "name", "expires", "except", "hours")
TABLES = ("queries", "rule", "test", "together", "daemon", "judge")
NOT_SETTINGS = {*OF_FILES, *TABLES, *OF_RULES, "days", "door"}
WEEK = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")


class Entry(NamedTuple):
    """A rule as it stands in one of the places for rules."""

    layer: int  # 0: the defaults, 1: the preset, 2: the file
    path: Path
    settings: Document
    recipient: Part = None
    attribute: Part = None
    query: Part = None
    topic: Part = None
    expires: date | None = None
    excepted: Part = None
    hours: str | None = None
    days: Part = None
    door: Part = None


class Claim(NamedTuple):
    """An entry that matches, how specific it is, and its value of one setting."""

    entry: Entry
    reach: tuple[float, float, float, float]
    value: Any


def entries(document: Document) -> list[Entry]:
    """Return every rule of a document, of its preset and of the defaults."""
    start = document.get("preset", "balanced")
    preset = () if start == "none" else _entries(_preset(start), 1)
    return [Entry(0, (), defaults()), *preset, *_entries(document, 2)]


@cache
def defaults() -> Document:
    text = (POLICIES / "FORMAT.md").read_text().split("## Defaults")[1]
    return _settings(tomllib.loads(text.split("```toml\n")[1].split("```")[0]))


@cache
def _preset(name: str) -> Document:
    return tomllib.loads((POLICIES / "presets" / f"{name}.toml").read_text())


def _entries(document: Document, layer: int) -> Iterator[Entry]:
    yield Entry(layer, (), _settings(document))
    for name, entry in document.get("attributes", {}).items():
        table = entry if isinstance(entry, dict) else {"disclose": entry}
        path, last = ("attributes", name), table.get("expires")
        yield Entry(layer, path, _settings(table), attribute=name, expires=last)
    queries = document.get("queries", {})
    for key, part in (("block", "query"), ("block_topics", "topic")):
        if key in queries:
            parts = {part: queries[key], "excepted": queries.get("except")}
            yield Entry(layer, ("queries", key), {"nothing": True}, **parts)
    for number, rule in enumerate(document.get("rule", [])):
        keys = ("recipient", "attribute", "query", "topic", "expires", "hours", "days", "door")
        parts = {key: rule.get(key) for key in keys} | {"excepted": rule.get("except")}
        yield Entry(layer, ("rule", number), _settings(rule), **parts)


def contexts(document: Document) -> Iterator[Entry]:
    """Yield each context as the rule that keeps its facts from all others."""
    for name, each in document.get("contexts", {}).items():
        parts = {"attribute": each["attributes"], "excepted": each["recipients"]}
        yield Entry(2, ("contexts", name), {"disclose": "never"}, **parts)


def _settings(table: Document) -> Document:
    return {key: value for key, value in table.items() if key not in NOT_SETTINGS}


def claims(document: Document, asked: Asked, key: str, name: str | None) -> list[Claim]:
    """Return every rule that has a setting and matches a request, and an attribute if given."""
    found = []
    for entry in entries(document):
        if key not in entry.settings or not is_time(entry, asked.today):
            continue
        programs = ("mcp", asked.door) if asked.door in HOSTED else (asked.door,)
        if entry.door is not None and not {*programs} & {*_listed(entry.door)}:
            continue
        if entry.excepted and among(entry.excepted, asked.recipient, document):
            continue
        reach = (
            recipient_rank(entry.recipient, asked.recipient, document, of_hosts=key in OF_HOSTS),
            _attribute(entry.attribute, name),
            query_rank(entry.query, asked.query),
            topic_rank(entry, asked.topics),
        )
        if None not in reach:
            found.append(Claim(entry, reach, entry.settings[key]))  # type: ignore[arg-type]  # none of it is None
    closed = closing(document, asked.recipient, name) if key == "disclose" else []
    return found + [Claim(each, (0.0,) * 4, "never") for each in closed]


def is_time(entry: Entry, at: date) -> bool:
    """Say whether an entry holds at a time: the hours are walked through, minute by minute."""
    if not isinstance(at, datetime):
        return not (entry.hours or entry.days or (entry.expires and at > entry.expires))
    begun = at.date()
    if entry.hours:
        begin, end = (60 * int(e[:2]) + int(e[3:]) for e in entry.hours.split("-"))
        minutes = (end - begin) % 1440 or 1440
        since = (60 * at.hour + at.minute - begin) % 1440
        if since >= minutes:
            return False
        begun = (at - timedelta(minutes=since)).date()
    over = entry.expires and begun > entry.expires
    return not over and (entry.days is None or WEEK[begun.weekday()] in _listed(entry.days))


def among(part: Part, recipient: str, document: Document) -> bool:
    """Say whether a recipient is one of those listed, or shares with one what it learns."""
    return recipient_rank(part, recipient, document, of_hosts=False) is not None


def closing(document: Document, recipient: str, name: str | None) -> list[Entry]:
    """Return the contexts that keep a fact from a recipient."""
    own = [e for e in contexts(document) if _attribute(e.attribute, name) is not None]
    its = [e for e in contexts(document) if among(e.excepted, recipient, document)]
    return [] if {e.path for e in own} & {e.path for e in its} else (own or its)[:1]


def _beats(one: Claim, other: Claim) -> bool:
    """Say whether a claim is more specific than another, or as much and of a later layer."""
    if one.entry.layer < other.entry.layer:
        return False
    later = one.entry.layer > other.entry.layer
    return more_specific(one, other) or (later and one.reach == other.reach)


def more_specific(one: Claim, other: Claim) -> bool:
    """Say whether a claim is at least as specific in every part, and more in one."""
    pairs = [*zip(one.reach, other.reach, strict=True)]
    return all(mine >= its for mine, its in pairs) and any(mine > its for mine, its in pairs)


def decided(found: list[Claim], key: str) -> list[Claim]:
    """Return the claims that might be said to decide: equals, of which it does not matter.

    Of a setting that knows no stricter it is the one that stands last.
    """
    if contexts := [claim for claim in found if claim.entry.path[:1] == ("contexts",)]:
        return contexts
    blocks = [
        claim
        for claim in found
        if key == "nothing" and claim.value and (claim.entry.query or claim.entry.topic)
    ]
    if blocks:
        return blocks
    best = [claim for claim in found if not any(_beats(other, claim) for other in found)]
    if key not in (*LARGER, *SMALLER, *FROM_OPEN_TO_STRICT):
        return best[-1:]
    strictest = max(strictness(key, claim.value) for claim in best)
    return [claim for claim in best if strictness(key, claim.value) == strictest]


def strictness(key: str, value: Any) -> float:  # noqa: ANN401  # of any setting
    """Return how strict a value is; the same for all where there is no order."""
    if key in FROM_OPEN_TO_STRICT:
        return FROM_OPEN_TO_STRICT[key].index(value)
    return float(value) if key in LARGER else -float(value) if key in SMALLER else 0.0


def recipient_rank(
    part: Part, recipient: str, document: Document, *, of_hosts: bool
) -> float | None:
    """Return how specific a part is for a host or for its pool, None where it does not match."""
    host, groups = _host(recipient), document.get("groups", {})
    hosts = [host] if of_hosts else [host, *_pooled(pool(host, groups), groups)]
    ranks = [
        0.25 if each == kind(host, document) else max(_rank(each, one, groups) for one in hosts)
        for each in expanded(part, document)
    ]
    own = pool(host, groups)
    if not of_hosts and any(_is_of(each, own, groups) for each in expanded(part, document)):
        ranks.append(1000.0)
    return 0.0 if part is None else max((rank for rank in ranks if rank), default=None)


def _pooled(name: str, groups: Mapping[str, list[str]]) -> list[str]:
    """Return a host of each owner in a pool."""
    members = groups.get(name[1:], [name]) if "@" in name else [name]
    own = [each.removeprefix("*.") for each in members]
    return [*own, *(d for each in own for c in COMPANIES if _site(each) in c for d in c)]


def _is_of(text: str, name: str, groups: Mapping[str, list[str]]) -> bool:
    """Say whether a recipient of a rule is a pool or a part of it."""
    if text in groups or " " in text:
        return name == f"@{text}"
    domain = text.removeprefix("*.")
    several = domain in ("example", "com", "co.uk")
    return not several and pool(domain, groups) == name


def expanded(part: Part, document: Document) -> list[str]:
    """Write the members of lists in place of these."""
    lists = {name: _listed(its) for name, its in document.get("lists", {}).items()}
    return [e for each in _listed(part) for e in lists.get(each.removeprefix("@"), [each])]


def kind(host: str, document: Document) -> str:
    """Return which kind of recipient a host is: by what names it most exactly, and what it is."""
    groups, found = document.get("groups", {}), list[tuple[float, str]]()
    for rule in document.get("rule", []):
        its = expanded(rule.get("recipient"), document)
        names = [e for each in its for e in groups.get(each, [each])]
        of = "any search engine" if rule.keys() & {"search", "engine"} else ""
        of = "any assistant" if rule.get("assistant") is True else of
        found += [(_rank(each, host, {}), of) for each in names if of]
    listed = ("claude.ai", "mistral.ai", "chatgpt.com", "openai.com")
    found += [(_rank(each, host, {}), "any assistant") for each in listed]
    found += [(_rank("duckduckgo.com", host, {}), "any search engine")]
    best = max(rank for rank, _ in found)
    return min((of for rank, of in found if rank == best > 0), default="any other site")


def _rank(text: str, host: str, groups: Mapping[str, list[str]]) -> float:
    if text in groups:
        return 0.25 if pool(host, groups) == f"@{text}" else 0.0
    domain = text.removeprefix("*.")
    if host == domain:
        return 0.0 if text != domain else len(domain.split("."))
    alone = domain.replace(".", "").isdigit() or domain == "localhost"
    below = host.endswith(f".{domain}") and not alone
    return len(domain.split(".")) + (0.5 if text != domain else 0.0) if below else 0.0


def pool(host: str, groups: Mapping[str, list[str]]) -> str:
    """Return who remembers what a host is told."""
    site = _site(host)
    same = next((each for each in COMPANIES if site in each), (site,))
    names = [
        name
        for name, members in groups.items()
        if any(_site(member.removeprefix("*.")) in same for member in members)
    ]
    return f"@{names[0]}" if names else same[0]


def _site(host: str) -> str:
    """Return the registered domain, by the few public suffixes that are generated."""
    if host in ("::1", "127.0.0.1") or host.endswith("localhost"):
        return "localhost"
    if ":" in host or host.replace(".", "").isdigit():
        return host
    return ".".join(host.split(".")[-3 if host.endswith(".co.uk") else -2 :])


def _host(recipient: str) -> str:
    """Return the host in the few forms of URLs that are generated."""
    if recipient.count(":") > 2:
        return recipient
    return recipient.removeprefix("https://").split("/")[0].split(":")[0].lower().rstrip(".")


def _attribute(part: Part, name: str | None) -> float | None:
    if part is None or name is None:
        return 0.0 if part is None else None
    ranks = [
        1.0 + len(each.replace("*", "")) if "*" in each else 1000.0
        for each in _listed(part)
        if fnmatchcase(name, each)
    ]
    if any(name in families()[each[1:]]["attributes"] for each in _listed(part) if "@" in each):
        ranks.append(999.0)
    return max(ranks, default=None)


@cache
def families() -> Document:
    """Return the table of families, as it is written."""
    families: Document = tomllib.loads((POLICIES / "families.toml").read_text())["families"]
    return families


def topic_rank(entry: Entry, topics: TopicProbabilities) -> float | None:
    """Return how specific a part is for what a query may be about, None where it is not that."""
    if entry.topic is None:
        return 0.0
    ranks, total = [0.0], 0.0
    for topic, probability in topics.items():
        found = [each for each in map(_plain, _listed(entry.topic)) if _is_about(topic, each)]
        ranks += [1.0 if each in families() else 2.0 for each in found]
        total += probability if found else 0.0
    own = entry.settings
    withholds = True in (own.get("nothing"), own.get("coarse"))
    withholds = withholds or bool({"never", "ask"} & {own.get("disclose"), own.get("own")})
    withholds = withholds or own.get("sensitivity", 0) > 0 or own.get("guard", 0) > 0
    return max(ranks) if total >= (0.1 if withholds else 0.5) else None


def _is_about(topic: frozenset[str], named: str) -> bool:
    listed = families()[named]["topics"] if named in families() else ()
    return not topic.isdisjoint({named, *map(_plain, listed)})


def _plain(name: str) -> str:
    return " ".join(name.lower().replace("_", " ").replace("?", " ").split())


def query_rank(part: Part, query: str) -> float | None:
    """Return how specific a part is for a query, None where it does not match."""
    words = query.casefold().split()
    ranks = [
        float(len(each.replace("*", "").replace(" ", "")))
        for each in _listed(part)
        if any(_begin(words[start:], each.split()) for start in range(len(words)))
    ]
    return 0.0 if part is None else max(ranks, default=None)


def _begin(words: list[str], pattern: list[str]) -> bool:
    return len(words) >= len(pattern) and all(map(fnmatchcase, words, pattern))


def _listed(part: Part) -> list[str]:
    return [] if part is None else part if isinstance(part, list) else [part]
