"""The user's facts, as messages: shown, and changed."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import datetime
from functools import partial
from secrets import token_hex

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from agent.daemon.agent import Agent
from agent.decision.cache import Cache
from agent.decision.knowledge import Knowledge, people_left
from agent.decision.topics import Judgements
from agent.decision.values import Fact
from agent.model.attributes import UNSPECIFIED
from agent.model.model import Concepts, Meaning, Model
from agent.vault.profile import Profile, planned, values_of
from agent.vault.vault import Vault
from agent.wire.state import (
    Changed,
    FactFigures,
    Implied,
    ProfileChange,
    ProfileFacts,
    ValueChange,
)
from agent.words.figures import listed
from agent.words.notices import GONE, MOST_NAMED, rare_fact, stopped
from agent.words.titles import titled
from policy.hosts import ANYBODY

MOST_TOPICS, LEAST = 3, 0.02  # that a fact helps with, each by so many bits


def new_id() -> str:
    """Draw an id for a fact that no other has, 16 hexadecimal digits."""
    return token_hex(8)


def profile(now: datetime, agent: Agent) -> ProfileFacts:
    """List the user's facts, what each helps with, and how rare it is."""
    vault, cache, country = agent.open_vault, agent.reader.cache, agent.registry.country
    concepts = vault.ledger.disclosures.concepts
    facts = [
        replace(each, value=concepts.label(Meaning(each.kind, each.value or UNSPECIFIED))[1])
        for each in vault.profile.facts
    ]
    models = [part for world in agent.usable_models(now) for part in world.every]
    figures = {each.id: figures_of(each, models, cache) for each in facts}
    return ProfileFacts(facts=facts, figures=figures, country=country)


def figures_of(fact: Fact, models: Sequence[Model], cache: Cache) -> FactFigures:
    """Say what a fact helps with, and how rare it is, by the first of the models that knows."""
    figures = FactFigures()
    for model in reversed([each for each in models if fact.kind in each.by_concept]):
        own, bits = model.by_concept[fact.kind], cache.get(model, _gains, partial(_gains, model))
        bits = bits[:, model.index(own.name)]
        best = np.argsort(-bits, kind="stable")[:MOST_TOPICS].tolist()
        topics = [model.queries[at].title for at in best if bits[at] >= LEAST]
        figures = replace(figures, helps_with=topics)
        if fact.value in own.values[1:]:
            alone = Knowledge().with_facts({own.name: own.code(fact.value)})
            share = people_left(alone, model, cache) / model.people
            figures = replace(figures, share=share, share_of=model.stands_for)
    return figures


def _gains(model: Model) -> NDArray[np.float64]:
    judged = Judgements.of(model).gains
    return judged if judged.size else model.tables.singles.utilities


def standing_out(now: datetime, agent: Agent) -> Iterator[str]:
    """Yield a sentence for each fact that alone makes the user stand out, and for each stop."""
    vault, policy = agent.open_vault, agent.rules.active
    models = agent.models_by_id(now)
    for model in agent.usable_models(now):
        terms = policy.terms(model, ANYBODY, "", now.date())
        if terms is not None and terms.limits.protect == "me":
            names = vault.profile.names(model) - terms.excluded - {n for n, _ in terms.guards}
            values = tuple(values_of(vault.profile.facts).items())
            key, rarest = (standing_out, values, terms), vault.profile.rarest
            find = partial(rarest, model, terms.limits, names)
            rare = agent.reader.cache.get(model, key, find)
            yield from map(rare_fact, titled(rare, titles_of(model)))
    for stop in vault.profile.in_force(policy.limits):
        titles = titles_of(models[stop.model]) if stop.model in models else {}
        yield stopped(policy.pool_of(stop.site), titled(stop.names, titles))


def titles_of(model: Model) -> dict[str, str]:
    """The titles of a model's attributes, by name."""
    return {each.name: each.title for each in model.attributes}


def change_profile(body: ProfileChange, now: datetime, agent: Agent) -> Changed:
    """Set or unset facts, all or none.

    The user can undo it until the vault locks; with ``dry_run`` nothing is done. UsageError as
    `planned`.
    """
    vault = agent.open_vault
    concepts = vault.ledger.disclosures.concepts
    facts = vault.profile.facts
    planned_facts = planned(facts, body.set, body.unset, concepts.models, now, new_id)
    before, after = values_of(facts), values_of(planned_facts)
    changes = {
        kind: after.get(kind)
        for kind in sorted(before.keys() | after.keys())
        if before.get(kind) != after.get(kind)
    }
    if changes and not body.dry_run:
        _keep(agent, vault, planned_facts)

        def put_back() -> str:
            _keep(agent, vault, facts)
            agent.bus.publish("profile")
            return GONE

        titles = [concepts.kinds[e].title if e in concepts.kinds else e for e in changes]
        named = listed(titles) if len(titles) <= MOST_NAMED else f"{len(titles)} facts"
        agent.consent.changed(f"Changed {named} in your profile", put_back)
    stated = {*body.set, *body.unset}
    stale = vault.ledger.disclosures.holders(changes, agent.rules.active.pool_of)
    return Changed(
        done=not body.dry_run,
        changes=[
            ValueChange(name=_name(concepts, kind), was_set=kind in before, is_set=kind in after)
            for kind in changes
        ],
        implied=_implied(changes, stated, concepts),
        stale={_name(concepts, kind): [*pools] for kind, pools in stale.items()},
    )


def _keep(agent: Agent, vault: Vault, facts: tuple[Fact, ...]) -> None:
    """Replace the facts; what the user allowed for attributes that are unset ends.

    Another country has other people.
    """
    before = _names(vault.profile, vault.ledger.disclosures.concepts)
    vault.profile.keep(facts)
    if agent.country(facts) != agent.registry.country:
        agent.use_models(vault, agent.clock())
    agent.consent.unset(before - _names(vault.profile, vault.ledger.disclosures.concepts))


def _names(profile: Profile, concepts: Concepts) -> set[str]:
    return {name for model in concepts.models for name in profile.names(model)}


def _implied(
    changes: Mapping[str, str | None], stated: Collection[str], concepts: Concepts
) -> list[Implied]:
    """List the changes that follow from the named ones, with their new values."""
    return [
        Implied(
            name=kind.name,
            title=kind.title,
            value=None if value is None else concepts.label(Meaning(concept, value))[1],
        )
        for concept, value in changes.items()
        if (kind := concepts.kinds.get(concept)) and not any(map(kind.called, stated))
    ]


def _name(concepts: Concepts, kind: str) -> str:
    return concepts.kinds[kind].name if kind in concepts.kinds else kind
