"""Comments of a policy, which a change by program does not lose. Pure."""

from collections import Counter

from policy.toml_edit import comments


def commented(before: str, after: str) -> str:
    """Return the text with the comments at its end that stood inside what was taken out."""
    lost = Counter(_comments(before)) - Counter(_comments(after))
    if not lost:
        return after
    newline = "\r\n" if "\r\n" in after else "\n"
    lines = [each for each in _comments(before) if lost[each] and not lost.subtract([each])]
    return newline.join([after.rstrip("\r\n"), *lines, ""])


def _comments(text: str) -> list[str]:
    return [each.rstrip("\r") for each in comments(text)]
