"""Our changes of the policy file, each of which can be taken back while nobody has made another."""

from pathlib import Path
from typing import NamedTuple

from agent.daemon.policing.rewriting import Change, Check, rewrite
from agent.errors import UsageError
from policy.read import text_of
from policy.rules import Policy


class Edit(NamedTuple):
    """A policy before and after a change of ours."""

    before: Policy
    after: Policy

    @property
    def changed(self) -> bool:
        """Whether anything was written."""
        return self.before.text != self.after.text


def edit(path: Path, change: Change, check: Check = lambda *_: None) -> Edit:
    """Change a policy file as `rewrite` does, and return the policy before and after."""
    seen: list[Edit] = []

    def note(before: Policy, after: Policy) -> None:
        check(before, after)
        seen.append(Edit(before, after))

    rewrite(path, change, note)
    return seen[-1]


def restore(path: Path, made: Edit) -> None:
    """Put back what a file said before a change of ours.

    UsageError, and nothing written, where it is not as we left it, and as `rewrite` has it.
    """

    def back(text: str, _: Policy) -> str:
        _check(text, path, made)
        return made.before.text

    if path.exists():  # one with mistakes was edited since, too
        _check(text_of(path), path, made)
    rewrite(path, back)


def _check(text: str, path: Path, made: Edit) -> None:
    """Raise UsageError where a policy file does not say what it did after a change of ours."""
    if text != made.after.text:
        what = f"{path} was edited since, so nothing is taken back"
        raise UsageError(what, "see `reticent policy show`, and change it by hand")
