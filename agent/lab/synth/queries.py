"""Who asks what, when and from where, and what they click (paper, section 5)."""

from dataclasses import dataclass
from datetime import date

import numpy as np

from agent.build.log_schema import AGE_GROUPS, DOMAINS
from agent.lab.synth.world import (
    CIRCLES,
    FIRST_DAY,
    LAST_DAY,
    MIN_USERS,
    PUBLISHED,
    QUERIES,
    TRUE_REGIONS,
    Arrays,
    Flags,
    Floats,
    Ints,
    Rng,
    SyntheticPeople,
    SyntheticWorld,
    apportioned,
    by_rank,
    chances,
    drawn,
    invented,
    top_share,
    within,
)

_SET = invented("queries")
GAP = 1_200  # seconds at least from one query of a person to their next
DAY, HOUR = 86_400, 3_600
SATURDAY = 5
OPENS, CLOSES = 7, 18
COUNTRIES = ("US", "CA", "GB", "DE", "FR", "IN", "JP")  # city c is in number c % 7
_BY_REGION = np.array([[0, 1], [2, 3], [5, 6]])  # by code of the region
_FIRST = np.array([0.88, 0.5, 0.6])  # how many of a region live in the first of its countries
CITIES, ZIPS = 1_400, 6  # of the world, a multiple of the countries; of a city
NOWHERE = -1
UNKNOWN = -1  # the look-up failed
SUFFIXES = (*DOMAINS, "us", "uk", "in")  # those after DOMAINS say nothing in Table 1
_FOREIGN = len(DOMAINS)  # and the code of a region


@dataclass(frozen=True, slots=True, eq=False)
class SyntheticQueries(Arrays):
    """What is asked in a block, a row per time, in order of person; any order within one.

    ``person``, ``text``: who asks which; ``pair``: which of the ``pair_person`` and ``pair_text``
    that is, the different queries of each person, also in order of person.
    """

    person: Ints
    text: Ints
    pair: Ints
    pair_person: Ints
    pair_text: Ints


def queries(interests: Floats, of: SyntheticWorld, rng: Rng) -> SyntheticQueries:
    """Return what people ask who like topics in these shares, float64 (people, topics).

    They are QUERIES, and MIN_USERS or more ask each text.
    """
    count, total = len(interests), QUERIES
    first = round(total * (1 - PUBLISHED["asked_before"]))
    diverse = rng.normal(scale=_SET.diverse, size=count)
    own = apportioned(np.exp(diverse), first, least=1)
    loyal = 0.5 * diverse + rng.normal(scale=_SET.loyal, size=count)
    again = apportioned(np.exp(loyal), total - first)
    pair_person, pair_text = np.nonzero(_chosen(interests, of, own, rng))
    habits = np.exp(rng.normal(scale=_SET.habit, size=first))
    repeated = within(habits, pair_person, np.repeat(np.arange(count), again), rng)
    pair = np.concatenate([np.arange(first), repeated])
    pair = pair[np.lexsort((rng.random(total), pair_person[pair]))]
    return SyntheticQueries(pair_person[pair], pair_text[pair], pair, pair_person, pair_text)


def _chosen(interests: Floats, of: SyntheticWorld, own: Ints, rng: Rng) -> Flags:
    """Return who ever asks what, (people, texts): ``own`` of them each, those that score most."""
    match = (interests @ of.meaning.T).astype(np.float32)
    scores = np.log(match / match.mean(axis=0) * of.asked.astype(np.float32))
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
            spare = np.flatnonzero(chosen[person] & (askers > _SET.plenty * MIN_USERS))
            if len(spare) and not chosen[person, text]:
                chosen[person, [spare[0], text]] = False, True
    return chosen


@dataclass(frozen=True, slots=True, eq=False)
class QueryMoments(Arrays):
    """When and where each query is asked.

    ``asked``: int64 seconds since 1970, ascending per person; ``working``, ``workday``: whether
    that is in working hours, and on a workday; ``zip``, ``city``: codes, NOWHERE where the look-up
    does not say; a zip code belongs to the city zip // ZIPS; ``suffix``: of the network, a code in
    SUFFIXES, UNKNOWN for some; ``moves``: of each person, whether they ask from several places.
    """

    asked: Ints
    working: Flags
    workday: Flags
    zip: Ints
    city: Ints
    suffix: Ints
    moves: Flags


