"""The registry of actions, which feeds the keys, the footer and the help."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from textual.binding import Binding

Where = Literal["everywhere", "requests", "recipients", "tradeoff", "profile", "policy", "health"]
SCREENS: tuple[tuple[Where, str, str, str], ...] = (  # title, what each is for, and the command
    ("requests", "Requests", "What was sent, why, and what waits for approval.", "requests list"),
    ("recipients", "Recipients", "Who knows what; how many look like you.", "requests recipients"),
    ("tradeoff", "Trade-off", "What more or less privacy would change.", "model curve"),
    ("profile", "Profile", "Your values, and which of them may be sent.", "profile show"),
    ("policy", "Policy", "The rules, and which of them decided last.", "policy show"),
    ("health", "Health", "What is wrong, and how to fix it.", "doctor"),
)
TITLES: Mapping[Where, str] = {where: title for where, title, *_ in SCREENS}


@dataclass(frozen=True, slots=True)
class Action:
    """Something that a person can do.

    ``name``: of the method ``action_`` of the program or of the screen, with arguments if it has
    any; ``key``: several are divided by commas; ``label``: in a word or two, for
    the footer; ``help``: a sentence; ``command``: which does the same on the command line, as
    typed after `reticent`, empty for what only moves about; ``shown``: whether it stands there.
    """

    name: str
    key: str
    label: str
    help: str
    command: str = ""
    shown: bool = True


def keys(actions: Iterable[Action]) -> list[Binding]:
    """Bind the keys of these actions."""
    return [
        Binding(
            each.key,
            each.name,
            each.label,
            show=each.shown,
            tooltip=each.help,
            priority=each.key.startswith("ctrl+"),  # works while something is typed, too
        )
        for each in actions
    ]


WHY = "Show why each fact was sent or withheld; in the detail, choose how long a trial applies."
TRY = "Try the fact the other way and see what changes; on the last line, show the rest."
ALWAYS = "Always send the waiting facts to this recipient; in the detail, apply what you tried."
ONCE = "The same, for the next request only."
DENY = "Never send the waiting facts to this recipient."
DENY_ONCE = "Withhold them from the next request only."
RESET = "Undo what you tried."
NOT_THAT = "Say that the text was misread; it is never read that way again. u takes it back."
MEANS = "Choose what the text means, from a list; it is read as that from now on. u takes it back."
UNLIST = "Take it off the list without deciding anything."
TO_LIST = "Back to the list; there, show all again."
SORT = "Put the list into its next order; the order stands above it."
SAVE = "Save the rows shown as a CSV file that only you can read; hidden values stay hidden."
SORTED = Action("only_sort", "s", "Sort", SORT, shown=False)
FIND = "Show only requests with these words: a recipient, a query or a fact."
REQUESTS = (
    Action("open", "enter", "Open", WHY, "ask RECIPIENT QUERY --explain"),
    Action("switch", "space", "Try", TRY, "", shown=False),
    Action("decide('approve', 'always')", "a", "Allow", ALWAYS, "approve ID"),
    Action("decide('approve', 'once')", "o", "Once", ONCE, "approve ID --once"),
    Action("decide('deny', 'always')", "d", "Deny", DENY, "deny ID"),
    Action("decide('deny', 'once')", "n", "No, once", DENY_ONCE, "deny ID --once", shown=False),
    Action("reset", "r", "Undo trial", RESET, "", shown=False),
    Action("means", "i", "It means", MEANS, "requests means ID TOPIC", shown=False),
    Action("not_that", "t", "Not that", NOT_THAT, "requests not-that ID", shown=False),
    Action("put_aside", "x", "Dismiss", UNLIST, "", shown=False),
    SORTED,
    Action("save", "w", "Save list", SAVE, "requests list --json", shown=False),
    Action("only_find", "slash", "Find", FIND),
    Action("only_back", "escape", "Back", TO_LIST, "", shown=False),
)

KNOWS = "Show what this recipient knows and could infer."
FORGET = "Declare that it can no longer link what it knows to you; asks first."
BLOCK = "Send it nothing any more; if it is blocked, unblock it."
ITS = "List the requests sent to it."
SOUGHT = "Show only recipients with these words: a name, a fact that it has, or blocked."
RECIPIENTS = (
    Action("knows", "enter", "Open", KNOWS, "requests recipients RECIPIENT"),
    Action("forget", "f", "Forget", FORGET, "requests forget RECIPIENT"),
    Action("block", "b", "Block/unblock", BLOCK, "policy block RECIPIENT"),
    Action(
        "requests", "l", "Its requests", ITS, "requests list --recipient RECIPIENT", shown=False
    ),
    SORTED,
    Action("save", "w", "Save list", SAVE, "requests recipients --json", shown=False),
    Action("only_find", "slash", "Find", SOUGHT),
    Action("only_back", "escape", "Back", TO_LIST, "", shown=False),
)

TAKE = "Take this choice from now on; you see its effect before it is written. u reverts it."
TRADEOFF = (Action("take", "a,enter", "Take it", TAKE, "policy set people=NUMBER"),)

SOUGHT_TITLE = "Show only facts whose title contains a text."
SET = "Choose your value of the fact, or remove it; u reverts that."
DISCLOSE = "Choose whether it may be sent: never, asks first, when worth it, or always."
GUARD = "Never send it, and less of what others could guess it from; or stop that."
OF_FACT = "policy set sensitivity=BITS"
PRICE = "Choose how much it must help, beyond what it costs, to be sent."
BACK = "Show all facts again."
ADD = "Write a fact in your own words; you see what it is taken for before it is kept."
PROFILE = (
    Action("set_value", "s,enter", "Set", SET, "profile set NAME"),
    Action("add", "a", "Add", ADD, "profile add TEXT"),
    Action("disclose", "d", "Sending", DISCLOSE, "policy set disclose=never --attribute FACT"),
    Action("price", "p", "Price", PRICE, f"{OF_FACT} --attribute FACT", shown=False),
    Action("guard", "g", "Secret", GUARD, "policy set guard=1 --attribute FACT"),
    Action("save", "w", "Save list", SAVE, "profile show --json", shown=False),
    Action("only_back", "escape", "Back", BACK, shown=False),
    Action("only_find", "slash", "Find", SOUGHT_TITLE),
)

EDIT = "Open the policy file in your text editor, at the line under the cursor."
CHANGE = "Change the rule under the cursor here, or take it away, after its effect is shown."
RELOAD = "Read the file now; the next request does so anyway."
POLICY = (
    Action("edit", "e,enter", "Editor", EDIT, "policy check"),
    Action("change", "d", "Change", CHANGE, "policy set disclose=never --attribute FACT"),
    Action("reload", "r", "Reload", RELOAD, "policy check"),
)

HEALTH = (Action("examine", "r", "Look again", "Check this machine again.", "doctor"),)

UNDO = "Revert your last change of requests, values or rules."
START = "Start the daemon if it is not running; it keeps running when you leave."
EVERYWHERE = (
    *(
        Action(f"show('{where}')", str(number), title, what, command, shown=False)
        for number, (where, title, what, command) in enumerate(SCREENS, 1)
    ),
    Action("help", "question_mark,f1", "Help", "Show what can be done here."),
    Action("lock", "ctrl+l", "Lock", "Lock the vault, and hide everything.", "lock"),
    Action("undo", "u", "Undo", UNDO, "requests undo"),
    Action(
        "mask", "m", "Mask", "Show your values, or hide them.", "profile show --reveal", shown=False
    ),
    Action("copy", "y", "Copy", "Copy the row under the cursor, as it is shown.", shown=False),
    Action("renew", "f5", "Refresh", "Ask the daemon again.", shown=False),
    Action("start", "f9", "Start the daemon", START, "daemon run", shown=False),
    Action("quit", "q,ctrl+q", "Quit", "Leave; the daemon keeps running."),
)
ACTIONS: Mapping[Where, tuple[Action, ...]] = {
    "requests": REQUESTS,
    "recipients": RECIPIENTS,
    "tradeoff": TRADEOFF,
    "profile": PROFILE,
    "policy": POLICY,
    "health": HEALTH,
    "everywhere": EVERYWHERE,
}


def actions_of(where: Where) -> tuple[Action, ...]:
    """List the actions of a screen, its own first."""
    return (*ACTIONS[where], *EVERYWHERE)
