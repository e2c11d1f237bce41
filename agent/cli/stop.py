"""`reticent stop`: end the daemon."""

import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import click

from agent.cli.door import door
from agent.cli.layout import paragraph
from agent.cli.options import json_option, record
from agent.cli.service import usual, written
from agent.daemon.checks.places import listens
from agent.daemon.process.sockets import alone
from agent.daemon.service.installed import foreign, listening, look
from agent.errors import DaemonError
from agent.files import private_folder
from agent.paths import Paths, paths

SECONDS = 20.0  # for the daemon to end
PAUSE = 0.1
ENDED = "The daemon has ended: nothing is attached to any request until one runs again."
SERVICE = "The system starts it again at the next call, locked; `reticent service remove` ends that"


@click.command()
@json_option
def stop(*, as_json: bool) -> None:
    """End the daemon: nothing is attached any more, until one is started.

    What waits for your word is in its memory only, and forgotten.
    """
    with door() as client:
        client.call("status")  # of a service it would be started, and of none this says so
    with ended(paths()):
        pass
    units = written(usual())
    again = bool(look(units).present) and not foreign(units) and listening(usual())
    if as_json:
        click.echo(record({"ended": True, "service": again}))
    else:
        click.echo("\n".join(map(paragraph, [ENDED, *([f"{SERVICE}."] if again else [])])))


@contextmanager
def ended(at: Paths) -> Iterator[None]:
    """End the daemon, and keep another from starting meanwhile; DaemonError if it does not end."""
    if listens(at.control):
        with door() as client:
            client.call("shutdown")
    private_folder(at.state)
    until = time.monotonic() + SECONDS
    with ExitStack() as stack:
        while True:
            try:
                stack.enter_context(alone(at.daemon_lock))
                break
            except DaemonError:
                if time.monotonic() > until:
                    raise
                time.sleep(PAUSE)
        yield
