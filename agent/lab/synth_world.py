"""The people of a synthetic log, and what they ask; `agent.lab.synth` says what is invented."""

import csv
import tomllib
from collections.abc import Mapping, Sequence
from datetime import date
from importlib.resources import files
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from agent.build.log_schema import AGE_GROUPS, DOMAINS, REGIONS, TOPICS

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]

PEOPLE, QUERIES, TEXTS = 9_523, 247_684, 914  # section 5
MIN_USERS = 30  # of a query
FIRST_DAY, DAYS = date(2005, 12, 1), 427  # 14 months; the days are ours
DAY, HOUR, GAP = 86_400, 3_600, 1_200  # seconds; GAP between the queries of a person, at least
SATURDAY, OPENS, CLOSES = 5, 7, 18
COUNTRIES = ("US", "CA", "GB", "DE", "FR", "IN", "JP")  # city c is in number c % 7
CITIES, ZIPS = 200, 6  # of a country; of a city
SITES, ANSWERS = 220, 14  # of a topic; to a query
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
WEIGHTS = np.power(np.arange(max(TEXTS, SITES)) + float(_PEOPLE.flat), -_PEOPLE.fall)


def by_rank(scores: Floats, shares: Floats | Sequence[float]) -> Ints:
    """Label scores: 0 for the lowest ones, as many as ``shares`` says, then 1, and so on."""
    ends = np.cumsum(shares) / np.sum(shares)
    ranks = np.argsort(np.argsort(scores, kind="stable"))
    return np.searchsorted(ends[:-1], (ranks + 0.5) / len(scores)).astype(np.int64)


def top_share(scores: Floats, share: float, among: Flags | None = None) -> Flags:
    """Choose the highest scores of those ``among``, so many as are ``share`` of all."""
    eligible = scores if among is None else np.where(among, scores, -np.inf)
    chosen: Flags = (by_rank(eligible, (1 - share, share)) == 1) & (eligible > -np.inf)
    return chosen


def drawn(logits: Floats, rng: np.random.Generator) -> Ints:
    """Draw one column per row of (rows, columns) logits, by their softmax."""
    column: Ints = (logits + rng.gumbel(size=logits.shape)).argmax(axis=1)
    return column


def _of_circles(key: str) -> Floats:
    return np.array([each[key] for each in CIRCLES.values()])


def _liking(topics: Mapping[str, float]) -> Floats:
    return np.array([topics.get(topic, 0.0) for topic in TOPICS])


def _trait(name: str, codes: Ints | Flags, values: int) -> Floats:
    """Spread a trait out: how much each of its values can speak for a site, (rows, values)."""
    spread: Floats = CLICKS.speaks[name] * np.eye(values)[1 * codes]
    return spread


class SyntheticPeople(NamedTuple):
    """People, each array one entry per person.

    ``circle``, ``woman``, ``age``, ``region``: what is true, codes of CIRCLES, no or yes,
    AGE_GROUPS and REGIONS; ``volunteered``: the codes of what is volunteered, by column of the
    table, UNSAID for nothing; ``taste``: (people, topics), float64, in logits.
    """

    circle: Ints
    woman: Ints
    age: Ints
    region: Ints
    volunteered: dict[str, Ints]
    taste: Floats

    @property
    def interests(self) -> Floats:
        """What each person likes, as shares of 1 per topic, float64, (people, topics)."""
        weights = np.exp(self.taste)
        return np.asarray(weights / weights.sum(axis=1, keepdims=True))


