"""All that a person can do in the screens: it feeds the keys, the footer, the help, the palette."""

from agent.tui.action import Action, Where

REQUESTS = (
    Action(
        "open",
        "requests",
        "enter",
        "Open",
        "Show why each attribute went along or stayed; there: choose for how long, and for whom.",
        "requests whatif --entry N",
    ),
    Action(
        "switch",
        "requests",
        "space",
        "Try",
        "Try the attribute the other way, and see at once what it would change.",
        "requests whatif --entry N --with ATTR",
    ),
    Action(
        "always",
        "requests",
        "a",
        "Always",
        "Let what waits leave to this recipient for good; of a request: make what you try hold.",
        "requests approve ID --always",
    ),
    Action(
        "once",
        "requests",
        "o",
        "Once",
        "The same with the next request only.",
        "requests approve ID",
    ),
    Action(
        "deny",
        "requests",
        "d",
        "Deny",
        "Keep what waits from this recipient for good.",
        "requests deny ID --always",
    ),
    Action(
        "deny_once",
        "requests",
        "n",
        "Deny once",
        "Keep what waits out of the next request only.",
        "requests deny ID",
        footer=False,
    ),
    Action(
        "approve_all",
        "requests",
        "A",
        "Approve all",
        "Let all that waits from this recipient leave; of a request: choose for how long.",
        "requests approve --from HOST",
        footer=False,
    ),
    Action(
        "choose",
        "requests",
        "c",
        "Choose",
        "Choose for how long, and for whom.",
        "policy let HOST ATTR always --days N",
        footer=False,
    ),
    Action(
        "reset",
        "requests",
        "r",
        "As it was",
        "Try nothing any more.",
        "requests whatif --entry N",
        footer=False,
    ),
    Action(
        "put_aside",
        "requests",
        "x",
        "Dismiss",
        "Take what waits off the list, and rule nothing.",
        "requests pending --dismiss ID",
        footer=False,
    ),
    Action(
        "only_find",
        "requests",
        "slash",
        "Find",
        "See only what has these words: recipient, query or attribute.",
        footer=False,
        roomy=True,
    ),
    Action(
        "only_some",
        "requests",
        "w",
        "Filter",
        "See only what waits, then only what was told, then only what was not, then all.",
        footer=False,
    ),
    Action(
        "only_back",
        "requests",
        "escape",
        "Back",
        "Back to the list; there: see all of it again.",
        footer=False,
    ),
)
RECIPIENTS = (
    Action(
        "knows",
        "recipients",
        "enter",
        "Open",
        "Show what this recipient knows, and what it could infer.",
        "requests knows HOST",
    ),
    Action(
        "whatif",
        "recipients",
        "w",
        "One more",
        "Show what one more attribute would bring, and cost, there.",
        "requests whatif --recipient HOST --all",
    ),
    Action(
        "forget",
        "recipients",
        "f",
        "Forget",
        "State that it can no longer link what it was told to you; you are asked first.",
        "requests forget HOST",
    ),
    Action(
        "block",
        "recipients",
        "b",
        "Block",
        "Give it nothing any more; where it is blocked, treat it like others again.",
        "policy block HOST",
    ),
    Action(
        "unblock",
        "recipients",
        "",
        "Unblock",
        "Take back that it is given nothing.",
        "policy unblock HOST",
        footer=False,
    ),
    Action(
        "requests",
        "recipients",
        "l",
        "Its requests",
        "List the requests that it was sent.",
        "requests list --recipient HOST",
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
_CURVE = "model curve --query QUERY"
TRADEOFF = (
    Action("query", "tradeoff", "e", "Query", "Type the query to look at.", _CURVE),
    Action("all", "tradeoff", "o", "All queries", "The mean of all queries.", "model curve --all"),
    Action(
        "recipient",
        "tradeoff",
        "r",
        "Recipient",
        "Type whom it is asked of, whose rules and knowledge count then; nothing for anybody.",
        f"{_CURVE} --recipient HOST",
    ),
    Action(
        "apply",
        "tradeoff",
        "a",
        "Apply",
        "Write the lambda that is selected into the policy, for this recipient or for everyone.",
        "policy set lambda=L",
    ),
    Action(
        "less", "tradeoff", "left", "Less", "Select the set that tells less.", _CURVE, footer=False
    ),
    Action(
        "more", "tradeoff", "right", "More", "Select one that tells more.", _CURVE, footer=False
    ),
    Action("knee", "tradeoff", "k", "Knee", "Select the knee of the curve.", _CURVE, footer=False),
    Action("now", "tradeoff", "n", "Now", "Select the present lambda.", _CURVE, footer=False),
)
PROFILE = (
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
CALIBRATE = (
    Action("only_back", "calibrate", "backspace", "Back", "Go back to the question before."),
    Action("only_skip", "calibrate", "s", "Skip", "Leave the question open, and go on."),
    Action("only_more", "calibrate", "o", "Ask more", "Ask about all attributes, not a few."),
    Action(
        "write",
        "calibrate",
        "w",
        "Write",
        "Write λ and the sensitivities into the policy, after asking.",
        "policy calibrate --answers FILE --write",
    ),
    Action("only_answers", "calibrate", "b", "Answers", "Go back to the answers."),
)
POLICY = (
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
HEALTH = (
    Action(
        "examine",
        "health",
        "r",
        "Look again",
        "Look at everything that can be wrong on this machine.",
        "daemon doctor",
    ),
)
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


EVERYWHERE = (
    _show(1, "requests", "What left, why, and what waits for your word.", "requests list"),
    _show(
        2,
        "recipients",
        "Who knows what, and how many people look like that.",
        "requests recipients",
    ),
    _show(3, "tradeoff", "What more or less privacy would bring.", "model curve"),
    _show(4, "profile", "Your values, and which of them may leave.", "profile show"),
    _show(
        5,
        "calibrate",
        "Find your own prices by a few questions.",
        "policy calibrate --answers FILE",
    ),
    _show(6, "policy", "The rules, and which of them decided last.", "policy rules"),
    _show(7, "health", "What is wrong, and the fix.", "daemon doctor"),
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
        "requests undo",
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
        "daemon run",
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


ACTIONS: tuple[Action, ...] = (
    *CALIBRATE,
    *PROFILE,
    *RECIPIENTS,
    *REQUESTS,
    *TRADEOFF,
    *POLICY,
    *HEALTH,
    *EVERYWHERE,
)


def actions_of(where: Where) -> tuple[Action, ...]:
    """Return what can be done on a screen, its own actions first."""
    own = [each for each in ACTIONS if each.where == where]
    return (*own, *EVERYWHERE)
