"""What the vault keeps, as messages to the user: ledger, requests, recipients, profile."""

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import asdict
from datetime import datetime
from itertools import chain, groupby
from operator import itemgetter

from agent.daemon.agent import Agent
from agent.daemon.consent import ALREADY_SENT
from agent.daemon.worded import among, meant_by
from agent.decision.matching import knowledge_in
from agent.decision.request import inferred, people_left
from agent.errors import LockedError, ModelError, UsageError
from agent.model.attributes import UNSPECIFIED
from agent.model.concepts import Concepts, Meaning
from agent.model.model import Model
from agent.vault.disclosure_index import Disclosure, Forgetting, Step
from agent.vault.profile import Values, by_full_name, differing, planned
from agent.vault.vault import Vault
from agent.wire import records
from agent.wire.base import LATEST_ENTRIES, made
from agent.wire.decide import ReadAs
from agent.words.figures import listed
from policy.hosts import ANYBODY, host_of
from policy.rules import SIGN

MOST_NAMED = 6  # attributes, in a sentence
MOST = 48  # moments of one recipient


def opened(agent: Agent) -> Vault:
    """Return the vault; LockedError where it is locked."""
    if agent.vault is None:
        raise LockedError
    return agent.vault


def sites_in(agent: Agent, pool: str) -> Callable[[str], bool]:
    """Return what says whether a site, and so all its hosts, is in a pool."""
    return lambda site: agent.rules.active.pool_of(site) == pool


def entries(
    agent: Agent, recipient: str | None, after: int, limit: int | None, now: datetime
) -> list[records.Entry]:
    """Return entries of the ledger, oldest first; ``recipient``: of it and its pool, or None.

    UsageError where that is neither a host nor a group.
    """
    models = {model.id: model for model in agent.usable_models(now)}
    wanted = None if recipient is None else sites_in(agent, agent.rules.active.pool(recipient))
    return [
        records.Entry(number=number, kind="forgotten", at=record.at, recipient=record.host)
        if isinstance(record, Forgetting)
        else made(
            records.Entry,
            record,
            number=number,
            kind="disclosed",
            recipient=record.host,
            asked=None if record.asked is None else [*record.asked],
            disclosed=dict(record.disclosed),
            read_as=read_then(record, models.get(record.model)),
        )
        for number, record in opened(agent).ledger.read(after, limit or LATEST_ENTRIES, wanted)
    ]


def read_then(entry: Disclosure, model: Model | None) -> ReadAs | None:
    """Return what the text of an entry was read as; None where it was not, or nothing says so.

    ``model``: the one that read it, as it is now, for the title; None where it is gone.
    """
    if not entry.read_as:
        return None
    return _known(entry.read_as, entry.model, entry.probability, model)


def _known(name: str, model_id: str, probability: float, model: Model | None) -> ReadAs:
    """Return a known query by its name, with its title if the model still has it."""
    query = None if model is None else model.match(name)
    title = name if model is None or query is None else model.queries[query].title
    return ReadAs(query=name, title=title, probability=probability, model=model_id)


def holding(agent: Agent, recipient: str, now: datetime) -> records.Held:
    """Return what a recipient or group holds; UsageError where it is neither."""
    in_use = agent.rules.active
    ledger, pool = opened(agent).ledger, in_use.pool(recipient)
    index = ledger.disclosures
    steps = [each for each in index.steps if in_use.pool_of(each.site) == pool]
    model = _counted_by(agent, pool, steps, now)
    found = index.pool(pool, in_use.pool_of)
    facts = sorted(
        (*index.concepts.label(Meaning(concept, fact.value)), fact.since)
        for concept, fact in found.held.items()
    )
    terms = (in_use.terms(model, host, "", now.date()) for host in in_use.hosts_of(pool))
    guards = {name for each in terms if each is not None for name, _ in each.guards}
    guarded = [each.name for each in model.attributes if each.name in guards]
    cache = agent.reader.cache
    knowledge = knowledge_in(found, model, now, concepts=index.concepts, cache=cache)
    return records.Held(
        pool=pool,
        values={name: value for name, value, _ in facts},
        since={name: since for name, _, since in facts},
        recent=found.recent(now),
        model=model.id,
        people=round(model.people),
        people_left=people_left(knowledge, model, cache),
        among=among(model),
        inferred=[
            records.Inferred(title=model.attributes[model.index(each.name)].title, **asdict(each))
            for each in inferred(guarded, knowledge if knowledge.share else None, model, cache)
        ],
    )


