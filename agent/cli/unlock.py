"""`reticent unlock`: open the vault by a passphrase, a recovery code or the keyring."""

import click

from agent.cli.door import door
from agent.cli.layout import paragraph
from agent.cli.options import json_option, record
from agent.cli.problems import note
from agent.cli.secret import ask_for, method_of, method_options
from agent.cli.status import headline
from agent.errors import VaultError
from agent.wire.client import Client
from agent.wire.state import Method, Status, Unlock


@click.command()
@method_options
@json_option
def unlock(*, keyring: bool, recovery: bool, as_json: bool) -> None:
    """Open the vault, so that requests are answered.

    The passphrase is asked for; where no terminal is, it is one line of the standard input.
    """
    method = method_of(keyring=keyring, recovery=recovery)
    with door() as client:
        found = _unlocked(client, method)
    if as_json:
        click.echo(record(found))
        return
    click.echo(paragraph(headline(found)))
    for each in ([found.notice] if found.notice else []) + found.notes:
        note(each)


def _unlocked(client: Client, method: Method) -> Status:
    """Return how the daemon is once it is open; no secret is asked for where that changes nothing.

    VaultError where there is no vault.
    """
    status: Status = client.call("status")
    if not status.vault and status.notice is None:
        raise VaultError("there is no vault yet", "make one with `reticent init`")
    if not status.locked:
        note("it was open already; the secret was not checked")
        return status
    opened: Status = client.call("unlock", Unlock(method=method, secret=ask_for(method)))
    return opened
