"""How the daemon is, in words, and the bars above and below every screen that say it."""

from collections.abc import Mapping
from dataclasses import dataclass

from textual.app import ComposeResult
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Footer, Static
from textual.widgets._footer import FooterKey

from agent.tui.actions import ACTIONS, TITLES, Where
from agent.tui.plain import plain
from agent.wire.state import Status
from agent.words.outcomes import write_policy

MOST = 3  # lines that say what is wrong; `reticent status` has all
NO_VAULT = "There is no vault yet: leave, and run `reticent init`."
NOTHING = "Nothing is attached: "
SHORT: dict[Where, str] = {
    "requests": "Req",
    "recipients": "Recip",
    "tradeoff": "Trade",
    "profile": "Prof",
    "calibrate": "Calib",
    "policy": "Policy",
    "health": "Health",
}
NAMES: tuple[tuple[Mapping[Where, str], Mapping[Where, str]], ...] = (
    # of the screen shown, of the others
    (TITLES, TITLES),
    (TITLES, SHORT),
    (SHORT, SHORT),
    (TITLES, {}),
    (SHORT, {}),
    ({}, {}),
)
ROOMY = frozenset(each.name for own in ACTIONS.values() for each in own if each.footer == "wide")


@dataclass(frozen=True, slots=True)
class State:
    """The daemon's last word, None before the first; ``stale``: it was not heard since.

    ``trouble``: sentences, one a line, where what is shown may not be so any more, or where
    nothing is attached.
    """

    status: Status | None = None
    stale: bool = False
    trouble: str = ""

    def said(self, *, short: bool = False) -> str:
        """Return how it is in a few words, each state with a sign of its own."""
        if self.stale:
            return "✗ stale "
        if self.status is None:
            return "… connecting "
        number = self.status.waiting
        waits = f"● {number} {'wait' if short else 'waiting'} · " if number else ""
        return f"{waits}{_open(self.status)} "

    def unknown(self) -> str:
        """Return why a screen has nothing yet: a sentence."""
        if self.stale:
            return "Not known while the daemon is away."
        if self.status is not None and not self.status.vault:
            return "There is nothing before there is a vault."
        return "Loading …"


def lost(why: str) -> str:
    """Return what to say once the daemon is not heard any more, and why."""
    return f"STALE: {plain(why)}; this waits until it is back, F9 starts it"


def trouble_of(status: Status) -> str:
    """Return why nothing is attached, or what of the rules is not as it was meant; or nothing."""
    notice = [] if status.notice is None else [status.notice]
    if not status.vault and not notice:
        return NO_VAULT
    notes = status.notes if status.policy.in_use else []
    lines = [*notice, *_models(status), *_policy(status), *notes]
    more = len(lines) - MOST
    shown = lines if more <= 0 else [*lines[: MOST - 1], f"{more + 1} more: `reticent status`"]
    return "\n".join(map(plain, shown))


def _open(status: Status) -> str:
    if status.locked:
        return "× locked"
    if status.vault and not status.policy.in_use:
        return "! no policy"
    return "√ open" if not status.vault or _usable(status) else "! no model"


def _usable(status: Status) -> bool:
    return any(each.problem is None for each in status.models)


def _policy(status: Status) -> list[str]:
    """Return what is wrong with the policy, and the way out."""
    policy = status.policy
    if not policy.in_use and not policy.problems:
        return [f"{NOTHING}there is no policy; {write_policy(policy.path)}"]
    first = NOTHING + "the policy" if not policy.in_use else "The rules before are in use: it"
    head = f"{first} has mistakes, which `reticent policy check` explains."
    return [head, *policy.problems] if policy.problems else []


def _models(status: Status) -> list[str]:
    """Return why no model can be used, and the way out."""
    if _usable(status):
        return []
    why = [f"{each.name}: {each.problem}" for each in status.models]
    return [f"{NOTHING}no model can be used; `reticent model add` adds one.", *why]


class TopBar(Static):
    """The names of the screens, each a click away, and how the daemon is, in words."""

    def __init__(self, where: Where) -> None:
        super().__init__(id="top")
        self._where = where
        self._state: State | None = None

    def tell(self, state: State) -> None:
        """Show how the daemon is."""
        self._state = state
        self._draw()

    def on_resize(self) -> None:
        """Show what there is room for."""
        self._draw()

    def _draw(self) -> None:
        left, right = fitting(self._where, self._state, self.size.width)
        gap = max(1, self.size.width - left.cell_length - right.cell_length)
        self.update(Content.assemble(left, " " * gap, right))


def fitting(where: Where, state: State | None, width: int) -> tuple[Content, Content]:
    """Return the names of the screens and the state, as long as there is room for both."""
    said = [""] if state is None else [state.said(), state.said(short=True)]
    every = [(tabs(where, *names), Content(each)) for names in NAMES for each in said]
    fit = (each for each in every if each[0].cell_length + each[1].cell_length < width)
    return next(fit, every[-1])


def tabs(where: Where, own: Mapping[Where, str], others: Mapping[Where, str]) -> Content:
    """Return the screens, each a click away, with these names and the digits that show them.

    While questions are answered by digits, the names stand alone.
    """
    every = []
    for number, each in enumerate(TITLES, 1):
        digit = "" if where == "calibrate" else str(number)
        title = f"{digit} {(own if each == where else others).get(each, '')}".strip() or "·"
        style = "reverse bold " if each == where else ""
        text = f" {title} " if each == where else title
        every.append(f"[{style}@click=app.show('{each}')]{text}[/]")
    return Content.from_markup(" ".join(every))


class Banner(Static):
    """A line or a few in words where not all is as it should be; nothing otherwise."""

    def __init__(self) -> None:
        super().__init__(id="banner")
        self.display = False

    def tell(self, state: State) -> None:
        """Show what is wrong, if anything is."""
        self.display = bool(state.trouble)
        self.update(Content(state.trouble))


class Bars(Widget):
    """Both lines."""

    def __init__(self, where: Where) -> None:
        super().__init__(id="bars")
        self._where: Where = where

    def compose(self) -> ComposeResult:
        """Lay one below the other."""
        yield TopBar(self._where)
        yield Banner()
        missing = Static("", id="missing")
        missing.display = False
        yield missing

    def missing(self, sentence: str) -> None:
        """Say why there is nothing below yet; an empty sentence where there is."""
        line = self.query_one("#missing", Static)
        line.display = bool(sentence)
        line.update(Content(sentence))

    def tell(self, state: State) -> None:
        """Show how the daemon is."""
        self.query_one(TopBar).tell(state)
        self.query_one(Banner).tell(state)


class Foot(Footer):
    """The keys; a class sets apart those that stand there on a wide screen only."""

    def compose(self) -> ComposeResult:
        """Lay them side by side."""
        for each in super().compose():
            if isinstance(each, FooterKey) and each.action in ROOMY:
                each.add_class("roomy")
            yield each
