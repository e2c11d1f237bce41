"""What can be done on the screen of recipients."""

from agent.tui.actions.action import Action

ACTIONS = (
    Action(
        "knows",
        "recipients",
        "enter",
        "Open",
        "Show what this recipient knows, and what it could infer.",
        "knows HOST",
    ),
    Action(
        "whatif",
        "recipients",
        "w",
        "One more",
        "Show what one more attribute would bring, and cost, there.",
        "whatif --recipient HOST --all",
    ),
    Action(
        "forget",
        "recipients",
        "f",
        "Forget",
        "State that it can no longer link what it was told to you; you are asked first.",
        "forget HOST",
    ),
    Action(
        "block",
        "recipients",
        "b",
        "Block",
        "Give it nothing any more; where it is blocked, treat it like others again.",
        "block HOST",
    ),
    Action(
        "unblock",
        "recipients",
        "",
        "Unblock",
        "Take back that it is given nothing.",
        "unblock HOST",
        footer=False,
    ),
    Action(
        "requests",
        "recipients",
        "l",
        "Its requests",
        "List the requests that it was sent.",
        "requests --recipient HOST",
        footer=False,
    ),
    Action(
        "only_find",
        "recipients",
        "slash",
        "Find",
        "See only who has these words: a name, a fact that it holds, or blocked.",
    ),
    Action(
        "only_back",
        "recipients",
        "escape",
        "Back",
        "Back to the list; there: see all of it again.",
        footer=False,
    ),
)
