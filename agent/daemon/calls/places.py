"""Files that a call names."""

from pathlib import Path

from agent.errors import UsageError
from agent.wire.state import Place


def absolute(place: Place) -> Path:
    """Return a path; UsageError for one that depends on the folder that somebody is in."""
    path = Path(place.path)
    if not path.is_absolute():
        raise UsageError("this is no absolute path", "begin it with /", place.path)
    return path
