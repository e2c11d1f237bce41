"""Policies that are drawn, and what recipients were told and forgot."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from hypothesis import strategies as st

from agent.decision.knowledge import LATEST, WEEK, Knowledge
from policy.hosts import site_of
from policy.read import preset, read
from policy.rules import Policy
from tests.decision.made import NAMES


@dataclass(frozen=True)
class Rules:
    """A policy, and whose values its limits look at."""

    policy: Policy
    protects_me: bool


@st.composite
def policies(draw: st.DrawFn, protect: Sequence[str] = ("everyone", "me")) -> Rules:
    """Draw a policy of every kind of setting that replaying has to respect."""
    lines = [f"lambda = {draw(st.sampled_from([0, 0.05, 0.5, 5.12]))}"]
    lines += [f"k = {draw(st.integers(1, 6))}"] if draw(st.booleans()) else []
    for cap in ("new_facts_per_week", "attributes_per_request"):
        lines += [f"{cap} = {draw(st.integers(0, 3))}"] if draw(st.booleans()) else []
    lines.append(f'mode = "{draw(st.sampled_from(["dynamic", "standing", "planned"]))}"')
    lines.append(f'memory = "{draw(st.sampled_from(["remembers", "forgets"]))}"')
    protected = draw(st.sampled_from(protect))
    lines.append(f'protect = "{protected}"')
    ruled = st.dictionaries(
        st.sampled_from(NAMES), st.sampled_from(["never", "ask", "auto", "always"])
    )
    lines += ["[attributes]", *(f'{name} = "{what}"' for name, what in draw(ruled).items())]
    lines += ["[groups]", 'both = ["a.example", "b.example"]'] if draw(st.booleans()) else []
    lines += ["[[rule]]", 'recipient = "b.example"', "lambda = 0.01"] if draw(st.booleans()) else []
    return Rules(policy("\n".join(lines)), protected == "me")


def policy(text: str) -> Policy:
    """Return the policy that a text describes."""
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
    events: Iterable[Told | Forgotten],
    pool: str,
    pool_of: Callable[[str], str],
    now: datetime,
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
