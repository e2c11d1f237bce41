"""`reticent backup`: a whole copy of the vault, still encrypted."""

import os
from pathlib import Path

import click

from agent.cli.door import COPYING, door
from agent.cli.layout import paragraph
from agent.cli.options import PATH, json_option, record
from agent.cli.problems import printable
from agent.cli.secret import ask_for, method_of, method_options
from agent.errors import DaemonError, UsageError, VaultError
from agent.paths import paths
from agent.wire.client import Client
from agent.wire.state import Method, Place, Status


@click.command()
@click.argument("file", type=PATH, metavar="FILE")
@method_options
@json_option
def backup(file: Path, *, keyring: bool, recovery: bool, as_json: bool) -> None:
    """Write a copy of the vault into FILE, encrypted as it is and opened by the same secrets.

    Where no daemon has the vault open, the passphrase is asked for: a copy is made only of a vault
    that is whole.
    """
    method = method_of(keyring=keyring, recovery=recovery)
    if os.path.lexists(file):
        raise UsageError("there is such a file already", "choose another name", str(file))
    place = file.absolute()
    with door(COPYING) as client:
        if _is_open(client):
            client.call("backup", Place(path=str(place)))
        else:
            _copy(place, method)
    done = f"Wrote {place}. `reticent restore` puts it in the place of the vault."
    click.echo(record({"file": str(place)}) if as_json else paragraph(printable(done)))


def _is_open(client: Client) -> bool:
    """Return whether a daemon has the vault open."""
    try:
        status: Status = client.call("status")
    # It does not run, or is of no use; the vault itself knows whether it is open.
    except DaemonError:
        return False
    return status.vault and not status.locked


def _copy(place: Path, method: Method) -> None:
    """Copy the vault, of which nothing changes; VaultError where there is none."""
    from agent.vault.backup import copy_closed
    from agent.vault.keys.secrets import Secret
    from agent.vault.location import Location

    at = Location.of(paths())
    if not at.vault.exists():
        raise VaultError("there is no vault yet", "make one with `reticent init`")
    copy_closed(at, place, Secret(method, ask_for(method)))
