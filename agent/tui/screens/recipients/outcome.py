"""What a person's word on a recipient means, and what became of it. Pure."""

from collections.abc import Sequence

from agent.wire.base import Done
from agent.wire.decide import Allowed


def means(pool: str) -> str:
    """Return what it means to say that a recipient forgot."""
    return (
        f"Has {pool} forgotten you? This is your statement that it can no longer link what it was "
        "told to you: you have another account there, say, and nothing else gives you away. It "
        "makes nobody forget. From then on it is taken to know nothing about you; the ledger keeps "
        "what was disclosed, and that you said this."
    )


def blocked(sites: Sequence[str]) -> str:
    """Return what became of those that were blocked."""
    return f"{_are(sites)} blocked: nothing is given any more. b takes it back."


def unblocked(sites: Sequence[str], done: Sequence[Allowed]) -> str:
    """Return what became of those that were unblocked, and which rule still says otherwise."""
    still = [
        f"{site} still gets nothing, by {each.rule!r}{_line(each)}, which is not a rule of ours: "
        "Policy (6) shows it."
        for site, each in zip(sites, done, strict=True)
        if each.rule is not None
    ]
    free = [site for site, each in zip(sites, done, strict=True) if each.rule is None]
    taken = any(each.done for each in done)
    said = "treated like others again" if taken else "not blocked, so nothing was changed"
    return " ".join([*([f"{_are(free)} {said}."] if free else []), *still])


def _line(allowed: Allowed) -> str:
    return "" if allowed.line is None else f", line {allowed.line}"


def _are(sites: Sequence[str]) -> str:
    return f"{', '.join(sites)} {'is' if len(sites) == 1 else 'are'}"


def forgotten(pool: str, stated: Done) -> str:
    """Return what became of the statement that a recipient forgot."""
    said = "is taken to know nothing about you" if stated.done else "was never told anything"
    return f"{pool} {said}."
