"""The questions, in the words of the paper's survey (6): what is asked, of which attributes."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from agent.tui.screens.profile.rows import families
from agent.wire.policy import AttributeStatus
from agent.wire.what_if import Improvement

Kind = Literal["sensitivity", "one_of", "improvement"]
FIRST = 10  # attributes that are asked about unless more are wanted
CROWDS = (1, 10, 100, 1_000, 10_000, 100_000)  # people
LEVELS = {
    1: "hardly sensitive",
    2: "a little sensitive",
    3: "fairly sensitive",
    4: "very sensitive",
    5: "highly sensitive",
}
IMPROVEMENTS: tuple[Improvement, ...] = get_args(Improvement)
WANTED: dict[Improvement, str] = {
    "25%": "by 25 %",
    "50%": "by 50 %",
    "100%": "by 100 %: twice as good",
    "4x": "four times: nearly always the right page at once",
    "never": "never: no improvement is enough",
}


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked; ``key``: an attribute, a number of people, or a level of sensitivity."""

    kind: Kind
    key: str
    asked: str

    @property
    def answers(self) -> tuple[str, ...]:
        """What can be answered, in order."""
        return (*WANTED.values(),) if self.kind == "improvement" else (*LEVELS.values(),)


def ordered(attributes: Sequence[AttributeStatus]) -> list[AttributeStatus]:
    """Return the attributes in the order in which they are asked about.

    Those that refine one another come first, from coarse to fine; then what may leave, and of
    that what has most values, which tells most.
    """
    refined = {each.refines for each in attributes}
    rank = {name: place for place, name in enumerate(_names(attributes))}

    def place(each: AttributeStatus) -> tuple[bool, bool, int, int]:
        ladder = each.refines is not None or each.name in refined
        shut = each.disclose in ("never", "guarded")
        telling = 0 if ladder else len(each.values)
        return (not ladder, not ladder and shut, -telling, rank[each.name])

    return sorted(attributes, key=place)


def of_attribute(each: AttributeStatus) -> Question:
    """Return the question about an attribute."""
    return Question("sensitivity", each.name, f"How sensitive is it to share: {each.title}?")


def of_crowd(people: int) -> Question:
    """Return the question about being one of so many people."""
    known = "recognised, as one single person" if people == 1 else f"one of {people:,} people"
    return Question("one_of", str(people), f"How sensitive is it to be known to be {known}?")


def of_level(level: int, things: Sequence[str]) -> Question:
    """Return the question about the improvement wanted for a level, which these things have."""
    which = ", ".join(things[:4]) + (" and more" if len(things) > 4 else "")  # noqa: PLR2004
    asked = (
        f"How much better must a search become before you share something {LEVELS[level]}? "
        f"(You said so of: {which}.)"
    )
    return Question("improvement", str(level), asked)


def _names(attributes: Sequence[AttributeStatus]) -> list[str]:
    return [each.name for each, _ in families(attributes)]
