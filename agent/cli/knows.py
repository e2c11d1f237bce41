"""`reticent knows`: what a recipient holds about the user."""

from collections.abc import Sequence

import click

from agent.cli.door import door
from agent.cli.layout import Column, counted, moment, paragraph, strong, table
from agent.cli.options import json_option, record
from agent.cli.problems import printable
from agent.decision.phrases import bits, listed
from agent.model.attributes import UNSPECIFIED
from agent.wire.keeping import Held
from agent.wire.overview import Inferred

COLUMNS = (Column("attribute", wraps=True), Column("value", wraps=True), Column("since"))


@click.command()
@click.argument("recipient")
@json_option
def knows(recipient: str, *, as_json: bool) -> None:
    """Show what RECIPIENT holds about you, since when, and how many people still look like you.

    RECIPIENT is a host, or @ and the name of a group that is taken to pool what it learns.
    """
    with door() as client:
        found: Held = client.call("knowledge", recipient=recipient)
    click.echo(record(found) if as_json else held_text(found))


def held_text(held: Held) -> str:
    """Return what a recipient holds as a page, how much that tells on top."""
    pool = printable(held.pool)
    if not held.values:
        return paragraph(f"{pool} holds nothing about you{_recent(held)}.")
    facts = counted(len(held.values), "fact")
    alike = f"{held.people_left:,} of {counted(held.people, 'person', 'people')} of {held.model}"
    head = f"{pool} holds {facts} about you, with which {printable(alike)} agree{_recent(held)}."
    rows = [
        (name, printable(value), moment(held.since[name]) if name in held.since else "")
        for name, value in held.values.items()
    ]
    parts = [strong(paragraph(head)), table(COLUMNS, rows)]
    unset = [printable(name) for name, value in held.values.items() if value == UNSPECIFIED]
    parts += [paragraph(_unset(unset))] if unset else []
    parts += [paragraph(printable(_inferred(each))) for each in held.inferred]
    return "\n\n".join(parts)


def _unset(names: Sequence[str]) -> str:
    """Return what is told of what was "unspecified", by choice or before it could be."""
    which = f"{listed(names)} is" if len(names) == 1 else f"{listed(names)} are"
    return f"That {which} unspecified is a fact too, and few people may share it."


def _inferred(found: Inferred) -> str:
    """Return what all that tells of a fact that is guarded, and of whom that is counted."""
    guarded = f"{found.title} ({found.name}), which is guarded"
    if not found.best_guess:
        return f"Too few people agree with it to say what it tells of {guarded}."
    told = bits(abs(found.bits))
    if found.bits < 0:
        said = f"It leaves {guarded}, {told} bits less certain than before"
    else:
        said = f"It tells {told} of {bits(found.bits_in_all)} bits of {guarded}"
    right, chance = f"{found.best_guess:.0%}", f"{found.by_chance:.0%}"
    return f"{said}: the best guess fits {right} of those who agree, and {chance} of all people."


def _recent(held: Held) -> str:
    return f"; {held.recent} new in the last seven days" if held.recent else ""
