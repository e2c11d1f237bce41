"""What a model of a sample predicts of people, beside what is so in the whole population."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Options:
    """How many people send how many requests each, to models of each sample.

    ``k``: people who shall look alike; ``seed``: of all that is drawn.
    """

    people: int = 100
    requests: int = 30
    k: int = 50
    seed: int = 1
    processes: int = 2
