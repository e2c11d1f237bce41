"""What recipients hold, from what the ledger says they were told. Pure."""

from collections import Counter
from collections.abc import Mapping
from datetime import datetime
from types import MappingProxyType

from agent.decision.request import Knowledge
from agent.errors import UsageError
from agent.model.model import Model
from agent.model.persons import person_codes
from agent.vault.facts import Fact, Pool, PoolOf
from agent.vault.ledger import Ledger

NOTHING: Mapping[str, int] = MappingProxyType({})


def held(ledger: Ledger, pool: str, pool_of: PoolOf) -> Mapping[str, Fact]:
    """Return the values that a pool of recipients holds, by attribute, and since when.

    ``pool_of``: the pool of a host, the same for all hosts of a site (policy.hosts.site_of).
    """
    return dict(sorted(ledger.facts.pool(pool, pool_of).held.items()))


def knowledge_in(
    found: Pool, model: Model, now: datetime, heard: Mapping[str, int] = NOTHING
) -> Knowledge:
    """Return the facts of a pool in the codes of a model, as decision.knowledge.knowledge_of would.

    ``heard``: the latest queries of the pool, and how often each came (`Ledger.heard`). What is no
    person attribute of the model is left out of ``codes``, and counts in ``recent`` all the same;
    a query that it does not know is left out. UsageError where the pool holds a value that the
    model does not have.
    """
    attributes = person_codes(model)
    pairs = [
        (name, _code(name, fact.value, attributes[name]))
        for name, fact in found.held.items()
        if name in attributes
    ]
    times = Counter[int]()
    for text, count in heard.items():
        query = model.match(text)
        times.update({} if query is None else {query: count})
    return Knowledge(tuple(sorted(pairs)), found.recent(now), tuple(sorted(times.items())))


def holders(
    ledger: Ledger, values: Mapping[str, str | None], pool_of: PoolOf
) -> Mapping[str, tuple[str, ...]]:
    """Return by attribute the pools that hold another value than this; none where all agree.

    ``values``: as the profile has them from now on, None for what is not set any more, which a pool
    goes on to hold. Any other new value it will be told like one that it knows already, without
    being asked about: what is decided cannot depend on a value that was not disclosed, nor on its
    change (DESIGN.md 2.6).
    """
    found: dict[str, list[str]] = {}
    for pool, holding in ledger.facts.pools(pool_of):
        for name in holding.held.keys() & values.keys():
            if holding.held[name].value != values[name]:
                found.setdefault(name, []).append(pool)
    return {name: tuple(found[name]) for name in sorted(found)}


def _code(name: str, value: str, codes: Mapping[str, int]) -> int:
    code = codes.get(value)
    if code is None:
        hint = "use a model that has it, or state with `reticent forget` that it is forgotten"
        raise UsageError(
            f"the recipient holds a value of {name} that the model does not have", hint
        )
    return code
