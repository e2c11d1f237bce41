"""The people of a synthetic log, its sites and queries; `agent.lab.synth` says what is invented."""

import csv
import tomllib
from collections.abc import Mapping, Sequence
from datetime import date
from importlib.resources import files
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from agent.build.log_schema import DOMAINS, TOPICS

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]
Rng = np.random.Generator

PEOPLE, QUERIES, TEXTS = 9_523, 247_684, 914  # section 5
MIN_USERS = 30  # of a query
FIRST_DAY, DAYS = date(2005, 12, 1), 427  # 14 months; the days are ours
DAY, HOUR, GAP = 86_400, 3_600, 1_200  # seconds; GAP between the queries of a person, at least
SATURDAY, OPENS, CLOSES = 5, 7, 18
COUNTRIES = ("US", "CA", "GB", "DE", "FR", "IN", "JP")  # city c is in number c % 7
CITIES, ZIPS = 1_400, 6  # of the world, a multiple of the countries; of a city
SITES, TRAITS = 4_000, 29  # TRAITS of people and moments speak for a site
SUFFIXES = (*DOMAINS, "us", "uk", "in")  # those after DOMAINS say nothing in Table 1
UNSAID = -1


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


_LAB = files("agent.lab")
_, *_ROWS = csv.reader((_LAB / "synth_marginals.csv").read_text("utf-8").splitlines())
MARGINALS = tuple(Marginal._make((*each[:2], float(each[2]), *each[3:])) for each in _ROWS)
PUBLISHED = {each.name: each.share for each in MARGINALS}
_INVENTED = tomllib.loads((_LAB / "synth_invented.toml").read_text("utf-8"))
_PEOPLE, _ASKED, CLICKS = (
    SimpleNamespace(**_INVENTED[part]) for part in ("people", "queries", "clicks")
)
CIRCLES: Mapping[str, Mapping[str, Any]] = _INVENTED["circles"]


def apportioned(weights: Floats | Sequence[float], total: int, least: int = 0) -> Ints:
    """Split ``total`` into whole numbers in proportion to float64 ``weights`` > 0.

    Each is ``least`` or more; what is left by rounding goes to the largest remainders.
    """
    shares = np.asarray(weights, dtype=np.float64)
    exact = shares / shares.sum() * (total - least * len(shares))
    whole: Ints = np.floor(exact).astype(np.int64)
    short = total - least * len(shares) - int(whole.sum())
    whole[np.argsort(whole - exact, kind="stable")[:short]] += 1
    return whole + least


def by_rank(scores: Floats, shares: Floats | Sequence[float]) -> Ints:
    """Label scores: 0 for the lowest ones, as many as ``shares`` says, then 1, and so on."""
    counts = apportioned(shares, len(scores))
    labels = np.empty(len(scores), dtype=np.int64)
    labels[np.argsort(scores, kind="stable")] = np.repeat(np.arange(len(counts)), counts)
    return labels


def top_share(scores: Floats, share: float, among: Flags | None = None) -> Flags:
    """Choose the highest scores of those ``among``, so many as are ``share`` of all."""
    eligible = scores if among is None else np.where(among, scores, -np.inf)
    chosen: Flags = (by_rank(eligible, (1 - share, share)) == 1) & (eligible > -np.inf)
    return chosen


def drawn(logits: Floats, rng: Rng) -> Ints:
    """Draw one column per row of (rows, columns) logits, by their softmax."""
    column: Ints = (logits + rng.gumbel(size=logits.shape)).argmax(axis=1)
    return column


def within(weights: Floats, owner: Ints, of: Ints, rng: Rng) -> Ints:
    """Draw for each owner in ``of`` one of their own items, by ``weights`` > 0.

    ``owner``: of each item, ascending; everybody in ``of`` has an item.
    """
    sums = np.concatenate([[0.0], weights.cumsum()])
    first, last = (np.searchsorted(owner, of, side) for side in ("left", "right"))
    points = sums[first] + rng.random(len(of)) * (sums[last] - sums[first])
    items: Ints = np.clip(np.searchsorted(sums, points, "right") - 1, first, last - 1)
    return items


def _of_circles(key: str) -> Floats:
    return np.array([each[key] for each in CIRCLES.values()])


def _liking(topics: Mapping[str, float]) -> Floats:
    return np.array([topics.get(topic, 0.0) for topic in TOPICS])


