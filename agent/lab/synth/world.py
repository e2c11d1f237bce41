"""The paper's shares of its log, and who and what there is: people, sites and queries."""

import csv
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import date
from importlib.resources import files
from types import SimpleNamespace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from agent.build.log_schema import GENDERS, TOPICS

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]
Rng = np.random.Generator


PEOPLE, QUERIES, TEXTS = 9_523, 247_684, 914  # section 5
MIN_USERS = 30  # of a query
SOURCE = "SOURCE.md"  # beside a written log: that it is synthetic, and what is assumed
FIRST_DAY, LAST_DAY = date(2005, 12, 1), date(2007, 1, 31)  # 14 months; the days are ours
_HALVINGS, _WIDEST = 60, 40.0


class Marginal(NamedTuple):
    """One published share: ``name`` of what is counted, ``words`` for it, its ``place``.

    It is the share of a ``table``, people or queries, whose ``column`` has a ``value``: * for any,
    classified for one that the directory has.
    """

    name: str
    words: str
    share: float
    place: str
    table: str
    column: str
    value: str


_, *_ROWS = csv.reader((files("agent.lab.synth") / "marginals.csv").read_text("utf-8").splitlines())
MARGINALS = tuple(Marginal._make((*each[:2], float(each[2]), *each[3:])) for each in _ROWS)
PUBLISHED = {each.name: each.share for each in MARGINALS}
INVENTED = tomllib.loads((files("agent.lab.synth") / "invented.toml").read_text("utf-8"))


def invented(part: str) -> SimpleNamespace:
    """Return the numbers of a part of invented.toml, by their names."""
    return SimpleNamespace(**INVENTED[part])


class Arrays:
    """A value made of arrays, which nobody can write to once it is made."""

    __slots__ = ()

    def __post_init__(self) -> None:
        """Close every array."""
        for each in fields(self):  # type: ignore[arg-type]
            getattr(self, each.name).setflags(write=False)


def apportioned(weights: Floats | Sequence[float], total: int, least: int = 0) -> Ints:
    """Return whole numbers, float64 ``weights`` > 0 in proportion, that add up to ``total``.

    Each is ``least`` or more; what is left by rounding goes to the largest remainders.
    """
    shares = np.asarray(weights, dtype=np.float64)
    exact = shares / shares.sum() * (total - least * len(shares))
    whole = np.floor(exact).astype(np.int64)
    short = total - least * len(shares) - int(whole.sum())
    whole[np.argsort(whole - exact, kind="stable")[:short]] += 1
    found: Ints = whole + least
    return found


def by_rank(scores: Floats, shares: Sequence[float]) -> Ints:
    """Return a label per score: 0 for the lowest ones, so many as ``shares`` says, and so on."""
    counts = apportioned(shares, len(scores))
    labels = np.empty(len(scores), dtype=np.int64)
    labels[np.argsort(scores, kind="stable")] = np.repeat(np.arange(len(counts)), counts)
    return labels


def top_share(scores: Floats, share: float, among: Flags) -> Flags:
    """Return who has the highest scores of those ``among``, so many as are ``share`` of all."""
    order = np.argsort(np.where(among, -scores, np.inf), kind="stable")
    chosen = np.zeros(len(scores), dtype=np.bool_)
    chosen[order[: min(round(share * len(scores)), int(among.sum()))]] = True
    return chosen


def chances(logits: Floats, share: float) -> Floats:
    """Return probabilities whose mean is ``share``: the logistic of logits, all moved alike."""
    low, high = -_WIDEST, _WIDEST
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        if _logistic(logits + middle).mean() < share:
            low = middle
        else:
            high = middle
    return _logistic(logits + low)


def drawn(logits: Floats, rng: Rng) -> Ints:
    """Return one column per row of (rows, columns) logits, drawn by their softmax."""
    weights = np.exp(logits - logits.max(axis=1, keepdims=True))
    sums = weights.cumsum(axis=1)
    points = rng.random((len(logits), 1)) * sums[:, -1:]
    column: Ints = np.minimum((sums <= points).sum(axis=1), logits.shape[1] - 1)
    return column


def within(weights: Floats, owner: Ints, of: Ints, rng: Rng) -> Ints:
    """Return for each owner in ``of`` one of their own items, drawn by ``weights`` > 0.

    ``owner``: of each item, ascending; everybody in ``of`` has an item.
    """
    sums = np.concatenate([[0.0], weights.cumsum()])
    first, last = (np.searchsorted(owner, of, side) for side in ("left", "right"))
    points = sums[first] + rng.random(len(of)) * (sums[last] - sums[first])
    found: Ints = np.clip(np.searchsorted(sums, points, "right") - 1, first, last - 1)
    return found


def _logistic(logits: Floats) -> Floats:
    return 1 / (1 + np.exp(-logits))


UNSAID = -1
_SET = invented("world")
TRUE_REGIONS = 3  # that somebody lives in; nobody is of the schema's "other" here
SITES = 4_000
TRAITS = 29  # of people and moments, as `clicks` has them


