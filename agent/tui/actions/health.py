"""What can be done on the screen of health."""

from agent.tui.actions.action import Action

ACTIONS = (
    Action(
        "examine",
        "health",
        "r",
        "Look again",
        "Look at everything that can be wrong on this machine.",
        "doctor",
    ),
)