class SyntheticPeople(NamedTuple):
    """People, each array one entry per person.

    ``circle``, ``woman``, ``age``, ``region``: what is true, codes of CIRCLES, no or yes,
    AGE_GROUPS and REGIONS; ``said``: the codes of what is volunteered, by column of the table,
    UNSAID for nothing; ``taste``: (people, topics), float64, in logits.
    """

    circle: Ints
    woman: Ints
    age: Ints
    region: Ints
    said: dict[str, Ints]
    taste: Floats

    @property
    def interests(self) -> Floats:
        """What each person likes, as shares of 1 per topic, float64, (people, topics)."""
        weights = np.exp(self.taste)
        return np.asarray(weights / weights.sum(axis=1, keepdims=True))


def people(rng: Rng) -> SyntheticPeople:
    """Make the people, of whom as many volunteered what as the paper says."""
    circle = by_rank(rng.random(PEOPLE), _of_circles("share"))
    years = _of_circles("age")[circle] + rng.normal(size=PEOPLE)
    manly = rng.logistic(size=PEOPLE) - _of_circles("woman")[circle]
    scores = {"gender": manly, "age_group": years, "region": rng.random(PEOPLE)}
    truth, said = dict[str, Ints](), dict[str, Ints]()
    for column, score in scores.items():
        # Who says nothing is drawn, whatever the truth, which is then divided alike.
        shares = [each.share for each in MARGINALS if each.column == column]
        says = top_share(rng.random(PEOPLE), sum(shares))
        truth[column] = np.empty(PEOPLE, dtype=np.int64)
        for some in (says, ~says):
            truth[column][some] = by_rank(score[some], shares)
        said[column] = np.where(says, truth[column], UNSAID)
    # Students say what they do as often as published, and others alike.
    student, keen = circle == 0, rng.random(PEOPLE)
    others = PUBLISHED["occupation_given"] - PUBLISHED["student"]
    says = top_share(keen, PUBLISHED["student"], student) | top_share(keen, others, ~student)
    said["occupation"] = np.where(says, circle, UNSAID)
    woman = 1 - truth["gender"]
    liked, of_women, of_age = (_liking(each) for each in _INVENTED["tastes"].values())
    shared = np.array([_liking(each["likes"]) for each in CIRCLES.values()])[circle]
    own = rng.normal(scale=_PEOPLE.taste, size=(PEOPLE, len(TOPICS)))
    taste = own + liked + shared + np.outer(woman, of_women) + np.outer(years, of_age)
    return SyntheticPeople(circle, woman, truth["age_group"], truth["region"], said, taste)


class SyntheticWorld(NamedTuple):
    """Sites, queries and answers.

    ``texts``: of queries; ``meaning``: shares of topics, float64 (queries, topics); ``hosts``:
    names; ``topic``: of hosts, codes of TOPICS; ``visited``: their popularity, float64;
    ``answers``: of each query the hosts that answer it, in order of how often they fit; ``leans``:
    how much each of TRAITS speaks for these, (TRAITS, answers).
    """

    texts: list[str]
    meaning: Floats
    hosts: list[str]
    topic: Ints
    visited: Floats
    answers: list[Ints]
    leans: list[Floats]


def world_of(liked: Floats, rng: Rng) -> SyntheticWorld:
    """Make a world for people who like topics in these shares, float64 (topics,)."""
    counts = apportioned(liked, SITES, _PEOPLE.least_sites)
    topic = np.repeat(np.arange(len(TOPICS)), counts)
    shares = [share * _power(count) for share, count in zip(liked, counts, strict=True)]
    visited = np.concatenate(shares)
    own = apportioned(liked, TEXTS, _PEOPLE.least_texts)
    meaning = np.zeros((TEXTS, len(TOPICS)))
    meaning[np.arange(TEXTS), np.repeat(np.arange(len(TOPICS)), own)] = _PEOPLE.focus
    other = rng.choice(len(TOPICS), size=TEXTS, p=liked)
    np.add.at(meaning, (np.arange(TEXTS), other), 1 - _PEOPLE.focus)
    # The hosts of each query are drawn without replacement, by popularity and meaning.
    fit = np.log(visited) + np.log(meaning[:, topic] + 1e-4)
    order = np.argsort(-(fit + rng.gumbel(size=fit.shape)), axis=1)
    sizes = rng.integers(_PEOPLE.fewest, _PEOPLE.most + 1, size=TEXTS)
    texts = []
    for name, count in zip(TOPICS, own.tolist(), strict=True):
        subjects = _INVENTED["subjects"][name].split()
        texts += [f"{each} {more}".strip() for more in _PEOPLE.about for each in subjects][:count]
    return SyntheticWorld(
        texts=texts,
        meaning=meaning,
        hosts=[
            f"{name.replace('_', '-')}-{place:03d}.example"
            for name, many in zip(TOPICS, counts.tolist(), strict=True)
            for place in range(many)
        ],
        topic=topic,
        visited=visited,
        answers=[row[:size] for row, size in zip(order, sizes.tolist(), strict=True)],
        leans=[rng.normal(size=(TRAITS, size)) for size in sizes.tolist()],
    )


