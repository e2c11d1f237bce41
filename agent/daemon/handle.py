"""How one request travels, from what is asked to what is answered: read it top to bottom."""

from collections.abc import Mapping
from datetime import datetime

from agent.daemon.agent import Agent
from agent.daemon.context import Case, NothingError, case_of, decided_briefly
from agent.daemon.header import joined, largest_values, members
from agent.daemon.request_log import Asker
from agent.daemon.worded import code_of, worded
from agent.decision.decide import Decision
from agent.decision.request import Knowledge, people_left
from agent.model.attributes import UNSPECIFIED
from agent.model.model import Model, person_codes
from agent.vault.disclosure_index import Disclosure
from agent.wire.decide import Answer, Ask, AttributeOutcome, Code, Summary
from agent.words.decisions import headline

Values = Mapping[str, str]


def nothing(code: Code) -> Answer:
    """Return the answer where nothing was decided."""
    return Answer(code=code)


def summary_of(decision: Decision, pool: str, model: Model, people_left: int) -> Summary:
    """Return the figures of an answer; ``people_left``: who agree with all that the pool holds."""
    return Summary(
        headline=headline(worded(decision, model)),
        pool=pool,
        model=model.id,
        utility_bits=decision.figures.utility,
        people_left=people_left,
        read_as=decision.matched_query,
        waiting=len(decision.pending.names) if decision.pending else 0,
        because=_because(decision),
    )


def _because(decision: Decision) -> list[AttributeOutcome]:
    """Return why each attribute leaves, in the order chosen: by the decision, and no value."""
    found = {each.name: each for each in decision.candidates}
    return [
        AttributeOutcome(
            name=name,
            reason=found[name].reason,
            gain_bits=found[name].gain_bits,
            cost_bits=found[name].cost_bits,
        )
        for name in decision.disclosed
    ]


def specified(values: Mapping[str, str]) -> dict[str, str]:
    """Return the values that are sent: one that is set to "unspecified" is left out."""
    return {name: value for name, value in values.items() if value != UNSPECIFIED}


def unspecified(values: Mapping[str, str]) -> list[str]:
    """Return the names that were chosen and are set to "unspecified"."""
    return [name for name, value in values.items() if value == UNSPECIFIED]


def header_of(values: Mapping[str, str], model: Model) -> str:
    """Return the values that are sent as a header's value; empty where there is none."""
    texts = members(model).texts
    return joined(texts[pair] for pair in specified(values).items())


def handle(ask: Ask, now: datetime, agent: Agent, by: Asker = "command") -> Answer:
    """Answer one request, and record what the answer carries before it leaves.

    ``now``: with the zone in which the user lives; ``by``: who asks, as the door says. It is one
    step, and nothing comes between: no two requests can spend one limit. UsageError where the
    recipient is no host, or more is asked than the ledger has room for; whatever is raised, nothing
    is attached, and the ledger says of nothing that it was.
    Source: DESIGN.md 2.6, 3.
    """
    try:
        case = case_of(ask, now, agent)  # policy, desk, vault: the terms, and what is known
        _check_rates(case, by, now, agent)  # policy: so often in a minute
        fresh = agent.sources.values(_of_request(case), ask, now)  # sources
        decision = decided_briefly(case)  # decision: pure, and it never sees the profile
    except NothingError as error:
        return nothing(error.code)
    _check_room(decision, case, now)  # vault: whatever the values are
    _queue(decision, case, ask, now, agent)  # desk: the answer leaves without it
    values = _revealed(decision, fresh, case)  # vault: the first plaintext
    left = _people_left(values, case)
    header = header_of(values, case.model)  # wire
    summary = summary_of(decision, case.ruling.pool, case.model, left)
    number = _record(decision, values, left, case, now) if values else None  # vault
    if number is not None:
        agent.rates.record(by, now)
    agent.desk.answered(decision, case.ruling)  # desk: at the last, since nothing can fail now
    agent.rules.fired.note(case.ruling, now)  # policy: which of its rules decided
    return Answer(
        code=code_of(decision),
        attributes=specified(values),
        unspecified=unspecified(values),
        header=header,
        id=number,
        summary=summary,
    )


def _check_rates(case: Case, by: Asker, now: datetime, agent: Agent) -> None:
    """Raise NothingError where too much was asked in the last minute."""
    if agent.rates.is_full(by, now):
        raise NothingError("too many")
    most = case.ruling.settings["page_requests_per_minute"].value
    if by == "page" and agent.rates.is_page_full(case.ruling.pool, int(most), now):
        raise NothingError("too many from pages")


def _of_request(case: Case) -> list[str]:
    """Return the names of the request attributes that a source can say something of."""
    named = (each.name for each in case.model.attributes[case.model.persons :])
    return [name for name in named if name in (case.terms.available or ())]


def _check_room(decision: Decision, case: Case, now: datetime) -> None:
    """Raise UsageError where the ledger may have no room for what leaves.

    It is asked about the largest values that there are: were it about the user's own, an error
    would say how long they are.
    """
    if decision.disclosed:
        largest, people = largest_values(case.model), len(case.model.population.codes)
        values = {name: largest[name] for name in decision.disclosed}
        case.vault.ledger.check(_entry(decision, values, people, case, now))


def _queue(decision: Decision, case: Case, ask: Ask, now: datetime, agent: Agent) -> None:
    """Let what is ruled `ask` wait for the user: the answer leaves without it."""
    review = agent.desk.note(decision, case.ruling, ask, now)
    agent.sources.noted(ask, now)
    if review is not None:
        agent.bus.publish("review", review.id)


def _revealed(decision: Decision, fresh: Values, case: Case) -> Values:
    """Return the values of what is disclosed, in the order chosen."""
    persons = person_codes(case.model)
    own = [name for name in decision.disclosed if name in persons]
    values = {**fresh, **case.vault.profile.reveal(own, case.model)}
    return {name: values[name] for name in decision.disclosed}


def _people_left(values: Values, case: Case) -> int:
    """Return how many people agree with what the pool holds from now on."""
    persons = person_codes(case.model)
    codes = {name: persons[name][value] for name, value in values.items() if name in persons}
    before = case.known if case.terms.memory == "remembers" else Knowledge()
    return people_left(before.learns(codes), case.model)


def _record(decision: Decision, values: Values, left: int, case: Case, now: datetime) -> int:
    """Write into the ledger what leaves, and return the number of the entry."""
    return case.vault.ledger.append(_entry(decision, values, left, case, now))


def _entry(decision: Decision, values: Values, left: int, case: Case, now: datetime) -> Disclosure:
    """Return the entry of the ledger that says what leaves."""
    asked, persons = case.request.asked, person_codes(case.model)
    return Disclosure(
        at=now,
        host=case.ruling.host,
        query=case.request.query,
        asked=None if asked is None else tuple(sorted(asked)),
        disclosed=tuple(values.items()),
        persons=tuple(name for name in values if name in persons),
        model=case.model.id,
        digest=case.model.digest,
        utility_bits=decision.figures.utility,
        people_left=left,
    )