def moments(crowd: SyntheticPeople, person: Ints, rng: Rng) -> QueryMoments:
    """Return when and where each query is asked; ``person``: who asks it, ascending."""
    asked = _times(crowd, person, rng)
    hours = asked % DAY // HOUR
    working = (hours >= OPENS) & (hours < CLOSES)
    workday = (asked // DAY + 3) % 7 < SATURDAY  # 1 January 1970 was a Thursday
    code, city, moves = _places(crowd.region, person, rng)
    suffix = _suffixes(crowd, person, working & workday, rng)
    return QueryMoments(asked, working, workday, code, city, suffix, moves)


def _times(crowd: SyntheticPeople, person: Ints, rng: Rng) -> Ints:
    """Return when each query is asked."""
    first, days = _windows(np.bincount(person, minlength=len(crowd.circle)), rng)
    day = _days(first, days, person, rng)
    workday = (day + FIRST_DAY.weekday()) % 7 < SATURDAY
    office = np.array([each.office for each in CIRCLES])[crowd.circle]
    own = office + rng.normal(scale=_SET.own_hours, size=len(office))
    chance = chances(own[person] * np.where(workday, 1.0, 0.3), PUBLISHED["working_hours"])
    working = rng.random(len(person)) < chance
    inside = rng.integers(OPENS * HOUR, CLOSES * HOUR, size=len(day))
    rest = np.array(_SET.rest)
    hour = (CLOSES + rng.choice(len(rest), size=len(day), p=rest / rest.sum())) % 24
    outside = hour * HOUR + rng.integers(HOUR, size=len(day))
    since = (FIRST_DAY - date(1970, 1, 1)).days
    asked = (since + day) * DAY + np.where(working, inside, outside)
    asked = asked[np.lexsort((asked, person))]
    # Each person's times are moved back until GAP lies between them.
    far = (LAST_DAY - FIRST_DAY).days * DAY * 1_000
    steps = np.arange(len(asked)) * GAP - person * far
    moved: Ints = np.maximum.accumulate(asked - steps)
    return moved + steps


def _windows(count: Ints, rng: Rng) -> tuple[Ints, Ints]:
    """Return the first day of each person, from 0, and over how many days they ask.

    Who asks daily takes no more days than queries, and others take more.
    """
    most = (LAST_DAY - FIRST_DAY).days  # the last day is left for what is late
    keen = np.log(count) + rng.logistic(scale=_SET.hurry / 2, size=len(count))
    daily = top_share(keen, PUBLISHED["daily"], count > _SET.least_days)
    low = np.where(daily, _SET.least_days, np.minimum(count + 3, most))
    high = np.where(daily, np.minimum(count - 1, most), most)
    days = np.where(count > 1, rng.integers(low, high + 1), 1)
    return rng.integers(most - days + 1), days


def _days(first: Ints, days: Ints, person: Ints, rng: Rng) -> Ints:
    """Return the day of each query: the first and the last of the window, and others within.

    As many of these others are on workdays as the paper says.
    """
    calendar = np.arange((LAST_DAY - FIRST_DAY).days + 1)
    work = (calendar + FIRST_DAY.weekday()) % 7 < SATURDAY
    logits = rng.normal(scale=_SET.own_days, size=len(first))[person]
    is_work = rng.random(len(person)) < chances(logits, PUBLISHED["workday"])
    start, end = first[person], (first + days)[person]
    day = start.copy()
    for kind in (True, False):
        of_kind = np.flatnonzero(work == kind)
        low, high = (np.searchsorted(of_kind, edge) for edge in (start, end))
        place = low + (rng.random(len(person)) * (high - low)).astype(np.int64)
        fits = (is_work == kind) & (high > low)
        day[fits] = of_kind[np.minimum(place, len(of_kind) - 1)[fits]]
    begins = np.flatnonzero(np.diff(person, prepend=-1))
    ends = np.flatnonzero(np.diff(person, append=-1))
    day[begins], day[ends] = start[begins], end[ends] - 1
    return day


def _places(region: Ints, person: Ints, rng: Rng) -> tuple[Ints, Ints, Flags]:
    """Return the zip code and the city of each query, and who asks from several places.

    These are as many as the paper says. ``region``: of each person.
    """
    count = np.bincount(person, minlength=len(region))
    mobile = rng.logistic(size=len(count)) + 0.5 * np.log(count)
    able = (by_rank(rng.random(len(count)), [_SET.unplaced, 1 - _SET.unplaced]) == 1) & (count > 1)
    far = top_share(mobile, PUBLISHED["several_cities"], able)  # in another city, at times
    vague = top_share(rng.random(len(count)), _SET.odd, far)
    near = top_share(mobile, PUBLISHED["several_zips"] - far.mean() + vague.mean(), able & ~far)
    abroad = top_share(rng.random(len(count)), PUBLISHED["several_countries"], far & ~vague)
    # A city in a country of each one's region, large ones more often.
    countries, ranks = len(COUNTRIES), CITIES // len(COUNTRIES)
    country = _BY_REGION[region, np.where(rng.random(len(region)) < _FIRST[region], 0, 1)]
    sizes = 1.0 / (np.arange(ranks) + _SET.flat)
    rank = rng.choice(ranks, size=len(region), p=sizes / sizes.sum())
    home = rank * countries + country
    # Another one for those who move: in another country, or else in the same.
    rank = (rank + rng.integers(1, ranks, size=len(home))) % ranks
    move = np.where(abroad, rng.integers(1, countries, size=len(home)), 0)
    other = np.where(far, rank * countries + (home + move) % countries, home)
    house = rng.integers(ZIPS, size=len(home))
    second = (house + 1) % ZIPS
    # Elsewhere is never the first query of somebody, and always the last.
    moves = (far | near)[person]
    away = moves & (rng.random(len(person)) < _SET.away)
    away = np.where(np.diff(person, append=-1) != 0, moves, away)
    away[np.diff(person, prepend=-1) != 0] = False
    city = np.where(away, other[person], home[person])
    code = city * ZIPS + np.where(away, second[person], house[person])
    silent = ~able[person] & (count[person] > 1)
    code = np.where(silent | (away & vague[person]), NOWHERE, code)
    return code, np.where(silent, NOWHERE, city), far | near


def _suffixes(crowd: SyntheticPeople, person: Ints, inside: Flags, rng: Rng) -> Ints:
    """Return the code of the network of each query; ``inside``: asked in hours for work.

    So many say nothing, by being unknown or another's, as the paper says.
    """
    people = len(crowd.circle)
    home, work, school = (
        rng.choice(len(each), size=people, p=each) for each in (_SET.home, _SET.work, _SET.school)
    )
    connected = np.array([each.connected for each in CIRCLES])[crowd.circle]
    there = np.where(crowd.circle == _SET.student, school, work)
    code = np.where(connected[person] & inside, there[person], home[person])
    known = code < _FOREIGN
    fails = chances(np.zeros(len(code)), 1 - PUBLISHED["domain_known"] / known.mean())
    found = np.where(known, code, _FOREIGN + crowd.region[person])
    return np.where(rng.random(len(code)) < fails, UNKNOWN, found)


_CLICKS = invented("clicks")
LONG = 30.0  # seconds; a shorter stay is no intent


def targets(
    crowd: SyntheticPeople,
    asked: SyntheticQueries,
    moment: QueryMoments,
    of: SyntheticWorld,
    rng: Rng,
) -> Ints:
    """Return the host of each query of a block, a code in ``of.hosts``."""
    first = np.zeros(len(asked.pair), dtype=np.bool_)
    first[np.unique(asked.pair, return_index=True)[1]] = True
    returns = rng.random(len(first)) < np.where(first, *_CLICKS.returns)
    person = _traits(
        ("circle", crowd.circle, len(CIRCLES)),
        ("age", crowd.age, len(AGE_GROUPS)),
        ("region", crowd.region, TRUE_REGIONS),
        ("woman", crowd.woman, 2),
        ("moves", moment.moves, 2),
    )
    now = _traits(
        ("network", moment.suffix - UNKNOWN, len(SUFFIXES) + 1),
        ("working", moment.working, 2),
        ("workday", moment.workday, 2),
    )
    found = np.empty(len(first), dtype=np.int64)
    place = np.empty(len(asked.pair_text), dtype=np.int64)  # of a pair, among those of its text
    every = zip(
        *(_groups(each, len(of.texts)) for each in (asked.text, asked.pair_text)), strict=True
    )
    for text, (rows, pairs) in enumerate(every):
        hosts, leans = of.answer(text)
        place[pairs] = np.arange(len(pairs))
        people = asked.pair_person[pairs]
        liked = person[people] @ leans[: person.shape[1]]
        liked += _CLICKS.taste * crowd.taste[people][:, of.topic[hosts]]
        ranks = np.log(np.arange(len(hosts)) + 1)
        wanted = drawn(liked - _CLICKS.steep * ranks, rng)
        which = place[asked.pair[rows]]
        anew = liked[which] + now[rows] @ leans[person.shape[1] :] - _CLICKS.flatter * ranks
        choice = np.where(returns[rows], wanted[which], drawn(anew, rng))
        found[rows] = hosts[choice]
    return found


def _traits(*traits: tuple[str, Ints | Flags, int]) -> Floats:
    """Return as much as each value of each trait can speak for a site, (rows, values).

    ``traits``: a name, codes, and how many values there are.
    """
    columns = [
        _CLICKS.speaks[name] * np.eye(many)[codes.astype(np.int64)] for name, codes, many in traits
    ]
    return np.concatenate(columns, axis=1)


def _groups(codes: Ints, count: int) -> list[Ints]:
    """Return where each code from 0 to ``count`` stands."""
    order = np.argsort(codes, kind="stable")
    return np.split(order, np.searchsorted(codes[order], np.arange(1, count)))


@dataclass(frozen=True, slots=True, eq=False)
class Pages(Arrays):
    """A row per page, in order of its query and of time.

    ``row``: the place of the query; ``host``: its code; ``after``: seconds since it was asked,
    int64; ``dwell``: seconds, float64.
    """

    row: Ints
    host: Ints
    after: Ints
    dwell: Floats


def pages(
    taste: Floats, asked: SyntheticQueries, target: Ints, of: SyntheticWorld, rng: Rng
) -> Pages:
    """Return the pages of a block's queries.

    Before the one that was meant they look at other answers, for less than LONG; after it at
    sites of topics that they like. ``taste``: as `SyntheticPeople` has it.
    """
    count = len(target)
    early = np.minimum(rng.poisson(_CLICKS.early, count), _CLICKS.most)
    late = np.minimum(rng.poisson(_CLICKS.late, count), _CLICKS.most)
    each = early + 1 + late
    row = np.repeat(np.arange(count), each)
    place = np.arange(len(row)) - np.repeat(np.cumsum(each) - each, each)
    before, meant = place < early[row], place == early[row]
    liked = drawn(taste[asked.person[row]], rng)
    host = within(of.visited, of.topic, liked, rng)
    # An answer to the query, the first ones more often.
    start, end = of.starts[asked.text[row]], of.starts[asked.text[row] + 1]
    answer = start + (rng.random(len(row)) ** 2 * (end - start)).astype(np.int64)
    host = np.where(before, of.answers[answer], host)
    host = np.where(meant, target[row], host)
    stays = meant | (~before & (rng.random(len(row)) < _CLICKS.stays))
    short = rng.uniform(_CLICKS.short[0], _CLICKS.short[1], len(row))
    long = np.clip(rng.lognormal(_CLICKS.stay, _CLICKS.spread, len(row)), LONG, _CLICKS.longest)
    dwell: Floats = np.round(np.where(stays, long, short), 1).astype(np.float64)
    opened = np.repeat(rng.uniform(_CLICKS.click[0], _CLICKS.click[1], count), each)
    sums = np.concatenate([[0.0], dwell.cumsum()])[:-1]
    opened += sums - sums[np.flatnonzero(place == 0)][row]
    return Pages(row, host, np.ceil(opened).astype(np.int64) + place, dwell)
