"""For which requests a setting shall hold, and which parts of a policy are for exactly those."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import date

from agent.errors import UsageError
from policy.edit import Entry
from policy.groups import is_group
from policy.hosts import ANYBODY, HostPattern
from policy.names import NamePattern
from policy.rules import Layer, Path, Policy, Rule
from policy.sections import ATTRIBUTE_KEYS, PARTS
from policy.settings import SETTINGS
from policy.words import Words

TOP: Path = ()
LONGEST_PART = 60  # characters in a name, which has at most 200


@dataclass(frozen=True, slots=True)
class Scope:
    """The requests that a rule is for; a part that is None does not restrict it.

    Each part is as `policy` has it: canonical, ``recipient`` a host pattern or a group.
    """

    recipient: str | None = None
    attribute: str | None = None
    query: str | None = field(default=None, repr=False)
    expires: date | None = None

    @property
    def title(self) -> str:
        """What a new rule is called, unless another is called so."""
        parts = [
            "" if self.attribute is None else _short(self.attribute),
            "" if self.recipient is None else f"for {_short(self.recipient)}",
            "" if self.query is None else f"with {_short(self.query)}",
            "" if self.expires is None else f"until {self.expires}",
        ]
        return " ".join(part for part in parts if part)

    def parts(self) -> dict[str, Entry]:
        """Return the keys of a rule that say for what it is."""
        parts = {
            "recipient": self.recipient,
            "attribute": self.attribute,
            "query": self.query,
            "expires": self.expires,
        }
        return {key: part for key, part in parts.items() if part is not None}

    def host(self, policy: Policy) -> str:
        """Return a recipient that is meant; somebody unheard of where all are."""
        if self.recipient is None:
            return ANYBODY
        named = is_group(self.recipient)
        pattern = policy.groups[self.recipient][0] if named else HostPattern.parse(self.recipient)
        return pattern.host

    def words(self) -> str:
        """Return a query that is meant."""
        return "" if self.query is None else self.query.replace("*", "")

    def names(self, known: Iterable[str]) -> list[str]:
        """Return the attributes that are meant."""
        if self.attribute is None:
            return [*known]
        pattern = NamePattern.parse(self.attribute)
        plain = () if "*" in self.attribute else (self.attribute,)
        return [each for each in dict.fromkeys((*known, *plain)) if pattern.matches(each)]

    def is_of(self, rule: Rule) -> bool:
        """Say whether a rule is for exactly these requests."""
        recipients = {*(each.text for each in rule.recipients), *rule.groups}
        attributes = {each.text for each in rule.attributes}
        found = (recipients, attributes, {each.text for each in rule.queries}, {rule.expires})
        own = (self.recipient, self.attribute, self.query)
        return found == (*({part} - {None} for part in own), {self.expires})


def scope(
    recipient: str | None, attribute: str | None, query: str | None, expires: date | None
) -> Scope:
    """Return the scope that options name; UsageError where one of them cannot be meant."""
    if recipient is not None:
        recipient = recipient.strip()
        recipient = recipient if is_group(recipient) else HostPattern.parse(recipient).text
    if attribute is not None:
        attribute = NamePattern.parse(attribute.strip()).text
    if query is not None:
        query = Words.parse(query).text
    return Scope(recipient, attribute, query, expires)


def check_day(scope: Scope, today: date) -> None:
    """Raise UsageError where what is set would be over before it holds."""
    if scope.expires is not None and scope.expires < today:
        raise UsageError(f"{scope.expires} is over, so this would never hold", "name a later day")


def check_group(scope: Scope, policy: Policy) -> None:
    """Raise UsageError where a group is named that a policy does not have."""
    name = scope.recipient
    if name is not None and is_group(name) and name not in policy.groups:
        raise UsageError.unknown("group", name, policy.groups)


def places(scope: Scope, policy: Policy) -> list[Rule]:
    """Return the rules of a file for exactly these requests; a query block is none of them."""
    return [
        rule
        for rule in policy.rules
        if rule.layer is Layer.FILE and rule.path[:1] != ("queries",) and scope.is_of(rule)
    ]


def is_entry(scope: Scope, keys: Iterable[str]) -> bool:
    """Say whether an entry of `[attributes]` can say this, as it then should."""
    name = scope.attribute
    if name is None or name in SETTINGS or name in PARTS:
        return False
    return scope == Scope(attribute=name) and {*keys} <= {*ATTRIBUTE_KEYS}


def _short(text: str) -> str:
    """Return a part of a name: of printable characters, and cut where it is long."""
    plain = "".join(each if each.isprintable() else "?" for each in text)
    return plain if len(plain) <= LONGEST_PART else f"{plain[:LONGEST_PART]}..."
