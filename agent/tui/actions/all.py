"""Every action there is."""

from agent.tui.actions import (
    calibrate,
    everywhere,
    health,
    policy,
    profile,
    recipients,
    requests,
    tradeoff,
)
from agent.tui.actions.action import Action, Where

ACTIONS: tuple[Action, ...] = (
    *calibrate.ACTIONS,
    *profile.ACTIONS,
    *recipients.ACTIONS,
    *requests.ACTIONS,
    *tradeoff.ACTIONS,
    *policy.ACTIONS,
    *health.ACTIONS,
    *everywhere.ACTIONS,
)


def actions_of(where: Where) -> tuple[Action, ...]:
    """Return what can be done on a screen, its own actions first."""
    own = [each for each in ACTIONS if each.where == where]
    return (*own, *everywhere.ACTIONS)
