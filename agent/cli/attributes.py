"""`reticent attributes`: the attributes of the model in use, and what the policy says of each."""

import click

from agent.cli.door import door
from agent.cli.layout import Column, paragraph, strong, table
from agent.cli.options import json_option, record
from agent.cli.problems import printable
from agent.decision.phrases import bits
from agent.wire.policing import AttributeStatus

COLUMNS = (
    Column("attribute", wraps=True),
    Column("may leave"),
    Column("must bring", right=True),
    Column("rule", wraps=True),
    Column("what it is", wraps=True),
)
BITS = "must bring: so many bits of help, or it does not leave."


@click.command()
@click.option("--recipient", metavar="HOST", help="For whom. By default whoever no rule names.")
@json_option
def attributes(recipient: str | None, *, as_json: bool) -> None:
    """Show the attributes of the model in use, what may leave, and the rule that says so.

    HOST may be @ and the name of a group as well. No value of yours is shown, and the vault need
    not be open.
    """
    with door() as client:
        found: list[AttributeStatus] = client.call("attributes", recipient=recipient)
    page = record({"attributes": found}) if as_json else attributes_text(found, recipient)
    click.echo(page)


def attributes_text(found: list[AttributeStatus], recipient: str | None) -> str:
    """Return the page, for whom it is on top."""
    if not found:
        return "The model in use has no attributes."
    whom = recipient or "recipients without rules of their own"
    head = f"What the policy says of the attributes of {found[0].model}, for {whom}."
    rows = [_row(each) for each in found]
    return "\n\n".join([strong(paragraph(printable(head))), table(COLUMNS, rows), paragraph(BITS)])


def _row(each: AttributeStatus) -> tuple[str, ...]:
    guard = f" ({each.guard:g})" if each.guard else ""
    finer = f", finer than {each.refines}" if each.refines else ""
    scope = ", of the request" if each.scope == "request" else ""
    rule = each.rule.removesuffix(
        f", attributes.{each.name}"
    )  # in a preset: it goes without saying
    line = "" if each.line is None else f", line {each.line}"
    return (
        printable(each.name),
        f"{each.disclose}{guard}",
        bits(each.sensitivity_bits),
        printable(f"{rule}{line}"),
        printable(f"{each.title}{finer}{scope}"),
    )
