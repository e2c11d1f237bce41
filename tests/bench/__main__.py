"""Print all figures, or those of some parts: ``make bench PARTS=decisions``."""

import argparse
from importlib import import_module

from tests.bench import PARTS


def main() -> None:
    """Print the figures of the parts that are named, or of all."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench")
    parser.add_argument("parts", nargs="*", choices=PARTS)
    for part in parser.parse_args().parts or PARTS:
        for line in import_module(f"tests.bench.{part}").figures():
            print(line, flush=True)


if __name__ == "__main__":
    main()
