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
    _form: re.Pattern[str] = field(repr=False, compare=False)

    @classmethod
    def parse(cls, text: str) -> "NamePattern":
        """Return the pattern; UsageError where no attribute can have such a name."""
        if not _FORM.fullmatch(text):
            hint = "a name has small letters, digits and _; * stands for any of them"
            raise UsageError(f"{text!r} is no name of an attribute", hint)
        parts = (re.escape(part) for part in re.split(r"\*+", text))
        return cls(text, re.compile("[a-z0-9_]*".join(parts)))

    @property
    def rank(self) -> int:
        """How specific it is: the more characters it fixes the more, and a name above all."""
        return len(self.text.replace("*", "")) + 1 if "*" in self.text else EXACT

    def matches(self, name: str) -> bool:
        """Say whether it is this attribute's name, or stands for it."""
        return self._form.fullmatch(name) is not None
