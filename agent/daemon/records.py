"""The records of the vault, as messages: ledger, requests, recipients, corrections of readings."""

from collections.abc import Callable, Collection, Iterator, Sequence
from datetime import datetime
from itertools import groupby
from operator import itemgetter
from typing import Any, NamedTuple

from msgspec.structs import replace

from agent.daemon.agent import Agent
from agent.daemon.consent import ALREADY_SENT
from agent.decision.decide import counted_among, read_by
from agent.decision.knowledge import Holdings, Knowledge, inferred, knowledge_in, people_left
from agent.decision.values import Correction, Reading
from agent.errors import LockedError, ModelError, UsageError
from agent.model.concepts import Meaning
from agent.model.model import Model
from agent.vault.disclosure_index import Disclosure, Forgetting, LedgerStep
from agent.vault.profile import Corrections
from agent.wire.base import LATEST_ENTRIES, Done, RecipientName, from_fields
from agent.wire.state import (
    Corrected,
    Entry,
    Moment,
    NotThat,
    Recipient,
)
from policy.hosts import ANYBODY, host_of
from policy.rules import SIGN

MOST = 48  # moments of one recipient


def sites_in(agent: Agent, pool: str) -> Callable[[str], bool]:
    """Return a predicate: whether a site, and so each of its hosts, is in a pool."""
    return lambda site: agent.rules.active.pool_of(site) == pool


def ledger(
    now: datetime,
    agent: Agent,
    *,
    recipient: str | None = None,
    after: int = 0,
    limit: int | None = None,
) -> list[Entry]:
    """List disclosures, oldest first.

    ``recipient``: only its own and those of its pool. UsageError where that is neither a host nor
    a group.
    """
    models = {model.id: model for model in agent.usable_models(now)}
    in_use = agent.rules.active
    wanted = None if recipient is None else sites_in(agent, in_use.pool(recipient))
    return [
        Entry(
            number=number,
            kind="forgotten",
            at=record.at,
            recipient=record.host,
            pool=in_use.pool_of(record.host),
        )
        if isinstance(record, Forgetting)
        else from_fields(
            Entry,
            record,
            number=number,
            kind="disclosed",
            recipient=record.host,
            pool=in_use.pool_of(record.host),
            asked=None if record.asked is None else [*record.asked],
            disclosed=[name for name, _ in record.disclosed],
            values=dict(record.disclosed),
            read_as=read_then(record, models.get(record.model)),
        )
        for number, record in agent.open_vault.ledger.read(after, limit or LATEST_ENTRIES, wanted)
    ]


def read_then(entry: Disclosure, model: Model | None) -> Reading | None:
    """Return how the text of an entry was read; None if it was not, or the entry does not say.

    ``model``: the one that read it, as it is now, for the title; None where it is gone.
    """
    if not entry.read_as:
        return None
    return known_query(entry.read_as, entry.model, entry.probability, model)


def known_query(name: str, model_id: str, probability: float, model: Model | None) -> Reading:
    """Return a known query by its name, with its title if the model still has it."""
    query = None if model is None else model.match(name)
    title = name if model is None or query is None else model.queries[query].title
    return Reading(query=name, title=title, probability=probability, model=model_id)


class _PoolView(NamedTuple):
    """What a pool holds, the steps of the ledger about it, and the model that counts its people."""

    pool: str
    steps: Sequence[LedgerStep]
    model: Model
    holdings: Holdings[str]
    knowledge: Knowledge
    people_left: int
    labels: list[tuple[str, str, datetime]]  # name, value, since


def _view_of(agent: Agent, pool: str, steps: Sequence[LedgerStep], now: datetime) -> _PoolView:
    index, cache = agent.open_vault.ledger.disclosures, agent.reader.cache
    model = _counted_by(agent, pool, steps, now)
    holdings = index.pool(pool, agent.rules.active.pool_of)
    knowledge = knowledge_in(holdings, model, now, concepts=index.concepts, cache=cache)
    labels = sorted(
        (*index.concepts.label(Meaning(concept, fact.value)), fact.since)
        for concept, fact in holdings.held.items()
    )
    people = people_left(knowledge, model, cache)
    return _PoolView(pool, steps, model, holdings, knowledge, people, labels)


