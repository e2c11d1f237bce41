"""`reticent profile export`: the user's values in a file, in clear."""

from pathlib import Path

import click

from agent.cli.asked import agree
from agent.cli.door import door
from agent.cli.layout import paragraph
from agent.cli.options import PATH, json_option, record, yes_option
from agent.cli.problems import printable
from agent.errors import UsageError
from agent.files import create_private
from agent.vault.profile_file import profile_toml
from agent.wire.keeping import Profile

OUTPUT = Path("-")
WARNING = (
    "This writes your values as plain text: whoever can read it, or a backup of it, knows what it "
    "says."
)


@click.command()
@click.argument("file", type=PATH, metavar="FILE")
@yes_option
@json_option
def export(file: Path, *, yes: bool, as_json: bool) -> None:
    """Write your values into FILE as plain text, which only you can read; - writes to the output.

    With --json and - it is one JSON object.
    """
    if file != OUTPUT and file.exists():  # before the question, and again when it is written
        raise UsageError("there is such a file already", "choose another name", str(file))
    if not yes:
        click.echo(paragraph(WARNING), err=True)
    agree("Write them?", yes=yes)
    with door() as client:
        found: Profile = client.call("profile")
    text = profile_toml(found.values)
    if file == OUTPUT:
        click.echo(record(found) if as_json else text, nl=as_json)
        return
    create_private(text.encode(), file)
    said = {"file": str(file.absolute())}
    done = f"Wrote {file}, readable by you alone. Delete it once it has served its purpose."
    click.echo(record(said) if as_json else paragraph(printable(done)))
