"""What `reticent policy try` has to show, as a value."""

from typing import NamedTuple

from agent.decision.compared import Outcome, Summary
from agent.decision.past import Worlds


class Tried(NamedTuple):
    """A replayed history; ``sorted``: whether its lines had stood in another order."""

    outcomes: tuple[Outcome, ...]
    summary: Summary
    worlds: Worlds
    sorted: bool