def knowledge(now: datetime, agent: Agent, *, recipient: str) -> Recipient:
    """Say what a recipient holds.

    UsageError where that is neither a host nor a group.
    """
    in_use = agent.rules.active
    pool = in_use.pool(recipient)
    steps = agent.open_vault.ledger.disclosures.steps
    view = _view_of(agent, pool, [e for e in steps if in_use.pool_of(e.site) == pool], now)
    model = view.model
    terms = (in_use.terms(model, host, "", now.date()) for host in in_use.hosts_of(pool))
    guards = {name for each in terms if each is not None for name, _ in each.guards}
    guarded = [each.name for each in model.attributes if each.name in guards]
    codes = view.knowledge if view.knowledge.share else None
    return replace(
        _recipient(agent, view, now),
        values={name: value for name, value, _ in view.labels},
        since={name: since for name, _, since in view.labels},
        recent=view.holdings.recent(now),
        inferred=[*inferred(guarded, codes, model, agent.reader.cache)],
    )


def _counted_by(agent: Agent, pool: str, steps: Sequence[LedgerStep], now: datetime) -> Model:
    """Return the model by which people are counted: the one that decided last for a pool.

    ``steps``: of the pool. Where it is gone, the policy's for the pool, or the shipped one. What a
    model lacks of what others told makes its people fewer, so one number is enough.
    """
    last = max((each.number for each in steps if each.people_left is not None), default=None)
    entry = None if last is None else agent.open_vault.ledger.entry(last)
    models = {each.id: each for each in agent.usable_models(now)}
    if isinstance(entry, Disclosure) and entry.model in models:
        return models[entry.model]
    try:
        return agent.model_for(agent.rules.active.hosts_of(pool)[0], "", now)
    except (ModelError, UsageError):
        return agent.registry.of(None, agent.rules.active.keys, now)


def forget(body: RecipientName, now: datetime, agent: Agent) -> Done:
    """State that a recipient has forgotten everything.

    So has whoever it pools with. Nothing is recorded where nothing was disclosed to the pool since
    it last forgot. UsageError if it is neither a host nor a group.
    """
    records, pool = agent.open_vault.ledger, agent.rules.active.pool(body.recipient)
    host = None if body.recipient.startswith(SIGN) else host_of(body.recipient)
    if not records.disclosures.queries(pool, agent.rules.active.pool_of):
        return Done(done=False)
    return Done(done=records.forget(now, sites_in(agent, pool), host))


def requests(
    now: datetime, agent: Agent, *, recipient: str | None = None, limit: int | None = None
) -> list[Entry]:
    """List the latest requests, oldest first, also those that carried nothing.

    ``recipient``: only those of it and its pool. UsageError where it is neither a host nor a group.
    """
    pool_of = agent.rules.active.pool_of
    pending = {
        (review.pool, name)
        for review in agent.consent.reviews(now)
        for name in review.names
        if review.kind == "ask"
    }

    def waited(names: Collection[str], pool: str) -> dict[str, Any]:
        settled = sum((pool, name) not in pending for name in names)
        return {"values": {}, "waiting": len(names), "settled": settled}

    latest = [  # each by its place: after which entry of the ledger, and which request after that
        (
            (each.number, 0),
            replace(each, **waited(agent.silent_requests.waiting(each.number), each.pool)),
        )
        for each in ledger(now, agent, recipient=recipient, limit=limit)
    ]
    wanted = None if recipient is None else agent.rules.active.pool(recipient)
    for silent in agent.silent_requests:
        try:
            host = host_of(silent.ask.recipient)
        except UsageError:  # it went nowhere; without a policy nobody looks at it
            continue
        pool = pool_of(host)
        if wanted in (None, pool):
            own = {"kind": "nothing", "recipient": host, "pool": pool}
            entry = from_fields(Entry, silent, silent.ask, **own, **waited(silent.waiting, pool))
            latest.append(((silent.after, -silent.number), entry))
    latest.sort(key=itemgetter(0))
    return [each for _, each in latest][-(limit or LATEST_ENTRIES) :]


