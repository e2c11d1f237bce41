"""How the daemon is, as the screens say it."""

from dataclasses import dataclass

from agent.tui.plain import plain
from agent.wire.state import Status
from agent.wire.words import write_policy

MOST = 3  # lines that say what is wrong; `reticent status` has all
NO_VAULT = "There is no vault yet: leave, and run `reticent init`."
NOTHING = "Nothing is attached: "


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
