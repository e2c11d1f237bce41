"""A search log that is synthetic: nobody searched for any of it.

It has the size and the published shares of the log of Krause and Horvitz (2010, section 5), which
`synth_marginals.csv` holds, and which are counted in what was written. What they do not say is
invented, and this is all of it:

- People belong to one of seven walks of life, which lean to ages, genders, topics and hours
  (`synth_invented.toml`). Beyond that each has tastes of their own. Who does not say what they are
  is drawn by lot, whatever they are. Nobody lives outside the three regions that the paper names.
  Marital status and children are not known of anybody.
- All queries are of the 914 that at least 30 people asked, and all led to a page: the tail of
  rarer ones, and searches without a result, are not in the paper's figures and not here. So who
  asks once a day or more does so over few days, and who does not over many, up to 14 months
  (December 2005 to January 2007).
- Which queries somebody asks depends on their tastes, and how often they repeat each on chance.
  Numbers of queries per person and of people per query are heavy-tailed.
- Each person mostly wants one site with each of their queries. Which one depends on the query, and
  on their walk of life, age, gender, region, tastes and whether they ask from several places; when
  they pick anew, on the network, the hour and the kind of day too. The weights are random, and the
  same for all people. Gender and region say least.
- Pages after the one that was meant follow the person's tastes, not the query. Topics of a person
  are known from these pages alone, for no other pages are in the log. Every 25th site is in no
  directory.
- Who asks from several places has two, in two cities. Employed people and students use the network
  of an employer or a school in working hours.
- How much it depends on them was set with the paper's results in view: the utility of all
  attributes and of search statistics by its estimator (Figs. 6 and 11), and how far topics tell
  people apart. To find these again is no evidence.
"""

import csv
import tomllib
from collections.abc import Mapping, Sequence
from datetime import date
from importlib.resources import files
from inspect import cleandoc
from io import BytesIO
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import ibis
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from agent import __version__
from agent.build.log import open_log, source_of
from agent.build.log_schema import AGE_GROUPS, DOMAINS, GENDERS, REGIONS, TABLES, TOPICS
from agent.build.options import LogFiles
from agent.build.tables import QUERY, USER
from agent.errors import UsageError, reason
from agent.files import replace_bytes
from agent.lab import Progress

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
LONG = 30.0  # seconds; a shorter stay is no intent
SOURCE = "SOURCE.md"  # beside a written log: that it is synthetic, and what is assumed
_SOURCE = """# Synthetic

These tables were written by `reticent lab synth` (version {version}, seed {seed}: {people:,}
people, {queries:,} queries). They are made up, and prove nothing about people.

{assumed}
"""
_TYPES = {"text": pa.string(), "time": pa.timestamp("us"), "seconds": pa.float64()}


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
_PEOPLE, _ASKED, _CLICKS = (
    SimpleNamespace(**_INVENTED[part]) for part in ("people", "queries", "clicks")
)
CIRCLES: Mapping[str, Mapping[str, Any]] = _INVENTED["circles"]
_WEIGHTS = np.power(np.arange(max(TEXTS, SITES)) + float(_PEOPLE.flat), -_PEOPLE.fall)