def _counted_by(agent: Agent, pool: str, steps: Sequence[Step], now: datetime) -> Model:
    """Return the model by which people are counted: the one that decided last for a pool.

    ``steps``: of the pool. Where it is gone, the policy's for the pool, or the shipped one. What a
    model lacks of what others told makes its people fewer, so one number is enough.
    """
    last = max((each.number for each in steps if each.people_left is not None), default=None)
    entry = None if last is None else opened(agent).ledger.entry(last)
    models = {each.id: each for each in agent.usable_models(now)}
    if isinstance(entry, Disclosure) and entry.model in models:
        return models[entry.model]
    try:
        return agent.model_for(agent.rules.active.hosts_of(pool)[0], "", now)
    except (ModelError, UsageError):
        return agent.registry.of(None, agent.rules.active.keys, now)


def forget(agent: Agent, recipient: str, now: datetime) -> bool:
    """State that a recipient, and whoever it pools with, can no longer link.

    Returns whether anything was disclosed to the pool since it last forgot; if not, nothing is
    recorded. UsageError if it is neither a host nor a group.
    """
    ledger, pool = opened(agent).ledger, agent.rules.active.pool(recipient)
    host = None if recipient.startswith(SIGN) else host_of(recipient)
    if not ledger.disclosures.queries(pool, agent.rules.active.pool_of):
        return False
    return ledger.forget(now, sites_in(agent, pool), host)


def change(agent: Agent, wanted: records.ProfileChange, now: datetime) -> records.Changed:
    """Change the profile, all or nothing, and return who holds older values.

    The user can undo it until the vault locks; with ``dry_run`` nothing is done. UsageError for
    what is absent from every model, or does not fit every model that has it.
    """
    vault, pool_of = opened(agent), agent.rules.active.pool_of
    concepts = vault.ledger.disclosures.concepts
    before = vault.profile.values()
    usable = agent.known_models(now)
    after = _changed(agent, wanted, before, usable, now)
    differs, changed = differing(before, after), _by_concept(before, after, concepts)
    if differs and not wanted.dry_run:
        vault.profile.keep(after)
        agent.consent.unset(_unset(before, after))
        known, count = concepts.facts(), vault.ledger.count
        titles = {each: known[each].title if each in known else each for each in changed}

        def put_back() -> str:
            """Restore the values, and say who was sent others since then."""
            own = vault.profile.values()
            vault.profile.keep(before)
            agent.consent.unset(_unset(own, before))
            agent.bus.publish("profile")
            sent = dict[str, dict[str, None]]()
            for _, site, facts in vault.ledger.disclosures.new_facts_after(count):
                told = (concepts.current(Meaning(*fact)).concept for fact in facts)
                if new := [titles[each] for each in told if each in titles]:
                    sent.setdefault(agent.rules.active.pool_of(site), {}).update(dict.fromkeys(new))
            if not sent:
                return "None of it was sent in the meantime."
            each = "; ".join(f"{pool} was sent {listed(new)}" for pool, new in sorted(sent.items()))
            return f"{ALREADY_SENT[:-1]}: {each}."

        several = f"{len(titles)} facts"
        shown = listed(titles.values()) if len(titles) <= MOST_NAMED else several
        agent.consent.changed(f"Changed {shown} in your profile", put_back)
    stale = vault.ledger.disclosures.holders(changed, pool_of)
    return records.Changed(
        done=not wanted.dry_run,
        changes=[
            records.ValueChange(
                model=model,
                name=name,
                was_set=name in before.get(model, {}),
                is_set=name in after.get(model, {}),
            )
            for model, name in differs
        ],
        implied=_implied(wanted, changed, concepts),
        stale=[
            records.Stale(name=concepts.label(Meaning(concept, ""))[0], pools=[*pools])
            for concept, pools in stale.items()
        ],
    )


