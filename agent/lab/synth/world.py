"""What the web of a synthetic log holds: sites, queries, and which sites answer which query.

It is the same for everybody and for every block of people; it depends on the seed alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from agent.build.log.schema import TOPICS
from agent.lab.synth.draws import Arrays, apportioned
from agent.lab.synth.marginals import PUBLISHED, TEXTS
from agent.lab.synth.words import texts

if TYPE_CHECKING:
    from agent.lab.synth.draws import Flags, Floats, Ints

SITES = 4_000
TRAITS = 29  # of people and moments, as `clicks` has them
_LEAST_SITES, _LEAST_TEXTS = 60, 30  # of a topic
_FOCUS = 0.75  # of a query's meaning that is its own topic; the rest is another
_TOO = 0.15  # of the sites have a second topic
_FEWEST, _MOST = 4, 24  # sites that answer a query
_FALL = 0.6  # of the popularity of queries and sites with their rank: a power law
_FLAT = 20  # ranks at the head that are about alike


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
