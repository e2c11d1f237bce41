"""The sets of attributes that the paper compares its own with: heuristics of Fig. 11."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from agent.build.log.schema import BY_LABEL, DEMOGRAPHIC, TOPIC
from agent.tradeoff.sets import union

if TYPE_CHECKING:
    from collections.abc import Iterable

    from agent.model.model import Model

STATISTICS = ("ATLV", "AWDY", "AWHR", "AFRQ")  # 7.3
INTERESTS = ("int_", "dev_", "topic_")  # how names of topics begin, where they are not Table 1's


class Group(NamedTuple):
    """A set that is compared: its published name, its mask, and what it is here."""

    name: str
    mask: int
    meaning: str


def groups_of(model: Model) -> tuple[Group, ...]:
    """Return the groups that a model has attributes for.

    Where the attributes are Table 1's they are the paper's. Elsewhere topics are those whose names
    say so, demographics all other attributes of a person; there are no search statistics.
    """
    names = {each.name for each in model.attributes}
    if not any(each.name in names for each in TOPIC):
        return _by_name(model)
    sets = {
        "demographics": [each.name for each in DEMOGRAPHIC],
        "topics": [each.name for each in TOPIC],
        "search statistics": [BY_LABEL[each].name for each in STATISTICS],
    }
    meaning = {
        "demographics": "all labels with D",
        "topics": "all labels with T",
        "search statistics": ", ".join(STATISTICS),
    }
    return tuple(
        Group(name, _mask(model, [each for each in of if each in names]), meaning[name])
        for name, of in sets.items()
    )


def _by_name(model: Model) -> tuple[Group, ...]:
    persons = [each.name for each in model.attributes if each.scope == "person"]
    topics = [each for each in persons if each.startswith(INTERESTS)]
    others = [each for each in persons if each not in topics]
    found = [Group("demographics", _mask(model, others), "all that is no topic")]
    if topics:
        found.append(Group("topics", _mask(model, topics), "int_ and dev_"))
    return tuple(found)


def _mask(model: Model, names: Iterable[str]) -> int:
    return union(model.index(each) for each in names)
