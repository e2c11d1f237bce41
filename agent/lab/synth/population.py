"""People: what they are, what they like, and what of it they volunteered (paper, section 5.1)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from agent.build.log.schema import GENDERS, TOPICS
from agent.lab.synth.circles import CIRCLES
from agent.lab.synth.draws import Arrays, by_rank, top_share
from agent.lab.synth.marginals import PUBLISHED

if TYPE_CHECKING:
    from collections.abc import Mapping

    from agent.lab.synth.draws import Flags, Floats, Ints

UNSAID = -1
TRUE_REGIONS = 3  # that somebody lives in; nobody is of the schema's "other" here
_TASTE = 0.9  # spread of what one person likes beyond their circle, in logits
# What most people like, in logits; adult sites are what their name says, no part of a circle.
_LIKED = {"arts": 0.8, "adult": -0.6, "regional": 0.6, "shopping": 0.5, "news": 0.2, "world": -0.6}
_BY_WOMEN = {"home": 0.5, "health": 0.3, "shopping": 0.4, "sports": -0.6, "computers": -0.4}
_BY_AGE = {"games": -0.4, "kids_and_teens": -0.5, "arts": -0.3, "health": 0.3, "news": 0.3}


@dataclass(frozen=True, slots=True, eq=False)
class People(Arrays):
    """People of one block, each array one entry per person.

    ``circle``, ``woman``, ``age``, ``region``: what is true, codes of CIRCLES, no or yes,
    AGE_GROUPS and the first TRUE_REGIONS of REGIONS; ``says_*``: the same as volunteered, codes
    of GENDERS and so on, UNSAID for nothing; ``taste``: (people, topics), float64, in logits.
    """

    circle: Ints
    woman: Ints
    age: Ints
    region: Ints
    says_occupation: Ints
    says_gender: Ints
    says_age: Ints
    says_region: Ints
    taste: Floats

    @property
    def interests(self) -> Floats:
        """What each person likes, as shares of 1 per topic, float64, (people, topics)."""
        weights = np.exp(self.taste)
        shares: Floats = weights / weights.sum(axis=1, keepdims=True)
        return shares


def people(count: int, generator: np.random.Generator) -> People:
    """Return ``count`` people, of whom as many volunteered what as the paper says."""
    circle = by_rank(generator.random(count), [each.share for each in CIRCLES])
    lean = np.array([each.woman for each in CIRCLES])[circle]
    years = np.array([each.age for each in CIRCLES])[circle] + generator.normal(size=count)
    woman, says_gender = _told(
        lean + generator.logistic(size=count),
        [PUBLISHED["gender_male"], PUBLISHED["gender_female"]],
        generator,
    )
    age, says_age = _told(
        years,
        [PUBLISHED["age_under_18"], PUBLISHED["age_18_to_55"], PUBLISHED["age_over_55"]],
        generator,
    )
    region, says_region = _told(
        generator.random(count),
        [PUBLISHED[f"region_{each}"] for each in ("us_canada", "europe", "asia")],
        generator,
    )
    says_gender = np.where(says_gender < 0, UNSAID, GENDERS.index("male") - says_gender)
    return People(
        circle=circle,
        woman=woman,
        age=age,
        region=region,
        says_occupation=np.where(_says_occupation(circle, generator), circle, UNSAID),
        says_gender=says_gender,
        says_age=says_age,
        says_region=says_region,
        taste=_taste(circle, woman, years, generator),
    )


def _told(scores: Floats, shares: list[float], generator: np.random.Generator) -> tuple[Ints, Ints]:
    """Return what is true, by rank of the scores, and what is said of it.

    ``shares``: of all people, that say each; who says nothing is drawn, whatever the truth.
    """
    silent = by_rank(generator.random(len(scores)), [1 - sum(shares), sum(shares)]) == 0
    truth = np.empty(len(scores), dtype=np.int64)
    for some in (silent, ~silent):
        truth[some] = by_rank(scores[some], shares)
    return truth, np.where(silent, UNSAID, truth)


def _says_occupation(circle: Ints, generator: np.random.Generator) -> Flags:
    """Return who says what they do: students as many as published, and others alike."""
    student = circle == 0
    keen = generator.random(len(circle))
    others = PUBLISHED["occupation_given"] - PUBLISHED["student"]
    return top_share(keen, PUBLISHED["student"], student) | top_share(keen, others, ~student)


def _taste(circle: Ints, woman: Ints, years: Floats, generator: np.random.Generator) -> Floats:
    """Return the logits of each person's interests."""
    liked, of_women, of_age = (_row(each) for each in (_LIKED, _BY_WOMEN, _BY_AGE))
    of_circle = np.array([_row(each.likes) for each in CIRCLES])
    own = generator.normal(scale=_TASTE, size=(len(circle), len(TOPICS)))
    shared = of_circle[circle] + np.outer(woman, of_women) + np.outer(years, of_age)
    taste: Floats = own + liked + shared
    return taste


def _row(likes: Mapping[str, float]) -> Floats:
    return np.array([likes.get(topic, 0.0) for topic in TOPICS])
