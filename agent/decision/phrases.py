"""Numbers and lists as sentences have them."""

from collections.abc import Sequence

LARGE = 1e6  # bits; from here on decimals say nothing
DECIMALS, MOST_DECIMALS = 3, 6


def listed(names: Sequence[str]) -> str:
    """Return names as a sentence has them: a, b and c."""
    if len(names) < 2:  # noqa: PLR2004  (no two to join)
        return "".join(names)
    return f"{', '.join(names[:-1])} and {names[-1]}"


def bits(number: float | None, *, signed: bool = False, decimals: int = DECIMALS) -> str:
    """Return a number of bits with three decimals or three digits, a dash where there is none."""
    if number is None:
        return "-"
    if abs(number) >= LARGE:
        return f"{number:+.3g}" if signed else f"{number:.3g}"
    rounded = round(number, decimals) + 0.0  # no negative zero
    return f"{rounded:+.{decimals}f}" if signed and rounded else f"{rounded:.{decimals}f}"


def apart(one: float | None, other: float | None) -> int:
    """Return how many decimals two numbers need to be told apart, within what is worth it."""
    for decimals in range(DECIMALS, MOST_DECIMALS):
        if bits(one, decimals=decimals) != bits(other, decimals=decimals):
            return decimals
    return DECIMALS if one == other else MOST_DECIMALS


def people(number: float) -> str:
    """Return how many people, an expected number with a decimal where it is small."""
    if number >= 10 or number == int(number):  # noqa: PLR2004  (a decimal says nothing there)
        return f"{round(number):,}"
    return f"{number:.1f}"
