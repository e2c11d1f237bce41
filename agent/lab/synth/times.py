"""When people ask: 14 months, workdays and working hours as in the paper (section 5.2)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING

import numpy as np

from agent.lab.synth.circles import CIRCLES
from agent.lab.synth.draws import Arrays, chances, top_share
from agent.lab.synth.marginals import FIRST_DAY, LAST_DAY, PUBLISHED

if TYPE_CHECKING:
    from agent.lab.synth.draws import Flags, Floats, Ints
    from agent.lab.synth.population import People

GAP = 1_200  # seconds at least from one query of a person to their next
DAY, HOUR = 86_400, 3_600
SATURDAY = 5
OPENS, CLOSES = 7, 18
# How many ask in the hours that are not for work, from 18:00 on.
_REST = (3.0, 4.0, 5.0, 5.0, 4.0, 3.0, 1.5, 0.7, 0.4, 0.3, 0.3, 0.5, 1.0)
_LEAST_DAYS = 9  # from first to last of who is called daily: over a week, whatever the hours
_HURRY = 1.5  # spread of who asks daily among those who ask as often, in logits
_OWN_HOURS, _OWN_DAYS = 1.0, 0.5  # spread of people's habits, in logits


@dataclass(frozen=True, slots=True, eq=False)
class Times(Arrays):
    """When each query is asked, and whether that is in working hours, and on a workday.

    ``asked``: int64 seconds since 1970, ascending per person.
    """

    asked: Ints
    working: Flags
    workday: Flags


def times(crowd: People, person: Ints, generator: np.random.Generator) -> Times:
    """Return when each query is asked; ``person``: who asks it, ascending."""
    count = np.bincount(person, minlength=len(crowd.circle))
    first, days = _windows(count, generator)
    day = _days(first, days, person, generator)
    working = _in_hours(crowd, person, day, generator)
    inside = generator.integers(OPENS * HOUR, CLOSES * HOUR, size=len(day))
    rest = np.array(_REST)
    hour = (CLOSES + generator.choice(len(rest), size=len(day), p=rest / rest.sum())) % 24
    outside = hour * HOUR + generator.integers(HOUR, size=len(day))
    since = (FIRST_DAY - date(1970, 1, 1)).days
    asked = (since + day) * DAY + np.where(working, inside, outside)
    asked = _apart(asked[np.lexsort((asked, person))], person)
    hours = asked % DAY // HOUR
    weekday = (asked // DAY + 3) % 7  # 1 January 1970 was a Thursday
    return Times(asked, (hours >= OPENS) & (hours < CLOSES), weekday < SATURDAY)


def _windows(count: Ints, generator: np.random.Generator) -> tuple[Ints, Ints]:
    """Return the first day of each person, from 0, and over how many days they ask.

    Who asks daily takes no more days than queries, and others take more.
    """
    most = (LAST_DAY - FIRST_DAY).days  # the last day is left for what is late
    keen = np.log(count) + generator.logistic(scale=_HURRY / 2, size=len(count))
    daily = top_share(keen, PUBLISHED["daily"], count > _LEAST_DAYS)
    low = np.where(daily, _LEAST_DAYS, np.minimum(count + 3, most))
    high = np.where(daily, np.minimum(count - 1, most), most)
    days = np.where(count > 1, generator.integers(low, high + 1), 1)
    return generator.integers(most - days + 1), days


def _days(first: Ints, days: Ints, person: Ints, generator: np.random.Generator) -> Ints:
    """Return the day of each query: the first and the last of the window, and others within.

    As many of these others are on workdays as the paper says.
    """
    calendar = np.arange((LAST_DAY - FIRST_DAY).days + 1)
    work = (calendar + FIRST_DAY.weekday()) % 7 < SATURDAY
    logits = generator.normal(scale=_OWN_DAYS, size=len(first))[person]
    is_work = generator.random(len(person)) < chances(logits, PUBLISHED["workday"])
    start, end = first[person], (first + days)[person]
    day = start.copy()
    for kind in (True, False):
        of_kind = np.flatnonzero(work == kind)
        low, high = (np.searchsorted(of_kind, edge) for edge in (start, end))
        place = low + (generator.random(len(person)) * (high - low)).astype(np.int64)
        fits = (is_work == kind) & (high > low)
        day[fits] = of_kind[np.minimum(place, len(of_kind) - 1)[fits]]
    begins = np.flatnonzero(np.diff(person, prepend=-1))
    ends = np.flatnonzero(np.diff(person, append=-1))
    day[begins], day[ends] = start[begins], end[ends] - 1
    return day


def _in_hours(crowd: People, person: Ints, day: Ints, generator: np.random.Generator) -> Flags:
    """Return which queries are asked in working hours, as many as the paper says."""
    workday = (day + FIRST_DAY.weekday()) % 7 < SATURDAY
    office = np.array([each.office for each in CIRCLES])[crowd.circle]
    own = office + generator.normal(scale=_OWN_HOURS, size=len(office))
    chance: Floats = chances(own[person] * np.where(workday, 1.0, 0.3), PUBLISHED["working_hours"])
    return generator.random(len(person)) < chance


def _apart(asked: Ints, person: Ints) -> Ints:
    """Return the times of each person, ascending, moved back until GAP lies between them."""
    far = (LAST_DAY - FIRST_DAY).days * DAY * 1_000
    steps = np.arange(len(asked)) * GAP
    moved = np.maximum.accumulate(asked - steps + person * far)
    return moved + steps - person * far
