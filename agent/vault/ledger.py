"""The ledger: every disclosure in order, append-only, and what recipients hold by its entries."""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from functools import lru_cache, partial
from itertools import groupby, islice, takewhile
from math import inf, isfinite
from operator import attrgetter
from typing import Annotated, NamedTuple

import msgspec
from msgspec import Meta, Struct

from agent.decision.cache import Recent
from agent.decision.knowledge import Holdings
from agent.errors import UsageError
from agent.model.attributes import UNSPECIFIED
from agent.model.model import Concepts, Meaning
from agent.vault.database import damaged, decoded
from agent.vault.seal import from_json
from agent.vault.store import Store
from policy import hosts

NO_ENTRY = "not an entry of a ledger"
MOST_SITES = 48  # in one entry, which has room for this many of the longest
DOOR = "door"  # in the context of an entry
VIEWS = 4  # groupings kept ready: the policy's, and the one before it was edited
PoolOf = Callable[[str], str]
Chosen = Callable[[str, datetime], bool]  # a host, or its site, and a time
Pairs = tuple[tuple[str, str], ...]
Shares = tuple[tuple[str, float], ...]
Rows = Iterable[tuple[int, bytes]]
site_of = lru_cache(maxsize=4096)(hosts.site_of)


class _Entry(
    Struct,
    frozen=True,
    forbid_unknown_fields=True,
    omit_defaults=True,
    tag_field="kind",
    kw_only=True,
):
    """What all entries have; as JSON this is what is sealed (FORMAT.md)."""

    at: Annotated[datetime, Meta(tz=True)]
    host: str


class Disclosure(_Entry, frozen=True, tag="disclosed", kw_only=True):
    """What one request carried; appended before its answer leaves.

    ``at``: with a time zone; ``host``: canonical, as policy.hosts.host_of gives it; ``asked``: the
    names that the recipient could use, None where it did not say; ``disclosed``: (name, value)
    pairs in the order chosen, "unspecified" included; ``persons``: those of them that are
    attributes of the person, and so knowledge; ``means``: what each of these means across models,
    none in entries older than that; ``model``, ``digest``: of the model that decided, of several
    that whose people were counted;
    ``people_left``: who agree with all that the recipient's pool holds from now on; ``read_as``:
    the known query that the text was read as, by its name, empty where it was none, and None in
    entries from before texts were read: those were its own text; ``query``: empty once its text is
    deleted; ``probability``: of the reading;
    ``others``: what else the text may have meant, with probabilities; ``facts``: the id and the
    kind of each fact of the profile that was sent; ``context``: of the request, by which `DOOR` it
    came; ``spent``: of the
    recipient's budget of violations; ``judged``: by a fact's id, how likely it helps here as a
    local judge says.
    Raises ValueError if one of these does not hold.
    """

    query: str
    asked: tuple[str, ...] | None
    disclosed: Pairs
    persons: tuple[str, ...]
    model: str
    digest: str
    utility_bits: float
    people_left: int
    means: tuple[Meaning, ...] = ()
    read_as: str | None = None
    probability: float = 1.0
    others: Shares = ()
    facts: Pairs = ()
    context: Pairs = ()
    spent: float = 0.0
    judged: Shares = ()

    def __post_init__(self) -> None:
        names, persons = {name for name, _ in self.disclosed}, {*self.persons}
        sound = (
            self.host
            and self.at.utcoffset() is not None
            and len(names) == len(self.disclosed)
            and len(persons) == len(self.persons)
            and persons <= names
            and len(self.means) in {0, len(persons)}
            and all(map(all, (*self.disclosed, *self.means, *self.facts, *self.context)))
            and all(name for name, _ in (*self.others, *self.judged))
            and all(0 <= each <= 1 for _, each in (*self.meant, *self.judged))
            and isfinite(self.utility_bits)
            and self.people_left >= 0
            and 0 <= self.spent < inf
        )
        if not sound:
            raise ValueError(NO_ENTRY)

    def without_text(self) -> "Disclosure":
        """The same without its text: what the recipient holds, and was asked about, stays."""
        return msgspec.structs.replace(self, query="", read_as=self.read_as or "")

    @property
    def learnt(self) -> Pairs:
        """What the recipient knows from then on: values by the concepts of person attributes.

        In older entries an attribute is MODEL.NAME, until `Concepts.renamed` is asked.
        """
        values, model = dict(self.disclosed), self.model
        return self.means or tuple((f"{model}.{n}", f"{model}:{values[n]}") for n in self.persons)

    @property
    def meant(self) -> Shares:
        """The names of all known queries, with probabilities; of the text where it does not say."""
        name = self.query if self.read_as is None else self.read_as
        return ((name, self.probability), *self.others)

    @property
    def door(self) -> str:
        """By which door the request came, as policies name it; empty in older entries."""
        return dict(self.context).get(DOOR, "")

    def __repr__(self) -> str:
        return f"Disclosure(at={self.at.isoformat()}, {len(self.disclosed)} attributes)"


