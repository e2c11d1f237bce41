"""Policies, requests of the past and histories, drawn or made by deciding."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

from hypothesis import strategies as st

from agent.decision.knowledge import LATEST, WEEK, Knowledge
from agent.decision.terms import rulebook, terms_under
from agent.decision.values import Request
from agent.decision.what_if import Codes, PastRequest
from agent.model.concepts import Meaning, meaning_of
from agent.model.model import Model
from policy.hosts import site_of
from policy.read import preset, read
from policy.rules import Policy, Pools
from tests.decision.made import CARDS, NAMES, PERSONS, decide, made_model

START = datetime(2026, 3, 2, 9, tzinfo=UTC)
QUERIES = ("python today", "restaurants today", "zebra crossing")
HOSTS = ("a.example", "b.example", "www.a.example")
MODELS = [made_model(seed) for seed in range(4)]

models = st.sampled_from(MODELS)
people = st.tuples(*(st.integers(0, card - 1) for card in CARDS)).map(
    lambda codes: dict(zip(NAMES, codes, strict=True))
)


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


@st.composite
def streams(draw: st.DrawFn) -> tuple[PastRequest, ...]:
    """Draw requests in order of time, which carry nothing yet."""
    asked = st.none() | st.frozensets(st.sampled_from(NAMES)).map(lambda names: (*sorted(names),))
    size = draw(st.integers(1, 8))
    hours = sorted(draw(st.lists(st.integers(0, 400), min_size=size, max_size=size)))
    return tuple(
        PastRequest(
            START + timedelta(hours=hour),
            draw(st.sampled_from(HOSTS)),
            draw(st.sampled_from(QUERIES)),
            draw(asked),
        )
        for hour in hours
    )


def policy(text: str) -> Policy:
    """Return the policy that a text describes."""
    return read(text, "policy.toml", preset)


def lived(
    stream: Sequence[PastRequest], rules: Rules, persons: Sequence[Codes], model: Model
) -> tuple[PastRequest, ...]:
    """Return the history of a person, given at each request, whose agent decided by a policy."""
    book = rulebook(rules.policy, model, ())
    pools = Pools(rules.policy.groups).of
    events: list[Told] = []
    history = []
    for past, person in zip(stream, persons, strict=True):
        ruling = book.match(past.recipient, past.query, past.at.date())
        known = knowledge_of(events, ruling.pool, pools, past.at)
        request = Request(past.query, past.recipient, past.asked)
        own = person if rules.protects_me else None
        decision = decide(request, terms_under(ruling, model), known, model, own)
        codes = tuple((name, person[name]) for name in decision.disclosed)
        lasting = tuple(pair for pair in codes if pair[0] in NAMES[:PERSONS])
        query = model.read(past.query).query if codes else None
        events.append(Told(past.at, ruling.host, lasting, query))
        facts = tuple(meaning(name, code, model) for name, code in lasting)
        names = tuple(name for name, _ in codes)
        history.append(replace(past, disclosed=names, facts=facts, model=model))
    return tuple(history)


def meaning(name: str, code: int, model: Model) -> Meaning:
    """Return what a code says about a person."""
    return meaning_of(name, model.attributes[model.index(name)].values[code], model)


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
