"""`reticent restore`: put a backup in the place of the vault."""

from pathlib import Path

import click

from agent.cli.interrupt import uninterrupted
from agent.cli.layout import paragraph
from agent.cli.options import PATH, json_option, record
from agent.cli.problems import printable
from agent.cli.secret import ask_for, method_of, method_options
from agent.errors import BusyVaultError, UsageError, VaultError
from agent.paths import paths
from agent.vault.backup import OTHER
from agent.vault.backup import restore as put_back
from agent.vault.keys.secrets import Secret
from agent.vault.location import Location
from agent.vault.outside import keys


@click.command()
@click.argument("file", type=PATH, metavar="FILE")
@method_options
@json_option
def restore(*, file: Path, keyring: bool, recovery: bool, as_json: bool) -> None:
    """Put the backup FILE in the place of the vault, once all of it is verified.

    The secret is one that opens the backup. The vault that it replaces stays beside it under
    another name. The daemon must not have the vault open: run `reticent lock` first.
    """
    at = Location.of(paths())
    method = method_of(keyring=keyring, recovery=recovery)
    _check(file, at)
    secret = Secret(method, ask_for(method))
    with uninterrupted():
        kept = put_back(at, file, secret)
    if as_json:
        click.echo(record({"vault": str(at.vault), "kept": None if kept is None else str(kept)}))
        return
    click.echo(paragraph("The backup is in place, and all of it was verified."))
    if kept is not None:
        click.echo("The vault that it replaced is kept; remove it once you do not need it:")
        click.echo(f"  {printable(str(kept))}")
    told = "What was disclosed after the backup was made is not in its ledger: the agent"
    click.echo(paragraph(f"{told} does not know of it any more, but the recipients do."))


def _check(file: Path, at: Location) -> None:
    """Refuse what can be known before the secret is asked for."""
    if not file.is_file():
        what = "this is not a file" if file.exists() else "there is no such file"
        raise UsageError(what, OTHER, str(file))
    try:
        keys(at)
    except BusyVaultError:
        raise
    except VaultError:  # none, or a damaged one: that is what a backup is for
        return
