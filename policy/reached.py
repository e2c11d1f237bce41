"""Which rules a host is meant by, found by its domains and its group."""

from collections.abc import Iterable, Iterator

from policy.hosts import HostPattern, suffixes
from policy.rules import ANY, GROUP, Rule

Ranked = tuple[Rule, int]


class Reached:
    """Rules by the recipients that they name, each with how specific it is there."""

    def __init__(self, rules: Iterable[Rule]) -> None:
        """Take the rules; one that names no recipient is for everybody."""
        self._anywhere: list[Rule] = []
        self._groups: dict[str, list[Rule]] = {}
        self._hosts: dict[str, list[Ranked]] = {}
        self._below: dict[str, list[Ranked]] = {}
        for rule in rules:
            if not (rule.recipients or rule.groups):
                self._anywhere.append(rule)
            for group in rule.groups:
                self._groups.setdefault(group, []).append(rule)
            for pattern in sorted(rule.recipients, key=_rank, reverse=True):
                if pattern.matches(pattern.key):
                    self._hosts.setdefault(pattern.key, []).append((rule, pattern.rank))
                if pattern.matches(below(pattern.key)):
                    self._below.setdefault(pattern.key, []).append((rule, pattern.rank))

    def by(self, host: str, group: str | None) -> Iterator[Ranked]:
        """Yield the rules for a canonical host in a group, each once, with its highest rank."""
        found: dict[Rule, int] = {}
        # The longer the domain the higher the rank, so that the first rank of a rule counts.
        for domain in suffixes(host):
            for rule, rank in (self._hosts if domain == host else self._below).get(domain, ()):
                found.setdefault(rule, rank)
        for rule in self._groups.get(group, ()) if group else ():
            found.setdefault(rule, GROUP)
        yield from found.items()
        for rule in self._anywhere:
            yield rule, ANY


def below(domain: str) -> str:
    """Return a host below a domain that no pattern names."""
    return f"*.{domain}"


def _rank(pattern: HostPattern) -> int:
    return pattern.rank
