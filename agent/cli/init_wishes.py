"""What somebody wants who begins: the answers, whether they were typed or given as options."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from agent.model.model import Model

PRESETS = ("generous", "balanced", "strict")
PRESET = "balanced"


@dataclass(frozen=True, slots=True)
class Wishes:
    """How to begin.

    ``added``: the file of a model other than the shipped one; ``preset``: None to write no
    policy; ``values``: by attribute, each time for one model.
    """

    passphrase: str
    model: Model
    added: Path | None = None
    preset: str | None = None
    values: Sequence[tuple[Model, Mapping[str, str]]] = ()
    keyring: bool = False

    def __repr__(self) -> str:
        return f"Wishes(preset={self.preset!r}, model={self.model.id!r})"
