"""What recipients see of people under a policy, and whether absence says nothing there."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from typing import NamedTuple

from hypothesis import strategies as st

from agent.decision.knowledge import LATEST, WEEK, Knowledge
from agent.model.model import Model
from policy.hosts import site_of
from policy.read import preset, read
from policy.rules import Policy
from tests.decision.made import NAMES, PERSONS, made_model


@dataclass(frozen=True)
class Rules:
    """A policy, and whose values its limits look at."""

    policy: Policy
    protects_me: bool


@st.composite
def policies(draw: st.DrawFn, protect: Sequence[str] = ("everyone", "me")) -> Rules:
    """Draw a policy of every kind of setting that replaying has to respect."""
    lines = [
        'preset = "none"',
        f"anonymity_price = {draw(st.sampled_from([0, 5e-05, 0.0005, 0.00512]))}",
    ]
    lines += [f"k = {draw(st.integers(1, 6))}"] if draw(st.booleans()) else []
    for cap in ("new_facts_per_week", "attributes_per_request"):
        lines += [f"{cap} = {draw(st.integers(0, 3))}"] if draw(st.booleans()) else []
    lines.append(f'mode = "{draw(st.sampled_from(["dynamic", "standing", "planned"]))}"')
    lines.append(f'memory = "{draw(st.sampled_from(["remembers", "forgets"]))}"')
    lines.append(f'results = "{draw(st.sampled_from(["send", "send", "both", "rerank"]))}"')
    protected = draw(st.sampled_from(protect))
    lines.append(f'protect = "{protected}"')
    ruled = st.dictionaries(
        st.sampled_from(NAMES), st.sampled_from(["never", "ask", "auto", "always"])
    )
    lines += ["[attributes]", *(f'{name} = "{what}"' for name, what in draw(ruled).items())]
    lines += ["[groups]", 'both = ["a.example", "b.example"]'] if draw(st.booleans()) else []
    rule = ["[[rule]]", 'recipient = "b.example"', "anonymity_price = 1e-05"]
    lines += rule if draw(st.booleans()) else []
    return Rules(policy("\n".join(lines)), protected == "me")


def policy(text: str) -> Policy:
    return read(text, "policy.toml", preset)


@dataclass(frozen=True, slots=True)
class Told:
    """A host was told the codes of some person attributes; ``at`` has a time zone.

    ``query``: the query of the model that something was sent with, None for one that it lacks.
    """

    at: datetime
    host: str
    codes: tuple[tuple[str, int], ...]
    query: int | None = None


@dataclass(frozen=True, slots=True)
class Forgotten:
    """What the recipients with these registered sites were told until then, they link no more."""

    at: datetime
    sites: frozenset[str]


def knowledge_of(
    events: Iterable[Told | Forgotten], pool: str, pool_of: Callable[[str], str], now: datetime
) -> Knowledge:
    """Return what a pool of recipients holds after these events, in the order they happened.

    Plainly, from the whole list each time, to hold `Holdings` to. ``pool_of``: who remembers what a
    host is told.
    """
    standing: list[Told] = []
    codes: dict[str, int] = {}
    recent = 0
    for event in events:
        if isinstance(event, Forgotten):
            standing = [each for each in standing if site_of(each.host) not in event.sites]
            codes = {name: code for each in standing for name, code in each.codes}
        elif pool_of(event.host) == pool:
            new = [name for name, code in event.codes if codes.get(name) != code]
            standing.append(event)
            codes.update(event.codes)
            recent += len(new) if event.at > now - WEEK else 0
    sites = {site_of(event.host) for event in standing}
    latest = {site: [e.query for e in standing if site_of(e.host) == site] for site in sites}
    queries = Counter(query for each in latest.values() for query in each[-LATEST:])
    heard = tuple(sorted((each, times) for each, times in queries.items() if each is not None))
    return Knowledge(tuple(sorted(codes.items())), recent, heard)


Person = tuple[int, ...]

START = datetime(2027, 3, 1, 9, tzinfo=UTC)
HOSTS = ("shop.example", "www.shop.example", "books.example", "a.ads.test", "b.ads.test")
QUERIES = ("python today", "python today", "restaurants today", "something else")
LOOSE = "anonymity_price = 0.0001\nk = 10\nrisk = 0.2\n"
ATTRIBUTES = """
[attributes]
age = "ask"
region = "always"
gender = { disclose = "auto", sensitivity = 0.01, guard = 0.0 }
job = { guard = 0.5 }
"""
MANY_RULES = """
preset = "none"
anonymity_price = 2e-05
k = 3
violations = 0.2

