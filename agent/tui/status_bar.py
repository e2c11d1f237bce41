"""How the daemon is, in words, and the bar above every screen."""

from collections.abc import Collection
from dataclasses import dataclass

from textual.content import Content
from textual.widgets import Static

from agent.tui.actions import TITLES, Where
from agent.tui.plain import plain
from agent.wire.state import Status
from agent.words.figures import counted
from agent.words.titles import write_policy

MOST = 3  # lines that say what is wrong; `reticent status` has all
NO_VAULT = "There is no vault yet: leave, and run `reticent init`."
OPEN = "✓ open"
NOTHING = "Nothing is attached: "


@dataclass(frozen=True, slots=True)
class DaemonState:
    """The daemon's last answer, None before the first; ``stale``: it has been away since.

    ``trouble``: sentences, one a line, where the screen may be out of date, or where nothing is
    attached.
    """

    status: Status | None = None
    stale: bool = False
    trouble: str = ""

    def summary(self, *, short: bool = False) -> str:
        """Sum up the state in a few words, each with a sign of its own."""
        if self.stale:
            return "✗ stopped "
        status = self.status
        if status is None:
            return "… connecting "
        text = OPEN if not status.vault or _usable(status) else "! no model"
        if status.locked:
            text = "× locked"
        elif status.vault and not status.policy.in_use:
            text = "! no policy"
        elif status.paused_until is not None:
            text = f"‖ paused until {status.paused_until.astimezone():%H:%M}"
        if not status.waiting:
            return f"{text} "
        waiting = f"{'● ' if status.raised else ''}{status.waiting} waiting"
        return f"{waiting} " if short and text == OPEN else f"{waiting} · {text} "

    def missing(self) -> str:
        """Say in a sentence why a screen is still empty."""
        if self.stale:
            return "Not known while the daemon is away."
        if self.status is not None and not self.status.vault:
            return "There is no vault yet, so there is nothing to show."
        return "Loading …"


def trouble_of(status: Status) -> str:
    """Say why nothing is attached, or which mistakes the rules have; empty if all is well."""
    policy = status.policy
    lines = [] if status.notice is None else [status.notice]
    if not status.vault and not lines:
        return NO_VAULT
    if not _usable(status):
        lines.append(f"{NOTHING}no model can be used; `reticent model add` adds one.")
        lines += [f"{each.name}: {each.problem}" for each in status.models]
    if policy.problems:
        first = "The last good rules are in use: the policy" if policy.in_use else NOTHING + "it"
        mistakes = counted(len(policy.problems), "mistake")
        lines.append(f"{first} has {mistakes}; Policy (5) and `reticent policy check` show where.")
    elif not policy.in_use:
        lines.append(f"{NOTHING}there is no policy; {write_policy(policy.path)}")
    lines += status.notes if policy.in_use else []
    more = len(lines) - MOST
    shown = lines if more <= 0 else [*lines[: MOST - 1], f"{more + 1} more: `reticent status`"]
    return "\n".join(map(plain, shown))


def _usable(status: Status) -> bool:
    return any(each.problem is None for each in status.models)


class TopBar(Static):
    """The names of the screens, each a click away, and how the daemon is, in words."""

    def __init__(self, where: Where) -> None:
        super().__init__(id="top")
        self._where = where
        self._state: DaemonState | None = None

    def show_state(self, state: DaemonState) -> None:
        """Show how the daemon is."""
        self._state = state
        self.on_resize()

    def on_resize(self) -> None:
        """Show what there is room for."""
        left, right = fitting(self._where, self._state, self.size.width)
        gap = max(1, self.size.width - left.cell_length - right.cell_length)
        self.update(Content.assemble(left, " " * gap, right))


def fitting(where: Where, state: DaemonState | None, width: int) -> tuple[Content, Content]:
    """Fit the names of the screens and the state into a line, the longest forms that fit."""
    summaries = [""] if state is None else [state.summary(), state.summary(short=True)]
    tabs = (_tabs(where, TITLES), _tabs(where, [where]), _tabs(where))
    every = [(each, Content(summary)) for each in tabs for summary in summaries]
    fit = (each for each in every if each[0].cell_length + each[1].cell_length < width)
    return next(fit, every[-1])


def _tabs(where: Where, named: Collection[Where] = ()) -> Content:
    """Link the screens: the digits that show them, with the names of some."""
    every = []
    for number, each in enumerate(TITLES, 1):
        text = f"{number} {TITLES[each]}" if each in named else str(number)
        style = "reverse bold " if each == where else ""
        every.append(f"[{style}@click=app.show('{each}')]{text}[/]")
    return Content.from_markup(" ".join(every))
