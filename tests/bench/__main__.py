"""Print every figure that the project claims: ``make bench``."""

from tests.bench import building, decisions, heldout, lazy

for part in (decisions, lazy, heldout, building):
    for line in part.figures():
        print(line, flush=True)
