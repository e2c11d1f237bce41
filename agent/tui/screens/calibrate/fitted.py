"""What the answers come to, in words, with a picture of how well they fit."""

from collections.abc import Iterator, Mapping

from agent.tui.numbers import bits, more
from agent.tui.plain import fitted as cut
from agent.wire.what_if import Calibrated, Pair

WANTED, LINE, BOTH, BEYOND = "●", "│", "◉", "›"
NAME, NUMBER = 14, 8  # columns
PLOT = f"{WANTED} wanted {LINE}line"
LEAST_PLOT = len(PLOT)
ANY = 100  # times as good, from which on it says no more how much
ENDLESS = 64.0  # bits: beyond that a factor is of no use
NO_PRICE = (
    "Nothing fits: no answer about being recognised has a price. Go back and answer the questions "
    "about being one of so many people, or leave λ as it is."
)
NEVER = (
    "What you would never allow has no price, and λ does not know of it. A limit keeps it: `k` or "
    "`risk` in the policy. An attribute that you would never share is ruled never."
)


def headline(found: Calibrated) -> str:
    """Return λ in words."""
    if found.trade_off is None:
        return NO_PRICE
    tenth = found.trade_off / 10
    return (
        f"λ = {found.trade_off:.4g}. You want {found.trade_off:.2f} bits for being recognised with "
        f"certainty, that is {_times(found.trade_off)}; {tenth:.2f} bits for being known to be one "
        f"of 10 people, that is {_times(tenth)}."
    )


def picture(found: Calibrated, titles: Mapping[str, str], width: int) -> Iterator[str]:
    """Yield the pairs, each with what was wanted and what lies on the line, on one scale."""
    room = max(LEAST_PLOT, width - NAME - 3 * NUMBER - 2)
    heads = "".join(f"{each:>{NUMBER}}" for each in ("wanted", "line", "off by"))
    yield f"{cut('bits', NAME)} {PLOT:<{room}} {heads}"
    priced = [each for each in found.pairs if each.wanted_bits is not None]
    most = max((max(each.wanted_bits or 0, _on_line(found, each)) for each in priced), default=0.0)
    for each in found.pairs:
        said = f"one of {int(each.name):,}" if found.source == "one_of" else titles[each.name]
        yield f"{cut(said, NAME)} {_plot(found, each, most, room)} {_numbers(found, each)}"


def prices(found: Calibrated, titles: Mapping[str, str], width: int) -> Iterator[str]:
    """Yield what each attribute must bring."""
    for name, wanted in found.sensitivity.items():
        said = "never leaves" if wanted is None else f"{bits(wanted)} bits"
        yield f"{cut(titles.get(name, name), max(NAME, min(44, width - 14)))} {said:>12}"


def remarks(found: Calibrated) -> Iterator[str]:
    """Yield how far the line is off, and what it knows nothing of."""
    if found.rms_residual_bits is not None:
        off = f"{found.rms_residual_bits:.2f} bits"
        yield f"The line begins at 0 and is off by {off} (root mean square)."
    never = [each.wanted_bits for each in found.pairs] + [*found.sensitivity.values()]
    if None in never:
        yield NEVER


def next_step(found: Calibrated) -> str:
    """Return what can be done now."""
    if found.written:
        return "√ Written: the policy says so now. b goes back to the answers."
    return "Nothing is written yet. w writes it into the policy, b goes back to the answers."


def _times(gain: float) -> str:
    factor = 2 ** min(gain, ENDLESS)
    if factor > ANY:
        return f"a search more than {ANY} times as good"
    return f"a search {factor:.3g} times as good"


def _on_line(found: Calibrated, pair: Pair) -> float:
    return 0.0 if found.trade_off is None else found.trade_off * pair.identifiability


def _plot(found: Calibrated, pair: Pair, most: float, room: int) -> str:
    """Return one line of the picture; ``most``: bits at its right end."""
    signs = ["·"] * room
    last = room - 1
    if found.trade_off is not None:
        line = _on_line(found, pair)
        signs[_place(line, most, last)] = BEYOND if line > most else LINE
    if pair.wanted_bits is not None:
        at = _place(pair.wanted_bits, most, last)
        signs[at] = BOTH if signs[at] == LINE else WANTED
    return "".join(signs)


def _place(gain: float, most: float, last: int) -> int:
    return round(min(gain / most, 1) * last) if most else 0


def _numbers(found: Calibrated, pair: Pair) -> str:
    wanted = "never" if pair.wanted_bits is None else bits(pair.wanted_bits)
    line = "" if found.trade_off is None else bits(_on_line(found, pair))
    off = "" if pair.residual_bits is None else more(pair.residual_bits)
    return "".join(f"{each:>{NUMBER}}" for each in (wanted, line, off))
