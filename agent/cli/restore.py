"""`reticent restore`: put a backup in the place of the vault."""

from pathlib import Path

import click

from agent.cli.interrupt import uninterrupted
from agent.cli.layout import counted, paragraph
from agent.cli.options import PATH, json_option, record
from agent.cli.problems import printable
from agent.cli.secret import ask_for, method_of, method_options
from agent.errors import BusyVaultError, UsageError, VaultError
from agent.paths import paths
from agent.vault.backup import OTHER, check
from agent.vault.backup import restore as put_back
from agent.vault.keys.secrets import Secret
from agent.vault.leftovers import set_aside
from agent.vault.location import Location
from agent.vault.outside import keys
from agent.vault.sealed.witness import read_witness


@click.command()
@click.argument("file", type=PATH, metavar="FILE")
@click.option("--check", "only_check", is_flag=True, help="Verify FILE, and change nothing.")
@method_options
@json_option
def restore(*, file: Path, only_check: bool, keyring: bool, recovery: bool, as_json: bool) -> None:
    """Put the backup FILE in the place of the vault, once all of it is verified.

    The secret is one that opens the backup. The vault that it replaces stays beside it under
    another name. The daemon must not have the vault open: run `reticent lock` first.
    """
    at = Location.of(paths())
    method = method_of(keyring=keyring, recovery=recovery)
    _check_file(file)
    if only_check:
        _verify(file, Secret(method, ask_for(method)), as_json=as_json)
        return
    _check_closed(at)
    aside = file.resolve() in {each.resolve() for each in set_aside(at)}
    secret = Secret(method, ask_for(method))
    before = read_witness(at.witness)
    with uninterrupted():
        kept = put_back(at, file, secret)
    if as_json:
        click.echo(record({"vault": str(at.vault), "kept": None if kept is None else str(kept)}))
        return
    click.echo(paragraph("The backup is in place, and all of it was verified."))
    if kept is not None:
        click.echo("The vault that it replaced is kept; remove it once you do not need it:")
        click.echo(f"  {printable(str(kept))}")
    if aside:
        click.echo(paragraph("What was set aside is the vault again: `reticent unlock` opens it."))
        after = read_witness(at.witness)
        if before is None or after is None or after.entries >= before.entries:
            return
    copy = "what was set aside was written" if aside else "the backup was made"
    told = f"What was disclosed after {copy} is not in its ledger: the agent"
    click.echo(paragraph(f"{told} does not know of it any more, but the recipients do."))


def _verify(file: Path, secret: Secret, *, as_json: bool) -> None:
    """Say that a backup is whole; VaultError where it is not."""
    entries = check(file, secret)
    if as_json:
        click.echo(record({"file": str(file), "entries": entries}))
        return
    many = counted(entries, "entry", "entries")
    click.echo(paragraph(f"{printable(str(file))} is whole, with {many} in its ledger."))


def _check_file(file: Path) -> None:
    """Refuse what is no file before the secret is asked for."""
    if not file.is_file():
        what = "this is not a file" if file.exists() else "there is no such file"
        raise UsageError(what, OTHER, str(file))


def _check_closed(at: Location) -> None:
    """Refuse a vault that is open before the secret is asked for."""
    try:
        keys(at)
    except BusyVaultError:
        raise
    except VaultError:  # none, or a damaged one: that is what a backup is for
        return
