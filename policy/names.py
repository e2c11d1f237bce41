"""Attributes as a policy names them: exactly, or by a pattern with ``*``."""

import re
from dataclasses import dataclass, field

from agent.errors import UsageError

EXACT = 1 << 20  # more specific than any pattern
_FORM = re.compile(r"[a-z*][a-z0-9_*]*")


@dataclass(frozen=True, slots=True)
class NamePattern:
    """The name of an attribute, or a pattern in which ``*`` stands for any characters or none."""

    text: str
    _pieces: tuple[str, ...] = field(repr=False, compare=False)

    @classmethod
    def parse(cls, text: str) -> "NamePattern":
        """Return the pattern; UsageError where no attribute can have such a name."""
        if not _FORM.fullmatch(text):
            hint = "a name has small letters, digits and _; * stands for any of them"
            raise UsageError(f"{text!r} is no name of an attribute", hint)
        return cls(text, tuple(text.split("*")))

    @property
    def rank(self) -> int:
        """How specific it is: the more characters it fixes the more, and a name above all."""
        return len(self.text.replace("*", "")) + 1 if "*" in self.text else EXACT

    def matches(self, name: str) -> bool:
        """Say whether it is this attribute's name, or stands for it. Linear in the name."""
        first, *middle = self._pieces
        if not middle:
            return name == first
        last = middle.pop()
        at, end = len(first), len(name) - len(last)
        if at > end or not (name.startswith(first) and name.endswith(last)):
            return False
        for piece in middle:
            found = name.find(piece, at, end)
            if found < 0:
                return False
            at = found + len(piece)
        return True
