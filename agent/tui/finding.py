"""What a look for faults finds, as whoever runs the screens hands it over."""

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
