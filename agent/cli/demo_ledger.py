"""The accounting of the demo: what was answered to whom, and what they know by now. Pure."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from agent.decision.decide import decide
from agent.decision.decision import Decision
from agent.decision.request import Knowledge, Request
from agent.decision.terms import Terms
from agent.model.attributes import UNSPECIFIED
from agent.model.model import Model

Asked = tuple[str, str]  # recipient, query
Decide = Callable[[Request, Knowledge], Decision]


@dataclass(frozen=True, slots=True)
class Entry:
    """One answer: the decision, the values that left with it, and who still fits afterwards.

    ``people_left``: how many of the model's people agree with everything the recipient knows.
    """

    decision: Decision
    values: Mapping[str, str]
    people_left: int

    @property
    def recipient(self) -> str:
        """Who received it."""
        return self.decision.request.recipient


def converse(
    requests: Iterable[Asked], profile: Mapping[str, str], model: Model, terms: Terms
) -> tuple[Entry, ...]:
    """Return an entry per request, each decided in the light of those before it."""

    def with_memory(request: Request, knowledge: Knowledge) -> Decision:
        return decide(request, terms, knowledge, model)

    return _converse(requests, profile, model, with_memory)


def converse_without_memory(
    requests: Iterable[Asked], profile: Mapping[str, str], model: Model, terms: Terms
) -> tuple[Entry, ...]:
    """Return an entry per request, each decided as if it were the first to its recipient."""

    def without_memory(request: Request, _: Knowledge) -> Decision:
        return decide(request, terms, Knowledge(), model)

    return _converse(requests, profile, model, without_memory)


def known_to(recipient: str, entries: Iterable[Entry]) -> dict[str, str]:
    """Return the values a recipient holds: a fold over what was disclosed to it."""
    known: dict[str, str] = {}
    for entry in entries:
        if entry.recipient == recipient:
            known |= entry.values
    return known


def people_who_fit(values: Mapping[str, str], model: Model) -> int:
    """Return how many of the model's people have these values."""
    return model.crowd(tuple(_codes(values, model).items())).people


def gained(query: str, names: Iterable[str], model: Model) -> float:
    """Return the bits that disclosing these attributes gains for a query, 0 if it is unknown."""
    match = model.match(query)
    mask = sum(1 << model.index(name) for name in names)
    return 0.0 if match.query is None else model.utility(match.query).value(mask)


def _converse(
    requests: Iterable[Asked], profile: Mapping[str, str], model: Model, choose: Decide
) -> tuple[Entry, ...]:
    entries: list[Entry] = []
    for recipient, query in requests:
        held = known_to(recipient, entries)
        decision = choose(Request(query, recipient), _knowledge(held, model))
        # Only now, with the set fixed, is the profile read (DESIGN.md 2.6).
        values = {name: profile.get(name, UNSPECIFIED) for name in decision.disclosed}
        entries.append(Entry(decision, values, people_who_fit(held | values, model)))
    return tuple(entries)


def _knowledge(values: Mapping[str, str], model: Model) -> Knowledge:
    names = {model.attributes[index].name: code for index, code in _codes(values, model).items()}
    return Knowledge(tuple(sorted(names.items())))


def _codes(values: Mapping[str, str], model: Model) -> dict[int, int]:
    """Return the codes of person attributes by index; the others are not remembered."""
    found = {}
    for name, value in values.items():
        index = model.index(name)
        if model.attributes[index].scope == "person":
            found[index] = model.attributes[index].code(value)
    return found
