"""`reticent mcp`: let an assistant ask for the few facts about you that help its answer.

An assistant's program waits for its start, so it imports no more than it needs.
"""

from __future__ import annotations

import errno
import os
import socket
from importlib.util import find_spec
from pathlib import Path
from secrets import token_urlsafe
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import click

from agent.cli.options import HOST, OneOf, json_option, now, option, own_groups, record
from agent.cli.printing import listing, note, paragraph, printable
from agent.errors import DaemonError, LockedError, ReticentError, UsageError, install_hint, reason
from agent.paths import paths
from agent.wire.client import Client, tcp_owner
from policy.hosts import LOCAL, host_of
from policy.services import in_clear
from policy.settings import HOSTED, HostProgram

if TYPE_CHECKING:
    from agent.daemon.sockets import Listener

ADDRESS, PORT = "127.0.0.1", 8377
TOKEN = "proxy.token"  # noqa: S105  (the name of its file)
LONGEST, SHORTEST = 200, 32  # bytes of a token
SECONDS = 2.0  # for the daemon to say how it is
BASE = "Put this base URL into your client, and keep it to yourself:"
READ = "replace the key at its service; the base URL is a new one from now on"
BY_ITSELF = "run `reticent connect`, or have it start `reticent mcp --recipient claude.ai`"
EXAMPLE = "as in https://api.openai.com/v1"


@click.command()
@option("--recipient", HOST, "RECIPIENT", "Who gets the facts, such as claude.ai.")
@option("--program", OneOf(HOSTED), "NAME", "In which program, as rules call it.")
def mcp(recipient: str | None, program: HostProgram | None) -> None:
    """Let an assistant ask for the few facts about you that help its answer.

    Its program starts this by itself, once `reticent connect` has told it to. It speaks the Model
    Context Protocol over standard input and output, and asks the daemon on this machine.
    """
    if recipient is None:
        raise UsageError("no recipient is named, and an assistant's program starts this", BY_ITSELF)
    whom = host_of(recipient)
    check_extra()
    from agent.assistants.server import serve

    serve(paths().query, whom, program or "assistant")


def check_extra() -> None:
    """Raise UsageError where the protocol's library is not installed."""
    if find_spec("mcp") is None:
        raise UsageError("the extra `mcp` is not installed", install_hint("mcp"))


@click.command()
@option("--upstream", str, "URL", f"The base URL of the service, {EXAMPLE}.", required=True)
@option("--recipient", HOST, "RECIPIENT", "Who gets the facts, such as openai.com.", required=True)
@option("--port", click.IntRange(0, 65535), "PORT", "Where it listens; 0 for any.", default=PORT)
@click.option("--verbose", is_flag=True, help="Print a line for each request: what was added.")
@json_option
def proxy(upstream: str, recipient: str, port: int, *, verbose: bool, as_json: bool) -> None:
    """Add a few facts about you to what programs ask by the protocol of OpenAI.

    Until Ctrl-C it passes on what they ask, and their key. The facts that help with a question are
    added to its message of the system. Where none do, or the vault is locked, it goes as it is.
    """
    service, whom, at = checked(upstream), host_of(recipient), paths()
    import asyncio

    from agent.assistants.proxy import ProxyRoute, serve
    from agent.files import private_folder
    from policy.rules import Pools

    pool_of, asked = Pools(own_groups()).of, host_of(urlsplit(service).hostname or "")
    if pool_of(asked) not in (pool_of(whom), LOCAL):
        note(f"{asked} learns what counts as known to {whom}: is that the same recipient?")
    private_folder(at.state)
    route = ProxyRoute(token_of(at.state / TOKEN), service, whom, at.query)
    with at_port(port, at.state / TOKEN) as listening:

        def announce() -> None:
            base = route.base(listening)
            where = f"Requests go to {service}, and what is told counts as known to {whom}."
            page = f"{listing(BASE, [base])}\n{paragraph(f'{where} Ctrl-C ends it.')}"
            message = {"base_url": base, "upstream": service, "recipient": whom}
            click.echo(record(message) if as_json else page)
            try:
                with Client(at.query, SECONDS, attended=False) as client:
                    if client.call("locked").locked:
                        raise LockedError
            except ReticentError as error:
                note(f"{error.what}, so nothing is told; {error.hint}")

        def report(line: str) -> None:
            if verbose:
                click.echo(printable(f"{now():%H:%M:%S}  {line}"), err=True)

        asyncio.run(serve(listening, route, announce, note, report))


def at_port(port: int, token: Path) -> Listener:
    """Listen at a port of this machine, 0 for any; DaemonError where that cannot be.

    ``token``: removed where a program that is not the user's listens: clients send it there.
    """
    from agent.daemon.sockets import BACKLOG, Listener

    try:
        listening = socket.create_server((ADDRESS, port), backlog=BACKLOG)
    except OSError as error:
        what, hint = f"cannot listen at {ADDRESS}:{port}: {reason(error)}", "choose another --port"
        if error.errno == errno.EADDRINUSE and tcp_owner((ADDRESS, port)) != os.geteuid():
            token.unlink(missing_ok=True)
            what = f"another user's program listens at {ADDRESS}:{port}, and may have read your key"
            hint = f"{READ}; {hint}"
        raise DaemonError(what, hint) from None
    return Listener(fileno=listening.detach())


def token_of(path: Path) -> str:
    """Read the token in a file, made if it is missing.

    Raises DaemonError for one that others can read or that holds too little, UsageError where
    the file cannot be read or made.
    """
    from agent.files import OTHERS, create_private, read_bytes

    if not path.exists():
        create_private(token_urlsafe(SHORTEST).encode() + b"\n", path)
    text, again = read_bytes(path, LONGEST).strip(), "remove it; a new one is made"
    if path.stat().st_mode & OTHERS:
        raise DaemonError("other users can read this token", again, str(path))
    if len(text) < SHORTEST or not text.isascii():
        raise DaemonError("not a token", again, str(path))
    return text.decode("ascii")


def checked(upstream: str) -> str:
    """Check the base URL of a service, and drop a slash at its end; UsageError if it is none.

    Only https is passed on to, and http on this machine: the request has facts and a key in it.
    """
    try:
        parts = urlsplit(upstream)
        whole = parts.scheme in {"https", "http"} and bool(host_of(parts.hostname or ""))
        plain = upstream.isascii() and upstream.isprintable() and not parts.query + parts.fragment
        fits = whole and plain and "@" not in parts.netloc and " " not in upstream
    except (UsageError, ValueError):
        fits = False
    if not fits:
        raise UsageError(f"{upstream!r} is not a base URL", f"write it {EXAMPLE}")
    if in_clear(upstream):
        hint = "use its https address; http is for services on this machine"
        raise UsageError("the network could read what is sent to this service", hint, upstream)
    return upstream.rstrip("/?#")
