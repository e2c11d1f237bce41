"""What can be done on the screen of the policy."""

from agent.tui.actions.action import Action

ACTIONS = (
    Action(
        "edit",
        "policy",
        "e,enter",
        "Edit",
        "Open the file in your editor, at the line under the cursor.",
        "policy check",
    ),
    Action(
        "reload",
        "policy",
        "r",
        "Read again",
        "Let the daemon read the file now; it does so by itself with the next request.",
        "policy check",
    ),
    Action(
        "blocks",
        "policy",
        "b",
        "Next part",
        "Go on to the next part: problems, rules, what holds for all else.",
    ),
)
