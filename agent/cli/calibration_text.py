"""What a calibration comes to, as a page and as an object."""

from collections.abc import Iterator
from typing import Any

from msgspec import to_builtins

from agent.cli.layout import Column, counted, paragraph, strong, table
from agent.cli.problems import printable
from agent.wire.calibrating import Calibrated, Pair

TITLES = {"precision": "sharing", "one_of": "being one of"}
NAMES = {"trade_off": "lambda", "metric": "cost"}  # as the options and the policy call them
HEADS = ("identifiability", "bits wanted", "on the line", "off by")


def calibration_text(found: Calibrated) -> str:
    """Return the page: λ with the fit behind it, and what each attribute must bring."""
    return "\n".join(_parts(found))


def calibration_record(found: Calibrated) -> dict[str, Any]:
    """Return the same in JSON's types; null for what is never shared, and where nothing fits.

    It is said before anything is written.
    """
    said = to_builtins(found)
    return {NAMES.get(key, key): said[key] for key in said if key != "written"}


def _parts(found: Calibrated) -> Iterator[str]:
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


def _line(found: Calibrated) -> Iterator[str]:
    """Yield λ, and the pairs that it was fitted to."""
    if found.trade_off is None or found.rms_residual_bits is None:
        yield paragraph(
            "λ: not fitted, for no answer about being recognised has a price. Answer [one_of] for "
            "more numbers of people, or leave λ as it is."
        )
    else:
        yield strong(f"λ = {found.trade_off:.4g} bits for being recognised with certainty")
        off = f"{found.rms_residual_bits:.2f} bits (root mean square)"
        yield f"A line through the origin; it is off by {off}."
    if found.pairs:
        yield ""
        yield table(
            [Column(TITLES[found.source]), *(Column(title, right=True) for title in HEADS)],
            [_row(found, pair) for pair in found.pairs],
        )
    if any(pair.wanted_bits is None for pair in found.pairs):
        yield ""
        yield paragraph(
            "What you would never allow has no price, and λ does not know of it. A limit keeps it: "
            "`k` or `risk` in the policy."
        )


def _row(found: Calibrated, pair: Pair) -> list[str]:
    name = f"{int(pair.name):,}" if found.source == "one_of" else printable(pair.name)
    row = [name, f"{pair.identifiability:.3g}", _bits(pair.wanted_bits)]
    if found.trade_off is None:
        return [*row, "", ""]
    off = "" if pair.residual_bits is None else f"{pair.residual_bits:+.2f}"
    return [*row, f"{found.trade_off * pair.identifiability:.2f}", off]


def _bits(bits: float | None) -> str:
    return "never" if bits is None else f"{bits:.2f}"
