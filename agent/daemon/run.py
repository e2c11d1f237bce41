"""The daemon's start: from what is light to what is heavy, listening in between."""

from __future__ import annotations

import gc
import os
from collections.abc import Callable
from contextlib import ExitStack
from typing import TYPE_CHECKING

from agent.daemon.events import Bus
from agent.daemon.lifetime import Options, lifetime
from agent.daemon.log import logging_to
from agent.daemon.sockets import adopted, alone, doors, more_files
from agent.files import private_folder
from agent.paths import Paths
from agent.vault.secrets import forbid_dumps

if TYPE_CHECKING:
    from agent.daemon.api import Calls

UMASK = 0o077  # the umask: nothing that the daemon makes is for others
Build = Callable[[Paths], "Calls"]


def assembled(paths: Paths) -> Calls:
    """Return the calls of this machine, with the vault locked; nothing is read but the policy."""
    from agent.daemon.agent import assemble, now
    from agent.daemon.api import Calls

    return Calls(assemble(paths, Bus(now), now()), now)


def run(
    paths: Paths,
    options: Options,
    announce: Callable[[], None] = lambda: None,
    build: Build = assembled,
) -> None:
    """Run the daemon in the foreground, until a signal or a call ends it.

    ``announce``: called once it listens, and before it looks at policy and models.
    No core file is made of this process from then on. Raises DaemonError where one runs already
    or a socket cannot be made, UsageError for a folder or a file that must not be used.
    """
    forbid_dumps()
    with ExitStack() as stack:
        life = stack.enter_context(lifetime())
        stack.callback(os.umask, os.umask(UMASK))
        stack.enter_context(more_files())
        for folder in (paths.config, paths.data, paths.state, paths.runtime):
            private_folder(folder)
        stack.enter_context(alone(paths.daemon_lock))
        stack.enter_context(logging_to(paths.log))
        listening = stack.enter_context(doors(paths, adopted(os.environ, os.getpid())))
        gc.disable()  # it would look through modules that all stay, a tenth of the start
        stack.callback(gc.enable)
        from agent.daemon.server_loop import live

        def begun(paths: Paths) -> Calls:
            announce()
            return build(paths)

        live(paths, listening, options, life, begun)
