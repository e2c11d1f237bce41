"""What still decides otherwise after a setting has been written. Pure."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from typing import NamedTuple

from policy.careful import careful
from policy.match import Rulebook, Ruling
from policy.rules import Policy, Rule
from policy.scope import Scope
from policy.settings import SETTINGS, Value
from policy.verdicts import GUARDED, may


class Win(NamedTuple):
    """A setting that another rule decides; ``names``: the attributes of which it does, if of any.

    ``key``: of what is decided, which may be a guard over what was to leave.
    """

    key: str
    value: Value
    rule: Rule
    names: tuple[str, ...] = ()


def wins(
    policy: Policy, where: Scope, values: Mapping[str, Value], names: Sequence[str], today: date
) -> tuple[Win, ...]:
    """Return what decides otherwise about requests of a scope: rules as specific, or more so.

    ``names``: the attributes of the model.
    """
    meant = where.names(names)
    ruling = Rulebook(careful(policy, names), meant).match(where.host(policy), where.words(), today)
    return tuple(win for key, value in values.items() for win in _wins(ruling, key, value))


def _wins(ruling: Ruling, key: str, value: Value) -> Iterator[Win]:
    if SETTINGS[key].about != "attribute":
        verdict = ruling.settings[key]
        if verdict.value != value:
            yield Win(key, verdict.value, verdict.rule)
        return
    found: dict[tuple[str, Value, Rule], list[str]] = {}
    for name, verdicts in ruling.attributes.items():
        decides = key
        if key == "disclose" and value != "never" and may(verdicts) == GUARDED:
            decides = "guard"
        verdict = verdicts[decides]
        if decides != key or verdict.value != value:
            found.setdefault((decides, verdict.value, verdict.rule), []).append(name)
    for (decides, decided, rule), names in found.items():
        yield Win(decides, decided, rule, tuple(names))
