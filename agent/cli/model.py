"""`reticent model`: sign, verify, add and remove models."""

import os
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from agent.cli.daemon_client import door
from agent.cli.groups import Commands, Deferred
from agent.cli.options import PATH, Answer, answers
from agent.cli.printing import Column, paragraph, printable, table
from agent.daemon.model_registry import ModelRegistry
from agent.files import check_ours
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
    "info": Deferred("agent.cli.model_build", "Describe a model: its facts and queries."),
}


@click.group(cls=Commands, deferred=DEFERRED)
def model() -> None:
    """Build, describe and manage models, and try decisions with one."""


@model.command()
@click.argument("file", type=PATH, metavar="M")
@answers
def add(file: Path) -> Answer:
    """Add the model M, with its signature, to the models in use.

    If the policy has trusted_keys, it must be signed with one of them. Decisions use it where the
    policy says model = "NAME", the name of the file without its ending.
    """
    place = file.absolute()
    added: ModelStatus = _done(
        lambda client: client.call("add_model", Place(path=str(place))),
        lambda registry: registry.add(place, _keys(), datetime.now(UTC)),
    )
    use = f'Decisions use it where the policy says model = "{added.name}".'
    return Answer(added, paragraph(f"Added {added.name}. {use}"))


@model.command(name="list")
@answers
def list_() -> Answer:
    """List the models in use."""
    found: list[ModelStatus] = _done(
        lambda client: client.call("models"),
        lambda registry: registry.status(_keys(), datetime.now(UTC)),
    )
    rows, problems = [], []
    for each in found:
        maker = "comes with reticent" if each.shipped else each.maker or "nobody"
        rows.append((each.name, f"{each.queries:,}", f"{each.attributes:,}", maker))
        if each.problem is not None:
            problems.append(paragraph(f"{each.name} cannot be used: {each.problem}"))
    return Answer({"models": found}, "\n".join([table(COLUMNS, rows), *problems]))


@model.command()
@click.argument("name", metavar="NAME")
@answers
def remove(name: str) -> Answer:
    """Remove the added model NAME and its signature."""
    _done(
        lambda client: client.call("remove_model", name=name),
        lambda registry: registry.remove(name),
    )
    return Answer(Done(), paragraph(f"Removed {name}."))


def _done(asked: Callable[[Client], Any], here: Callable[[ModelRegistry], Any]) -> Any:  # noqa: ANN401  (what either returns)
    """Have the daemon do something with the models where one runs, else do it here."""
    from agent.daemon.checks import listens

    if listens(paths().control):
        with door() as client:
            return asked(client)
    return here(ModelRegistry(paths().models))


def _keys() -> tuple[str, ...]:
    """Return the keys of the makers that the policy trusts; PolicyError if it has mistakes."""
    place = paths().policy
    return load(place, check_ours).trusted_keys if os.path.lexists(place) else ()


@model.command()
@click.argument("path", type=PATH, metavar="PATH")
@answers
def key(path: Path) -> Answer:
    """Create a private key for signing models, in a file that only you can read."""
    public = generate_key(path)
    text = f"Wrote {path}; keep it to yourself. Those who trust you need the public key:"
    return Answer({"path": str(path), "key": public}, f"{printable(text)}\n{public}")


@model.command()
@click.argument("path", type=PATH, metavar="M")
@click.option("--key", "key_path", required=True, type=PATH, metavar="K", help="The private key.")
@answers
def sign(path: Path, key_path: Path) -> Answer:
    """Sign the model M; the signature is written to a file beside it."""
    signature = sign_model(path, key_path)
    text = printable(f"Wrote {signature}; hand it on together with {path}.")
    return Answer({"path": str(path), "signature": str(signature)}, text)


@model.command()
@click.argument("path", type=PATH, metavar="M")
@click.option(
    "--key", "expected", metavar="ed25519:HEX", help="Fail unless this public key signed it."
)
@answers
def verify(path: Path, expected: str | None) -> Answer:
    """Check the signature of the model M, and show who signed it.

    Anybody can sign a model with a key of their own: name the key of the maker you trust with
    --key, or compare the one that is shown.
    """
    public = verify_model(path, expected=expected)
    trust = ". Trust it if you trust the owner of the key:" if expected is None else ", with:"
    text = printable(f"{path} has not changed since it was signed{trust}")
    return Answer({"path": str(path), "key": public}, f"{text}\n{public}")
