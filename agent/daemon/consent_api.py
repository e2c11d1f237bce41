"""What recipients offer and what is refused to them, as the calls have it."""

from datetime import datetime

from agent.daemon.agent import Agent
from agent.daemon.consent.queue import own_search
from agent.daemon.policy_api import place_of
from agent.wire.base import Done
from agent.wire.decide import Allowed, Offer
from policy.hosts import host_of, site_of
from policy.services import own_address
from policy.toml_text import lines_of


def offered(body: Offer, now: datetime, agent: Agent) -> Done:
    """Queue what a recipient says it can use, of what the models have; done if it waits.

    So is queued that the user wants an assistant listed. UsageError if the recipient is not a host,
    or the search or the address is not its own.
    """
    host, known = host_of(body.recipient), names_in(agent, now)
    if body.address is not None:
        pool, address = agent.rules.active.pool_of(host), own_address(body.address, host)
        review = agent.consent.offer(host, pool, (), now, address=address)
        if review is not None:
            agent.bus.publish("offer", review.id)
        return Done(done=agent.consent.waiting_assistant(host, address))
    search = None if body.search is None else own_search(body.search, host)
    names = [name for name in body.names if name in known]
    if not names:
        return Done(done=False)
    site, pool = site_of(host), agent.rules.active.pool_of(host)
    review = agent.consent.offer(site, pool, names, now, search)
    if review is not None:
        agent.bus.publish("offer", review.id)
    return Done(done=agent.consent.waiting_offer(site, now) is not None)


def refusal(recipient: str, now: datetime, agent: Agent) -> Allowed:
    """Return the rule by which a recipient gets nothing, with its line; no rule where none does."""
    rule, policy = agent.consent.refused_by(recipient, now), agent.rules.policy
    if rule is None:
        return Allowed()
    lines = {} if policy is None else lines_of(policy.text)
    return Allowed(rule=rule.name, line=place_of(lines, rule, ("nothing",)))


def names_in(agent: Agent, now: datetime) -> frozenset[str]:
    """Return the names of the attributes of all models."""
    known = agent.known_models(now)
    return frozenset(attribute.name for model in known for attribute in model.attributes)
