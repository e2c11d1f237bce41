"""The accounting of the demo: what was answered to whom, and what they know by now. Pure."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace

from agent.decision.decide import decide
from agent.decision.decision import Decision
from agent.decision.request import Knowledge, Request
from agent.decision.terms import Terms
from agent.model.model import Model

Asked = tuple[str, str]  # recipient, query
Decide = Callable[[Request, Knowledge], Decision]


@dataclass(frozen=True, slots=True)
class Entry:
    """One answer: the decision, the values that left with it, and who still fits afterwards.

    ``knowledge``: all that the recipient holds from then on; ``people_left``: how many of the
    model's people agree with it.
    """

    decision: Decision
    values: Mapping[str, str]
    knowledge: Knowledge
    people_left: int

    @property
    def recipient(self) -> str:
        """Who received it."""
        return self.decision.request.recipient


def converse(
    requests: Iterable[Asked], profile: Mapping[str, str], model: Model, terms: Terms
) -> tuple[Entry, ...]:
    """Return an entry per request, each decided in the light of those before it."""
    terms = replace(terms, available=frozenset(profile))

    def with_memory(request: Request, knowledge: Knowledge) -> Decision:
        return decide(request, terms, knowledge, model)

    return _converse(requests, profile, model, with_memory)


def converse_without_memory(
    requests: Iterable[Asked], profile: Mapping[str, str], model: Model, terms: Terms
) -> tuple[Entry, ...]:
    """Return an entry per request, each decided as if it were the first to its recipient."""
    terms = replace(terms, available=frozenset(profile))

    def without_memory(request: Request, _: Knowledge) -> Decision:
        return decide(request, terms, Knowledge(), model)

    return _converse(requests, profile, model, without_memory)


def known_to(recipient: str, entries: Iterable[Entry]) -> Knowledge:
    """Return what a recipient holds: what it held after the last answer it received."""
    held = [entry.knowledge for entry in entries if entry.recipient == recipient]
    return held[-1] if held else Knowledge()


def told(knowledge: Knowledge, values: Mapping[str, str], model: Model) -> Knowledge:
    """Return what a recipient holds once it was told these values; those of a request pass."""
    attributes = [model.attributes[model.index(name)] for name in values]
    person = [each for each in attributes if each.scope == "person"]
    return knowledge.learns({each.name: each.code(values[each.name]) for each in person})


def values_held(knowledge: Knowledge, model: Model) -> dict[str, str]:
    """Return the values a recipient holds, by attribute."""
    attributes = {name: model.attributes[model.index(name)] for name in knowledge.names}
    return {name: attributes[name].values[code] for name, code in knowledge.codes}


def people_who_fit(knowledge: Knowledge, model: Model) -> int:
    """Return how many of the model's people have the values that are known."""
    return model.crowd([(model.index(name), code) for name, code in knowledge.codes]).people


def gained(query: str, names: Iterable[str], model: Model) -> float:
    """Return the bits that disclosing these attributes gains for a query, 0 if it is unknown."""
    meant = model.match(query)
    mask = sum(1 << model.index(name) for name in names)
    return 0.0 if meant is None else model.utility(meant).value(mask)


def _converse(
    requests: Iterable[Asked], profile: Mapping[str, str], model: Model, choose: Decide
) -> tuple[Entry, ...]:
    entries: list[Entry] = []
    for recipient, query in requests:
        held = known_to(recipient, entries)
        decision = choose(Request(query, recipient), held)
        # Only now, with the set fixed, is the profile read (DESIGN.md 2.6).
        values = {name: profile[name] for name in decision.disclosed}
        knowledge = told(held, values, model)
        entries.append(Entry(decision, values, knowledge, people_who_fit(knowledge, model)))
    return tuple(entries)
