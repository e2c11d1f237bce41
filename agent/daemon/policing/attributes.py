"""The attributes of the model in use, and what the policy says of each."""

from collections.abc import Mapping
from datetime import datetime
from typing import NamedTuple

from agent.daemon.agent import Agent
from agent.daemon.policing.chosen import model_for
from agent.daemon.policing.ruled import place_of
from agent.daemon.pools import hosts_of
from agent.model.attributes import Attribute
from agent.wire.policy import AttributeStatus
from policy.hosts import ANYBODY
from policy.precedence import GUARDED, Verdicts, may
from policy.rules import SIGN
from policy.toml_edit import Key, lines_of

NO_POLICY = "there is no policy"


class _Said(NamedTuple):
    """What is said of an attribute, by which rule, and on which line of the file."""

    disclose: str
    sensitivity: float | None
    guard: float
    rule: str
    line: int | None


def attributes(recipient: str | None, now: datetime, agent: Agent) -> list[AttributeStatus]:
    """Return them in the order of the model that the policy chooses, with no value of the user's.

    ``recipient``: a host, or @ and a group; None for whoever no rule names. UsageError where it
    is neither, ModelError and UsageError where its model cannot be used.
    """
    in_force, today = agent.rules.in_force, now.date()
    host = _host(recipient, agent)
    model = model_for(host, "", now, agent)
    book = in_force.book(model)
    ruling = None if book is None else book.match(host, "", today)
    lines = {} if in_force.policy is None else lines_of(in_force.policy.text)
    found = []
    for each in model.attributes:
        said = _unruled() if ruling is None else _said(ruling.attributes[each.name], lines)
        found.append(_status(each, model.id, said))
    return found


def _host(recipient: str | None, agent: Agent) -> str:
    """Return the host of a recipient: of a group, one that is a member."""
    if recipient is None:
        return ANYBODY
    pool = agent.rules.in_force.pool(recipient)
    return hosts_of(agent, pool)[0] if recipient.startswith(SIGN) else recipient


def _unruled() -> _Said:
    """Return what is said where there are no rules: then nothing is attached."""
    return _Said("never", None, 0.0, NO_POLICY, None)


def _said(verdicts: Verdicts, lines: Mapping[Key, int]) -> _Said:
    disclose = may(verdicts)
    key = "guard" if disclose == GUARDED else "disclose"
    rule = verdicts[key].rule
    bits = verdicts.get("sensitivity")
    return _Said(
        disclose,
        None if bits is None else float(bits.value),
        float(verdicts["guard"].value) if disclose == GUARDED else 0.0,
        rule.name,
        place_of(lines, rule, (key,)),
    )


def _status(attribute: Attribute, model: str, said: _Said) -> AttributeStatus:
    default = attribute.sensitivity
    return AttributeStatus(
        name=attribute.name,
        title=attribute.title,
        scope=attribute.scope,
        values=[*attribute.values],
        refines=attribute.refines,
        model=model,
        disclose=said.disclose,
        sensitivity_bits=default if said.sensitivity is None else said.sensitivity,
        guard=said.guard,
        rule=said.rule,
        line=said.line,
    )
