"""Print all figures, or those of some parts: ``make bench PARTS=decisions``."""

import sys
from importlib import import_module

from tests.bench import PARTS

if __name__ == "__main__":
    for part in sys.argv[1:] or PARTS:
        for line in getattr(import_module(f"tests.bench.{PARTS[part]}"), part)():
            print(line, flush=True)
