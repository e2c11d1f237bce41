"""Changing the policy file, which a person edits too: whole, or not at all."""

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from stat import S_IMODE

from agent.errors import PolicyError, UsageError, reason
from agent.files import beside, check_ours, clear_unfinished, settle
from policy.read import EMPTY_POLICY, Opened, is_empty_policy, opened, preset, read, text_of
from policy.rules import Policy

TRIES = 3

Change = Callable[[str, Policy], str]  # of a text, and of what it says
Check = Callable[[Policy, Policy], None]  # of what it says before and after


def rewrite(path: Path, change: Change, check: Check = lambda *_: None) -> Policy:
    """Change a policy file, and return what it says then; not where ``check`` raises UsageError.

    The file that a link points to is replaced in one step and keeps its mode. Where another
    program changes it meanwhile, the change is made to what that one wrote. UsageError, and the
    file as it was, where there is none, where another user could have written it, where it has
    mistakes or would have, where it says nothing or would, and where it cannot be written.
    """
    if not _is_there(path):
        what = f"there is no policy file {path}, so no rules are in use"
        raise UsageError(what, "make one with `reticent init`, or write one by hand")
    target = path.resolve()
    for _ in range(TRIES):
        found = opened(path, check_ours)
        before = _policy(found.text, path)
        changed = change(found.text, before)
        after = _policy(changed, path)
        check(before, after)
        if changed == found.text or _replaced(target, found, changed):
            return after
    what = f"another program keeps changing {path}, so nothing was written"
    raise UsageError(what, "try again when it is done")


def _is_there(path: Path) -> bool:
    """Say whether there is a file; where that cannot be seen, reading it will say why."""
    try:
        return path.exists()
    except OSError:
        return True


def _policy(text: str, path: Path) -> Policy:
    """Return what a text says; UsageError where it must not be used."""
    try:
        policy = read(text, str(path), preset)
    except PolicyError as error:
        what = f"the policy file has mistakes, so nothing was written: {error}"
        raise UsageError(what, "`reticent policy check` lists them") from None
    if is_empty_policy(text):
        what = f"a policy that says nothing is not used, so nothing was written into {path}"
        raise UsageError(what, EMPTY_POLICY.hint)
    return policy


def _replaced(target: Path, before: Opened, after: str) -> bool:
    """Put a text in the place of another; False, and nothing done, if that is not there now."""
    try:
        clear_unfinished(target)  # of a daemon that was killed
        with beside(before.mark + after.encode(), target) as new:
            if text_of(target) != before.text:
                return False
            new.chmod(S_IMODE(before.status.st_mode))
            new.replace(target)
        with suppress(OSError):  # not every system has a folder told to the disk
            settle(target.parent)
    except OSError as error:
        hint = "make its folder writable, or change the file by hand"
        raise UsageError(f"{target} cannot be written: {reason(error)}", hint) from None
    return True
