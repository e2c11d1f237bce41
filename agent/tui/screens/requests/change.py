"""What a person tries out on a request: attributes added to what leaves, and dropped. Pure."""

from dataclasses import dataclass

from agent.wire.policy import Review
from agent.wire.records import Handled
from agent.wire.what_if import Weighed, WhatIf


@dataclass(frozen=True, slots=True)
class Change:
    """Names that are added to a set, and dropped from it."""

    add: frozenset[str] = frozenset()
    drop: frozenset[str] = frozenset()

    def __bool__(self) -> bool:
        return bool(self.add or self.drop)

    def switched(self, name: str, inside: frozenset[str]) -> "Change":
        """Return the change with one name the other way; ``inside``: the set it starts from.

        That may be another than when the name was added: it is never added and dropped.
        """
        if name in inside:
            return Change(self.add - {name}, self.drop ^ {name})
        return Change(self.add ^ {name}, self.drop - {name})

    def sign(self, name: str, inside: frozenset[str]) -> str:
        """Return whether a name is in, out, added or dropped."""
        if name in inside:
            return "[-]" if name in self.drop else "[x]"
        return "[+]" if name in self.add else "[ ]"


@dataclass(frozen=True, slots=True)
class Trial:
    """A request, a change to it, and what the daemon says of both, None before it did."""

    subject: Review | Handled
    change: Change
    weighed: Weighed | None = None

    @property
    def inside(self) -> frozenset[str]:
        """The set that the change starts from."""
        return frozenset(self.weighed.chosen.names) if self.weighed else frozenset()

    def approved(self) -> list[str]:
        """Return what of a review a yes is meant for: of an offer, all that it names."""
        subject = self.subject
        if isinstance(subject, Handled):
            return []
        return [
            name for name in subject.names if subject.kind == "offer" or name in self.change.add
        ]


def begun(subject: Review | Handled) -> Trial:
    """Return a request as it is; of what waits: as it would be with a yes."""
    if isinstance(subject, Review) and subject.kind == "ask":
        return Trial(subject, Change(add=frozenset(subject.names)))
    return Trial(subject, Change())


def question(trial: Trial) -> WhatIf | None:
    """Return what to ask the daemon; None where there is nothing to weigh."""
    subject, add, drop = trial.subject, sorted(trial.change.add), sorted(trial.change.drop)
    if isinstance(subject, Review):
        asked = subject.names if subject.kind == "offer" else None
        query = subject.query or None
        return WhatIf(recipient=subject.recipient, query=query, asked=asked, add=add, drop=drop)
    if subject.kind == "forgotten":
        return None
    if subject.number > 0:
        return WhatIf(entry=subject.number, add=add, drop=drop)
    query, asked = subject.query or None, subject.asked
    return WhatIf(recipient=subject.recipient, query=query, asked=asked, add=add, drop=drop)
