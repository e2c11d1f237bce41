"""The questions of the paper's survey (6, Figs. 1-5): what was asked, of what, in which words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

from agent.build.log.schema import BY_LABEL
from agent.errors import UsageError

Scale = Literal["level", "yes", "improvement"]


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


# Which attributes of Table 1 were asked about is only drawn: an answer may be about any of them.
_LABELS = tuple(BY_LABEL)
LOCATIONS = ("region", "country", "state", "city", "zip code", "address")  # coarsest first
AGES = ("20 years", "10 years", "5 years", "1 year", "birth date")
STORING = ("topics", "1 year", "3 years", "indefinitely")
CROWDS = ("1", "10", "100", "1000", "10000", "100000", "1000000")
LEVELS = ("1", "2", "3", "4", "5")
# Table 1 has no label for four of these: zip code, all searches, country, e-mail address.
STORED = ("DGDR", "DAGE", "DOCC", "DZIP", "ASEA", "DCRY", "TNWS", "DEML")

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
    LEVELS,
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