class Forgetting(_Entry, frozen=True, tag="forgotten", kw_only=True):
    """The user's statement that a recipient, and whoever it pooled with, can no longer link.

    ``host``: whom the user named, or one of them; ``sites``: the registered sites that forget
    (policy.hosts.site_of), ascending. What they were told until then is forgotten, whoever pools
    with whom later. Raises ValueError where the time has no zone, there is no host, or the sites
    are none, too many or not in order.
    """

    sites: tuple[str, ...]

    def __post_init__(self) -> None:
        sound = (
            self.host
            and self.at.utcoffset() is not None
            and 0 < len(self.sites) <= MOST_SITES
            and "" not in self.sites
            and self.sites == tuple(sorted({*self.sites}))
        )
        if not sound:
            raise ValueError(NO_ENTRY)

    def __repr__(self) -> str:
        return f"Forgetting(at={self.at.isoformat()}, {len(self.sites)} sites)"


Record = Disclosure | Forgetting
_DECODER = msgspec.json.Decoder[Record](Record)


def encode(record: Record) -> bytes:
    """An entry as JSON."""
    if (record.at.utcoffset() or timedelta()) % timedelta(minutes=1):  # RFC 3339 has no seconds
        record = msgspec.structs.replace(record, at=record.at.astimezone(UTC))
    return msgspec.json.encode(record)


def decode(payload: bytes) -> Record:
    """The entry in a payload; DamagedVaultError if it is not one."""
    record: Record | None = from_json(payload, _DECODER)
    if record is None:
        raise damaged("an entry of its ledger cannot be read")
    return record


class LedgerStep(NamedTuple):
    """What one entry changed at one site; one that forgets stands here for each of its sites.

    ``people_left``: who agreed with all that the site's pool held from then on; it and ``query``
    are None where the site forgot. ``meant``: the known queries that the text may have meant, the
    one that it was read as first, with probabilities; ``facts``: those that may have been new;
    ``spent``: of the budget of violations.
    """

    number: int
    at: datetime
    site: str
    people_left: int | None
    query: str | None
    meant: Shares = ()
    facts: Pairs = ()
    spent: float = 0.0

    def __repr__(self) -> str:
        return f"LedgerStep(number={self.number}, at={self.at.isoformat()})"


_NUMBER = attrgetter("number")


