"""The records of the vault, as messages: ledger, requests, recipients."""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from operator import itemgetter
from typing import Any

from msgspec.structs import replace

from agent.daemon.agent import PAUSE, Agent
from agent.daemon.handle import Situation, UndecidedError, situation_of
from agent.daemon.request_log import ASSISTED, Asker
from agent.decision.decide import counted_among
from agent.decision.knowledge import inferred, knowledge_in, people_left
from agent.decision.own_facts import NONE as NO_OWN_FACTS
from agent.decision.own_facts import extended
from agent.decision.values import SILENT, Reading
from agent.model.model import Meaning, Model
from agent.vault.ledger import Chosen, Disclosure, Forgetting, LedgerStep, Record
from agent.wire.base import LATEST_ENTRIES, Done, RecipientName, from_fields
from agent.wire.decide import Answer, Conversation
from agent.wire.state import Deletion, Entry, Pause, Recipient
from policy.hosts import host_of
from policy.rules import FACT, SIGN

EVER, NEVER = datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)
Values = dict[str, str]


def sites_in(agent: Agent, pool: str) -> Callable[[str], bool]:
    """Make a predicate: whether a site, and so each of its hosts, is in a pool."""
    return lambda site: agent.rules.active.pool_of(site) == pool


def _chosen(agent: Agent, recipient: str | None, since: datetime, until: datetime) -> Chosen | None:
    """Make a predicate: whether what was sent to a host, or its site, at a time is asked for.

    ``recipient``: only to it and its pool; ``since``: not before; ``until``: only before that; None
    where all is. UsageError where the recipient is neither a host nor a group.
    """
    if (recipient, since, until) == (None, EVER, NEVER):
        return None
    theirs = None if recipient is None else sites_in(agent, agent.rules.active.pool(recipient))
    return lambda host, at: since <= at < until and (theirs is None or theirs(host))


def ledger(
    now: datetime,
    agent: Agent,
    *,
    recipient: str | None = None,
    since: datetime = EVER,
    until: datetime = NEVER,
    after: int = 0,
    limit: int = LATEST_ENTRIES,
) -> list[Entry]:
    """List disclosures, oldest first.

    ``recipient``, ``since``, ``until``: as of `_chosen`, UsageError as there.
    """
    models, pool_of = agent.models_by_id(now), agent.rules.active.pool_of
    chosen = _chosen(agent, recipient, since, until)

    def listed(number: int, record: Record) -> Entry:
        own: dict[str, Any] = {"number": number, "recipient": record.host}
        own["pool"] = pool_of(record.host)
        if isinstance(record, Forgetting):
            return from_fields(Entry, record, kind="forgotten", **own)
        own["asked"] = None if record.asked is None else [*record.asked]
        own["disclosed"], own["values"] = [n for n, _ in record.disclosed], dict(record.disclosed)
        own["read_as"] = _recorded(record, models, agent)
        return from_fields(Entry, record, kind="disclosed", **own)

    return [listed(*each) for each in agent.open_vault.ledger.read(after, limit, chosen)]


def _recorded(record: Disclosure, models: Mapping[str, Model], agent: Agent) -> Reading | None:
    """Describe what a request was read as, and whether the user says so of its text."""
    reading = reading_of(record.read_as, record.model, models, record.probability)
    kept, topic = agent.reader.corrections, (record.model, record.read_as)
    if reading is None or kept is None or not kept.kept:
        return reading
    said = any(e.means and (e.model, e.query) == topic for e in kept.of(record.query))
    return replace(reading, taught=said)


def reading_of(
    name: str | None, model_id: str, models: Mapping[str, Model], probability: float = 1.0
) -> Reading | None:
    """Describe a known query by its name, with its title if a model still has it; None for none."""
    if not name:
        return None
    model = models.get(model_id)
    query = None if model is None else model.texts.find(name)
    title = name if model is None or query is None else model.queries[query].title
    return Reading(query=name, title=title, probability=probability, model=model_id)


