"""What one person answers to the paper's survey, and what the answers of several come to."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

from agent.decision.answers import IMPROVEMENTS, Answers
from agent.decision.calibration import Calibration, aligned
from agent.errors import UsageError
from agent.lab.questions.asked import (
    AGE,
    ATTRIBUTES,
    BELIEVED,
    IMPROVEMENT,
    LOCATION,
    ONE_OF,
    STORAGE,
    WILLING,
    Question,
)
from agent.tradeoff.calibrate import LEVELS

Levels = Mapping[str, int]
_RATED = (ATTRIBUTES, AGE, LOCATION, STORAGE, ONE_OF)
_ASKED = (WILLING, BELIEVED)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """One person's answers; what they left out is missing.

    ``improvement``: by level, one of IMPROVEMENTS; ``willing`` and ``believed``: yes or no;
    all others: by thing, its level, 1 to LEVELS. UsageError, naming the nearest, for what was not
    asked or is no answer.
    """

    improvement: Mapping[str, str] = field(default_factory=dict)
    willing: Mapping[str, bool] = field(default_factory=dict)
    attributes: Levels = field(default_factory=dict)
    age: Levels = field(default_factory=dict)
    location: Levels = field(default_factory=dict)
    storage: Levels = field(default_factory=dict)
    one_of: Levels = field(default_factory=dict)
    believed: Mapping[str, bool] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for question in (*_RATED, *_ASKED, IMPROVEMENT):
            said = MappingProxyType(dict(getattr(self, question.key)))
            for thing in said:
                question.check(thing)
            object.__setattr__(self, question.key, said)
        for question in _RATED:
            for thing, level in self.levels(question).items():
                if type(level) is not int or not 1 <= level <= LEVELS:
                    what = f"the level of {thing} in {question.key} is not from 1 to {LEVELS}"
                    raise UsageError(what, "answer with a whole number on that scale")
        for wanted in self.improvement.values():
            if wanted not in IMPROVEMENTS:
                raise UsageError.unknown("improvement", wanted, IMPROVEMENTS)

    def levels(self, question: Question) -> Levels:
        """Return the levels that were given to the things of one question."""
        found: Levels = getattr(self, question.key)
        return found

    def answers(self, question: Question) -> Answers:
        """Return what a calibration reads, with the things of one question as the sensitive."""
        return Answers(
            {int(level): IMPROVEMENTS[said] for level, said in self.improvement.items()},
            self.levels(question),
            {int(crowd): level for crowd, level in self.one_of.items()},
        )


def calibrated_by(
    replies: Sequence[Reply], question: Question, costs: Mapping[str, float]
) -> Calibration:
    """Return λ from what people want for each precision, and what that costs (paper 7.2).

    ``question``: LOCATION, as the paper has it, or another with levels; ``costs``: its things,
    with their identifiability, I less I of nothing. What somebody rated who left out the
    improvement for that level does not count. UsageError for a thing that was not asked about, and
    if there are no replies.
    """
    if not replies:
        raise UsageError("nobody has answered", "give the replies of one person or more")
    for thing in costs:
        question.check(thing)
    return aligned([each.answers(question) for each in replies], costs)


def share_of(replies: Iterable[Reply], question: Question, thing: str) -> float | None:
    """Return the share of those who answered a question with yes; None if nobody did."""
    question.check(thing)
    said = [getattr(each, question.key).get(thing) for each in replies]
    answered = [each for each in said if each is not None]
    return sum(answered) / len(answered) if answered else None
