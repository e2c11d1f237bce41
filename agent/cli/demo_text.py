"""The demo as a page of text."""

from collections.abc import Mapping, Sequence

from agent.cli.demo_ledger import Entry, known_to, people_who_fit, values_held
from agent.cli.layout import Column, facts, strong, table
from agent.decision.phrases import bits, people
from agent.decision.words import at_least, net, resent
from agent.model.model import Model


def request_text(number: int, entry: Entry, before: int) -> str:
    """Return what one request carried, what it did not, and what that did.

    ``before``: how many people fitted what the recipient held until then.
    """
    decision, left = entry.decision, people(entry.people_left)
    title = f'{number}. {entry.recipient} is asked "{decision.request.query}"'
    if decision.matched_query not in (None, decision.request.query):
        title += f", read as {decision.matched_query}"
    if decision.status == "unknown query":
        unknown = "the model does not know this query, so nothing says what would help"
        lines = [("sends", f"nothing: {unknown}")]
    else:
        lines = [
            *_sent(entry),
            ("withholds", _withheld(entry)),
            ("gains", f"{bits(decision.figures.utility)} bits"),
            ("certified", _certificate(entry)),
        ]
    lines.append(("people", f"{left} of {people(before)} still look like her"))
    return f"{strong(title)}\n{facts(lines)}"


def recipients_text(recipients: Sequence[str], entries: Sequence[Entry], model: Model) -> str:
    """Return what each recipient holds in the end."""
    lines = []
    for recipient in recipients:
        known = known_to(recipient, entries)
        fit = people(people_who_fit(known, model))
        values = values_held(known, model)
        lines.append((recipient, f"{fit} people fit {len(values)} facts: {values_text(values)}"))
    return f"{strong('What each recipient knows in the end')}\n{facts(lines)}"


def comparison_text(recipients: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return the same requests decided in other ways, a line each."""
    title = "The same requests otherwise: mean bits, and how many look like her in the end"
    columns = [Column(title, right=True) for title in ("bits", *recipients)]
    return f"{strong(title)}\n{table([Column('', wraps=True), *columns], rows)}"


def values_text(values: Mapping[str, str]) -> str:
    """Return attributes with their values."""
    return ", ".join(f"{name}={value}" for name, value in values.items()) or "nothing"


def _sent(entry: Entry) -> list[tuple[str, str]]:
    """Return what is new to the recipient, and what it held already and is sent again."""
    again = resent(entry.decision)
    new = {name: value for name, value in entry.values.items() if name not in again}
    old = {name: value for name, value in entry.values.items() if name in again}
    lines = [("sends", values_text(new) if new else "nothing new" if old else "nothing")]
    return [*lines, ("again", values_text(old))] if old else lines


def _withheld(entry: Entry) -> str:
    """Return how many are withheld, and which new ones came nearest to being worth it."""
    candidates = entry.decision.candidates
    held_back = [each for each in candidates if not each.disclosed and each.reason != "not set"]
    new = [each for each in held_back if each.cost_bits]
    nearest = sorted(new, key=lambda each: (-net(each), each.name))[:2]
    misses = " and ".join(
        f"{each.name} ({bits(each.gain_bits, signed=True)} for {bits(each.cost_bits)})"
        for each in nearest
    )
    return f"{len(held_back)} others; nearest to being worth it: {misses or 'none'}"


def _certificate(entry: Entry) -> str:
    evidence = entry.decision.evidence
    if evidence.certified is None:
        return "nothing"
    return at_least(evidence.certified)