def people(rng: np.random.Generator) -> SyntheticPeople:
    """Make the people, of whom as many volunteered what as the paper says."""
    circle = by_rank(rng.random(PEOPLE), _of_circles("share"))
    years = _of_circles("age")[circle] + rng.normal(size=PEOPLE)
    manly = rng.logistic(size=PEOPLE) - _of_circles("woman")[circle]
    scores = {"gender": manly, "age_group": years, "region": rng.random(PEOPLE)}
    truth, volunteered = dict[str, Ints](), dict[str, Ints]()
    for column, score in scores.items():
        # Who says nothing is drawn, whatever the truth, which is then divided alike.
        shares = [each.share for each in MARGINALS if each.column == column]
        says = top_share(rng.random(PEOPLE), sum(shares))
        truth[column] = np.empty(PEOPLE, dtype=np.int64)
        for some in (says, ~says):
            truth[column][some] = by_rank(score[some], shares)
        volunteered[column] = np.where(says, truth[column], UNSAID)
    # Students say what they do as often as published, and others alike.
    student, keen = circle == 0, rng.random(PEOPLE)
    others = PUBLISHED["occupation_given"] - PUBLISHED["student"]
    says = top_share(keen, PUBLISHED["student"], student) | top_share(keen, others, ~student)
    volunteered["occupation"] = np.where(says, circle, UNSAID)
    woman = 1 - truth["gender"]
    liked, of_women, of_age = (_liking(each) for each in _INVENTED["tastes"].values())
    shared = np.array([_liking(each["likes"]) for each in CIRCLES.values()])[circle]
    own = rng.normal(scale=_PEOPLE.taste, size=(PEOPLE, len(TOPICS)))
    taste = own + liked + shared + np.outer(woman, of_women) + np.outer(years, of_age)
    return SyntheticPeople(circle, woman, truth["age_group"], truth["region"], volunteered, taste)


class SyntheticQueries(NamedTuple):
    """What is asked, a row per time, in order of person, and when and where.

    ``person``, ``text``: who asks which; ``sent_at``: int64 seconds since 1970, ascending per
    person; ``city``, ``zip``: codes; ``network``: a code in SUFFIXES, UNSAID for some; ``target``:
    the site that was meant, topic by topic.
    """

    person: Ints
    text: Ints
    sent_at: Ints
    city: Ints
    zip: Ints
    network: Ints
    target: Ints


