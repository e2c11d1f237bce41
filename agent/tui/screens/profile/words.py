"""What the profile says in sentences: of one attribute, and of what became of a change."""

from collections.abc import Iterable, Iterator, Sequence

from agent.tui.screens.profile.rows import NOT_SET, Row, rule_said, value_said
from agent.wire.policy import Edited, Win
from agent.wire.records import Changed

MEANS = {
    "never": "never leaves",
    "ask": "waits for your word before it leaves",
    "auto": "leaves when it helps more than it costs",
    "always": "leaves with every request, if no limit forbids it",
    "guarded": "never leaves, and whatever gives it away costs",
}
HELP = (
    "Your attributes. Values are hidden until you press m. The bits that one must bring are how "
    "much better it must make an answer before it may leave. Whether one may leave, and for how "
    "much, is a rule about the attribute: set it for what the attribute is, never because of your "
    "own value of it. A rule written because of a value gives the value away by what it leaves out."
)
PENDING = "not written yet: Enter writes it, Escape puts it back"
BITS = "How much better it must make an answer before it may leave; with 1 bit, twice as good."
MOST_NAMED = 6  # values, or holders, that are listed


def listed(names: Sequence[str]) -> str:
    """Return names as a text lists them, a few of them where they are many."""
    if len(names) > MOST_NAMED:
        return f"{', '.join(names[:MOST_NAMED])} and {len(names) - MOST_NAMED} more"
    return " and ".join(part for part in (", ".join(names[:-1]), *names[-1:]) if part)


def bits_said(row: Row) -> str:
    """Return what it must bring, and whether that is written."""
    demand = f"must bring {row.bits:.4g} bits more than it costs"
    demand = demand if row.bits else "need not bring more than it costs"
    return demand if row.slid is None else f"{demand} ({PENDING})"


def held_said(row: Row) -> str:
    """Return who holds it."""
    if not row.own:
        return "Set for each request: nobody is charged for holding it."
    if not row.holders:
        return "Nobody holds it."
    return f"Held by {listed(row.holders)}."


def foot(row: Row, pending: Sequence[str] = ()) -> str:
    """Return what is said of an attribute in a line or two.

    ``pending``: titles of those whose sliders are not written yet.
    """
    said = row.attribute
    first = f"{said.title}: {MEANS.get(said.disclose, said.disclose)} (by {rule_said(said)})"
    others = [each for each in pending if each != said.title]
    wait = f"\nNot written yet: {listed(others)} (*). " if others else ""
    return f"{first}; {bits_said(row)}. {held_said(row)}{wait}"


def detail(row: Row, rows: Iterable[Row], pending: Sequence[str] = ()) -> Iterator[tuple[str, str]]:
    """Yield what is said of an attribute at length, part by part, each with its heading.

    ``pending``: titles of those whose sliders are not written yet.
    """
    said = row.attribute
    others = [each for each in pending if each != said.title]
    if others:
        yield "Not written yet (*)", f"{listed(others)}: Enter on the row writes it."
    yield said.title, f"{said.name}, of the model {said.model}"
    yield "Your value", _value(row)
    yield "May it leave", f"It {MEANS.get(said.disclose, said.disclose)}, by {rule_said(said)}."
    yield "Sensitivity", f"It {bits_said(row)}.\n{BITS}"
    yield "Who holds it", held_said(row)
    family = family_of(row, rows)
    if len(family) > 1:
        yield "From coarse to fine", "\n".join(_step(each, row) for each in family)
    yield "Its values", ", ".join(said.values[1:])


def family_of(row: Row, rows: Iterable[Row]) -> list[Row]:
    """Return an attribute with all that refine it, or that it refines, from coarse to fine."""
    found: list[Row] = []
    for each in rows:
        if each.depth == 0 and row in found:
            break
        found = [each] if each.depth == 0 else [*found, each]
    return found if row in found else [row]


def stale_said(changed: Changed) -> Iterator[str]:
    """Yield who holds an older value of what was changed, and what they will be told."""
    kept = {each.name for each in changed.changes if each.is_set}
    for each in changed.stale:
        one = len(each.pools) == 1
        who = f"{listed(each.pools)} {'holds' if one else 'hold'} your older value of {each.name}"
        if each.name in kept:
            yield f"{who}, and will be told the new one like a fact that is known."
        else:
            yield f"{who}, and {'goes' if one else 'go'} on to hold it."


def edit_said(done: str, edited: Edited) -> str:
    """Return what became of an edit of the policy, and what it does not reach."""
    first = f"{done}." if edited.changed else f"{done}: the policy said so already."
    return " ".join((first, *map(_win, edited.wins)))


def _win(win: Win) -> str:
    line = "" if win.line is None else f" (line {win.line})"
    return f"Still decided otherwise by {win.rule}{line}: {win.key} = {win.value}."


def _value(row: Row) -> str:
    said = value_said(row)
    if not row.own:
        return "None: it is set for each request, from the request itself."
    if said == NOT_SET:
        return "Not set: it never leaves."
    return f"{said} (m shows it)" if row.value is None else said


def _step(each: Row, row: Row) -> str:
    sign = "▸" if each.attribute.name == row.attribute.name else " "
    indent = "  " * each.depth
    return f"{sign} {indent}{each.attribute.title}: {len(each.attribute.values) - 1} values"
