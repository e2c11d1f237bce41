"""Numbers as the screens show them."""

WHOLE = 9.95  # people, from which on a decimal says nothing


def bits(number: float | None) -> str:
    """Return a number of bits with three decimals, a dash where there is none."""
    return "–" if number is None else f"{number + 0.0:.3f}".replace("-0.000", "0.000")


def more(number: float | None) -> str:
    """Return a difference in bits, with its sign."""
    return "–" if number is None else f"{number:+.3f}".replace("-0.000", "0.000")


def people(number: float | None) -> str:
    """Return how many people, a dash where nobody knows; one decimal where they are few."""
    if number is None:
        return "–"
    return f"{number:,.0f}" if number >= WHOLE or number == int(number) else f"{number:.1f}"