def _changed(
    agent: Agent,
    wanted: records.ProfileChange,
    before: Values,
    usable: Sequence[Model],
    now: datetime,
) -> Values:
    """Return the values after a change; UsageError as `change` raises it."""
    after = before
    if wanted.set or wanted.unset or not wanted.models:
        every, set_, unset = wanted.model is None, wanted.set, wanted.unset
        models = usable if wanted.model is None else [_named(agent, wanted.model, usable, now)]
        after = planned(
            after, set_, unset, models, replace=wanted.replace, everywhere=every, others=usable
        )
    named = {_named(agent, name, usable, now).id: own for name, own in wanted.models.items()}
    if named:
        models = [each for each in usable if each.id in named]
        given = by_full_name(named)
        after = planned(after, given, (), models, replace=wanted.replace, others=usable)
    return after


def _implied(
    wanted: records.ProfileChange, changed: dict[str, str | None], concepts: Concepts
) -> list[records.Implied]:
    """Return what changes without being named, as it will be."""
    names = {*wanted.set, *wanted.unset, *chain.from_iterable(wanted.models.values())}
    known = concepts.facts()
    return [
        records.Implied(
            name=fact.name,
            title=fact.title,
            value=None if value is None else concepts.label(Meaning(concept, value))[1],
        )
        for concept, value in changed.items()
        if (fact := known.get(concept)) and not any(map(fact.called, names))
        if value is not None or not wanted.replace
    ]


def _by_concept(before: Values, after: Values, concepts: Concepts) -> dict[str, str | None]:
    """Return the facts that change by concept, as they will be; None for what is unset."""
    found = dict[str, str | None]()
    for model, name in differing(before, after):
        value = after.get(model, {}).get(name)
        named = before.get(model, {}).get(name, "") if value is None else value
        fact = concepts.current(Meaning(f"{model}.{name}", f"{model}:{named}"))
        if value != UNSPECIFIED or fact.concept not in found:  # what another model lacks is set
            found[fact.concept] = None if value is None else fact.value
    return found


def correct(agent: Agent, wanted: records.NotThat, now: datetime) -> records.Corrected:
    """Keep that a text does not mean what it was read as, or take all of that back.

    The user can undo it until the vault locks. UsageError where the text is read as nothing, or
    there is no room, and for no text or two; VaultError where it cannot be kept.
    """
    vault, corrections = opened(agent), agent.reader.corrections
    if corrections is None:
        raise LockedError
    if (wanted.entry is None) == (wanted.query is None):
        raise UsageError("not one text", "name an entry of the ledger, or a text")
    text, host, then = wanted.query or "", wanted.recipient or ANYBODY, None
    models = {model.id: model for model in agent.usable_models(now)}
    if wanted.entry is not None:
        entry = vault.ledger.entry(wanted.entry)
        if not isinstance(entry, Disclosure):
            hint = "see `reticent requests ledger`"
            raise UsageError(f"entry {wanted.entry} discloses nothing", hint)
        text, host = entry.query, entry.host
        then = read_then(entry, models.get(entry.model))

    def read() -> ReadAs | None:
        name = agent.rules.active.model(host, text, now.date())
        model, reading = agent.reader.surest(text, agent.readers(name, now))
        return meant_by(reading, model)

    before = corrections.of(text)
    if wanted.undo:
        changed = [_known(each.query, each.model, 1.0, models.get(each.model)) for each in before]
        done = bool(before)
        corrections.replace(text, ())
    else:
        meant = then if wanted.entry is not None else read()
        if meant is None:
            hint = "there is nothing to correct: it goes as it is"
            raise UsageError("the text was not understood as anything", hint)
        changed, done = [meant], corrections.add(text, meant.model, meant.query)

    def put_back() -> str:
        corrections.replace(text, before)
        agent.bus.publish("review")
        return ALREADY_SENT

    if done:
        agent.bus.publish("review")
        agent.consent.changed("Said what a text does not mean", put_back)
    return records.Corrected(done=done, query=text, read_as=changed, now=read())


def _unset(before: Values, after: Values) -> set[str]:
    """Return what was set for some model, and is for none any more."""
    old, new = ({name for own in each.values() for name in own} for each in (before, after))
    return old - new


def _named(agent: Agent, name: str, usable: Sequence[Model], now: datetime) -> Model:
    """Return a model by its name, or by its id, which the profile has it by."""
    by_id = {model.id: model for model in usable}
    if name in by_id and name not in agent.registry.names():
        return by_id[name]
    return agent.registry.of(name, agent.rules.active.keys, now)


