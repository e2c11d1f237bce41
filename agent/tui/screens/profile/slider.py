"""The bits that an attribute must bring, as a slider of text."""

from bisect import bisect_left, bisect_right

STEPS = (0.0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0)  # bits


def dearer(bits: float) -> float:
    """Return the next step to the right, or the same where there is none."""
    return next(iter(STEPS[bisect_right(STEPS, bits) :]), bits)


def cheaper(bits: float) -> float:
    """Return the next step to the left, or the same where there is none."""
    return STEPS[max(0, bisect_left(STEPS, bits) - 1)]


def drawn(bits: float) -> str:
    """Return the slider, one sign a step, with its knob at the last step that is reached."""
    place = max(0, bisect_right(STEPS, bits) - 1)
    return "─" * place + "●" + "─" * (len(STEPS) - 1 - place)
