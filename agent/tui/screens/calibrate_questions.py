"""The questions of the paper's survey (6), and the answers so far, in memory only. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import ceil
from typing import Literal, get_args

from agent.tui.screens.profile import families
from agent.wire.policy import AttributeStatus
from agent.wire.what_if import Answers, Improvement
from agent.words.figures import counted, listed

Kind = Literal["sensitivity", "one_of", "improvement"]
FIRST = 10  # attributes that are asked about unless more are wanted
GROUP_SIZES = (1, 10, 100, 1_000, 10_000, 100_000)  # people
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
Given = Mapping[tuple[Kind, str], int]
USUAL_LEVELS = 3  # that are used, as far as nobody knows yet
SECONDS = 6.3  # for a question


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
    rank = {each.name: place for place, (each, _) in enumerate(families(attributes))}

    def place(each: AttributeStatus) -> tuple[bool, bool, int, int]:
        ladder = each.refines is not None or each.name in refined
        shut = each.disclose in ("never", "guarded")
        telling = 0 if ladder else len(each.values)
        return (not ladder, not ladder and shut, -telling, rank[each.name])

    return sorted(attributes, key=place)


@dataclass(frozen=True, slots=True)
class Answering:
    """The attributes, of which the first ``asked`` are asked about; the answers; the question.

    ``given``: the number of the answer, from 1, by question; ``place``: of the question, from 0.
    """

    attributes: tuple[AttributeStatus, ...] = ()
    asked: int = FIRST
    given: Given = field(default_factory=dict, repr=False)
    place: int = 0

    @classmethod
    def about(cls, attributes: list[AttributeStatus]) -> "Answering":
        """Return the beginning, about a model's attributes."""
        return cls((*ordered(attributes),))

    @property
    def questions(self) -> tuple[Question, ...]:
        """All that is asked, as far as is known: an improvement for each level that was used.

        Empty until the attributes are known.
        """
        if not self.attributes:
            return ()
        levels = []
        for level, things in sorted(self._things().items()):
            better = "How much better must a search become before you share something"
            such = f"(For example: {listed(things, most=4)}.)"
            asked = f"{better} {LEVELS[level]}? {such}"
            levels.append(Question("improvement", str(level), asked))
        return (*self._first(), *levels)

    @property
    def question(self) -> Question | None:
        """What is asked now, None at the end."""
        found = self.questions
        return found[self.place] if self.place < len(found) else None

    @property
    def chosen(self) -> int | None:
        """The number of the answer that was given to it already."""
        question = self.question
        return None if question is None else self.given.get((question.kind, question.key))

    @property
    def more(self) -> int:
        """How many attributes are not asked about."""
        return max(0, len(self.attributes) - self.asked)

    @property
    def skippable(self) -> bool:
        """Whether it may stay open: without an improvement a level has no price."""
        return self.question is not None and self.question.kind != "improvement"

    def answered(self, number: int | None) -> "Answering":
        """Return the next question, with an answer from 1 to 5 to this one; None leaves it open."""
        question = self.question
        if question is None or (number is None and not self.skippable):
            return self
        key = question.kind, question.key
        given = {each: answer for each, answer in self.given.items() if each != key}
        if number is not None:
            given[key] = number
        return replace(self, given=given, place=self.place + 1)

    def back(self) -> "Answering":
        """Return the question before."""
        return replace(self, place=max(0, min(self.place, len(self.questions)) - 1))

    def widened(self) -> "Answering":
        """Return the same about all attributes, at the first of the others, or before them."""
        if not self.more:
            return self
        return replace(self, asked=len(self.attributes), place=min(self.place, self.asked))

    def progress(self) -> str:
        """Return how far it is in words."""
        sure = len(self.questions)
        if self.question is not None and self.question.kind != "improvement":
            sure = len(self._first()) + max(USUAL_LEVELS, len(self._things()))
        minutes = (sure - self.place) * SECONDS / 60
        left = f"about {counted(max(1, ceil(minutes - 0.5)), 'minute')}"
        left = "less than a minute" if minutes < 1 else left
        return f"question {self.place + 1} of {sure}, {left} left"

    def message(self) -> Answers | None:
        """Return the answers as the daemon takes them, None where there are none."""
        things = self._things()
        if not things:
            return None
        kinds = {kind: self._of(kind) for kind in ("sensitivity", "one_of")}
        wanted = self._of("improvement")
        improvement = {
            level: IMPROVEMENTS[number - 1]
            for level, number in wanted.items()
            if int(level) in things
        }
        return Answers(improvement=improvement, **kinds)

    def so_far(self) -> list[tuple[str, str]]:
        """Return the answers so far, as pairs of a question and its answer."""
        return [
            (each.asked, each.answers[self.given[each.kind, each.key] - 1])
            for each in self.questions
            if (each.kind, each.key) in self.given
        ]

    def _first(self) -> tuple[Question, ...]:
        attributes = (
            Question("sensitivity", each.name, f"How sensitive is it to share: {each.title}?")
            for each in self.attributes[: self.asked]
        )
        groups = []
        for people in GROUP_SIZES:
            known = f"one of {people:,} people"
            known = "recognised, as one single person" if people == 1 else known
            asked = f"How sensitive is it to be known to be {known}?"
            groups.append(Question("one_of", str(people), asked))
        return (*attributes, *groups)

    def _of(self, kind: Kind) -> dict[str, int]:
        return {key: number for (each, key), number in self.given.items() if each == kind}

    def _things(self) -> dict[int, list[str]]:
        """Return the things that were called this sensitive, by level."""
        titles = {each.name: each.title for each in self.attributes}
        found: dict[int, list[str]] = {}
        for (kind, key), level in self.given.items():
            if kind == "sensitivity":
                found.setdefault(level, []).append(titles[key])
            elif kind == "one_of":
                found.setdefault(level, []).append(f"being one of {int(key):,}")
        return found
