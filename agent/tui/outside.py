"""What the screens have others do: whoever runs them hands it over."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from agent.tui.finding import Finding


@dataclass(frozen=True, slots=True)
class Outside:
    """What the screens own not.

    ``doctor``: looks for what is wrong, in a thread; ``edit``: has the user change a file, at a
    line if one is named, and returns once they are done, UsageError where that cannot be;
    ``clock``: the time, where the user lives.
    """

    doctor: Callable[[], Sequence[Finding]]
    edit: Callable[[str, int | None], None]
    clock: Callable[[], datetime]
