"""What `reticent watch` says: whole sentences, without a value of the profile or a query."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import msgspec

from agent.cli.layout import counted, moment
from agent.cli.nothing import why_nothing
from agent.cli.pending import brought, what_waits
from agent.cli.problems import printable
from agent.cli.status import headline, model_line
from agent.decision.phrases import bits, listed, people
from agent.model.attributes import UNSPECIFIED
from agent.wire.keeping import Entry
from agent.wire.overview import Handled
from agent.wire.reviews import Review
from agent.wire.state import Event, Status

LOCKED = "the vault is locked: `reticent unlock` shows more"
UNSAID = {"query", "at", "kind"}  # of a review


@dataclass(frozen=True, slots=True)
class Said:
    """One thing that happened; ``details``: of the same, for programs."""

    kind: str
    at: datetime
    text: str
    details: Mapping[str, Any] = field(default_factory=dict)

    def line(self) -> str:
        """Return it as a sentence with its time, in which nothing steers the terminal."""
        return printable(f"{moment(self.at)}: {self.text}")

    def record(self) -> dict[str, Any]:
        """Return it as one object of plain types."""
        head = {"event": self.kind, "at": self.at.isoformat(), "text": self.text}
        return {**head, **self.details}


def of_status(status: Status, at: datetime) -> Said:
    """Say how the daemon is."""
    waits = f" {counted(status.waiting, 'request')} for your word: `reticent pending`."
    text = headline(status) + (waits if status.waiting else "")
    return Said("status", at, text, {"locked": status.locked, "waiting": status.waiting})


def of_entry(entry: Entry) -> Said:
    """Say what a recipient was told, by name, or that it is said to have forgotten."""
    if entry.kind == "forgotten":
        text = f"{entry.recipient} is said to have forgotten all."
        return Said("forget", entry.at, text, {"id": entry.number, "recipient": entry.recipient})
    unset = [name for name, value in entry.disclosed.items() if value == UNSPECIFIED]
    names = [name for name in entry.disclosed if name not in unset]
    details = {
        "id": entry.number,
        "recipient": entry.recipient,
        "disclosed": names,
        "unspecified": unset,
        "utility_bits": entry.utility_bits,
        "people_left": entry.people_left,
    }
    text = f"{entry.recipient} got {_told(names, unset)}{_figures(entry)}."
    return Said("answer", entry.at, text, details)


def of_nothing(event: Event, handled: Handled | None) -> Said:
    """Say who got nothing, and why; None: that is not remembered any more."""
    if handled is None:
        return Said("nothing", event.at, "A request carried nothing.", {"id": event.id})
    details = {
        "id": handled.number,
        "recipient": handled.recipient,
        "code": handled.code,
        "waiting": handled.waiting,
    }
    text = f"{handled.recipient} got nothing: {why_nothing(handled)}."
    return Said("nothing", handled.at, text, details)


def of_review(event: Event, waiting: list[Review]) -> Said:
    """Say what waits and how to settle it, or that it was settled, or that the user said more."""
    if event.id is None:
        return Said(event.kind, event.at, "What you said of attributes has changed.", {"id": None})
    for each in waiting:
        if each.id == event.id:
            shown = msgspec.structs.replace(each, query="")
            how = f"`reticent approve {each.id}` or `reticent deny {each.id}`"
            fields = msgspec.to_builtins(shown).items()
            details = {name: value for name, value in fields if name not in UNSAID}
            return Said(event.kind, event.at, f"{what_waits(shown)}; {how}.", details)
    details = {"id": event.id, "settled": True}
    return Said(event.kind, event.at, f"Nothing waits under {event.id} any more.", details)


def of_state(event: Event, status: Status) -> Said:
    """Say what became of the lock, the policy or the models."""
    if event.kind == "lock":
        return Said("lock", event.at, headline(status), {"locked": status.locked})
    if event.kind == "policy":
        policy = status.policy
        problems = {"in_use": policy.in_use, "rules": policy.rules, "problems": policy.problems}
        return Said("policy", event.at, _policy(status), problems)
    models = [msgspec.to_builtins(each) for each in status.models]
    lines = "; ".join(map(model_line, status.models)) or "there is none"
    return Said("models", event.at, f"The models changed: {lines}.", {"models": models})


def of_locked(event: Event) -> Said:
    """Say as much as can be said while the vault is locked."""
    what = {
        "forget": "A recipient is said to have forgotten all",
        "answer": "A request was told",
        "nothing": "A request carried nothing",
    }
    text = f"{what.get(event.kind, 'Something waits for your word')}; {LOCKED}."
    return Said(event.kind, event.at, text, {"id": event.id, "locked": True})


def _told(names: list[str], unset: list[str]) -> str:
    parts = [listed(names)] if names else []
    parts += [f"to know that {listed(unset)} is not specified"] if unset else []
    return ", and ".join(parts) or "nothing"


def _figures(entry: Entry) -> str:
    gain, left = entry.utility_bits, entry.people_left
    return brought(None if gain is None else bits(gain), None if left is None else people(left))


def _policy(status: Status) -> str:
    policy = status.policy
    if policy.problems:
        held = "the rules before hold" if policy.in_use else "it is not in use"
        several = counted(len(policy.problems), "problem")
        return f"The policy has {several}, and {held}: {'; '.join(policy.problems)}."
    if not policy.in_use:
        return "There is no policy: nothing is attached to any request."
    return f"The policy changed, and has {counted(policy.rules, 'rule')} and no problem."
