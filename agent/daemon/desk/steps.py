"""The last word of the user with all that it changed, to be taken back."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from agent.daemon.desk.edits import Edit
from agent.daemon.desk.offers import Approved
from agent.daemon.desk.verdicts import Words, taken_back
from agent.daemon.desk.waiting import Waiting, put_back
from agent.decision.words import listed
from agent.wire.policy import Disclose, Ruled

TOLD = "What left meanwhile stays told."
CALLED = {"approve": "Approved", "deny": "Denied"}


class State(NamedTuple):
    """What the desk has at one time: what was said, and what waits."""

    words: Words = ()
    waiting: Waiting = Waiting()


class Made(NamedTuple):
    """What a word came to, and what it changed beside what the desk has.

    ``edit``: of the policy; ``offer``: a site, and what was approved of it before.
    """

    ruled: Ruled
    edit: Edit | None = None
    offer: tuple[str, Approved | None] | None = None


@dataclass(frozen=True, slots=True)
class Step:
    """One word of the user; ``what``: in words, without a full stop.

    ``own``: where it changed the user's values, puts them back, and says what left meanwhile.
    """

    what: str
    before: State
    after: State
    made: Made | None = None
    own: Callable[[], str] | None = None

    def back(self, state: State) -> State:
        """Return what the desk has without it, whatever else became of it since."""
        words = taken_back(state.words, self.before.words, self.after.words)
        return State(words, put_back(state.waiting, self.before.waiting, self.after.waiting))

    @property
    def sentence(self) -> str:
        """What is taken back."""
        return f"{self.what}: taken back."


def verdict_on(decided: str, names: Sequence[str], whom: str | None) -> str:
    """Return what was said of something that waits, or that it was dismissed."""
    return f"{CALLED.get(decided, 'Dismissed')} {listed(names)} for {whom or 'everyone'}"


def override_of(disclose: Disclose, names: Sequence[str], whom: str | None) -> str:
    """Return what was said of attributes."""
    return f"Said {disclose} of {listed(names)} for {whom or 'everyone'}"
