"""How the pages about a policy call its rules, and write their values."""

from collections.abc import Mapping

from agent.cli.problems import printable
from policy.positions import line_of, lines_of
from policy.rules import Layer, Policy, Rule
from policy.settings import Value
from policy.verdicts import GUARDED, Verdict, may

SOURCES = {Layer.FILE: "file", Layer.PRESET: "preset", Layer.DEFAULTS: "defaults"}


class Origins:
    """The rules of one policy, and the lines on which they stand."""

    def __init__(self, policy: Policy) -> None:
        """Read the lines once."""
        self.source = printable(policy.source)
        self._lines = lines_of(policy.text)

    def line(self, rule: Rule, key: str = "") -> int | None:
        """Return the line of a rule of the file, or of a setting in it."""
        return line_of(self._lines, (*rule.path, key)) if rule.layer is Layer.FILE else None

    def short(self, rule: Rule, key: str = "", value: str = "") -> str:
        """Return what to call a rule beside others of its file, with its value if that is given."""
        name = rule.source if rule.layer is Layer.PRESET else rule.name
        line = f"line {self.line(rule, key)}" if rule.layer is Layer.FILE else ""
        known = ": ".join(each for each in (line, value) if each)
        return f"{name} ({known})" if known else name

    def long(self, rule: Rule, key: str = "") -> str:
        """Return what to call a rule with the file that it stands in."""
        if rule.layer is Layer.FILE:
            return f"{rule.name}, {self.source}:{self.line(rule, key)}"
        return self.short(rule, key)

    def record(self, rule: Rule, key: str = "") -> dict[str, str | int | None]:
        """Return a rule in JSON's types."""
        return {
            "rule": rule.name,
            "from": SOURCES[rule.layer],
            "source": rule.source,
            "line": self.line(rule, key),
        }


def written(value: Value) -> str:
    """Return a value as it stands on a page."""
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value:g}" if isinstance(value, float) else str(value)


def terms(verdicts: Mapping[str, Verdict]) -> str:
    """Return all that is ruled of an attribute."""
    parts = [may(verdicts)]
    if parts == [GUARDED]:
        parts = [f"{GUARDED} (weight {written(verdicts['guard'].value)})"]
    if "sensitivity" in verdicts:
        parts.append(f"for {written(verdicts['sensitivity'].value)} bits or more")
    return ", ".join(parts)