def _power(count: int) -> Floats:
    weights = np.power(np.arange(count) + float(_PEOPLE.flat), -_PEOPLE.fall)
    return np.asarray(weights / weights.sum())


class SyntheticQueries(NamedTuple):
    """What is asked, a row per time, in order of person, and when and where.

    ``person``, ``text``: who asks which; ``pair``: which of the ``pair_person`` and ``pair_text``
    that is, the different queries of each person, also in order of person. ``asked``: int64
    seconds since 1970, ascending per person; ``working``, ``workday``: whether that is in working
    hours, and on a workday; ``city``, ``zip``: codes; ``network``: a code in SUFFIXES, UNSAID for
    some; ``moves``: of each person, whether they ask from several places.
    """

    person: Ints
    text: Ints
    pair: Ints
    pair_person: Ints
    pair_text: Ints
    asked: Ints
    working: Flags
    workday: Flags
    city: Ints
    zip: Ints
    network: Ints
    moves: Flags


def queries(crowd: SyntheticPeople, world: SyntheticWorld, rng: Rng) -> SyntheticQueries:
    """Make QUERIES; MIN_USERS or more ask each text."""
    first = round(QUERIES * (1 - PUBLISHED["asked_before"]))
    diverse = rng.normal(scale=_ASKED.diverse, size=PEOPLE)
    loyal = 0.5 * diverse + rng.normal(scale=_ASKED.loyal, size=PEOPLE)
    own = apportioned(np.exp(diverse), first, least=1)
    again = apportioned(np.exp(loyal), QUERIES - first)
    pair_person, pair_text = np.nonzero(_chosen(crowd.interests, world, own, rng))
    habits = np.exp(rng.normal(scale=_ASKED.habit, size=first))
    repeated = within(habits, pair_person, np.repeat(np.arange(PEOPLE), again), rng)
    pair = np.concatenate([np.arange(first), repeated])
    pair = pair[np.lexsort((rng.random(QUERIES), pair_person[pair]))]
    person = pair_person[pair]
    asked = _times(crowd, person, rng)
    hours, workday = asked % DAY // HOUR, (asked // DAY + 3) % 7 < SATURDAY  # since a Thursday
    working = (hours >= OPENS) & (hours < CLOSES)
    network = _networks(crowd, person, working & workday, rng)
    count = np.bincount(person, minlength=PEOPLE)
    mobile = rng.logistic(size=PEOPLE) + 0.5 * np.log(count)
    moves = top_share(mobile, PUBLISHED["several_cities"], count > 1)
    # Elsewhere is never the first query of somebody, and always the last.
    away = rng.random(QUERIES) < _ASKED.away
    away[np.diff(person, append=-1) != 0] = True
    away[np.diff(person, prepend=-1) != 0] = False
    away &= moves[person]
    home, second = _cities(crowd.region, moves, rng)
    city = np.where(away, second[person], home[person])
    code = city * ZIPS + rng.integers(ZIPS, size=PEOPLE)[person]
    return SyntheticQueries(
        *(person, pair_text[pair], pair, pair_person, pair_text, asked, working, workday),
        *(city, code, network, moves),
    )


def _chosen(interests: Floats, world: SyntheticWorld, own: Ints, rng: Rng) -> Flags:
    """Choose who ever asks what, (people, texts): ``own`` of them each, those that score most."""
    match = (interests @ world.meaning.T).astype(np.float32)
    popular = rng.permutation(_power(TEXTS)).astype(np.float32)
    scores = np.log(match / match.mean(axis=0) * popular)
    scores += rng.gumbel(size=scores.shape).astype(np.float32)
    ranks = np.argsort(-scores, axis=1, kind="stable")
    chosen = np.zeros(scores.shape, dtype=np.bool_)
    np.put_along_axis(chosen, ranks, np.arange(scores.shape[1]) < own[:, np.newaxis], axis=1)
    # Where too few ask a text, the keenest do, each in place of a text that has plenty.
    for text in np.flatnonzero(chosen.sum(axis=0) < MIN_USERS).tolist():
        for person in np.argsort(-scores[:, text], kind="stable"):
            askers = chosen.sum(axis=0)
            if askers[text] >= MIN_USERS:
                break
            spare = np.flatnonzero(chosen[person] & (askers > _ASKED.plenty * MIN_USERS))
            if len(spare) and not chosen[person, text]:
                chosen[person, [spare[0], text]] = False, True
    return chosen


