"""A policy as a value: rules, each with what it matches and what it sets."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from enum import IntEnum
from types import MappingProxyType
from typing import NamedTuple

from policy.daemon import DaemonSettings
from policy.hosts import HostPattern
from policy.names import NamePattern
from policy.settings import DEFAULTS, Value
from policy.words import Words

Path = tuple[str | int, ...]
ANY = 0  # the rank of a part that a rule leaves out
GROUP = 1  # the rank of a group: below that of any domain


class Layer(IntEnum):
    """Where a rule comes from; of rules of which neither is more specific, the later wins."""

    DEFAULTS = 0
    PRESET = 1
    FILE = 2


class Reach(NamedTuple):
    """How specific a rule is for one request and attribute (FORMAT.md, "Which rule decides")."""

    recipient: int
    attribute: int
    query: int

    def within(self, other: "Reach") -> bool:
        """Say whether it is more specific: at least as much in each part, and more in one."""
        return self != other and all(own >= its for own, its in zip(self, other, strict=True))


@dataclass(frozen=True, slots=True, eq=False)
class Rule:
    """One rule: its ``settings`` hold where each part of it that is not empty matches.

    ``name``: what to call it; ``source`` and ``path``: the file it is from, and its key there;
    ``expires``: the last day on which it holds, None for no end.
    """

    name: str
    settings: Mapping[str, Value]
    layer: Layer
    source: str
    path: Path = ()
    recipients: tuple[HostPattern, ...] = ()
    groups: tuple[str, ...] = ()
    attributes: tuple[NamePattern, ...] = ()
    queries: tuple[Words, ...] = ()
    expires: date | None = None

    @property
    def conditions(self) -> dict[str, str]:
        """For what it holds: each of its parts that is not empty, as it is written in a file."""
        parts = {
            "recipient": (*(each.text for each in self.recipients), *self.groups),
            "attribute": tuple(each.text for each in self.attributes),
            "query": tuple(each.text for each in self.queries),
            "expires": () if self.expires is None else (str(self.expires),),
        }
        return {key: ", ".join(texts) for key, texts in parts.items() if texts}

    @property
    def anywhere(self) -> bool:
        """Whether it names no recipient."""
        return not (self.recipients or self.groups)

    @property
    def lasting(self) -> bool:
        """Whether it holds for every request, on every day."""
        return self.anywhere and not self.queries and self.expires is None

    @property
    def blocks(self) -> bool:
        """Whether it is a query block, which wins over everything."""
        return bool(self.queries) and self.settings.get("nothing") is True

    def is_over(self, today: date) -> bool:
        """Say whether its last day has passed."""
        return self.expires is not None and self.expires < today


@dataclass(frozen=True, slots=True, eq=False)
class Policy:
    """The rules of a file, of its preset and of the defaults.

    ``groups``: recipients that pool what they learn; ``trusted_keys``: of makers of models, empty
    where no signature is asked for; ``daemon``: how it behaves; ``text``: of the file, to find
    lines in.
    """

    source: str
    rules: tuple[Rule, ...]
    groups: Mapping[str, tuple[HostPattern, ...]] = field(default_factory=dict)
    trusted_keys: tuple[str, ...] = ()
    daemon: DaemonSettings = field(default_factory=DaemonSettings)
    text: str = field(default="", repr=False)

    @property
    def models(self) -> frozenset[str]:
        """The names of all models that rules choose."""
        chosen = (rule.settings.get("model") for rule in self.rules)
        return frozenset(str(name) for name in chosen if name is not None)


DEFAULT_RULE = Rule("the defaults", DEFAULTS, Layer.DEFAULTS, "reticent")


def frozen(settings: Mapping[str, Value]) -> Mapping[str, Value]:
    """Return settings that nobody can change."""
    return MappingProxyType(dict(settings))
