"""What can be done with one's own values, and with the rules about them."""

from agent.tui.actions.action import Action

ACTIONS = (
    Action(
        "set_value",
        "profile",
        "s",
        "Set",
        "Choose your value of the attribute, or take it away; u takes that back.",
        "profile set NAME",
    ),
    Action(
        "disclose",
        "profile",
        "d",
        "May leave",
        "Say whether it may leave: never, asks first, when worth it, or always.",
        "policy set disclose=never --attribute NAME",
    ),
    Action(
        "guard",
        "profile",
        "g",
        "Guard",
        "Guard it, so that what gives it away costs; or guard it no more.",
        "policy set guard=1 --attribute NAME",
    ),
    Action(
        "more",
        "profile",
        "right,plus",
        "Dearer",
        "Let it leave only for more bits; written with Enter.",
        "policy set sensitivity=BITS --attribute NAME",
    ),
    Action(
        "less",
        "profile",
        "left,minus",
        "Cheaper",
        "Let it leave for fewer bits; written with Enter.",
        "policy set sensitivity=BITS --attribute NAME",
        footer=False,
    ),
    Action(
        "only_back",
        "profile",
        "escape",
        "Put back",
        "Put the slider back where it was, or show all attributes again.",
        footer=False,
    ),
    Action(
        "copy",
        "profile",
        "c",
        "Copy",
        "Copy your value to the clipboard, after asking.",
        "profile show --reveal",
        footer=False,
    ),
    Action("only_filter", "profile", "slash", "Filter", "Show only attributes with a text in it."),
)
