"""What the screens need from outside: the health checks, an editor, the clock."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol


class Finding(Protocol):
    """One thing that was looked at; ``state``: ok, warn or bad; ``fix``: unless it is ok."""

    @property
    def name(self) -> str:
        """What was looked at."""

    @property
    def state(self) -> str:
        """How it is."""

    @property
    def what(self) -> str:
        """What was found."""

    @property
    def fix(self) -> str:
        """What mends it."""


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
