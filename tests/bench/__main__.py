"""Print every figure that the project claims: ``make bench``."""

from tests.bench import (
    appending,
    building,
    daemon,
    decisions,
    heldout,
    lazy,
    policies,
    relay,
    screens,
)

for part in (decisions, policies, daemon, relay, screens, appending, lazy, heldout, building):
    for line in part.figures():
        print(line, flush=True)
