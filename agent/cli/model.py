"""`reticent model`: describe, sign, verify and add models."""

import os
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from agent.cli.daemon_client import door
from agent.cli.groups import Commands, Deferred
from agent.cli.model_build import model_record, model_text
from agent.cli.options import PATH, json_option, record
from agent.cli.printing import Column, paragraph, printable, table
from agent.daemon.model_registry import ModelRegistry
from agent.files import check_ours
from agent.model.file import read, shipped_model
from agent.model.signature import generate_key
from agent.model.signature import sign as sign_model
from agent.model.signature import verify as verify_model
from agent.paths import paths
from agent.wire.base import Done
from agent.wire.client import Client
from agent.wire.state import ModelStatus, Place
from policy.read import load

COLUMNS = (
    Column("name", wraps=True),
    Column("queries", right=True),
    Column("attributes", right=True),
    Column("signed with", wraps=True),
)
DEFERRED = {
    "build": Deferred("agent.cli.model_build", "Build a model from tables or a search log."),
    "curve": Deferred("agent.cli.decide", "Show what would be sent at every trade-off."),
    "decide": Deferred("agent.cli.decide", "Decide which facts one request may carry."),
}


@click.group(cls=Commands, deferred=DEFERRED)
def model() -> None:
    """Build, describe and manage models, and try decisions with one."""


@model.command()
@click.argument("file", type=PATH, metavar="M")
@json_option
def add(*, file: Path, as_json: bool) -> None:
    """Add the model M, with its signature, to the models in use.

    Where the policy has trusted_keys, only with a signature by one of them. The policy decides
    with it where it says model = "NAME", the name of the file without its ending.
    """
    place = file.absolute()
    added: ModelStatus = _done(
        lambda client: client.call("add_model", Place(path=str(place))),
        lambda registry: registry.add(place, _keys(), datetime.now(UTC)),
    )
    said = f'Added {added.name}. The policy decides with it where it says model = "{added.name}".'
    click.echo(record(added) if as_json else paragraph(printable(said)))


@model.command(name="list")
@json_option
def list_(*, as_json: bool) -> None:
    """List the models in use."""
    found: list[ModelStatus] = _done(
        lambda client: client.call("models"),
        lambda registry: registry.status(_keys(), datetime.now(UTC)),
    )
    if as_json:
        click.echo(record({"models": found}))
        return
    rows = []
    for each in found:
        maker = "comes with reticent" if each.shipped else each.maker or "nobody"
        rows.append((printable(each.name), f"{each.queries:,}", f"{each.attributes:,}", maker))
    click.echo(table(COLUMNS, rows))
    for each in found:
        if each.problem is not None:
            click.echo(paragraph(printable(f"{each.name} cannot be used: {each.problem}")))


@model.command()
@click.argument("name", metavar="NAME")
@json_option
def remove(*, name: str, as_json: bool) -> None:
    """Remove the added model NAME and its signature."""
    _done(
        lambda client: client.call("remove_model", name=name),
        lambda registry: registry.remove(name),
    )
    click.echo(record(Done()) if as_json else paragraph(printable(f"Removed {name}.")))


def _done(asked: Callable[[Client], Any], here: Callable[[ModelRegistry], Any]) -> Any:  # noqa: ANN401  (what either returns)
    """Have the daemon do something with the models where one runs, else do it here."""
    from agent.daemon.checks import listens

    if listens(paths().control):
        with door() as client:
            return asked(client)
    return here(ModelRegistry(paths().models))


def _keys() -> tuple[str, ...]:
    """Return the keys of the makers that the policy trusts; PolicyError if that cannot be said."""
    place = paths().policy
    return load(place, check_ours).trusted_keys if os.path.lexists(place) else ()


@model.command()
@click.argument("path", type=PATH, metavar="PATH")
@json_option
def key(path: Path, *, as_json: bool) -> None:
    """Create a private key for signing models, in a file that only you can read."""
    public = generate_key(path)
    if as_json:
        click.echo(record({"path": str(path), "key": public}))
        return
    said = f"Wrote {path}; keep it to yourself. Those who trust you need the public key:"
    click.echo(printable(said))
    click.echo(public)


@model.command()
@click.argument("path", type=PATH, metavar="M")
@click.option("--key", "key_path", required=True, type=PATH, metavar="K", help="The private key.")
@json_option
def sign(path: Path, key_path: Path, *, as_json: bool) -> None:
    """Sign the model M; the signature is written to a file beside it."""
    signature = sign_model(path, key_path)
    if as_json:
        click.echo(record({"path": str(path), "signature": str(signature)}))
        return
    click.echo(printable(f"Wrote {signature}; hand it on together with {path}."))


@model.command()
@click.argument("path", type=PATH, metavar="M")
@click.option(
    "--key", "expected", metavar="ed25519:HEX", help="Fail unless this public key signed it."
)
@json_option
def verify(path: Path, expected: str | None, *, as_json: bool) -> None:
    """Check the signature of the model M, and show who signed it.

    Anybody can sign a model with a key of their own: name the key of the maker you trust with
    --key, or compare the one that is shown.
    """
    public = verify_model(path, expected=expected)
    if as_json:
        click.echo(record({"path": str(path), "key": public}))
        return
    trust = "Trust it if you trust the owner of the key:"
    said = f"{path} is as it was signed{'. ' + trust if expected is None else ', with:'}"
    click.echo(printable(said))
    click.echo(public)


@model.command()
@click.argument("path", required=False, type=PATH, metavar="[M]")
@json_option
def info(path: Path | None, *, as_json: bool) -> None:
    """Describe the model M, by default the one that comes with reticent."""
    found = read(path or shipped_model())
    if as_json:
        click.echo(record(model_record(found)))
    else:
        click.echo(model_text(found))
