"""Every action there is."""

from agent.tui.actions import everywhere
from agent.tui.actions.action import Action, Where

ACTIONS: tuple[Action, ...] = (*everywhere.ACTIONS,)


def actions_of(where: Where) -> tuple[Action, ...]:
    """Return what can be done on a screen, its own actions first."""
    own = [each for each in ACTIONS if each.where == where]
    return (*own, *everywhere.ACTIONS)
