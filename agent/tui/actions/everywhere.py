"""What can be done on every screen."""

from agent.tui.actions.action import Action, Where

TITLES: dict[Where, str] = {
    "requests": "Requests",
    "recipients": "Recipients",
    "tradeoff": "Trade-off",
    "profile": "Profile",
    "calibrate": "Calibrate",
    "policy": "Policy",
    "health": "Health",
}


def _show(number: int, where: Where, what: str, command: str) -> Action:
    title = TITLES[where]
    name = f"show('{where}')"
    return Action(name, "everywhere", str(number), title, what, command, footer=False)


ACTIONS = (
    _show(1, "requests", "What left, why, and what waits for your word.", "requests"),
    _show(2, "recipients", "Who knows what, and how many people look like that.", "recipients"),
    _show(3, "tradeoff", "What more or less privacy would bring.", "curve"),
    _show(4, "profile", "Your values, and which of them may leave.", "profile show"),
    _show(5, "calibrate", "Find your own prices by a few questions.", "calibrate --answers FILE"),
    _show(6, "policy", "The rules, and which of them decided last.", "policy rules"),
    _show(7, "health", "What is wrong, and the fix.", "doctor"),
    Action(
        "turn(-1)",
        "everywhere",
        "left_square_bracket",
        "Previous screen",
        "Show the screen before.",
        footer=False,
    ),
    Action(
        "turn(1)",
        "everywhere",
        "right_square_bracket",
        "Next screen",
        "Show the next screen.",
        footer=False,
    ),
    Action("help", "everywhere", "question_mark,f1", "Help", "Say what can be done here."),
    Action("lock", "everywhere", "ctrl+l", "Lock", "Close the vault, and hide all.", "lock"),
    Action(
        "undo",
        "everywhere",
        "u",
        "Undo",
        "Take back your last word, on requests or values.",
        "undo",
        footer=False,
        roomy=True,
    ),
    Action(
        "mask",
        "everywhere",
        "m",
        "Mask",
        "Show your own values, or hide them again.",
        "profile show --reveal",
        footer=False,
        roomy=True,
    ),
    Action("renew", "everywhere", "f5", "Renew", "Ask the daemon again.", footer=False),
    Action(
        "start",
        "everywhere",
        "f9",
        "Start the daemon",
        "Start it where none runs; it goes on when you leave.",
        "daemon",
        footer=False,
    ),
    Action(
        "change_theme",
        "everywhere",
        "",
        "Theme",
        "Choose other colours until you leave; TEXTUAL_THEME names those to begin with.",
        footer=False,
    ),
    Action("command_palette", "everywhere", "ctrl+p", "All", "Find an action by its name."),
    Action("quit", "everywhere", "q,ctrl+q", "Quit", "Leave; the daemon goes on."),
)