def requested(
    agent: Agent, recipient: str | None, limit: int | None, now: datetime
) -> list[records.Handled]:
    """Return the latest requests in the order in which they came.

    ``recipient``: those of it and its pool, None for all. UsageError where it is neither a host
    nor a group, LockedError.
    """
    pool_of = agent.rules.active.pool_of
    pending = {
        (review.pool, name)
        for review in agent.consent.reviews(now)
        for name in review.names
        if review.kind == "ask"
    }

    def waited(names: Collection[str], pool: str) -> dict[str, int]:
        settled = sum((pool, name) not in pending for name in names)
        return {"waiting": len(names), "settled": settled}

    found = [  # each by its place: after which entry of the ledger, and which request after that
        (
            (each.number, 0),
            made(
                records.Handled,
                each,
                pool=pool_of(each.recipient),
                disclosed=[*each.disclosed],  # names alone
                **waited(agent.silent_requests.waiting(each.number), pool_of(each.recipient)),
            ),
        )
        for each in entries(agent, recipient, 0, limit, now)
    ]
    pool = None if recipient is None else agent.rules.active.pool(recipient)
    for silent in agent.silent_requests:
        try:
            host = host_of(silent.ask.recipient)
        except UsageError:  # it went nowhere; without a policy nobody looks at it
            continue
        if pool in (None, pool_of(host)):
            handled = made(
                records.Handled,
                silent,
                silent.ask,
                kind="nothing",
                recipient=host,
                pool=pool_of(host),
                **waited(silent.waiting, pool_of(host)),
            )
            found.append(((silent.after, -silent.number), handled))
    found.sort(key=itemgetter(0))
    return [handled for _, handled in found][-(limit or LATEST_ENTRIES) :]


def recipients(agent: Agent, now: datetime) -> list[records.Recipient]:
    """Return everyone to whom anything was disclosed, the latest first; LockedError."""
    steps_of: dict[str, list[Step]] = {}
    last: dict[str, int] = {}
    for step in opened(agent).ledger.disclosures.steps:
        pool = agent.rules.active.pool_of(step.site)
        steps_of.setdefault(pool, []).append(step)
        if step.people_left is not None:
            last[pool] = step.number
    latest = sorted(last, key=lambda pool: -last[pool])
    return [_recipient(agent, pool, steps_of[pool], now) for pool in latest]


def thinned(moments: Sequence[records.Moment], most: int = MOST) -> list[records.Moment]:
    """Return at most ``most`` moments: the first, the last, the extremes, and some between."""
    end = len(moments) - 1
    if end < most:
        return [*moments]
    places = sorted(range(end + 1), key=lambda place: moments[place].people_left)
    kept = {0, end, places[0], places[-1]}
    free = most - len(kept)
    kept |= {place * end // (free + 1) for place in range(1, free + 1)}
    return [moments[place] for place in sorted(kept)]


def _recipient(agent: Agent, pool: str, steps: Sequence[Step], now: datetime) -> records.Recipient:
    """Return what there is to see of a pool; ``steps``: of the ledger, all that are about it."""
    index, in_use = opened(agent).ledger.disclosures, agent.rules.active
    model, found = _counted_by(agent, pool, steps, now), index.pool(pool, in_use.pool_of)
    concepts, cache = index.concepts, agent.reader.cache
    disclosed = [step for step in steps if step.people_left is not None]
    sites = sorted({step.site for step in disclosed})
    book = in_use.book(model)

    def history() -> Iterator[records.Moment]:
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
                yield records.Moment(at=step.at, people_left=left)
            before = left

    return records.Recipient(
        pool=pool,
        sites=sites,
        held=sorted(
            concepts.label(Meaning(concept, fact.value))[0] for concept, fact in found.held.items()
        ),
        requests=len(disclosed),
        last_at=disclosed[-1].at,
        people=round(model.people),
        among=among(model),
        people_left=people_left(
            knowledge_in(found, model, now, concepts=concepts, cache=cache), model, cache
        ),
        history=thinned([*history()]),
        blocked=book is not None
        and all(
            book.match(site, "", now.date()).settings["nothing"].value is True for site in sites
        ),
    )