class Circle(NamedTuple):
    """A walk of life, as invented.toml has it.

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


CIRCLES = tuple(Circle(name, **each) for name, each in INVENTED["circles"].items())
OCCUPATIONS = tuple(each.name for each in CIRCLES)


@dataclass(frozen=True, slots=True, eq=False)
class SyntheticPeople(Arrays):
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
        return np.asarray(weights / weights.sum(axis=1, keepdims=True))


def people(count: int, rng: Rng) -> SyntheticPeople:
    """Return ``count`` people, of whom as many volunteered what as the paper says."""
    circle = by_rank(rng.random(count), [each.share for each in CIRCLES])
    lean = np.array([each.woman for each in CIRCLES])[circle]
    years = np.array([each.age for each in CIRCLES])[circle] + rng.normal(size=count)
    woman, says_gender = _told(
        lean + rng.logistic(size=count), ("gender_male", "gender_female"), rng
    )
    age, says_age = _told(years, ("age_under_18", "age_18_to_55", "age_over_55"), rng)
    regions = ("region_us_canada", "region_europe", "region_asia")
    region, says_region = _told(rng.random(count), regions, rng)
    # Students say what they do as often as published, and others alike.
    student, keen = circle == 0, rng.random(count)
    others = PUBLISHED["occupation_given"] - PUBLISHED["student"]
    says = top_share(keen, PUBLISHED["student"], student) | top_share(keen, others, ~student)
    tastes = INVENTED["tastes"]
    liked, of_women, of_age = (_row(tastes[each]) for each in ("all", "women", "age"))
    own = rng.normal(scale=_SET.taste, size=(count, len(TOPICS)))
    shared = np.array([_row(each.likes) for each in CIRCLES])[circle]
    return SyntheticPeople(
        circle=circle,
        woman=woman,
        age=age,
        region=region,
        says_occupation=np.where(says, circle, UNSAID),
        says_gender=np.where(says_gender < 0, UNSAID, GENDERS.index("male") - says_gender),
        says_age=says_age,
        says_region=says_region,
        taste=own + liked + (shared + np.outer(woman, of_women) + np.outer(years, of_age)),
    )


def _told(scores: Floats, names: Sequence[str], rng: Rng) -> tuple[Ints, Ints]:
    """Return what is true, by rank of the scores, and what is said of it.

    ``names``: of the published shares of all people that say each; who says nothing is drawn,
    whatever the truth.
    """
    shares = [PUBLISHED[each] for each in names]
    silent = by_rank(rng.random(len(scores)), [1 - sum(shares), sum(shares)]) == 0
    truth = np.empty(len(scores), dtype=np.int64)
    for some in (silent, ~silent):
        truth[some] = by_rank(scores[some], shares)
    return truth, np.where(silent, UNSAID, truth)


def _row(likes: Mapping[str, float]) -> Floats:
    return np.array([likes.get(topic, 0.0) for topic in TOPICS])


def texts(topic: str, count: int) -> list[str]:
    """Return ``count`` different queries of a topic: up to 96, and no two topics share one."""
    subjects = INVENTED["subjects"][topic].split()
    pairs = [f"{subject} {about}" for about in (*_SET.about, *_SET.more) for subject in subjects]
    return [pair.strip() for pair in pairs[:count]]


@dataclass(frozen=True, slots=True, eq=False)
class SyntheticWorld(Arrays):
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


def world(liked: Floats, rng: Rng) -> SyntheticWorld:
    """Return a world for people who like topics in these shares, float64 (topics,)."""
    counts = apportioned(liked, SITES, _SET.least_sites)
    topic = np.repeat(np.arange(len(TOPICS)), counts)
    shares = [share * _power(count) for share, count in zip(liked, counts, strict=True)]
    visited = np.concatenate(shares)
    too = rng.random(SITES) < _SET.too
    second = np.where(too, rng.integers(len(TOPICS), size=SITES), -1)
    own = apportioned(liked, TEXTS, _SET.least_texts)
    subject = np.repeat(np.arange(len(TOPICS)), own)
    other = rng.choice(len(TOPICS), size=TEXTS, p=liked)
    meaning = np.zeros((TEXTS, len(TOPICS)))
    np.add.at(meaning, (np.arange(TEXTS), subject), _SET.focus)
    np.add.at(meaning, (np.arange(TEXTS), other), 1 - _SET.focus)
    # The hosts of each query are drawn without replacement, by popularity and meaning.
    sizes = rng.integers(_SET.fewest, _SET.most + 1, size=TEXTS)
    fit = np.log(visited) + np.log(meaning[:, topic] + 1e-4)
    order = np.argsort(-(fit + rng.gumbel(size=fit.shape)), axis=1)
    names = [each.replace("_", "-") for each in TOPICS]
    return SyntheticWorld(
        texts=np.concatenate([texts(*each) for each in zip(TOPICS, own, strict=True)]),
        asked=rng.permutation(_power(TEXTS)),
        meaning=meaning,
        hosts=np.array(
            [
                f"{names[code]}-{at:03d}.example"
                for code, many in enumerate(counts)
                for at in range(many)
            ]
        ),
        topic=topic,
        second=np.where(second == topic, -1, second),
        visited=visited,
        answers=order[np.arange(SITES) < sizes[:, np.newaxis]],
        starts=np.cumsum([0, *sizes]),
        leans=rng.normal(size=(TRAITS, sizes.sum())),
    )


def _power(count: int) -> Floats:
    weights = np.power(np.arange(count) + float(_SET.flat), -_SET.fall)
    return np.asarray(weights / weights.sum())
