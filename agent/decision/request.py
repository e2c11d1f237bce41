"""A request, and what its recipient knows: a fold over what it was sent. Pure."""

from collections import Counter, deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from agent.model.model import Model
from agent.tradeoff.anonymity_set import FEWEST
from policy.hosts import site_of

WEEK = timedelta(days=7)
LATEST = 200  # requests of a site that count as heard; those before say little of what comes
Codes = tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True)
class Request:
    """One request that is about to leave.

    ``query``: the text; ``recipient``: who receives it (registrable domain or group);
    ``asked``: names of the attributes the recipient can use, None where it did not say.
    """

    query: str
    recipient: str = ""
    asked: frozenset[str] | None = None


@dataclass(frozen=True, slots=True)
class Knowledge:
    """What a recipient holds: person attributes with the value codes disclosed to it so far.

    ``codes``: (name, code) pairs, each name once, in ascending order; ``recent``: how many facts
    it learned within the last seven days; ``heard``: (query, times) pairs, ascending: which of the
    model's queries, by index, it was sent something with, and how often.
    """

    codes: tuple[tuple[str, int], ...] = ()
    recent: int = 0
    heard: tuple[tuple[int, int], ...] = ()

    @property
    def names(self) -> frozenset[str]:
        """The names of the attributes the recipient holds."""
        return frozenset(name for name, _ in self.codes)

    def learns(self, codes: Mapping[str, int]) -> "Knowledge":
        """Return what the recipient holds once it was told these; the latest value counts.

        Only person attributes belong here: request attributes are not knowledge (DESIGN.md 2.2).
        """
        known = sorted({**dict(self.codes), **codes}.items())
        return replace(self, codes=tuple(known))

    def hears(self, query: int | None) -> "Knowledge":
        """Return the same after something was sent with a query; None: one the model lacks."""
        if query is None:
            return self
        times = dict(self.heard)
        times[query] = times.get(query, 0) + 1
        return replace(self, heard=tuple(sorted(times.items())))


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

    ``pool_of``: who remembers what a host is told. The latest value of an attribute counts, of
    what its hosts were told and was not forgotten since. What was new to the pool since seven
    days before ``now`` counts as recent, forgotten or not. Of each site it heard the queries of its
    LATEST events that were not forgotten.
    """
    standing: list[Told] = []
    codes: dict[str, int] = {}
    recent = 0
    for event in events:
        if isinstance(event, Forgotten):  # of whom it is said, whoever pools with whom by now
            standing = [each for each in standing if site_of(each.host) not in event.sites]
            codes = {name: code for each in standing for name, code in each.codes}
        elif pool_of(event.host) == pool:
            new = [name for name, code in event.codes if codes.get(name) != code]
            standing.append(event)
            codes.update(event.codes)
            if event.at > now - WEEK:  # also what a clock set back puts into the future
                recent += len(new)
    return Knowledge(tuple(sorted(codes.items())), recent, _heard(standing))


def _heard(standing: list[Told]) -> tuple[tuple[int, int], ...]:
    sites = {host: site_of(host) for host in {event.host for event in standing}}
    latest: dict[str, deque[int | None]] = {}
    for event in standing:
        latest.setdefault(sites[event.host], deque(maxlen=LATEST)).append(event.query)
    queries = (query for each in latest.values() for query in each if query is not None)
    return tuple(sorted(Counter(queries).items()))


def people_left(knowledge: Knowledge, model: Model) -> int:
    """Return how many of the model's people agree with what is known."""
    return model.remember((people_left, knowledge.codes), lambda: _people_left(knowledge, model))


def _people_left(knowledge: Knowledge, model: Model) -> int:
    return model.crowd((model.index(name), code) for name, code in knowledge.codes).people


@dataclass(frozen=True, slots=True)
class Inference:
    """How much what is held tells of one guarded attribute, over the people who specify it.

    ``bits``: H(V) - H(V|d), below 0 where it is less certain than before; ``bits_in_all``: H(V);
    ``best_guess``: max P(v|d), ``by_chance``: max P(v). With fewer than 30 people who agree with
    d the model cannot say: then ``bits`` and ``best_guess`` are 0, as no best guess is else.
    """

    name: str
    bits: float
    bits_in_all: float
    best_guess: float
    by_chance: float


def inferred(
    guarded: Sequence[str], knowledge: Knowledge | None, model: Model
) -> tuple[Inference, ...]:
    """Return what is told of each guarded attribute; it is the same for all who agree with d.

    ``guarded``: names of person attributes; ``knowledge``: None where it has a value that the
    model does not have, so that nobody agrees. UsageError for a name that the model has not.
    Source: DESIGN.md 2.2.
    """
    codes = None if knowledge is None else knowledge.codes
    return tuple(_remembered(name, codes, model) for name in guarded)


def _remembered(name: str, codes: Codes | None, model: Model) -> Inference:
    return model.remember((inferred, name, codes), lambda: _inference(name, codes, model))


def _inference(name: str, codes: Codes | None, model: Model) -> Inference:
    index = model.index(name)
    before = model.crowd().doubt(index)
    by_all = Inference(name, 0.0, before.bits, 0.0, before.best_guess)
    if codes is None:
        return by_all
    after = model.crowd((model.index(each), code) for each, code in codes).doubt(index)
    if after.people < FEWEST:
        return by_all
    return Inference(
        name, before.bits - after.bits, before.bits, after.best_guess, before.best_guess
    )
