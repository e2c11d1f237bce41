"""The checkout as the house tests see it."""

import subprocess
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
PATIENCE = 240.0  # seconds, for what takes some
ROOMS = ("agent", "policy", "tests", "examples")


def ran(
    *command: str | Path,
    check: bool = True,
    given: str | None = None,
    cwd: Path = ROOT,
    env: Mapping[str, str] | None = None,
) -> subprocess.CompletedProcess[str]:
    """Run a program, and return what it did; ``given``: on its standard input."""
    return subprocess.run(
        command,
        check=check,
        input=given,
        cwd=cwd,
        env=env,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )


def sources(*suffixes: str) -> Iterator[Path]:
    """Yield every source file of ours with one of `suffixes`, in a fixed order."""
    for room in ROOMS:
        yield from sorted(p for p in (ROOT / room).rglob("*") if p.suffix in suffixes)
