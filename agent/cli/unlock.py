"""`reticent unlock`: open the vault by a passphrase, a recovery code or the keyring."""

import click

from agent.cli.door import door, record
from agent.cli.layout import paragraph
from agent.cli.options import json_option
from agent.cli.problems import printable
from agent.cli.secret import ask_secret
from agent.cli.status import headline
from agent.errors import UsageError, VaultError
from agent.wire.client import Client
from agent.wire.state import Method, Status, Unlock

PROMPTS: dict[Method, str] = {"passphrase": "Passphrase", "recovery": "Recovery code"}


@click.command()
@click.option("--keyring", is_flag=True, help="With the key that the desktop's keyring has.")
@click.option("--recovery", is_flag=True, help="With the recovery code.")
@json_option
def unlock(*, keyring: bool, recovery: bool, as_json: bool) -> None:
    """Open the vault, so that requests are answered.

    The passphrase is asked for; where no terminal is, it is one line of the standard input.
    """
    if keyring and recovery:
        raise UsageError("--keyring does not go with --recovery", "unlock with one of them")
    method: Method = "keyring" if keyring else "recovery" if recovery else "passphrase"
    with door() as client:
        found = _unlocked(client, method)
    if as_json:
        click.echo(record(found))
        return
    click.echo(paragraph(headline(found)))
    for note in found.notes:
        click.echo(paragraph(f"Note: {printable(note)}"))


def _unlocked(client: Client, method: Method) -> Status:
    """Return how the daemon is once it is open; no secret is asked for where that changes nothing.

    VaultError where there is no vault.
    """
    status: Status = client.call("status")
    if not status.vault:
        raise VaultError("there is no vault yet", "make one with `reticent init`")
    if not status.locked:
        return status
    secret = ask_secret(PROMPTS[method]) if method in PROMPTS else None
    opened: Status = client.call("unlock", Unlock(method=method, secret=secret))
    return opened