[groups]
adverts = ["www.ads.test"]

[attributes]
age = "ask"
region = "always"

[[rule]]
recipient = "adverts"
attribute = ["gender", "j*"]
disclose = "never"
expires = 2027-03-04

[[rule]]
recipient = "adverts"
new_facts_per_week = 1

[[rule]]
recipient = "shop.example"
attributes_per_request = 3
new_facts_per_week = 2

[[rule]]
recipient = "www.shop.example"
attribute = "g*"
disclose = "ask"

[[rule]]
recipient = "books.example"
unknown_queries = "standing"
mode = "standing"
expires = 2027-03-09

[[rule]]
query = "restaurants"
attribute = "job"
guard = 0.5
"""
FORGETFUL = """
preset = "none"
anonymity_price = 1e-05
risk = 0.2

[[rule]]
recipient = "*.ads.test"
memory = "forgets"

[[rule]]
recipient = "shop.example"
disclose = "ask"
"""
WORDS = """
preset = "none"
anonymity_price = 2e-05
k = 3

[groups]
adverts = ["www.ads.test"]

[[rule]]
recipient = "shop.example"
search = "https://shop.example/?q={query}"
carry = "words"

[[rule]]
recipient = "b.ads.test"
search = "https://b.ads.test/?q={query}"
carry = "words"
"""
POLICIES = {
    # Their prices and limits are for more people than are made.
    **{
        name: f'preset = "{name}"\nanonymity_price = 0.002\nk = 3\nrisk = 0.1\n'
        for name in ("generous", "balanced", "strict")
    },
    **{
        f"{name} for these": f'preset = "{name}"\n{LOOSE}{ATTRIBUTES}'
        for name in ("generous", "strict")
    },
    "many rules": MANY_RULES,
    "forgetful": FORGETFUL,
    "words": WORDS,
    "planned": f'mode = "planned"\n{MANY_RULES}',
    "planned for these": f'preset = "generous"\nmode = "planned"\n{LOOSE}{ATTRIBUTES}',
}

PERSON = frozenset(NAMES[:PERSONS])


class Step(NamedTuple):
    """What a recipient sees of one answer: names in order, with values; and the status."""

    status: str
    names: tuple[str, ...]
    codes: tuple[int, ...]


@cache
def the_model(seed: int) -> Model:
    """Return a model with enough people that presets let something leave."""
    return made_model(seed, people=300)


def has(person: Person, step: Step) -> bool:
    """Say whether somebody has the values that an answer tells."""
    told = zip(step.names, step.codes, strict=True)
    return all(person[NAMES.index(name)] == code for name, code in told if name in PERSON)


def holds(
    said: Mapping[Person, Sequence[Step]], own: Mapping[Person, Sequence[Person]] | None = None
) -> bool:
    """Say whether at every step the people with a transcript are those with its values.

    And whether all of these are about to say the same names, in the same order. ``own``: the
    values that everybody has at each step, where they change.
    """
    for steps in said.values():
        for count in range(len(steps) + 1):
            agree = {
                other
                for other in said
                if all(map(has, own[other] if own else (other,) * count, steps[:count]))
            }
            if agree != {other for other in said if said[other][:count] == steps[:count]}:
                return False
            following = {step[:2] for other in agree for step in said[other][count : count + 1]}
            if len(following) > 1:
                return False
    return True
