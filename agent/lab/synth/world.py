"""Who and what there is: people with their tastes, and sites and queries with their topics."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from agent.build.log.schema import GENDERS, TOPICS
from agent.lab.synth.marginals import (
    PUBLISHED,
    TEXTS,
    Arrays,
    Flags,
    Floats,
    Ints,
    apportioned,
    by_rank,
    top_share,
)

UNSAID = -1
TRUE_REGIONS = 3  # that somebody lives in; nobody is of the schema's "other" here
_TASTE = 0.9  # spread of what one person likes beyond their circle, in logits
# What most people like, in logits; adult sites are what their name says, no part of a circle.
_LIKED = {"arts": 0.8, "adult": -0.6, "regional": 0.6, "shopping": 0.5, "news": 0.2, "world": -0.6}
_BY_WOMEN = {"home": 0.5, "health": 0.3, "shopping": 0.4, "sports": -0.6, "computers": -0.4}
_BY_AGE = {"games": -0.4, "kids_and_teens": -0.5, "arts": -0.3, "health": 0.3, "news": 0.3}
# Of each topic eight subjects, in the order of TOPICS.
_SUBJECTS = """
guitar piano film theatre painting poetry concert animation
dating lingerie nightlife romance massage pinup adults flirting
invoice payroll stocks franchise banking mortgage startup insurance
laptop printer router database spreadsheet compiler modem backup
chess poker sudoku racing puzzle console arcade bingo
diabetes allergy vitamins backache asthma migraine pregnancy dentist
garden kitchen recipes carpet plumbing furniture curtains paint
homework cartoons lego dinosaurs braces prom skateboard crayons
election weather headlines traffic hurricane senate economy obituaries
camping fishing cruise hiking horses motorcycle sailing birds
dictionary atlas thesaurus translation university scholarship library maps
seattle toronto london chicago texas florida bavaria kyoto
physics astronomy genetics chemistry algebra geology robots climate
shoes jewelry perfume toys watches flowers handbags gifts
warranty recall ratings coupons lemonlaw refund complaints utilities
genealogy church wedding charity history folklore politics veterans
football baseball hockey tennis golf cycling olympics wrestling
spanish french german hindi chinese italian polish korean
"""
_ABOUT = ("", "reviews", "online", "near me", "for beginners", "prices", "jobs", "pictures")
_MORE = ("club", "help", "news", "guide")
SUBJECTS = dict(zip(TOPICS, (line.split() for line in _SUBJECTS.strip().splitlines()), strict=True))
SITES = 4_000
TRAITS = 29  # of people and moments, as `clicks` has them
_LEAST_SITES, _LEAST_TEXTS = 60, 30  # of a topic
_FOCUS = 0.75  # of a query's meaning that is its own topic; the rest is another
_TOO = 0.15  # of the sites have a second topic
_FEWEST, _MOST = 4, 24  # sites that answer a query
_FALL = 0.6  # of the popularity of queries and sites with their rank: a power law
_FLAT = 20  # ranks at the head that are about alike


class Circle(NamedTuple):
    """A walk of life.

    ``share``: of all people; ``age``: on a scale where one is the spread of a circle; ``woman``,
    ``office``: leaning, in logits, to be one, and to ask in working hours; ``connected``: asks
    from the network of an employer or a school then; ``likes``: topics, in logits.
    """

    name: str
    share: float
    age: float
    woman: float
    office: float
    connected: bool
    likes: Mapping[str, float]


CIRCLES = (
    Circle(
        "student", 0.16, age=-2.2, woman=0.0, office=-0.4, connected=True,
        likes={"games": 1.3, "kids_and_teens": 1.2, "reference": 0.9, "science": 0.5},
    ),
    Circle(
        "professional", 0.22, age=0.3, woman=-0.1, office=0.5, connected=True,
        likes={"business": 1.3, "news": 0.8, "regional": 0.3, "recreation": 0.2},
    ),
    Circle(
        "technical", 0.12, age=-0.3, woman=-1.3, office=0.3, connected=True,
        likes={"computers": 1.7, "science": 0.9, "games": 0.6, "adult": 0.3},
    ),
    Circle(
        "trade", 0.12, age=0.1, woman=-0.9, office=-0.7, connected=False,
        likes={"sports": 1.2, "recreation": 0.9, "shopping": 0.4, "adult": 0.5},
    ),
    Circle(
        "care", 0.10, age=0.4, woman=1.3, office=-0.2, connected=True,
        likes={"health": 1.5, "society": 0.7, "reference": 0.5, "kids_and_teens": 0.4},
    ),
    Circle(
        "home", 0.12, age=0.5, woman=1.6, office=0.4, connected=False,
        likes={"home": 1.6, "shopping": 1.1, "consumer_information": 0.6, "health": 0.4},
    ),
    Circle(
        "retired", 0.16, age=2.4, woman=0.0, office=0.6, connected=False,
        likes={"news": 0.8, "health": 0.9, "society": 0.8, "regional": 0.6, "world": 0.4},
    ),
)  # fmt: skip


OCCUPATIONS = tuple(each.name for each in CIRCLES)


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


def texts(topic: str, count: int) -> list[str]:
    """Return ``count`` different queries of a topic: up to 96, and no two topics share one."""
    pairs = [f"{subject} {about}" for about in (*_ABOUT, *_MORE) for subject in SUBJECTS[topic]]
    return [pair.strip() for pair in pairs[:count]]


@dataclass(frozen=True, slots=True, eq=False)
class World(Arrays):
    """Sites, queries and answers.

    ``texts``: of queries; ``asked``: their popularity, float64; ``meaning``: shares of topics,
    float64 (queries, topics); ``hosts``: names; ``topic``, ``second``: of hosts, codes of
    TOPICS, -1 for none; ``visited``: their popularity, float64. Query q is answered by
    ``answers[starts[q]:starts[q + 1]]``, hosts in order of how often they fit, and column for
    column ``leans`` says how much each of TRAITS speaks for them.
    """

    texts: np.ndarray
    asked: Floats
    meaning: Floats
    hosts: np.ndarray
    topic: Ints
    second: Ints
    visited: Floats
    answers: Ints
    starts: Ints
    leans: Floats

    def answer(self, text: int) -> tuple[Ints, Floats]:
        """Return the hosts that answer a query, and what speaks for each, (TRAITS, hosts)."""
        some = slice(self.starts[text], self.starts[text + 1])
        return self.answers[some], self.leans[:, some]

    def classified(self) -> Flags:
        """Return which hosts the directory has: all but one of every 25, by rank of clicks."""
        places = np.arange(len(self.answers)) - np.repeat(self.starts[:-1], np.diff(self.starts))
        clicks = np.repeat(self.asked, np.diff(self.starts)) / (1.0 + places)
        order = np.argsort(-np.bincount(self.answers, clicks, len(self.hosts)), kind="stable")
        every = round(1 / (1 - PUBLISHED["topic_known"]))
        known = np.ones(len(order), dtype=np.bool_)
        known[order[every // 2 :: every]] = False
        return known


def world(liked: Floats, generator: np.random.Generator) -> World:
    """Return a world for people who like topics in these shares, float64 (topics,)."""
    counts = apportioned(liked, SITES, _LEAST_SITES)
    topic = np.repeat(np.arange(len(TOPICS)), counts)
    visited = np.concatenate(
        [share * _power(count) for share, count in zip(liked, counts, strict=True)]
    )
    too = generator.random(SITES) < _TOO
    second = np.where(too, generator.integers(len(TOPICS), size=SITES), -1)
    own = apportioned(liked, TEXTS, _LEAST_TEXTS)
    subject = np.repeat(np.arange(len(TOPICS)), own)
    other = generator.choice(len(TOPICS), size=TEXTS, p=liked)
    meaning = np.zeros((TEXTS, len(TOPICS)))
    np.add.at(meaning, (np.arange(TEXTS), subject), _FOCUS)
    np.add.at(meaning, (np.arange(TEXTS), other), 1 - _FOCUS)
    answers = _answers(meaning, topic, visited, generator)
    return World(
        texts=np.array(
            [text for name, count in zip(TOPICS, own, strict=True) for text in texts(name, count)]
        ),
        asked=generator.permutation(_power(TEXTS)),
        meaning=meaning,
        hosts=np.array(
            [
                f"{TOPICS[code].replace('_', '-')}-{place:03d}.example"
                for code, count in enumerate(counts)
                for place in range(count)
            ]
        ),
        topic=topic,
        second=np.where(second == topic, -1, second),
        visited=visited,
        answers=np.concatenate(answers),
        starts=np.cumsum([0, *(len(each) for each in answers)]),
        leans=generator.normal(size=(TRAITS, sum(len(each) for each in answers))),
    )


def _answers(
    meaning: Floats, topic: Ints, visited: Floats, generator: np.random.Generator
) -> list[Ints]:
    """Return the hosts of each query, drawn without replacement by popularity and meaning."""
    sizes = generator.integers(_FEWEST, _MOST + 1, size=len(meaning))
    fit = np.log(visited) + np.log(meaning[:, topic] + 1e-4)
    order = np.argsort(-(fit + generator.gumbel(size=fit.shape)), axis=1)
    return [row[:size] for row, size in zip(order, sizes, strict=True)]


def _power(count: int) -> Floats:
    weights = np.power(np.arange(count) + float(_FLAT), -_FALL)
    shares: Floats = weights / weights.sum()
    return shares
