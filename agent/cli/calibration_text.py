"""What a calibration comes to, as a page and as an object."""

from collections.abc import Iterator
from math import isfinite
from typing import Any

from agent.cli.calibration import METRIC, Calibration
from agent.cli.layout import Column, counted, paragraph, strong, table
from agent.cli.problems import printable

TITLES = {"precision": "sharing", "one_of": "being one of"}


def calibration_text(found: Calibration) -> str:
    """Return the page: λ with the fit behind it, and what each attribute must bring."""
    return "\n".join(_parts(found))


def calibration_record(found: Calibration) -> dict[str, Any]:
    """Return the same in JSON's types; null for what is never shared, and where nothing fits."""
    fit = found.fit
    return {
        "people": found.people,
        "lambda": None if fit is None else fit.trade_off,
        "cost": METRIC,
        "source": found.source,
        "rms_residual_bits": None if fit is None else fit.error,
        "pairs": [
            {
                "name": pair.name,
                "identifiability": pair.cost,
                "wanted_bits": _finite(pair.bits),
                "residual_bits": None if fit is None else _finite(float(fit.residuals[place])),
            }
            for place, pair in enumerate(found.pairs)
        ],
        "sensitivity": {name: _finite(bits) for name, bits in found.sensitivity.items()},
    }


def _parts(found: Calibration) -> Iterator[str]:
    if found.people > 1:
        yield f"Medians of {counted(found.people, 'person', 'people')}."
        yield ""
    yield from _line(found)
    if found.sensitivity:
        yield ""
        yield strong("What an attribute must bring")
        columns = [Column("attribute"), Column("bits", right=True)]
        rows = [[printable(name), _bits(bits)] for name, bits in found.sensitivity.items()]
        yield table(columns, rows)


def _line(found: Calibration) -> Iterator[str]:
    """Yield λ, and the pairs that it was fitted to."""
    fit = found.fit
    if fit is None:
        yield paragraph(
            "λ: not fitted, for no answer about being recognised has a price. Answer [one_of] for "
            "more numbers of people, or leave λ as it is."
        )
    else:
        yield strong(f"λ = {fit.trade_off:.4g} bits for being recognised with certainty")
        yield f"A line through the origin; it is off by {fit.error:.2f} bits (root mean square)."
    if found.pairs:
        yield ""
        yield table(
            [Column(TITLES[found.source]), *(Column(title, right=True) for title in HEADS)],
            [_row(found, place) for place in range(len(found.pairs))],
        )
    if any(not isfinite(pair.bits) for pair in found.pairs):
        yield ""
        yield paragraph(
            "What you would never allow has no price, and λ does not know of it. A limit keeps it: "
            "`k` or `risk` in the policy."
        )


HEADS = ("identifiability", "bits wanted", "on the line", "off by")


def _row(found: Calibration, place: int) -> list[str]:
    pair, fit = found.pairs[place], found.fit
    name = f"{int(pair.name):,}" if found.source == "one_of" else printable(pair.name)
    row = [name, f"{pair.cost:.3g}", _bits(pair.bits)]
    if fit is None:
        return [*row, "", ""]
    off = f"{fit.residuals[place]:+.2f}" if fit.used[place] else ""
    return [*row, f"{fit.trade_off * pair.cost:.2f}", off]


def _bits(bits: float) -> str:
    return f"{bits:.2f}" if isfinite(bits) else "never"


def _finite(number: float) -> float | None:
    return number if isfinite(number) else None
