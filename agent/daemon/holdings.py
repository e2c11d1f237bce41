"""What the vault keeps, for the user's own eyes: the ledger, what recipients hold, the profile."""

from collections.abc import Callable, Sequence
from datetime import datetime
from functools import partial

from agent.daemon.agent import Agent
from agent.daemon.desk.steps import TOLD
from agent.daemon.pools import agreeing, counted_by, guarded, known_in
from agent.decision.request import Inference, inferred
from agent.decision.words import listed
from agent.errors import LockedError
from agent.model.model import Model
from agent.vault.disclosure_index import Forgetting, Numbered
from agent.vault.profile import Values, differing, planned
from agent.vault.vault import Vault
from agent.wire.base import LATEST_ENTRIES
from agent.wire.records import Changed, Entry, Held, Inferred, ProfileChange, Stale, ValueChange
from policy.hosts import host_of
from policy.rules import SIGN

MOST_NAMED = 6  # attributes, in a sentence


def opened(agent: Agent) -> Vault:
    """Return the vault; LockedError where it is locked."""
    if agent.vault is None:
        raise LockedError
    return agent.vault


def sites_in(agent: Agent, pool: str) -> Callable[[str], bool]:
    """Return what says whether a site, and so all its hosts, is in a pool."""
    return lambda site: agent.rules.in_force.pool_of(site) == pool


def entries(agent: Agent, recipient: str | None, after: int, limit: int | None) -> list[Entry]:
    """Return entries of the ledger, oldest first; ``recipient``: of it and its pool, or None.

    UsageError where that is neither a host nor a group.
    """
    wanted = None if recipient is None else sites_in(agent, agent.rules.in_force.pool(recipient))
    most = LATEST_ENTRIES if limit is None else limit
    return [_entry(each) for each in opened(agent).ledger.read(after, most, wanted)]


def holding(agent: Agent, recipient: str, now: datetime) -> Held:
    """Return what a recipient or group holds; UsageError where it is neither."""
    ledger, pool = opened(agent).ledger, agent.rules.in_force.pool(recipient)
    model = counted_by(agent, pool, now)
    found = ledger.disclosures.pool(pool, agent.rules.in_force.pool_of)
    facts = sorted(found.held.items())
    known = known_in(found, model, now)
    told = inferred(guarded(agent, pool, model, now), known, model)
    return Held(
        pool=pool,
        values={name: fact.value for name, fact in facts},
        since={name: fact.since for name, fact in facts},
        recent=found.recent(now),
        model=model.id,
        people=len(model.population.codes),
        people_left=agreeing(known, model),
        inferred=[_inferred(each, model) for each in told],
    )


def forget(agent: Agent, recipient: str, now: datetime) -> bool:
    """State that a recipient, and whoever it pools with, can no longer link.

    Returns whether the pool was ever told anything; if not, nothing is stated. UsageError where
    it is neither a host nor a group.
    """
    ledger, pool = opened(agent).ledger, agent.rules.in_force.pool(recipient)
    host = None if recipient.startswith(SIGN) else host_of(recipient)
    return ledger.forget(now, sites_in(agent, pool), host)


def change(agent: Agent, wanted: ProfileChange, now: datetime) -> Changed:
    """Change the profile, all or nothing, and return who holds what is not so any more.

    It is a word of the user that can be taken back until the vault locks; with ``dry_run`` nothing
    is done. UsageError for what no model has, or what does not fit every model that has it.
    """
    vault, pool_of = opened(agent), agent.rules.in_force.pool_of
    before = vault.profile.values()
    after = _changed(before, agent, wanted, now)
    differs = differing(before, after)
    if differs and not wanted.dry_run:
        vault.profile.keep(after)
        agent.desk.unset(_unset(before, after))
        names = [*dict.fromkeys(name for _, name in differs)]
        back = partial(_put_back, agent, vault, before, frozenset(names), vault.ledger.count)
        agent.desk.changed(_said(names), back)
    told = {name: after.get(model, {}).get(name) for model, name in differs}
    stale = vault.ledger.disclosures.holders(told, pool_of)
    return Changed(
        done=not wanted.dry_run,
        changes=[
            ValueChange(
                model=model,
                name=name,
                was_set=name in before.get(model, {}),
                is_set=name in after.get(model, {}),
            )
            for model, name in differs
        ],
        stale=[Stale(name=name, pools=[*pools]) for name, pools in stale.items()],
    )


def _changed(before: Values, agent: Agent, wanted: ProfileChange, now: datetime) -> Values:
    """Return the values as a change leaves them."""
    usable = agent.shelf.usable(agent.rules.in_force.keys, now)
    values = before
    if wanted.set or wanted.unset or not wanted.models:
        everywhere = wanted.model is None
        models = usable if wanted.model is None else [_named(agent, wanted.model, usable, now)]
        values = planned(
            values,
            wanted.set,
            wanted.unset,
            models,
            replace=wanted.replace,
            everywhere=everywhere,
        )
    for name, own in wanted.models.items():
        values = planned(
            values, own, (), [_named(agent, name, usable, now)], replace=wanted.replace
        )
    return values


def _unset(before: Values, after: Values) -> set[str]:
    """Return what was set for some model, and is for none any more."""
    old, new = ({name for own in each.values() for name in own} for each in (before, after))
    return old - new


def _said(names: Sequence[str]) -> str:
    """Return what became of the profile, as a word of the user."""
    few = len(names) <= MOST_NAMED
    return f"Changed {listed(names) if few else f'{len(names)} values'} in your profile"


def _put_back(agent: Agent, vault: Vault, before: Values, names: frozenset[str], count: int) -> str:
    """Give the profile the values that it had, and say who was told others since an entry."""
    after = vault.profile.values()
    vault.profile.keep(before)
    agent.desk.unset(_unset(after, before))
    agent.bus.publish("profile")
    told: dict[str, dict[str, None]] = {}
    for _, site, facts in vault.ledger.disclosures.news_after(count):
        new = dict.fromkeys(name for name, _ in facts if name in names)
        if new:
            told.setdefault(agent.rules.in_force.pool_of(site), {}).update(new)
    if not told:
        return "None of it left meanwhile."
    each = "; ".join(f"{pool} was told {listed([*new])}" for pool, new in sorted(told.items()))
    return f"{TOLD[:-1]}: {each}."


def _entry(numbered: Numbered) -> Entry:
    number, record = numbered
    if isinstance(record, Forgetting):
        return Entry(number=number, kind="forgotten", at=record.at, recipient=record.host)
    return Entry(
        number=number,
        kind="disclosed",
        at=record.at,
        recipient=record.host,
        query=record.query,
        asked=None if record.asked is None else [*record.asked],
        disclosed=dict(record.disclosed),
        model=record.model,
        utility_bits=record.utility_bits,
        people_left=record.people_left,
    )


def _inferred(found: Inference, model: Model) -> Inferred:
    return Inferred(
        name=found.name,
        title=model.attributes[model.index(found.name)].title,
        bits=found.bits,
        bits_in_all=found.bits_in_all,
        best_guess=found.best_guess,
        by_chance=found.by_chance,
    )


def _named(agent: Agent, name: str, usable: Sequence[Model], now: datetime) -> Model:
    """Return a model by its name, or by its id, which the profile has it by."""
    by_id = {model.id: model for model in usable}
    if name in by_id and name not in agent.shelf.names():
        return by_id[name]
    return agent.shelf.of(name, agent.rules.in_force.keys, now)
