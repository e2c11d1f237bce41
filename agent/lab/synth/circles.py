"""The walks of life of a synthetic person: invented, but not at random.

Seven of them, which are also what people say as their occupation. Each has a usual age, leans to a
gender, likes some topics more than others, and is at a screen at its own hours.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple


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
