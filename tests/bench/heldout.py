"""What a model promises about people it has not seen, and what they get."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from agent.build.observe import observe
from agent.build.options import BuildOptions, TableFiles
from agent.build.read import open_tables
from agent.build.validate import Trial, mean, validate

DATA = Path(__file__).parents[2] / "examples" / "data" / "so2017"
TABLES = TableFiles(DATA / "users.csv.gz", DATA / "events.csv.gz")
SPLITS = 5


def figures() -> Iterator[str]:
    """Yield the lines of this benchmark: the 2017 survey, half of the users held out, λ = 1."""
    options = BuildOptions(users=TABLES.users, events=TABLES.events)
    observations = observe(open_tables(*TABLES), options)
    means = []
    for split in range(SPLITS):
        key = f"split {split}".encode()
        found = mean(validate(observations, key, "louo", None, lambda _: None))
        if found is not None:
            means.append(found)
            yield f"held-out utility, split {split}: {_line(found)}"
    found = Trial(*np.mean(means, axis=0).tolist())
    off = found.predicted_bits / found.heldout_bits - 1
    yield (
        f"held-out utility, mean of {SPLITS} splits: {_line(found)}; "
        f"predicted {off:+.1%} of it (bars: 0.125 bits and 5 %)"
    )


def _line(trial: Trial) -> str:
    return (
        f"{trial.heldout_bits:.4f} bits, predicted {trial.predicted_bits:.4f}, "
        f"{trial.attributes:.2f} attributes, cost {trial.identifiability_cost:.4f}"
    )
