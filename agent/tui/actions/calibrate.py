"""What can be done among the questions, and with what the answers come to."""

from agent.tui.actions.action import Action

ACTIONS = (
    Action("only_back", "calibrate", "backspace", "Back", "Go back to the question before."),
    Action("only_skip", "calibrate", "s", "Skip", "Leave the question open, and go on."),
    Action("only_more", "calibrate", "o", "Ask more", "Ask about all attributes, not a few."),
    Action(
        "write",
        "calibrate",
        "w",
        "Write",
        "Write λ and the sensitivities into the policy, after asking.",
        "calibrate --answers FILE --write",
    ),
    Action("only_answers", "calibrate", "b", "Answers", "Go back to the answers."),
)
