"""What an extra of the package brings, imported where a command needs it."""

from collections.abc import Iterator
from contextlib import contextmanager

from agent.cli.interrupt import postponed
from agent.errors import BuildError


@contextmanager
def extra(name: str, work: str) -> Iterator[None]:
    """Let imports happen inside; BuildError, naming the extra, if something is not installed.

    ``work``: what needs it, as in "drawing figures".
    """
    try:
        with postponed():
            yield
    except ModuleNotFoundError as error:
        what = f"{work} needs {error.name}, which is not installed"
        raise BuildError(what, f"pip install 'reticent[{name}]'") from error