def recipients(now: datetime, agent: Agent, *, recipient: str | None = None) -> list[Recipient]:
    """List who was sent anything, latest first; or one recipient, with all that it holds.

    UsageError where ``recipient`` is neither a host nor a group.
    """
    in_use = agent.rules.active
    steps_of, last = defaultdict[str, list[LedgerStep]](list), dict[str, int]()
    for step in agent.open_vault.ledger.disclosures.steps:
        pool = in_use.pool_of(step.site)
        steps_of[pool].append(step)
        if step.people_left is not None:
            last[pool] = step.number
    if recipient is not None:
        pool = in_use.pool(recipient)
        return [_recipient(agent, pool, steps_of[pool], now, whole=True)]
    latest = sorted(last, key=lambda pool: -last[pool])
    return [_recipient(agent, pool, steps_of[pool], now) for pool in latest]


def _recipient(
    agent: Agent, pool: str, steps: Sequence[LedgerStep], now: datetime, *, whole: bool = False
) -> Recipient:
    index, in_use = agent.open_vault.ledger.disclosures, agent.rules.active
    cache = agent.reader.cache
    disclosed = [step for step in steps if step.people_left is not None]
    sites, members = sorted({e.site for e in disclosed}), in_use.groups.get(pool.removeprefix(SIGN))
    hosts = [each.host for each in members or ()] or [pool]  # for the rules about it
    holdings = index.pool(pool, in_use.pool_of)
    for known in (agent.model_for((sites or hosts)[0], now), *agent.usable_models(now)):
        model = extended(known, NO_OWN_FACTS, holdings.held, cache)
        knowledge = knowledge_in(holdings, model, now, index.concepts, cache)
        if not knowledge.inexpressible:  # else it was told by another population
            break
    words = {each.id: each.words for each in agent.open_vault.profile.facts}

    def label(concept: str, value: str) -> tuple[str, str]:
        """Name what is held, and its value; in own words, those, if the fact is still there."""
        kind, _, own = concept.partition(FACT)
        name, listed = index.concepts.label(Meaning(kind, value))
        return (name, listed) if not own else (f"{name}{FACT}{own}", words.get(own) or value)

    held = holdings.held.items()
    facts = sorted((*label(concept, fact.value), fact.since) for concept, fact in held)
    book, now_left = in_use.book(model), people_left(knowledge, model, cache)
    rulings = [book.match(host, "", now.date()) for host in sites or hosts if book]
    stops = agent.open_vault.profile.in_force(in_use.limits)
    counted = (step.people_left for step in disclosed if step.people_left is not None)
    listed = Recipient(
        pool=pool,
        sites=sites,
        held=[name for name, _, _ in facts],
        requests=len(disclosed),
        model=model.id,
        people=round(model.people),
        among=counted_among(model),
        people_left=now_left,
        first_left=next((each for each in counted if each <= model.people), now_left),
        blocked=bool(rulings) and all(e.settings["nothing"].value is True for e in rulings),
        stopped=[*next((e.names for e in stops if in_use.pool_of(e.site) == pool), ())],
    )
    if not whole:
        return listed
    terms = (in_use.terms(model, host, "", now.date()) for host in hosts)
    guards = {name for each in terms if each is not None for name, _ in each.guards}
    guarded = [each.name for each in model.attributes if each.name in guards]
    codes = None if knowledge.inexpressible else knowledge
    return replace(
        listed,
        values={name: value for name, value, _ in facts},
        since={name: since for name, _, since in facts},
        recent=holdings.recent(now),
        inferred=[*inferred(guarded, codes, model, cache)],
    )


def forget(body: RecipientName, now: datetime, agent: Agent) -> Done:
    """State that a recipient has forgotten everything.

    So has whoever it pools with. Nothing is recorded where nothing was disclosed to the pool since
    it last forgot. UsageError if it is neither a host nor a group.
    """
    records, pool = agent.open_vault.ledger, agent.rules.active.pool(body.recipient)
    is_group = body.recipient.removeprefix(SIGN) in agent.rules.active.groups
    host = None if is_group else host_of(body.recipient)
    if not records.disclosures.pool(pool, agent.rules.active.pool_of).queries:
        return Done(done=False)
    agent.open_vault.profile.lift(sites_in(agent, pool))
    return Done(done=records.forget(now, sites_in(agent, pool), host))


