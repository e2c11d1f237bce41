"""The paper's survey (6, Figs. 1-5): its questions, the answers it states, a person's replies.

Only what its text says. What the figures draw and the text does not say (the mean sensitivity of
each attribute, of each precision of age and location, the quartiles of Fig. 5) is absent here.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import log2
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

import numpy as np

from agent.build.log.schema import BY_LABEL
from agent.decision.calibration import IMPROVEMENTS, Answers, Calibration, aligned
from agent.errors import UsageError
from agent.tradeoff.calibrate import LEVELS, NEVER

RESPONSES = 1451  # 6
TRADE_OFF = 5.12  # 7.2: the least-squares alignment of Fig. 8(b), "approximately"
KNEE = (1.0, 10.0)  # 7.2: of the trade-off curve of Fig. 8(a), in λ
DOUBLED_BITS = 1.0  # 7.2: "doubling the search performance would require 1 bit"
MAJORITY = 0.5  # 6.1: more would share, "for all attributes probed", for doubled performance
LOCATIONS = ("region", "country", "state", "city", "zip code", "address")  # coarsest first
AGES = ("20 years", "10 years", "5 years", "1 year", "birth date")
STORING = ("topics", "1 year", "3 years", "indefinitely")
CROWDS = ("1", "10", "100", "1000", "10000", "100000", "1000000")
LEVEL_NAMES = ("1", "2", "3", "4", "5")
# Table 1 has no label for four of these: zip code, all searches, country, e-mail address.
STORED = ("DGDR", "DAGE", "DOCC", "DZIP", "ASEA", "DCRY", "TNWS", "DEML")
SPREAD = 0.3  # of ln bits, from person to person
BEYOND = 4.0  # bits: who wants so much or more would never share, as fourfold is the most offered
_BITS = tuple(BEYOND if each == NEVER else log2(each) for each in IMPROVEMENTS.values())


@dataclass(frozen=True, slots=True)
class Question:
    """One question, asked of several things.

    ``things``: what may be answered about; ``scale``: level is 1 (not very sensitive) to 5 (highly
    sensitive), yes is yes or no, improvement one of `agent.decision.calibration.IMPROVEMENTS`;
    ``place``: the section, and the figure of the answers.
    """

    key: str
    scale: Literal["level", "yes", "improvement"]
    things: tuple[str, ...]
    place: str

    def check(self, thing: str) -> None:
        """Raise UsageError, naming the nearest, for what this question was not asked of."""
        if thing not in self.things:
            raise UsageError.unknown(f"answer to {self.key}", thing, self.things)

    def check_answer(self, thing: str, answer: object) -> None:
        """Raise UsageError for what was not asked, and for what nobody could answer."""
        self.check(thing)
        if self.scale == "level" and (type(answer) is not int or not 1 <= answer <= LEVELS):
            what = f"the level of {thing} in {self.key} is not from 1 to {LEVELS}"
            raise UsageError(what, "answer with a whole number on that scale")
        if self.scale == "improvement" and answer not in IMPROVEMENTS:
            raise UsageError.unknown("improvement", str(answer), IMPROVEMENTS)


# Which attributes of Table 1 were asked about is only drawn: an answer may be about any of them.
# Would they share it with the search engine if that would "double search performance"?
WILLING = Question("willing", "yes", tuple(BY_LABEL), "6.1, Fig. 1")
# How sensitive is it: an attribute, their age and location so exactly, what is stored of them, and
# sharing while they stay indistinguishable from so many other people?
ATTRIBUTES = Question("attributes", "level", tuple(BY_LABEL), "6.1, Fig. 2")
AGE = Question("age", "level", AGES, "6.2, Fig. 3a")
LOCATION = Question("location", "level", LOCATIONS, "6.2, Fig. 3b")
STORAGE = Question("storage", "level", STORING, "6.2, Fig. 3c")
ONE_OF = Question("one_of", "level", CROWDS, "6.2, Fig. 3d")
# "How much would a search engine have to improve its performance, such that you would be willing
# to share information you consider 1/2/..."
IMPROVEMENT = Question("improvement", "improvement", LEVEL_NAMES, "6.3, Fig. 5")
# Do most current search engines store it?
BELIEVED = Question("believed", "yes", STORED, "6.4, Fig. 4")
QUESTIONS = (WILLING, ATTRIBUTES, AGE, LOCATION, STORAGE, ONE_OF, IMPROVEMENT, BELIEVED)

# The shares who said yes. 6.1 has 64 % and 63.9 % for DOCC: the same, rounded. That 92.7 % "would
# rather share" DREG than TNWS stands among the results of this question; it is taken as one.
WOULD_SHARE = MappingProxyType(
    {"DREG": 0.927, "DAGE": 0.82, "DGDR": 0.78, "DOCC": 0.639, "DMTL": 0.544, "DCHD": 0.526}
)
BELIEVE_STORED = MappingProxyType(
    {"DCRY": 0.96, "ASEA": 0.86, "DGDR": 0.34, "DAGE": 0.28, "DOCC": 0.16}
)
MOST_SENSITIVE = "AWHR"  # 6.1


class Order(NamedTuple):
    """What was found less sensitive than what, each a thing of a question."""

    less: tuple[Question, str]
    more: tuple[Question, str]


ORDERS = (
    # 6.1 calls these "significantly greater"
    *(
        Order((ATTRIBUTES, less), (ATTRIBUTES, more))
        for less in ("TNWS", "TSCI")
        for more in ("THEA", "TSOC")
    ),
    Order((ATTRIBUTES, "ACLK"), (ATTRIBUTES, "ACRY")),  # "the biggest jump" (6.1)
    Order((LOCATION, "city"), (STORAGE, "topics")),  # "significantly more sensitive" (6.2)
    Order((AGE, "1 year"), (STORAGE, "topics")),  # the same
)


class Outcome(NamedTuple):
    """A set of Fig. 11 (7.3): its utility in bits, or a ``bound`` above it, and its F."""

    name: str
    labels: tuple[str, ...]
    utility: float
    score: float
    bound: bool = False

    @property
    def cost(self) -> float:
        """λC in bits, U - F: as I is never negative, no sensitivity of the set is above it."""
        return self.utility - self.score


OUTCOMES = (
    Outcome("optimised", ("AFRQ", "ATLV", "AWDY", "AQRY", "ACLK", "DAGE", "TSPT"), 1.4, 0.83),
    Outcome("search statistics", ("ATLV", "AWDY", "AWHR", "AFRQ"), 0.8, 0.57),
    # the log lacks DMTL and DCHD (Table 1)
    Outcome("demographics", ("DGDR", "DAGE", "DOCC", "DREG"), 0.95, 0.3),
    # "less utility than the optimized solution"
    Outcome("topics", tuple(each for each in BY_LABEL if each[0] == "T"), 1.4, -1.73, bound=True),
)


@dataclass(frozen=True, slots=True)
class Reply:
    """One person's answers, by question and thing; what they left out is missing.

    A level is 1 to LEVELS, an improvement one of IMPROVEMENTS, else yes or no. UsageError, naming
    the nearest, for what was not asked or is no answer.
    """

    given: Mapping[Question, Mapping[str, Any]]

    def __post_init__(self) -> None:
        given = {}
        for question, answers in self.given.items():
            for thing, answer in answers.items():
                question.check_answer(thing, answer)
            given[question] = MappingProxyType(dict(answers))
        object.__setattr__(self, "given", MappingProxyType(given))

    def to(self, question: Question) -> Mapping[str, Any]:
        """Return the answers to one question, by thing."""
        return self.given.get(question, {})

    def answers(self, question: Question) -> Answers:
        """Return what a calibration reads, with the things of one question as the sensitive."""
        return Answers(
            {int(level): IMPROVEMENTS[each] for level, each in self.to(IMPROVEMENT).items()},
            self.to(question),
            {int(crowd): level for crowd, level in self.to(ONE_OF).items()},
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


def made_replies(
    costs: Mapping[str, float], people: int, seed: int, trade_off: float = TRADE_OFF
) -> tuple[Reply, ...]:
    """Return made-up replies, as people would answer if λ were so; the paper's are not public.

    Whoever shows what they come to says that they are made up. The same seed gives the same.

    ``costs``: identifiability by one of LOCATIONS, I less I of nothing. Each person wants λI bits
    times a factor of their own, whose median is 1, and ticks what is nearest in ratio. UsageError
    for what was not asked about, and for a λ that is negative or not finite.
    """
    if not 0 <= trade_off < NEVER:
        raise UsageError(f"lambda cannot be {trade_off}", "give a number from 0")
    draw = np.random.default_rng(seed)
    factors = (trade_off * np.exp(SPREAD * draw.standard_normal(people))).tolist()
    wanted = dict(zip(LEVEL_NAMES, IMPROVEMENTS, strict=True))
    return tuple(
        Reply(
            {
                IMPROVEMENT: wanted,
                LOCATION: {thing: _level(factor * cost) for thing, cost in costs.items()},
            }
        )
        for factor in factors
    )


def _level(wanted: float) -> int:
    """Return the level of the improvement whose bits are nearest, on a logarithmic scale."""
    ratios = [abs(log2(max(wanted, _BITS[0]) / bits)) for bits in _BITS]
    return 1 + ratios.index(min(ratios))
