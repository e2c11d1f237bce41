"""The paper's survey: its questions, the answers that it states, and the replies of a person."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import log2
from types import MappingProxyType
from typing import Literal, NamedTuple

import numpy as np

from agent.build.log.attributes import BY_LABEL
from agent.decision.answers import IMPROVEMENTS, Answers
from agent.decision.calibration import Calibration, aligned
from agent.errors import UsageError
from agent.tradeoff.calibrate import LEVELS, NEVER

Scale = Literal["level", "yes", "improvement"]
# Which attributes of Table 1 were asked about is only drawn: an answer may be about any of them.
_LABELS = tuple(BY_LABEL)
LOCATIONS = ("region", "country", "state", "city", "zip code", "address")  # coarsest first
AGES = ("20 years", "10 years", "5 years", "1 year", "birth date")
STORING = ("topics", "1 year", "3 years", "indefinitely")
CROWDS = ("1", "10", "100", "1000", "10000", "100000", "1000000")
LEVEL_NAMES = ("1", "2", "3", "4", "5")
# Table 1 has no label for four of these: zip code, all searches, country, e-mail address.
STORED = ("DGDR", "DAGE", "DOCC", "DZIP", "ASEA", "DCRY", "TNWS", "DEML")
RESPONSES = 1451  # 6
TRADE_OFF = 5.12  # 7.2: the least-squares alignment of Fig. 8(b), "approximately"
KNEE = (1.0, 10.0)  # 7.2: of the trade-off curve of Fig. 8(a), in λ
DOUBLED_BITS = 1.0  # 7.2: "doubling the search performance would require 1 bit"
MAJORITY = 0.5  # 6.1: more would share, "for all attributes probed", for doubled performance
_DEMOGRAPHIC = ("DGDR", "DAGE", "DOCC", "DREG")  # the log lacks DMTL and DCHD (Table 1)
Levels = Mapping[str, int]
SPREAD = 0.3  # of ln bits, from person to person
BEYOND = 4.0  # bits: who wants so much or more would never share, as fourfold is the most offered
_BITS = tuple(BEYOND if each == NEVER else log2(each) for each in IMPROVEMENTS.values())
_LADDER = dict(zip(LEVEL_NAMES, IMPROVEMENTS, strict=True))


@dataclass(frozen=True, slots=True)
class Question:
    """One question, asked of several things.

    ``things``: what may be answered about; ``scale``: level is 1 (not very sensitive) to 5 (highly
    sensitive), yes is yes or no, improvement one of `agent.decision.answers.IMPROVEMENTS`;
    ``figure`` and ``section``: where the paper has it. The wording is the paper's own where it
    stands in quotes there, else what the text says was asked.
    """

    key: str
    wording: str
    things: tuple[str, ...]
    scale: Scale
    figure: str
    section: str

    def check(self, thing: str) -> None:
        """Raise UsageError, naming the nearest, for what this question was not asked of."""
        if thing not in self.things:
            raise UsageError.unknown(f"answer to {self.key}", thing, self.things)


WILLING = Question(
    "willing",
    'would you share it with the search engine if that would "double search performance"?',
    _LABELS,
    "yes",
    "1",
    "6.1",
)


ATTRIBUTES = Question("attributes", "how sensitive is it?", _LABELS, "level", "2", "6.1")


AGE = Question("age", "how sensitive is your age, so exactly?", AGES, "level", "3a", "6.2")


LOCATION = Question(
    "location", "how sensitive is your location, so exactly?", LOCATIONS, "level", "3b", "6.2"
)


STORAGE = Question(
    "storage", "how sensitive is it if that is stored of you?", STORING, "level", "3c", "6.2"
)


ONE_OF = Question(
    "one_of",
    "how sensitive is sharing if you stay indistinguishable from so many other people?",
    CROWDS,
    "level",
    "3d",
    "6.2",
)


IMPROVEMENT = Question(
    "improvement",
    '"How much would a search engine have to improve its performance, such that you would be '
    'willing to share information you consider 1/2/..."',
    LEVEL_NAMES,
    "improvement",
    "5",
    "6.3",
)


BELIEVED = Question(
    "believed", "do most current search engines store it?", STORED, "yes", "4", "6.4"
)


QUESTIONS: Mapping[str, Question] = MappingProxyType(
    {
        each.key: each
        for each in (WILLING, ATTRIBUTES, AGE, LOCATION, STORAGE, ONE_OF, IMPROVEMENT, BELIEVED)
    }
)


class Share(NamedTuple):
    """The share of people who said yes."""

    question: Question
    thing: str
    share: float
    place: str


class Order(NamedTuple):
    """What was found less sensitive than what, and how the text says so."""

    less: tuple[Question, str]
    more: tuple[Question, str]
    how: str
    place: str


class Extreme(NamedTuple):
    """An attribute that the text places without a number."""

    label: str
    level: Literal["low", "quite high", "highest"]
    place: str


class Outcome(NamedTuple):
    """A set of Fig. 11: its utility in bits, or a ``bound`` above it, and its F."""

    name: str
    labels: tuple[str, ...]
    utility: float
    score: float
    place: str
    bound: bool = False

    @property
    def cost(self) -> float:
        """λC in bits, U - F: as I is never negative, no sensitivity of the set is above it."""
        return self.utility - self.score


# 6.1 has 64 % and 63.9 % for DOCC: the same, rounded. That 92.7 % "would rather share" DREG than
# TNWS stands among the results of this question; it is taken as DREG's share of them.
SHARES = (
    Share(WILLING, "DREG", 0.927, "6.1"),
    Share(WILLING, "DAGE", 0.82, "6.1"),
    Share(WILLING, "DGDR", 0.78, "6.1"),
    Share(WILLING, "DOCC", 0.639, "6.1"),
    Share(WILLING, "DMTL", 0.544, "6.1"),
    Share(WILLING, "DCHD", 0.526, "6.1"),
    Share(BELIEVED, "DCRY", 0.96, "6.4"),
    Share(BELIEVED, "ASEA", 0.86, "6.4"),
    Share(BELIEVED, "DGDR", 0.34, "6.4"),
    Share(BELIEVED, "DAGE", 0.28, "6.4"),
    Share(BELIEVED, "DOCC", 0.16, "6.4"),
)


_TOPICS = tuple(
    Order((ATTRIBUTES, less), (ATTRIBUTES, more), "significantly greater", "6.1")
    for less in ("TNWS", "TSCI")
    for more in ("THEA", "TSOC")
)


ORDERS = (
    *_TOPICS,
    Order((ATTRIBUTES, "ACLK"), (ATTRIBUTES, "ACRY"), "the biggest jump", "6.1"),
    Order((LOCATION, "city"), (STORAGE, "topics"), "significantly more sensitive", "6.2"),
    Order((AGE, "1 year"), (STORAGE, "topics"), "significantly more sensitive", "6.2"),
)


EXTREMES = (
    Extreme("AFRQ", "low", "6.1"),
    Extreme("TNWS", "low", "6.1"),
    Extreme("DOCC", "quite high", "7.3"),
    Extreme("AWHR", "highest", "6.1"),
)


_TOPIC = tuple(label for label in ATTRIBUTES.things if label.startswith("T"))


OUTCOMES = (
    Outcome(
        "optimised", ("AFRQ", "ATLV", "AWDY", "AQRY", "ACLK", "DAGE", "TSPT"), 1.4, 0.83, "7.3"
    ),
    Outcome("search statistics", ("ATLV", "AWDY", "AWHR", "AFRQ"), 0.8, 0.57, "7.3"),
    Outcome("demographics", _DEMOGRAPHIC, 0.95, 0.3, "7.3"),
    # "less utility than the optimized solution"
    Outcome("topics", _TOPIC, 1.4, -1.73, "7.3", bound=True),
)


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


def made_replies(
    costs: Mapping[str, float], people: int, seed: int, trade_off: float = TRADE_OFF
) -> tuple[Reply, ...]:
    """Return what people would answer if λ were so; the same seed gives the same.

    ``costs``: identifiability by one of LOCATIONS, I less I of nothing. Each person wants λI bits
    times a factor of their own, whose median is 1, and ticks what is nearest in ratio. UsageError
    for what was not asked about, and for a λ that is negative or not finite.
    """
    if not 0 <= trade_off < NEVER:
        raise UsageError(f"lambda cannot be {trade_off}", "give a number from 0")
    draw = np.random.default_rng(seed)
    factors = (trade_off * np.exp(SPREAD * draw.standard_normal(people))).tolist()
    return tuple(
        Reply(
            improvement=_LADDER,
            location={thing: _level(factor * cost) for thing, cost in costs.items()},
        )
        for factor in factors
    )


def _level(wanted: float) -> int:
    """Return the level of the improvement whose bits are nearest, on a logarithmic scale."""
    ratios = [abs(log2(max(wanted, _BITS[0]) / bits)) for bits in _BITS]
    return 1 + ratios.index(min(ratios))