def queries(crowd: SyntheticPeople, rng: np.random.Generator) -> SyntheticQueries:
    """Make QUERIES; MIN_USERS or more ask each text."""
    liked = crowd.interests.mean(axis=0)
    topic, other = (rng.choice(len(TOPICS), size=TEXTS, p=liked) for _ in range(2))
    meaning = _PEOPLE.focus * np.eye(len(TOPICS))[topic]
    meaning += (1 - _PEOPLE.focus) * np.eye(len(TOPICS))[other]
    person, text = _asked(crowd, meaning, rng)
    sent_at = _times(crowd, person, rng)
    hours, workday = sent_at % DAY // HOUR, (sent_at // DAY + 3) % 7 < SATURDAY  # since a Thursday
    working = (hours >= OPENS) & (hours < CLOSES)
    network = _networks(crowd, person, working & workday, rng)
    several = np.bincount(person, minlength=PEOPLE) > 1
    moves = top_share(rng.logistic(size=PEOPLE), PUBLISHED["several_cities"], several)
    city = _cities(crowd, moves, person, rng)
    of_people = np.hstack(
        [
            _trait("circle", crowd.circle, len(CIRCLES)),
            _trait("age", crowd.age, len(AGE_GROUPS)),
            _trait("region", crowd.region, len(REGIONS)),
            *(_trait("woman", crowd.woman, 2), _trait("moves", moves, 2)),
        ]
    )
    of_moments = np.hstack(
        [
            _trait("network", network - UNSAID, len(SUFFIXES) + 1),
            *(_trait("working", working, 2), _trait("workday", workday, 2)),
        ]
    )
    # The sites that answer each query are drawn without replacement, by popularity and meaning.
    fit = np.repeat(np.log(liked) + np.log(meaning + 1e-4), SITES, axis=1)
    fit += np.tile(np.log(WEIGHTS[:SITES]), len(TOPICS))
    answers = np.argsort(-(fit + rng.gumbel(size=fit.shape)), axis=1)[:, :ANSWERS]
    ranks, target = np.log(np.arange(ANSWERS) + 1), np.empty(QUERIES, dtype=np.int64)
    returns = rng.random(QUERIES) < CLICKS.returns
    for number, sites in enumerate(answers):
        rows = np.flatnonzero(text == number)
        who, which = np.unique(person[rows], return_inverse=True)
        leans, more = (
            rng.normal(size=(each.shape[1], ANSWERS)) for each in (of_people, of_moments)
        )
        likes = of_people[who] @ leans + CLICKS.taste * crowd.taste[who][:, sites // SITES]
        usual = drawn(likes - CLICKS.steep * ranks, rng)[which]
        anew = drawn(likes[which] + of_moments[rows] @ more - CLICKS.flatter * ranks, rng)
        target[rows] = sites[np.where(returns[rows], usual, anew)]
    code = city * ZIPS + rng.integers(ZIPS, size=PEOPLE)[person]
    return SyntheticQueries(person, text, sent_at, city, code, network, target)


def _asked(crowd: SyntheticPeople, meaning: Floats, rng: np.random.Generator) -> tuple[Ints, Ints]:
    """Draw who asks what, and again: a person and a text per query, in order of person."""
    first = round(QUERIES * (1 - PUBLISHED["asked_before"]))
    busy = rng.normal(scale=_ASKED.diverse, size=PEOPLE)
    match = crowd.interests @ meaning.T
    scores = np.log(match) + busy[:, None] + rng.gumbel(size=match.shape)
    popular = rng.permutation(WEIGHTS[:TEXTS]) / WEIGHTS[:TEXTS].sum()
    askers = MIN_USERS + popular * (first - MIN_USERS * TEXTS)
    ranks = np.argsort(np.argsort(-scores, axis=0, kind="stable"), axis=0)
    asks = ranks < askers
    asks[~asks.any(axis=1), scores[~asks.any(axis=1)].argmax(axis=1)] = True
    person, text = np.nonzero(asks)
    loyal = 0.5 * busy + rng.normal(scale=_ASKED.loyal, size=PEOPLE)
    weights = np.exp(loyal[person] + rng.normal(scale=_ASKED.habit, size=len(person)))
    again = rng.choice(len(person), QUERIES - len(person), p=weights / weights.sum())
    pair = np.concatenate([np.arange(len(person)), again])
    pair = pair[np.lexsort((rng.random(QUERIES), person[pair]))]
    return person[pair], text[pair]


def _times(crowd: SyntheticPeople, person: Ints, rng: np.random.Generator) -> Ints:
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
    evening = (CLOSES + rng.integers(24 - (CLOSES - OPENS), size=QUERIES)) % 24
    hour = np.where(working, rng.integers(OPENS, CLOSES, size=QUERIES), evening)
    since = (FIRST_DAY - date(1970, 1, 1)).days
    sent_at = (since + day) * DAY + hour * HOUR + rng.integers(HOUR, size=QUERIES)
    sent_at = sent_at[np.lexsort((sent_at, person))]
    # Each person's times are moved back until GAP lies between them.
    steps = np.arange(QUERIES) * GAP - person * (DAYS * DAY * 1_000)
    moved: Ints = np.maximum.accumulate(sent_at - steps)
    return moved + steps


def _cities(crowd: SyntheticPeople, moves: Flags, person: Ints, rng: np.random.Generator) -> Ints:
    """Draw the city of each query: of who moves, from two, for some of them in two countries."""
    abroad = top_share(rng.random(PEOPLE), PUBLISHED["several_countries"], moves)
    country = np.array(_ASKED.countries)[crowd.region, rng.integers(2, size=PEOPLE)]
    there = country + np.where(abroad, rng.integers(1, len(COUNTRIES), PEOPLE), 0)
    home = rng.integers(CITIES, size=PEOPLE)
    second = (home + rng.integers(1, CITIES, size=PEOPLE)) % CITIES
    one, two = home * len(COUNTRIES) + country, second * len(COUNTRIES) + there % len(COUNTRIES)
    # Elsewhere is never the first query of somebody, and always the last.
    away = rng.random(QUERIES) < _ASKED.away
    away[np.diff(person, append=-1) != 0] = True
    away[np.diff(person, prepend=-1) != 0] = False
    city: Ints = np.where(away & moves[person], two[person], one[person])
    return city


def _networks(
    crowd: SyntheticPeople, person: Ints, inside: Flags, rng: np.random.Generator
) -> Ints:
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
