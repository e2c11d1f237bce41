"""Print every figure that the project claims: ``make bench``."""

from tests.bench import (
    appending,
    building,
    daemon,
    decisions,
    heldout,
    lazy,
    policies,
    screens,
)

for part in (decisions, policies, daemon, screens, appending, lazy, heldout, building):
    for line in part.figures():
        print(line, flush=True)
