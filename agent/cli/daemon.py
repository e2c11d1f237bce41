"""`reticent daemon`: answer requests until Ctrl-C, or a signal, ends it."""

from urllib.parse import urlsplit

import click

from agent.cli.layout import paragraph
from agent.cli.options import json_option, record
from agent.cli.problems import printable
from agent.cli.status import NO_VAULT
from agent.daemon.events import Bus
from agent.daemon.process.inside import Inside, assembled
from agent.daemon.run import Options, run
from agent.daemon.serving.token import TOKEN
from agent.errors import UsageError
from agent.paths import Paths, paths

PORTS = click.IntRange(0, 65535)


@click.command()
@click.option(
    "--listen",
    type=PORTS,
    metavar="PORT",
    help="Answer at this port of 127.0.0.1 too, to those who have the token; 0 for any port.",
)
@click.option(
    "--origin",
    "origins",
    metavar="ORIGIN",
    multiple=True,
    help="A web page that may ask there for its own site, as in https://books.example, or an"
    " extension, which may for all. May be repeated.",
)
@json_option
def daemon(listen: int | None, origins: tuple[str, ...], *, as_json: bool) -> None:
    """Answer requests until Ctrl-C, or `reticent stop`, ends it.

    It starts locked: `reticent unlock` opens the vault. Nobody else on this machine can reach it.
    """
    if origins and listen is None:
        raise UsageError("--origin needs --listen", "say with --listen at which port pages ask")
    for origin in origins:
        _check_origin(origin)

    def build(places: Paths, bus: Bus) -> Inside:
        """Say where it listens once it does, and only then look at policy and models."""
        said, vault = _places(places, listening=listen is not None), places.vault.exists()
        click.echo(record({**said, "vault": vault}) if as_json else _announced(said, vault=vault))
        return assembled(places, bus)

    run(paths(), Options(listen=listen, origins=origins), build)


def _check_origin(origin: str) -> None:
    """Refuse what no browser sends as the origin of a page; UsageError (RFC 6454, section 6.2)."""
    try:
        parts = urlsplit(origin)
        exact = f"{parts.scheme}://{parts.netloc}" == origin and bool(parts.hostname)
    except ValueError:
        exact = False
    if not exact or origin != origin.lower() or "@" in origin:
        hint = "write scheme, host and port only, as in https://books.example"
        raise UsageError(f"{origin!r} is not the origin of a web page", hint)


def _places(places: Paths, *, listening: bool) -> dict[str, str | None]:
    """Return where the daemon listens, and what it writes."""
    token = str(places.state / TOKEN) if listening else None
    return {
        "control": str(places.control),
        "query": str(places.query),
        "log": str(places.log),
        "token": token,
    }


def _announced(said: dict[str, str | None], *, vault: bool) -> str:
    text = f"Listening at {said['control']} and {said['query']}; Ctrl-C ends it."
    lines = [paragraph(printable(text))]
    if not vault:
        lines.append(NO_VAULT)
    if said["token"] is not None:
        lines.append(paragraph(printable(f"The token for the port is in {said['token']}.")))
    return "\n".join(lines)
