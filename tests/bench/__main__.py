"""Print every figure that is claimed, or those of some parts: ``make bench PARTS=relay``."""

import argparse
from importlib import import_module
from pathlib import Path

PARTS = (
    "decisions",
    "policies",
    "daemon",
    "relay",
    "mcp",
    "proxy",
    "browsers",
    "chats",
    "screens",
    "appending",
    "lazy",
    "heldout",
    "sets",
    "reading",
    "building",
    "growth",
)
EVERY = (*PARTS, "big")  # which takes an hour


def main() -> None:
    """Print the figures of the parts that are named, or of all."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench")
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"one of: {', '.join(EVERY)}")
    what = "where to draw the figures of growth, which needs the extra lab"
    parser.add_argument("--plot", type=Path, metavar="PATH", help=what)
    given = parser.parse_args()
    named = given.parts
    if unknown := [each for each in named if each not in EVERY]:
        parser.error(f"no such part: {', '.join(unknown)} (there are: {', '.join(EVERY)})")
    for part in named or PARTS:
        module = import_module(f"tests.bench.{part}")
        drawn = given.plot is not None and part == "growth"
        for line in module.drawn(given.plot) if drawn else module.figures():
            print(line, flush=True)


if __name__ == "__main__":
    main()