class DisclosureIndex:
    """What follows from the entries, whatever the policy's groups are.

    ``latest``: the latest time of an entry; the present is never earlier. ``sites``: the registered
    sites, each with the number of its first entry; ``steps``: all of them, in order.
    A fact is new to a site unless the same value was sent there since the site last forgot, and no
    other value of the fact was sent anywhere since: then whatever pool the site is in holds it
    already. Hosts of one site are always in one pool.
    """

    def __init__(self) -> None:
        """Begin with no entry."""
        self.latest: datetime | None = None
        self.sites: dict[str, int] = {}
        self.steps: list[LedgerStep] = []
        self._learnt: dict[str, dict[str, int]] = {}  # by site and fact: the last entry with it
        self._values: dict[str, tuple[str, int]] = {}  # the latest value, and since which entry
        self._views: Recent[PoolOf, _View] = Recent(VIEWS)
        self.concepts = Concepts()
        """The models by which facts of one are facts of another."""

    def use(self, concepts: Concepts) -> None:
        """Compare facts by other models, as these have changed."""
        self.concepts, self._views = concepts, Recent(VIEWS)

    def news(self, record: Record) -> Pairs:
        """The facts in an entry that may be new to some pool; none where it forgets."""
        if isinstance(record, Forgetting):
            return ()
        learnt = self._learnt.get(site_of(record.host), {})
        news = []
        for name, value in record.learnt:
            latest, since = self._values.get(name, (None, 0))
            if name not in learnt or latest != value or learnt[name] < since:
                news.append((name, value))
        return tuple(news)

    def sent_since(self, at: datetime) -> int:
        """Count the requests that carried something after a time, to whomever."""
        latest = takewhile(lambda step: step.at > at, reversed(self.steps))
        return sum(step.query is not None for step in latest)

    def add(self, number: int, record: Record, news: Pairs) -> None:
        """Take an entry, the next in the ledger; ``news``: its facts that may be new."""
        if isinstance(record, Forgetting):
            steps = [LedgerStep(number, record.at, site, None, None) for site in record.sites]
        else:
            site, reading = site_of(record.host), (record.people_left, record.query, record.meant)
            steps = [LedgerStep(number, record.at, site, *reading, news, record.spent)]
        self.steps += steps
        self.latest = record.at if self.latest is None else max(self.latest, record.at)
        for step in steps:
            self.sites.setdefault(step.site, number)
            if step.query is None:
                self._learnt.pop(step.site, None)
            for name, value in step.facts:
                self._learnt.setdefault(step.site, {})[name] = number
                if self._values.get(name, (None, 0))[0] != value:
                    self._values[name] = value, number

    def pool(self, pool: str, pool_of: PoolOf, before: int | None = None) -> Holdings[str]:
        """What a pool holds and was asked; ``pool_of``: the pool of a host, the same for its site.

        Pass the same function again: its result is cached. ``before``: as it was before the entry
        of this number, folded anew each time.
        """
        return self._view(pool_of, before).pools.get(pool) or Holdings()

    def pools(self, pool_of: PoolOf) -> Iterator[tuple[str, Holdings[str]]]:
        """Yield every pool with an entry in the ledger, in the order of its name."""
        yield from sorted(self._view(pool_of).pools.items(), key=lambda named: named[0])

    def holders(
        self, values: Mapping[str, str | None], pool_of: PoolOf
    ) -> Mapping[str, tuple[str, ...]]:
        """Return by concept the pools that hold another value than this; none where all agree.

        ``values``: by concept, as the profile has them from now on, None for what is not set any
        more, which a pool goes on to hold. Any other new value it will be told like one that it
        knows already, without being asked about: what is decided cannot depend on a value that was
        not disclosed, nor on its change (DESIGN.md 2.6).
        """
        pools: dict[str, list[str]] = {}
        for pool, holdings in self.pools(pool_of):
            for name in holdings.held.keys() & values.keys():
                value = holdings.held[name].value
                unsaid = values[name] == UNSPECIFIED and value.endswith(f":{UNSPECIFIED}")
                if value != values[name] and not unsaid:
                    pools.setdefault(name, []).append(pool)
        return {name: tuple(pools[name]) for name in sorted(pools)}

    def _view(self, pool_of: PoolOf, before: int | None = None) -> "_View":
        concepts = self.concepts
        if before is not None:
            view, end = _View(pool_of, concepts), bisect_left(self.steps, before, key=_NUMBER)
        else:
            view = self._views.get(pool_of, lambda: _View(pool_of, concepts))
            end = len(self.steps)
        for step in self.steps[view.steps : end]:
            holdings = view.pools[view.pool_of(step.site)]
            if step.query is None:
                holdings.forget((step.site,))
                continue
            holdings.add_query(step.site, list(filter(all, step.meant)))
            holdings.spent[step.site] += step.spent
            facts = (Meaning(*fact) for fact in step.facts)
            renamed = [concepts.renamed.get(fact, fact) for fact in facts]
            holdings.add_facts(step.at, step.site, renamed)
        view.steps = end
        return view