def apportioned(weights: Floats | Sequence[float], total: int, least: int = 0) -> Ints:
    """Split ``total`` into whole numbers in proportion to ``weights`` > 0, ``least`` or more each.

    What is left by rounding goes to the largest remainders.
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
    spread: Floats = _CLICKS.speaks[name] * np.eye(values)[1 * codes]
    return spread


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


def people(rng: np.random.Generator) -> SyntheticPeople:
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


class SyntheticQueries(NamedTuple):
    """What is asked, a row per time, in order of person, and when and where.

    ``person``, ``text``: who asks which; ``asked``: int64 seconds since 1970, ascending per person;
    ``working``, ``workday``: whether that is in working hours, and on a workday; ``city``,
    ``zip``: codes; ``network``: a code in SUFFIXES, UNSAID for some; ``moves``: of each person,
    whether they ask from several places; ``target``: the site that was meant, topic by topic.
    """

    person: Ints
    text: Ints
    asked: Ints
    working: Flags
    workday: Flags
    city: Ints
    zip: Ints
    network: Ints
    moves: Flags
    target: Ints


def queries(crowd: SyntheticPeople, rng: np.random.Generator) -> SyntheticQueries:
    """Make QUERIES; MIN_USERS or more ask each text."""
    liked = crowd.interests.mean(axis=0)
    topic = np.repeat(np.arange(len(TOPICS)), apportioned(liked, TEXTS, _PEOPLE.least_texts))
    other = rng.choice(len(TOPICS), size=TEXTS, p=liked)
    meaning = _PEOPLE.focus * np.eye(len(TOPICS))[topic]
    meaning += (1 - _PEOPLE.focus) * np.eye(len(TOPICS))[other]
    person, text = _asked(crowd, meaning, rng)
    asked = _times(crowd, person, rng)
    hours, workday = asked % DAY // HOUR, (asked // DAY + 3) % 7 < SATURDAY  # since a Thursday
    working = (hours >= OPENS) & (hours < CLOSES)
    network = _networks(crowd, person, working & workday, rng)
    several = np.bincount(person, minlength=PEOPLE) > 1
    moves = top_share(rng.logistic(size=PEOPLE), PUBLISHED["several_cities"], several)
    abroad = top_share(rng.random(PEOPLE), PUBLISHED["several_countries"], moves)
    # Elsewhere is never the first query of somebody, and always the last.
    away = rng.random(QUERIES) < _ASKED.away
    away[np.diff(person, append=-1) != 0] = True
    away[np.diff(person, prepend=-1) != 0] = False
    away &= moves[person]
    country = np.array(_ASKED.countries)[crowd.region, rng.integers(2, size=PEOPLE)]
    there = country + np.where(abroad, rng.integers(1, len(COUNTRIES), PEOPLE), 0)
    home = rng.integers(CITIES, size=PEOPLE)
    second = (home + rng.integers(1, CITIES, size=PEOPLE)) % CITIES
    one, two = home * len(COUNTRIES) + country, second * len(COUNTRIES) + there % len(COUNTRIES)
    city = np.where(away, two[person], one[person])
    code = city * ZIPS + rng.integers(ZIPS, size=PEOPLE)[person]
    traits = np.hstack(
        [
            _trait("circle", crowd.circle, len(CIRCLES)),
            _trait("age", crowd.age, len(AGE_GROUPS)),
            _trait("region", crowd.region, len(REGIONS)),
            *(_trait("woman", crowd.woman, 2), _trait("moves", moves, 2)),
        ]
    )
    moments = np.hstack(
        [
            _trait("network", network - UNSAID, len(SUFFIXES) + 1),
            *(_trait("working", working, 2), _trait("workday", workday, 2)),
        ]
    )
    # The sites that answer each query are drawn without replacement, by popularity and meaning.
    fit = np.repeat(np.log(liked) + np.log(meaning + 1e-4), SITES, axis=1)
    fit += np.tile(np.log(_WEIGHTS[:SITES]), len(TOPICS))
    answers = np.argsort(-(fit + rng.gumbel(size=fit.shape)), axis=1)[:, :ANSWERS]
    ranks, target = np.log(np.arange(ANSWERS) + 1), np.empty(QUERIES, dtype=np.int64)
    returns = rng.random(QUERIES) < _CLICKS.returns
    for number, sites in enumerate(answers):
        rows = np.flatnonzero(text == number)
        who, which = np.unique(person[rows], return_inverse=True)
        leans = rng.normal(size=(traits.shape[1] + moments.shape[1], ANSWERS))
        likes = traits[who] @ leans[: traits.shape[1]]
        likes += _CLICKS.taste * crowd.taste[who][:, sites // SITES]
        usual = drawn(likes - _CLICKS.steep * ranks, rng)[which]
        anew = likes[which] + moments[rows] @ leans[traits.shape[1] :] - _CLICKS.flatter * ranks
        target[rows] = sites[np.where(returns[rows], usual, drawn(anew, rng))]
    return SyntheticQueries(
        *(person, text, asked, working, workday, city, code, network, moves, target)
    )


def _asked(crowd: SyntheticPeople, meaning: Floats, rng: np.random.Generator) -> tuple[Ints, Ints]:
    """Draw who asks what, and again: a person and a text per query, in order of person."""
    first = round(QUERIES * (1 - PUBLISHED["asked_before"]))
    busy = rng.normal(scale=_ASKED.diverse, size=PEOPLE)
    match = crowd.interests @ meaning.T
    scores = np.log(match) + busy[:, None] + rng.gumbel(size=match.shape)
    askers = apportioned(rng.permutation(_WEIGHTS[:TEXTS]), first, MIN_USERS)
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
    asked = (since + day) * DAY + hour * HOUR + rng.integers(HOUR, size=QUERIES)
    asked = asked[np.lexsort((asked, person))]
    # Each person's times are moved back until GAP lies between them.
    steps = np.arange(QUERIES) * GAP - person * (DAYS * DAY * 1_000)
    moved: Ints = np.maximum.accumulate(asked - steps)
    return moved + steps


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


def tables_of(seed: int) -> dict[str, pa.Table]:
    """Make the people, their log in order of person and time, and the sites."""
    rng = np.random.default_rng(seed)
    crowd = people(rng)
    asked = queries(crowd, rng)
    # After the page that was meant they look at sites of topics that they like.
    later = np.minimum(rng.poisson(_CLICKS.late, QUERIES), _CLICKS.most)
    row = np.repeat(np.arange(QUERIES), 1 + later)
    meant = np.diff(row, prepend=-1) != 0
    site = drawn(crowd.taste[asked.person[row]], rng) * SITES
    site += rng.choice(SITES, len(row), p=_WEIGHTS[:SITES] / _WEIGHTS[:SITES].sum())
    site = np.where(meant, asked.target[row], site)
    long = np.clip(rng.lognormal(_CLICKS.stay, _CLICKS.spread, len(row)), LONG, _CLICKS.longest)
    low, high = _CLICKS.short
    stays = meant | (rng.random(len(row)) < _CLICKS.stays)
    dwell = np.round(np.where(stays, long, rng.uniform(low, high, len(row))), 1)
    sums = dwell.cumsum() - dwell
    opened = np.ceil(_CLICKS.click + sums - sums[meant][row]).astype(np.int64)
    opened += np.arange(len(row)) - np.flatnonzero(meant)[row]
    # The directory has all but one of every 25 sites, by rank of clicks.
    order = np.argsort(-np.bincount(asked.target, minlength=SITES * len(TOPICS)), kind="stable")
    every, topic = (
        round(1 / (1 - PUBLISHED["topic_known"])),
        np.repeat(np.arange(len(TOPICS)), SITES),
    )
    topic[order[every // 2 :: every]] = UNSAID
    names = {
        "gender": GENDERS,
        "age_group": AGE_GROUPS,
        "region": REGIONS,
        "occupation": [*CIRCLES],
    }
    seconds = asked.asked[row] * 1_000_000
    hosts = [f"{name.replace('_', '-')}-{n:03d}.example" for name in TOPICS for n in range(SITES)]
    columns = {
        "people": {
            "user": _numbered(np.arange(PEOPLE), "person"),
            **{name: _coded(crowd.said[name], values) for name, values in names.items()},
        },
        "log": {
            "user": _numbered(asked.person[row], "person"),
            "asked": pa.array(seconds, pa.timestamp("us")),
            "query": _numbered(asked.text[row], "query"),
            "time": pa.array(seconds + opened * 1_000_000, pa.timestamp("us")),
            "host": _coded(site, hosts),
            "dwell": pa.array(dwell),
            "zip": _numbered(asked.zip[row], "zip"),
            "city": _numbered(asked.city[row], "city"),
            "country": _coded(asked.city[row] % len(COUNTRIES), COUNTRIES),
            "tld": _coded(asked.network[row], SUFFIXES),
        },
        "sites": {"host": pa.array(hosts), "topic": _coded(topic, TOPICS)},
    }
    empty = pa.nulls(PEOPLE, pa.string())  # what is not known of anybody
    schemas = {
        name: pa.schema([(each.name, _TYPES[each.kind]) for each in schema])
        for name, schema in TABLES.items()
    }
    return {
        name: pa.table([columns[name].get(each, empty) for each in schema.names], schema=schema)
        for name, schema in schemas.items()
    }


def _numbered(codes: Ints, noun: str) -> pa.Array:
    return _coded(codes, [f"{noun} {each:04d}" for each in range(codes.max() + 1)])


def _coded(codes: Ints, names: Sequence[str]) -> pa.Array:
    """Name each code, null for one below 0."""
    places = pa.array(codes, pa.int32(), mask=codes < 0)
    return pa.DictionaryArray.from_arrays(places, pa.array(names, pa.string())).cast(pa.string())


def write_log(folder: Path, seed: int, progress: Progress) -> LogFiles:
    """Write a synthetic log of the paper's size into a new or empty folder.

    Beside its three parquet files SOURCE.md says that they are synthetic. The same ``seed`` >= 0
    and version write the same bytes. ``progress`` is called with the share that is done, 0 to 1.
    Raises UsageError if the folder cannot be made, or holds anything.
    """
    paths = LogFiles(*(folder / f"{name}.parquet" for name in LogFiles._fields))
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if any(folder.iterdir()):
            hint = "choose a new one, or remove what is in it"
            raise UsageError("this folder is not empty", hint, str(folder))
    except OSError as error:
        hint = "choose a folder that can be written to"
        raise UsageError(reason(error), hint, str(folder)) from error
    progress("writing a synthetic log", 0.0)
    tables = tables_of(seed)
    assumed = cleandoc(__doc__ or "")
    text = _SOURCE.format(
        version=__version__, seed=seed, people=PEOPLE, queries=QUERIES, assumed=assumed
    )
    replace_bytes(text.encode(), folder / SOURCE)  # first, so that no table is without it
    for name, path in paths._asdict().items():
        data = BytesIO()
        pq.write_table(tables[name], data)
        replace_bytes(data.getvalue(), path)
    progress("writing a synthetic log", 1.0)
    return paths


class Measured(NamedTuple):
    """A log's sizes, and its share of each of MARGINALS, by name.

    ``people``, ``queries``, ``texts``: how many there are; ``min_users``: how many ask the text
    that the fewest ask.
    """

    people: int
    queries: int
    texts: int
    min_users: int
    shares: dict[str, float]


def measured(paths: LogFiles) -> Measured:
    """Count what a log has, by the code that builds a model; errors as `open_log`."""
    log = open_log(paths)
    source = source_of(log)
    counted = {"people": source.users, "queries": source.events}
    classified = log.sites.filter(log.sites.topic.notnull()).host
    shares = dict[str, float]()
    for each in MARGINALS:
        column = counted[each.table][each.column]
        holds = column.notnull() if each.value == "*" else column == each.value
        holds = column.isin(classified) if each.value == "classified" else holds
        shares[each.name] = _value(holds.cast("int8").fill_null(0).mean())
    texts = source.events.group_by(QUERY).aggregate(users=source.events[USER].nunique())
    return Measured(
        people=_value(source.users.count()),
        queries=_value(source.events.count()),
        texts=_value(texts.count()),
        min_users=_value(texts.users.min()),
        shares=shares,
    )


def _value(expression: ibis.Value) -> Any:  # noqa: ANN401  (a number)
    return expression.to_pyarrow().as_py()
