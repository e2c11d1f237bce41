"""The daemon's start: from what is light to what is heavy, listening in between."""

import gc
import os
from contextlib import ExitStack
from dataclasses import dataclass

from agent.daemon.log import logging_to
from agent.daemon.services import Build, assembled, lifetime
from agent.daemon.sockets import adopted, alone, doors, more_files
from agent.files import private_folder
from agent.paths import Paths
from agent.vault.secrets import forbid_dumps

UMASK = 0o077  # the umask: nothing that the daemon makes is for others


@dataclass(frozen=True, slots=True)
class Options:
    """How to run: ``listen``: a port of 127.0.0.1 for the query door, None for no such door.

    ``origins``: of the web pages that may ask there.
    """

    listen: int | None = None
    origins: tuple[str, ...] = ()


def run(paths: Paths, options: Options, build: Build = assembled) -> None:
    """Run the daemon in the foreground, until a signal or a call ends it.

    No core file is made of this process from then on. Raises DaemonError where one runs already
    or a socket cannot be made, UsageError for a folder or a file that must not be used.
    """
    forbid_dumps()
    with ExitStack() as stack:
        life = stack.enter_context(lifetime())
        _prepare(paths, stack)
        opened = stack.enter_context(doors(paths, adopted(os.environ, os.getpid())))
        gc.disable()  # it would look through modules that all stay, a tenth of the start
        stack.callback(gc.enable)
        from agent.daemon.server_loop import Openings, live

        live(paths, Openings(opened, options.listen, options.origins), life, build)


def _prepare(paths: Paths, stack: ExitStack) -> None:
    """Make the folders, be the only daemon, and begin the log."""
    before = os.umask(UMASK)
    stack.callback(os.umask, before)
    stack.enter_context(more_files())
    for folder in (paths.config, paths.data, paths.state, paths.runtime):
        private_folder(folder)
    stack.enter_context(alone(paths.daemon_lock))
    stack.enter_context(logging_to(paths.log))
