"""The checkout as the house tests see it."""

import tomllib
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
ROOMS = ("agent", "policy", "tests", "examples")


def sources(*suffixes: str) -> Iterator[Path]:
    """Yield every source file of ours with one of `suffixes`, in a fixed order."""
    for room in ROOMS:
        yield from sorted(p for p in (ROOT / room).rglob("*") if p.suffix in suffixes)
