"""`reticent mcp`: let an assistant ask for the few facts about you that help its answer.

An assistant's program waits for its start, so it imports no more than it needs.
"""

from importlib.util import find_spec

import click

from agent.cli.options import host, option
from agent.errors import UsageError, install_hint
from agent.paths import paths
from policy.hosts import host_of


@click.command()
@option("--recipient", host, "HOST", "Who gets the facts, as in claude.ai.", required=True)
def mcp(recipient: str) -> None:
    """Let an assistant ask for the few facts about you that help its answer.

    Its program starts this by itself, once `reticent connect` has told it to. It speaks the Model
    Context Protocol over standard input and output, and asks the daemon on this machine.
    """
    whom = host_of(recipient)
    check_extra()
    from agent.assistants.server import serve

    serve(paths().query, whom)


def check_extra() -> None:
    """Raise UsageError where the protocol's library is not installed."""
    if find_spec("mcp") is None:
        raise UsageError("the extra `mcp` is not installed", install_hint("mcp"))
