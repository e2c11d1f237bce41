"""Whoever pools what it learns, as the policy has it now: by which model, and what it may get."""

from collections.abc import Iterable
from datetime import datetime

from agent.daemon.agent import Agent
from agent.daemon.policing.chosen import model_for
from agent.decision.request import Holdings, Knowledge, people_left
from agent.errors import ModelError, UsageError
from agent.model.model import Model
from agent.vault.disclosure_index import knowledge_in
from policy.rules import SIGN


def hosts_of(agent: Agent, pool: str) -> list[str]:
    """Return hosts of a pool, for the rules about it: its domain, or one of each member."""
    policy = agent.rules.policy
    if policy is None or not pool.startswith(SIGN):
        return [pool]
    return [member.host for member in policy.groups[pool.removeprefix(SIGN)]]


def counted_by(agent: Agent, pool: str, now: datetime) -> Model:
    """Return the model by which people are counted: the policy's for a pool, or the shipped one."""
    try:
        return model_for(hosts_of(agent, pool)[0], "", now, agent)
    except (ModelError, UsageError):
        return agent.shelf.of(None, agent.rules.in_force.keys, now)


def known_in(found: Holdings[str], model: Model, now: datetime) -> Knowledge | None:
    """Return what a pool holds; None where that has a value that the model does not have."""
    try:
        return knowledge_in(found, model, now)
    except UsageError:
        return None


def agreeing(known: Knowledge | None, model: Model) -> int:
    """Return how many people agree with what is known: with what no model has, nobody."""
    return 0 if known is None else people_left(known, model)


def guarded(agent: Agent, pool: str, model: Model, now: datetime) -> list[str]:
    """Return what the policy guards from a pool, or a member of it, whatever the query."""
    found = [
        agent.rules.in_force.terms(model, host, "", now.date()) for host in hosts_of(agent, pool)
    ]
    names = {name for terms in found if terms is not None for name, _ in terms.guards}
    return [each.name for each in model.attributes if each.name in names]


def blocked(agent: Agent, sites: Iterable[str], model: Model, now: datetime) -> bool:
    """Say whether the policy has a rule that gives none of these sites anything."""
    book = agent.rules.in_force.book(model)
    if book is None:
        return False
    rulings = (book.match(site, "", now.date()) for site in sites)
    return all(ruling.settings["nothing"].value is True for ruling in rulings)
