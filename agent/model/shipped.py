"""Where the model is that comes with Reticent."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

NAME = "so2017.safetensors"


def shipped_model() -> Path:
    """Return the path of the shipped model, built from the 2017 developer survey."""
    return Path(str(files("agent.model") / "shipped" / NAME))
