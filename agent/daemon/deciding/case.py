"""One request with all that its decision depends on; nothing of it is the user's own value."""

from datetime import datetime
from typing import NamedTuple

from agent.daemon.agent import Agent
from agent.daemon.deciding.fitting import fitting, members
from agent.decision.decide import decide
from agent.decision.decision import Decision
from agent.decision.request import Knowledge, Request
from agent.decision.terms import Terms
from agent.errors import ModelError, UsageError
from agent.model.model import Model
from agent.vault.facts import site_of
from agent.vault.knowledge import knowledge
from agent.vault.vault import Vault
from agent.wire.asking import Ask, Code
from policy.match import Ruling


class Case(NamedTuple):
    """A request, the terms that the policy and the user set for it, and what its pool holds."""

    vault: Vault
    model: Model
    ruling: Ruling
    request: Request
    terms: Terms
    known: Knowledge


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
    agent.look(now)
    vault = agent.vault
    if vault is None:
        raise NothingError("locked")
    model = _model(ask, now, agent)
    terms = agent.rules.in_force.terms(model, ask.recipient, ask.query, now.date())
    if terms is None or terms.ruling is None:
        raise NothingError("no policy")
    ruling = terms.ruling
    request = Request(ask.query, ruling.host, _asked(ask, ruling.host, model, now, agent))
    try:
        known = knowledge(vault.ledger, ruling.pool, agent.rules.in_force.pool_of, model, now)
    except UsageError as error:
        raise NothingError("unfit") from error
    return Case(vault, model, ruling, request, agent.desk.overlay(terms, ruling.pool), known)


def decided(case: Case) -> Decision:
    """Return the decision, whose answer fits into a header.

    It depends on nothing in the profile, but where the terms protect this user (DESIGN.md 2.6).
    NothingError where the policy asks for what cannot be done with the model.
    """
    own = case.vault.profile.codes(case.model) if case.terms.limits.protect == "me" else None
    try:
        return fitting(
            case.model,
            case.terms,
            lambda terms: decide(case.request, terms, case.known, case.model, own),
        )
    except UsageError as error:
        raise NothingError("unfit") from error


def _model(ask: Ask, now: datetime, agent: Agent) -> Model:
    """Return the model that the policy chooses for a request."""
    if agent.rules.policy is None:
        raise NothingError("no policy")
    name = agent.rules.in_force.model(ask.recipient, ask.query, now.date())
    try:
        return agent.shelf.of(name, agent.rules.in_force.keys, now)
    except (ModelError, UsageError) as error:
        raise NothingError("no model") from error


def _asked(ask: Ask, host: str, model: Model, now: datetime, agent: Agent) -> frozenset[str] | None:
    """Return what the recipient can use of what the model has: what it says, or once offered."""
    said = ask.asked
    asked = agent.desk.offered(site_of(host), now) if said is None else frozenset(said)
    return None if asked is None else asked.intersection(members(model).longest)
