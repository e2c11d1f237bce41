"""Print all figures, or those of some parts: ``make bench PARTS=decisions``."""

import argparse
from importlib import import_module

from tests.bench import PARTS


def main() -> None:
    """Print the figures of the parts that are named, or of all."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench")
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"one of: {', '.join(PARTS)}")
    named = parser.parse_args().parts
    if unknown := [each for each in named if each not in PARTS]:
        parser.error(f"no such part: {', '.join(unknown)} (there are: {', '.join(PARTS)})")
    for part in named or PARTS:
        for line in import_module(f"tests.bench.{part}").figures():
            print(line, flush=True)


if __name__ == "__main__":
    main()