class _View:
    """The pools under one grouping; ``steps``: how many of the index they follow from."""

    def __init__(self, pool_of: PoolOf, concepts: Concepts) -> None:
        self.pools = defaultdict[str, Holdings[str]](partial(Holdings[str], concepts.replaces))
        self.pool_of, self.steps = lru_cache(pool_of), 0


class Reset(Struct, frozen=True, forbid_unknown_fields=True):
    """A correction of the clock: none of the first ``entries`` is later than ``at``."""

    entries: Annotated[int, Meta(ge=0)]
    at: Annotated[datetime, Meta(tz=True)]

    @classmethod
    def read(cls, payload: bytes | None) -> "Reset | None":
        """The correction in a payload, None without a payload; DamagedVaultError."""
        return decoded(payload, msgspec.json.Decoder(cls), "the correction of its clock")


class Ledger:
    """Every disclosure, in the order it happened; not for several threads at once."""

    def __init__(
        self, entries: Store, rows: Rows | None = None, reset: Reset | None = None
    ) -> None:
        """Read all entries; DamagedVaultError if one cannot be read.

        ``rows``: the entries, if they are read already, for verification; ``reset``: a correction
        of their times.
        """
        self.disclosures, self._entries = DisclosureIndex(), entries
        for number, payload in entries.entries() if rows is None else rows:
            record = decode(payload)
            if reset is not None and number <= reset.entries and record.at > reset.at:
                record = msgspec.structs.replace(record, at=reset.at)
            self.disclosures.add(number, record, self.disclosures.news(record))

    @property
    def count(self) -> int:
        """How many entries there are."""
        return self._entries.count

    def check(self, record: Record) -> None:
        """Raise UsageError if an entry is too large."""
        self._entries.check_entry(site_of(record.host), encode(record))

    def append(self, record: Record) -> int:
        """Append an entry and return its number; once this returns, it is in the file.

        It is also on the disk if it discloses something new or states a forgetting, so a power
        cut can lose only repetitions. Raises VaultError if it was not written.
        """
        news = self.disclosures.news(record)
        durable = isinstance(record, Forgetting) or bool(news)
        number = self._entries.append_entry(site_of(record.host), encode(record), durable=durable)
        self.disclosures.add(number, record, news)
        return number

    def forget(self, at: datetime, sites: Callable[[str], bool], host: str | None = None) -> bool:
        """Mark recipients as having forgotten everything disclosed so far.

        ``sites``: selects the registered sites; ``host``: as the user named it, None for any.
        Returns False, and records nothing, if the ledger has none of them. Raises VaultError.
        """
        registered = sorted(filter(sites, self.disclosures.sites))
        for begin in range(0, len(registered), MOST_SITES):
            part = tuple(registered[begin : begin + MOST_SITES])
            self.append(Forgetting(at=at, host=host or part[0], sites=part))
        return bool(registered)

    def read(
        self, after: int = 0, limit: int | None = None, chosen: Chosen | None = None
    ) -> list[tuple[int, Record]]:
        """List entries with their numbers, in order; ``after``: only with a greater number.

        ``limit``: at most this many, the latest; ``chosen``: of which one site, with the time, is.
        """
        if chosen is None:
            begin = after if limit is None else max(after, self.count - limit)
            return [(number, decode(body)) for number, body in self._entries.entries(begin)]
        later = takewhile(lambda step: step.number > after, reversed(self.disclosures.steps))
        numbers = (step.number for step in later if chosen(step.site, step.at))
        latest = [*islice((number for number, _ in groupby(numbers)), limit)]
        return [(number, self.entry(number)) for number in reversed(latest)]

    def entry(self, number: int) -> Record:
        """The entry with this number; UsageError if it does not exist."""
        if not 0 < number <= self.count:
            raise UsageError(f"the ledger has no entry {number}", "see `reticent requests list`")
        _, payload = next(iter(self._entries.entries(number - 1)))
        return decode(payload)
