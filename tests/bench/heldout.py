"""What a model promises about people it has not seen, and what they get."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from agent.build.observe import observe
from agent.build.options import BuildOptions, TableFiles
from agent.build.read import open_tables
from agent.build.validate import Trial, validate

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
        mean = validate(observations, key, "louo", None, lambda _: None).mean
        if mean is not None:
            means.append(mean)
            yield f"held-out utility, split {split}: {_line(mean)}"
    mean = Trial(*np.mean(means, axis=0).tolist())
    off = mean.predicted_bits / mean.heldout_bits - 1
    yield (
        f"held-out utility, mean of {SPLITS} splits: {_line(mean)}; "
        f"predicted {off:+.1%} of it (bars: 0.125 bits and 5 %)"
    )


def _line(mean: Trial) -> str:
    return (
        f"{mean.heldout_bits:.4f} bits, predicted {mean.predicted_bits:.4f}, "
        f"{mean.attributes:.2f} attributes, cost {mean.identifiability_cost:.4f}"
    )
