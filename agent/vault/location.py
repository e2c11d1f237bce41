"""Where a vault lies, and its witness."""

from dataclasses import dataclass
from pathlib import Path
from typing import Self

from agent.paths import Paths


@dataclass(frozen=True, slots=True)
class Location:
    """The file of a vault, and the file that says what it was last seen to be."""

    vault: Path
    witness: Path

    @classmethod
    def of(cls, paths: Paths) -> Self:
        """Return where the vault of a user lies."""
        return cls(paths.vault, paths.witness)