def _times(crowd: SyntheticPeople, person: Ints, rng: Rng) -> Ints:
    """Draw when each query is asked.

    Who asks daily takes no more days than queries, and others take more, from the first to the
    last; the last day of all is left for what is late.
    """
    count, most = np.bincount(person, minlength=PEOPLE), DAYS - 1
    keen = np.log(count) + rng.logistic(scale=_ASKED.hurry / 2, size=PEOPLE)
    daily = top_share(keen, PUBLISHED["daily"], count > _ASKED.least_days)
    low = np.where(daily, _ASKED.least_days, np.minimum(count + 3, most))
    high = np.where(daily, np.minimum(count - 1, most), most)
    days = np.where(count > 1, rng.integers(low, high + 1), 1)
    first = rng.integers(most - days + 1)
    start, end = first[person], (first + days)[person]
    day = rng.integers(start, end)
    weekday = (day + FIRST_DAY.weekday()) % 7
    monday = day + 7 - weekday
    shifts = (weekday >= SATURDAY) & (rng.random(QUERIES) < _ASKED.monday) & (monday < end)
    day = np.where(shifts, monday, day)
    is_first, is_last = (np.diff(person, **{side: -1}) != 0 for side in ("prepend", "append"))
    day = np.where(is_first, start, np.where(is_last, end - 1, day))
    office = _of_circles("office")[crowd.circle] + rng.normal(scale=_ASKED.own_hours, size=PEOPLE)
    working = top_share(office[person] + rng.logistic(size=QUERIES), PUBLISHED["working_hours"])
    rest = np.array(_ASKED.rest)
    hour = (CLOSES + rng.choice(len(rest), size=QUERIES, p=rest / rest.sum())) % 24
    hour = np.where(working, rng.integers(OPENS, CLOSES, size=QUERIES), hour)
    since = (FIRST_DAY - date(1970, 1, 1)).days
    asked = (since + day) * DAY + hour * HOUR + rng.integers(HOUR, size=QUERIES)
    asked = asked[np.lexsort((asked, person))]
    # Each person's times are moved back until GAP lies between them.
    steps = np.arange(QUERIES) * GAP - person * (DAYS * DAY * 1_000)
    moved: Ints = np.maximum.accumulate(asked - steps)
    return moved + steps


def _cities(region: Ints, moves: Flags, rng: Rng) -> tuple[Ints, Ints]:
    """Draw two cities of each person; the second is abroad for as many as the paper says."""
    countries, ranks = len(COUNTRIES), CITIES // len(COUNTRIES)
    is_first = rng.random(PEOPLE) < np.array(_ASKED.first_country)[region]
    country = np.array(_ASKED.countries)[region, np.where(is_first, 0, 1)]
    sizes = 1.0 / (np.arange(ranks) + _ASKED.flat)  # large cities more often
    rank = rng.choice(ranks, size=PEOPLE, p=sizes / sizes.sum())
    other = (rank + rng.integers(1, ranks, size=PEOPLE)) % ranks
    abroad = top_share(rng.random(PEOPLE), PUBLISHED["several_countries"], moves)
    elsewhere = (country + np.where(abroad, rng.integers(1, countries, size=PEOPLE), 0)) % countries
    return rank * countries + country, other * countries + elsewhere


def _networks(crowd: SyntheticPeople, person: Ints, inside: Flags, rng: Rng) -> Ints:
    """Draw the network of each query; ``inside``: asked in hours for work.

    So many say nothing, by being unknown or a country's, as the paper says.
    """
    home, work, school = (
        rng.choice(len(each), size=PEOPLE, p=each)
        for each in (_ASKED.home, _ASKED.work, _ASKED.school)
    )
    there = np.where(crowd.circle == 0, school, work)  # students come first
    connected = _of_circles("connected")[crowd.circle] > 0
    code = np.where(connected[person] & inside, there[person], home[person])
    is_known = code < len(DOMAINS)
    fails = rng.random(QUERIES) >= PUBLISHED["domain_known"] / is_known.mean()
    return np.where(fails, UNSAID, np.where(is_known, code, len(DOMAINS) + crowd.region[person]))
