"""A town in two tables: what people do depends on their age, and hours on whether they work."""

import csv
from pathlib import Path

import numpy as np

TOWN = 700


def write_town(folder: Path, people: int = TOWN) -> tuple[Path, Path]:
    """Write users and events, and return where they are."""
    draw = np.random.default_rng(1)
    users, events = folder / "users.csv", folder / "events.csv"
    rows, asked = [], []
    for number in range(people):
        work = int(draw.integers(0, 2))
        age, hours = int(draw.integers(0, 4)), int(draw.integers(1, 4)) * work
        rest = draw.integers(0, 3, 3).tolist()
        weight = f"{draw.uniform(1, 9):.3f}"
        rows.append((f"u{number}", weight, age, ("no", "yes")[work], hours, *rest))
        for query in ("sport", "food"):
            wanted = age if draw.random() < 0.8 else int(draw.integers(0, 4))
            asked.append((f"u{number}", query, f"{query} {wanted}"))
    heads = (
        ("user", "weight", "age", "work", "hours", "home", "region", "pets"),
        ("user", "query", "intent"),
    )
    for path, head, lines in zip((users, events), heads, (rows, asked), strict=True):
        with path.open("w", newline="") as file:
            csv.writer(file).writerows([head, *lines])
    return users, events
