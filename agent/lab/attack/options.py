"""How the agent is attacked."""

from __future__ import annotations

from dataclasses import dataclass

STEPS = (1, 2, 5, 10, 20, 50, 100, 200)  # requests after which the adversary guesses


@dataclass(frozen=True, slots=True)
class Options:
    """How many people send how many requests each; ``seed``: of all that is drawn.

    ``exact``: for how many of them exact search decides too, fewer where there are fewer.
    """

    people: int = 300
    requests: int = 100
    seed: int = 1
    processes: int = 2
    exact: int = 30

    @property
    def steps(self) -> tuple[int, ...]:
        """After how many requests the adversary guesses: after the last of them too."""
        return (*(each for each in STEPS if each < self.requests), self.requests)
