"""`reticent model key`, `sign` and `verify`: who made a model."""

from pathlib import Path

import click

from agent.cli.options import PATH, json_option, record
from agent.cli.problems import printable


@click.command()
@click.argument("path", type=PATH, metavar="PATH")
@json_option
def key(path: Path, *, as_json: bool) -> None:
    """Make a private key to sign models with, in a new file that only you can read."""
    from agent.model.signature import generate_key

    public = generate_key(path)
    if as_json:
        click.echo(record({"path": str(path), "key": public}))
        return
    said = f"Wrote {path}; keep it to yourself. Those who trust you need the public key:"
    click.echo(printable(said))
    click.echo(public)


@click.command()
@click.argument("path", type=PATH, metavar="M")
@click.option("--key", "key_path", required=True, type=PATH, metavar="K", help="The private key.")
@json_option
def sign(path: Path, key_path: Path, *, as_json: bool) -> None:
    """Sign the model M: the signature is written beside it."""
    from agent.model.signature import sign as sign_model

    signature = sign_model(path, key_path)
    if as_json:
        click.echo(record({"path": str(path), "signature": str(signature)}))
        return
    click.echo(printable(f"Wrote {signature}; hand it on together with {path}."))


@click.command()
@click.argument("path", type=PATH, metavar="M")
@click.option(
    "--key", "expected", metavar="ed25519:HEX", help="Fail unless this public key signed it."
)
@json_option
def verify(path: Path, expected: str | None, *, as_json: bool) -> None:
    """Check the signature beside the model M, and say whose it is.

    Anybody can sign a model with a key of their own: name the key of the maker you trust with
    --key, or compare the one that is shown.
    """
    from agent.model.signature import verify as verify_model

    public = verify_model(path, expected=expected)
    if as_json:
        click.echo(record({"path": str(path), "key": public}))
        return
    trust = "Trust it if you trust the owner of the key:"
    said = f"{path} is as it was signed{'. ' + trust if expected is None else ', with:'}"
    click.echo(printable(said))
    click.echo(public)
