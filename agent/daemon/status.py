"""How the daemon is, for the user: what is open, what is in use, and what is wrong."""

import os
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta

from agent import __version__
from agent.daemon.agent import Agent
from agent.model.model import Model
from agent.vault.vault_files import read_notice
from agent.wire.state import ModelStatus, PolicyStatus, Status
from policy.settings import DaemonSettings

# How notes begin. Of the first three, `doctor` looks at the files itself.
NO_POLICY, POLICY, MODEL = "there is no policy in use", "policy: ", "model "
MISFIT = "the model "
AHEAD = "the clock is behind the ledger, whose latest entry is of "
MINUTE = timedelta(minutes=1)


def status_of(
    agent: Agent, policy: PolicyStatus, models: Sequence[ModelStatus], now: datetime
) -> Status:
    """Return how the daemon is; ``policy``, ``models``: how these are."""
    vault, rules = agent.vault, agent.rules.policy
    notice = read_notice(agent.place)
    settings = DaemonSettings() if rules is None else rules.daemon
    return Status(
        version=__version__,
        process=os.getpid(),
        started_at=agent.started_at,
        vault=agent.place.vault.exists(),
        locked=vault is None,
        lock_after_minutes=settings.lock_after_minutes,
        policy=policy,
        models=[*models],
        waiting=len(agent.desk.reviews(now)),
        entries=None if vault is None else vault.ledger.count,
        notes=[*_notes(agent, policy, models, now)],
        notice=None if notice is None else f"{notice}: {notice.hint}",
    )


def _notes(
    agent: Agent, policy: PolicyStatus, models: Sequence[ModelStatus], now: datetime
) -> Iterator[str]:
    """Yield what the user should know, in sentences."""
    if not policy.in_use:
        yield f"{NO_POLICY}, so nothing is attached"
    for problem in policy.problems:
        yield f"{POLICY}{problem}"
    for name in sorted(_wanted(agent) - {each.name for each in models}):
        yield f"{POLICY}it asks for the model {name!r}, which is not there"
    for each in models:
        if each.problem is not None:
            yield f"{MODEL}{each.name}: {each.problem}"
    usable = agent.usable_models(now)
    for remark in agent.rules.in_force.misspelt(usable):
        yield f"{POLICY}{remark}"
    if agent.trouble is not None:
        what, hint = agent.trouble.what, agent.trouble.hint
        yield f"the last request could not be answered: {what} ({hint})"
    if agent.vault is not None:
        if agent.ahead > MINUTE:
            latest = agent.vault.ledger.latest or now
            yield f"{AHEAD}{latest:%Y-%m-%d %H:%M}: rules and limits go by that, not by the clock"
        yield from agent.vault.notes
        yield from _misfits(agent, usable)


def _wanted(agent: Agent) -> frozenset[str]:
    """Return the names of the models that the policy asks for."""
    policy = agent.rules.policy
    return frozenset() if policy is None else policy.models


def _misfits(agent: Agent, usable: Sequence[Model]) -> Iterator[str]:
    """Yield what the profile has and its model has not any more."""
    if agent.vault is None:
        return
    for model in usable:
        names = agent.vault.profile.misfits(model)
        if names:
            yield f"{MISFIT}{model.id} has not the values you set for {', '.join(names)}"