def disclosed(body: Conversation, now: datetime, agent: Agent, *, by: Asker = "program") -> Answer:
    """Repeat what a recipient was told through assistants, as far as it may be told it now.

    Since the vault was opened, in the words of then; by facts, and to assistants alone. By the
    rules for the request in which it was told, and for all that the user says by now. UsageError
    where it is not a host.
    """
    host, values, own, titles = host_of(body.recipient), Values(), Values(), Values()
    if agent.vault is None:
        return Answer(code="locked")
    summary, profile, situations = None, agent.vault.profile, dict[int | None, Situation]()
    for (whom, fact), (at, ask, name, answer) in agent.disclosed.items():
        if whom != host or by not in ASSISTED:
            continue
        try:
            if answer.id not in situations:
                then = replace(ask, earlier=body.earlier)
                situations[answer.id] = situation_of(then, now, agent, by=by)
        except UndecidedError as error:
            return Answer(code=error.code)
        situation = situations[answer.id]
        if situation.terms.nothing:
            return Answer(code=SILENT[situation.terms.results])
        number = answer.facts.get(name)
        set_at = profile.set_at(name, situation.model, number)
        ruled = situation.terms.disclose(name, number)
        if set_at and set_at <= at and ruled not in ("never", "guarded") and answer.summary:
            values[fact], summary = answer.attributes[name], answer.summary
            titles[fact] = summary.titles.get(name, name)
            own |= {fact: fact} if number else {}
    if summary is not None:
        summary = replace(summary, titles=titles, because=[], pending=[], waiting=0)
    return Answer(code="answered", attributes=values, facts=own, summary=summary)


def pause(body: Pause, now: datetime, agent: Agent) -> Done:
    """Attach nothing for some time, also after a lock; VaultError where that cannot be kept."""
    until = now + timedelta(minutes=body.minutes) if body.minutes else None
    agent.open_vault.items.put(PAUSE, b"" if until is None else until.isoformat().encode())
    agent.paused_until = until
    return Done()


def requests(
    now: datetime,
    agent: Agent,
    *,
    recipient: str | None = None,
    since: datetime = EVER,
    until: datetime = NEVER,
    limit: int = LATEST_ENTRIES,
) -> list[Entry]:
    """List the latest requests, oldest first, also those that carried nothing.

    ``recipient``, ``since``, ``until``: as of `_chosen`, UsageError as there.
    """
    in_use, silent = agent.rules.active, agent.silent_requests
    chosen = _chosen(agent, recipient, since, until)
    pending = {
        (review.pool, name)
        for review in agent.consent.reviews(now)
        for name in review.names
        if review.kind == "ask"
    }

    def shown(entry: Entry) -> Entry:
        names = silent.waiting.get(entry.number, frozenset())
        settled = sum((entry.pool, name) not in pending for name in names)
        return replace(entry, values={}, waiting=len(names), settled=settled)

    latest = [  # each by its place: after which entry of the ledger, and which request after that
        ((each.number, 0), each)
        for each in ledger(now, agent, recipient=recipient, since=since, until=until, limit=limit)
    ]
    for after, each in silent.entries:
        if chosen is None or chosen(each.recipient, each.at):
            pool = in_use.pool_of(each.recipient)
            latest.append(((after, -each.number), replace(each, pool=pool)))
    latest.sort(key=itemgetter(0))
    return [shown(each) for _, each in latest][-limit:]


def delete_texts(body: Deletion, _now: datetime, agent: Agent) -> list[int]:
    """Delete what was asked from the record; what recipients know stays counted.

    Return the numbers of the entries that had a text. UsageError for one that disclosed nothing,
    VaultError where it cannot be written: then no text of the ledger is deleted.
    """
    for number in body.entries:
        agent.disclosure(number)
    before, named = body.before or EVER, {*body.entries}
    agent.silent_requests.clear(before)
    return agent.open_vault.delete_texts(lambda number, at: at < before or number in named)
