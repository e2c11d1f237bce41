"""What is said in the same words wherever a person reads it."""

from collections.abc import Mapping

from agent.wire.decide import Code

PRESET = '`preset = "balanced"`'  # the one line that a policy needs

WHY_NOTHING: Mapping[Code, str] = {
    "answered": "nothing helped enough",
    "unknown query": "nobody knows what would help",
    "blocked": "a rule blocks it",
    "recognised": "it would confirm who you are",
    "outside the model": "nobody is known to look like you",
    "past a limit already": "a limit of yours is passed",
    "locked": "the vault was locked",
    "no policy": "there was no policy",
    "no model": "no model could be used",
    "unfit": "the model did not fit",
    "failed": "something went wrong",
    "not https": "the network would read it",
    "too many": "more was asked in a minute than is recorded",
    "too many from pages": "pages led there too often in a minute",
}


def write_policy(path: object) -> str:
    """Return what to do where there is no policy; ``path``: of the file, or what stands for it."""
    return f"write {PRESET} into {path}"
