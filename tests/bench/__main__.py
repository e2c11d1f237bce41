"""Print every figure that the project claims: ``make bench``."""

from tests.bench import building, decisions, heldout, lazy, policies

for part in (decisions, policies, lazy, heldout, building):
    for line in part.figures():
        print(line, flush=True)
