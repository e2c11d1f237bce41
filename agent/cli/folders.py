"""Folders that a command writes into."""

from pathlib import Path

from agent.errors import UsageError


def folder_for(path: Path) -> Path:
    """Return the folder for the figures of a study, made if it is missing; UsageError if not."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        hint = "choose a folder that can be made, or written to"
        raise UsageError("the figures cannot be written here", hint, str(path)) from error
    return path