def recipients(now: datetime, agent: Agent) -> list[Recipient]:
    """List who was sent anything, latest first."""
    steps_of: dict[str, list[LedgerStep]] = {}
    last: dict[str, int] = {}
    for step in agent.open_vault.ledger.disclosures.steps:
        pool = agent.rules.active.pool_of(step.site)
        steps_of.setdefault(pool, []).append(step)
        if step.people_left is not None:
            last[pool] = step.number
    latest = sorted(last, key=lambda pool: -last[pool])
    return [_recipient(agent, _view_of(agent, e, steps_of[e], now), now) for e in latest]


def thinned(moments: Sequence[Moment], most: int = MOST) -> list[Moment]:
    """Return at most ``most`` moments, the first and the last among them."""
    end = len(moments) - 1
    if end < most:
        return [*moments]
    return [moments[place * end // (most - 1)] for place in range(most)]


def _recipient(agent: Agent, view: _PoolView, now: datetime) -> Recipient:
    index, in_use = agent.open_vault.ledger.disclosures, agent.rules.active
    pool, steps, model = view[:3]
    concepts, cache = index.concepts, agent.reader.cache
    disclosed = [step for step in steps if step.people_left is not None]
    sites = sorted({step.site for step in disclosed})
    book = in_use.book(model)

    def history() -> Iterator[Moment]:
        """Yield each time from which on another number of people agreed with what it held."""
        linked: set[str] = set()
        before = None
        for number, of_entry in groupby(steps, key=lambda step: step.number):
            for step in of_entry:
                left = step.people_left
                (linked.discard if left is None else linked.add)(step.site)
            if left is None:  # the ledger has no number, and most have forgotten all
                past = index.pool(pool, in_use.pool_of, number + 1 if linked else 0)
                then = knowledge_in(past, model, step.at, concepts=concepts, cache=cache)
                left = people_left(then, model, cache)
            if left != before and left <= model.people:  # more were counted by another model
                yield Moment(at=step.at, people_left=left)
            before = left

    return Recipient(
        pool=pool,
        sites=sites,
        held=[name for name, _, _ in view.labels],
        requests=len(disclosed),
        last_at=disclosed[-1].at if disclosed else None,
        model=model.id,
        people=round(model.people),
        among=counted_among(model),
        people_left=view.people_left,
        history=thinned([*history()]),
        blocked=book is not None
        and all(
            book.match(site, "", now.date()).settings["nothing"].value is True
            for site in sites or in_use.hosts_of(pool)
        ),
    )


def corrections(_now: datetime, agent: Agent) -> list[Correction]:
    """List what texts do not mean."""
    return sorted(_corrections(agent).kept)


def _corrections(agent: Agent) -> Corrections:
    if agent.reader.corrections is None:
        raise LockedError
    return agent.reader.corrections


def not_that(body: NotThat, now: datetime, agent: Agent) -> Corrected:
    """Say that a text does not mean what it was read as, or take that back.

    The user can undo it until the vault locks. UsageError where the text is read as nothing, or
    there is no room, and for no text or two; VaultError where it cannot be kept.
    """
    wrong = _corrections(agent)
    if (body.entry is None) == (body.query is None):
        raise UsageError("not one text", "name an entry of the ledger, or a text")
    text, host = body.query or "", body.recipient or ANYBODY
    models = {model.id: model for model in agent.usable_models(now)}
    entry = None if body.entry is None else agent.disclosure(body.entry)
    if entry is not None:
        text, host = entry.query, entry.host

    def read() -> Reading | None:
        name = agent.rules.active.model(host, text, now.date())
        model, reading = agent.reader.surest(text, agent.readers(name, now))
        return read_by(reading, model)

    before = wrong.of(text)
    if body.undo:
        changed = [known_query(e.query, e.model, 1.0, models.get(e.model)) for e in before]
        is_new = bool(before)
        wrong.replace(text, ())
    else:
        reading = read() if entry is None else read_then(entry, models.get(entry.model))
        if reading is None:
            hint = "nothing to correct: this text matches no topic"
            raise UsageError("the text was not understood as anything", hint)
        changed, is_new = [reading], wrong.add(text, reading.model, reading.query)

    def put_back() -> str:
        wrong.replace(text, before)
        agent.bus.publish("review")
        return ALREADY_SENT

    if is_new:
        agent.bus.publish("review")
        agent.consent.changed("Said what a text does not mean", put_back)
    return Corrected(done=is_new, query=text, read_as=changed, now=read())
