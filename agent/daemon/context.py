"""One request with all that its decision depends on; nothing of it is the user's own value."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from datetime import datetime
from typing import NamedTuple

from agent.daemon.agent import Agent
from agent.daemon.header import fitting, members
from agent.decision.decide import Decision, decide, decide_briefly
from agent.decision.request import Holdings, Knowledge, Request, people_left
from agent.decision.terms import Terms
from agent.errors import ModelError, UsageError
from agent.model.model import Model
from agent.vault.disclosure_index import NOTHING, Disclosure, knowledge_in, site_of
from agent.vault.vault import Vault
from agent.wire.decide import Ask, Code
from policy.match import Ruling, in_clear
from policy.rules import SIGN

Decide = Callable[[Request, Terms, Knowledge, Model, Mapping[str, int] | None], Decision]


def model_for(host: str, query: str, now: datetime, agent: Agent) -> Model:
    """Return the model for a request; UsageError where there is none, ModelError as the shelf."""
    in_force = agent.rules.in_force
    return agent.shelf.of(in_force.model(host, query, now.date()), in_force.keys, now)


def names_for(host: str, query: str, now: datetime, agent: Agent) -> tuple[str, ...]:
    """Return the attributes of that model, none where it cannot be used."""
    try:
        model = model_for(host, query, now, agent)
    except (ModelError, UsageError):
        return ()
    return tuple(each.name for each in model.attributes)


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


class Case(NamedTuple):
    """A request, the terms that the policy and the user set for it, and what its pool holds."""

    vault: Vault
    model: Model
    ruling: Ruling
    request: Request
    terms: Terms
    known: Knowledge


class _Ruled(NamedTuple):
    """All of a case but the request and what is known."""

    vault: Vault
    model: Model
    ruling: Ruling
    terms: Terms


class NothingError(Exception):
    """Nothing can be decided; ``code`` says why."""

    def __init__(self, code: Code) -> None:
        super().__init__(code)
        self.code = code


def case_of(ask: Ask, now: datetime, agent: Agent) -> Case:
    """Return what is to be decided: the policy's terms with the user's verdicts, and knowledge.

    ``now``: with the zone in which the user lives. NothingError where nothing can be, UsageError
    where the recipient is no host.
    """
    vault, model, ruling, terms = _ruled(ask.recipient, ask.query, now, agent)
    request = Request(ask.query, ruling.host, _asked(ask, ruling.host, model, now, agent))
    pool_of, ledger = agent.rules.in_force.pool_of, vault.ledger
    heard = ledger.timeline.queries(ruling.pool, pool_of) if terms.mode == "planned" else NOTHING
    known = _known(ledger.disclosures.pool(ruling.pool, pool_of), model, now, heard)
    return Case(vault, model, ruling, request, terms, known)


def case_before(number: int, entry: Disclosure, now: datetime, agent: Agent) -> Case:
    """Return the request of an entry of the ledger as it would be decided today.

    Its pool, by the groups as they are now, holds what it held before this entry; what was recent
    then counts as recent. NothingError where nothing can be decided.
    """
    vault, model, ruling, terms = _ruled(entry.host, entry.query, now, agent)
    asked = None if entry.asked is None else _usable(entry.asked, model)
    pool_of, ledger = agent.rules.in_force.pool_of, vault.ledger
    planned = terms.mode == "planned"
    heard = ledger.timeline.queries_before(number, ruling.pool, pool_of) if planned else NOTHING
    pool = ledger.disclosures.pool_before(number, ruling.pool, pool_of)
    request = Request(entry.query, ruling.host, asked)
    known = _known(pool, model, entry.at, heard)
    return Case(vault, model, ruling, request, terms, known)


def decided(case: Case) -> Decision:
    """Return the decision, whose answer fits into a header.

    It depends on nothing in the profile, but where the terms protect this user (DESIGN.md 2.6).
    NothingError where the policy asks for what cannot be done with the model.
    """
    return decided_for(case, own_of(case))


def decided_briefly(case: Case) -> Decision:
    """Return what `decided` does, sooner: without the reasons of what stays.

    NothingError as there.
    """
    return _fitting(case, own_of(case), decide_briefly)


def decided_for(case: Case, own: Mapping[str, int] | None) -> Decision:
    """Return the decision without a look at the vault, by the user's own codes if they matter."""
    return _fitting(case, own, decide)


def _fitting(case: Case, own: Mapping[str, int] | None, by: Decide) -> Decision:
    try:
        return fitting(
            case.model,
            case.terms,
            lambda terms: by(case.request, terms, case.known, case.model, own),
        )
    except UsageError as error:
        raise NothingError("unfit") from error


def averaged(case: Case) -> Case:
    """Return a case that is of all queries of the model, whatever the query is."""
    return case._replace(terms=replace(case.terms, mode="standing", unknown_queries="standing"))


def apart(case: Case) -> Case:
    """Return the same case, by a model with a memory of its own, which another thread may change.

    One thread at a time: there is one such memory. It is kept in the model's, and so forgotten
    with it.
    """
    model = case.model
    return case._replace(model=model.remember(apart, lambda: replace(model)))


def own_of(case: Case) -> Mapping[str, int] | None:
    """Return the user's own codes where the terms protect this user, else None."""
    return case.vault.profile.codes(case.model) if case.terms.limits.protect == "me" else None


def _ruled(recipient: str, query: str, now: datetime, agent: Agent) -> _Ruled:
    """Return what the policy and the user rule for a request, by the model that is chosen."""
    agent.look(now)
    vault = agent.vault
    if vault is None:
        raise NothingError("locked")
    if in_clear(recipient):
        raise NothingError("not https")
    model = _model_of(recipient, query, now, agent)
    terms = agent.rules.in_force.terms(model, recipient, query, now.date())
    if terms is None or terms.ruling is None:
        raise NothingError("no policy")
    ruling = terms.ruling
    terms = agent.desk.overlay(terms, ruling.pool)
    return _Ruled(vault, model, ruling, replace(terms, available=_available(vault, model, agent)))


def _available(vault: Vault, model: Model, agent: Agent) -> frozenset[str]:
    """Return which attributes have a value: by their names alone, no value is looked at."""
    of_requests = agent.sources.available(model.attributes[model.persons :])
    return vault.profile.names(model) | of_requests


def _known(pool: Holdings[str], model: Model, now: datetime, heard: Mapping[str, int]) -> Knowledge:
    try:
        return knowledge_in(pool, model, now, heard)
    except UsageError as error:
        raise NothingError("unfit") from error


def _model_of(recipient: str, query: str, now: datetime, agent: Agent) -> Model:
    """Return the model that the policy chooses for a request."""
    if agent.rules.policy is None:
        raise NothingError("no policy")
    name = agent.rules.in_force.model(recipient, query, now.date())
    try:
        return agent.shelf.of(name, agent.rules.in_force.keys, now)
    except (ModelError, UsageError) as error:
        raise NothingError("no model") from error


def _asked(ask: Ask, host: str, model: Model, now: datetime, agent: Agent) -> frozenset[str] | None:
    """Return what the recipient can use of what the model has: what it says, or has offered."""
    asked = agent.desk.usable(site_of(host), now) if ask.asked is None else ask.asked
    return None if asked is None else _usable(asked, model)


def _usable(asked: Iterable[str], model: Model) -> frozenset[str]:
    return frozenset(asked).intersection(members(model).longest)
