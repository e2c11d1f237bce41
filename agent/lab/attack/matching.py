"""Whether drawn columns are right for individual people: people of whom both sides are known."""

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from agent.build.matching import Sample, matched, read_survey
from agent.build.observe import observe, user_hashes
from agent.build.options import BuildOptions
from agent.build.tables import open_tables
from agent.errors import UsageError
from agent.lab import Progress, StudyOptions
from agent.lab.charts import Criterion, criteria_table, table
from agent.tradeoff.grouping import keys_of
from agent.tradeoff.tables import Codes, Floats, Indexes

DRAWN_TITLE = "Whether columns drawn from another survey fit each person"
WORK = ("work", "hours", "occupation", "industry", "employer", "student")
HOME = ("home", "household", "children", "youngest_child", "partner", "marital")
KEYS = ("age", "sex", "education", "income")  # by which work and home are drawn apart
SETS = 20  # of facts
FACTS = (2, 3, 3)  # of a set: keys, others of one's own, drawn ones
TWICE, ABSENT = 0.05, 0.02  # of the people, at most; the second beyond that of real people
REMOVED = 0.5  # at least, of what a shuffled drawing gets wrong
DRAWN = ("real people", "matched", "shuffled")
WRONG = ("more than twice as many alike as there are", "nobody alike")


class Both(NamedTuple):
    """People of one survey: ``keys``, ``own``, ``drawn``: integers, shape (N, columns)."""

    name: str
    keys: Codes
    own: Codes
    drawn: Codes


def errors_of(people: Both, seed: int) -> Floats:
    """How often the class of a person is wrong where one half draws from the other.

    float64, shape (3, 2): with the other half as it is, drawn by the keys, and drawn by nothing,
    the share of people of whose FACTS more than twice as many agree as should, and of those with
    whom nobody does; the mean over SETS sets of facts.
    """
    random = np.random.default_rng(seed)
    one, other = np.split(random.permutation(len(people.keys) // 2 * 2), 2)
    each, hashes = np.ones(len(one)), user_hashes(map(str, one.tolist()))
    agrees = [np.eye(card + 1, dtype=np.bool_) for card in people.keys.max(axis=0).tolist()]
    rows, donors = (Sample(people.keys[half], each) for half in (one, other))
    chosen, anybody = other[matched(rows, hashes, donors, agrees)], random.permutation(other)
    every = np.hstack(people[1:])
    places = np.split(np.arange(every.shape[1]), np.cumsum([each.shape[1] for each in people[1:3]]))
    halves = [every[other], every[one].copy(), every[one].copy()]
    for half, some in zip(halves[1:], (chosen, anybody), strict=True):
        half[:, places[2]] = people.drawn[some]
    wrong = np.zeros((len(halves), 2))
    for _ in range(SETS):
        sets = (random.permutation(some)[:many] for some, many in zip(places, FACTS, strict=True))
        facts = np.concatenate([*sets])
        true = every[one][:, facts]
        right = _classes(true, true)
        for line, half in enumerate(halves):
            size = _classes(half[:, facts], true)
            wrong[line] += np.mean(size > 2 * right), np.mean(size == 0)
    return wrong / SETS


def _classes(people: Codes, like: Codes) -> Indexes:
    """How many people agree with each row of others."""
    distinct, sizes = np.unique(keys_of(people), return_counts=True)
    keys = keys_of(like)
    place = np.searchsorted(distinct, keys).clip(max=len(distinct) - 1)
    return np.where(distinct[place] == keys, sizes[place], 0)


def both_sides(options: BuildOptions) -> Iterator[Both]:
    """People of each survey, half of whose columns are drawn, and the users' work and home.

    UsageError for tables that lack these columns.
    """
    bare = options.described(attributes={}, donors={}, kinds=None, topics=None)
    bare = replace(bare, min_users=1)  # what users asked does not matter
    seen = observe(open_tables(*options.files[:2], numbers=(bare.description.weights,)), bare)
    names = [each.name for each in seen.attributes]
    for name in (*KEYS, *WORK, *HOME):
        if name not in names:
            raise UsageError.unknown("column", name, names)
    keys, work, home = (
        seen.population.codes[:, [names.index(each) for each in some]]
        for some in (KEYS, WORK, HOME)
    )
    yield Both("work, beside home", keys, home, work)
    yield Both("home, beside work", keys, work, home)
    for name, note in options.description.donors.items():
        survey = read_survey(note)
        classes = []
        for key, of_survey in note.keys.items():  # values that agree with the same ones are alike
            agrees = survey.agrees(seen.attributes[names.index(key)])
            alike = np.unique(agrees, axis=1, return_inverse=True)[1].ravel()
            classes.append(alike[survey.codes[of_survey.column]])
        columns = np.stack([survey.codes[each] for each in note.columns], 1).astype(np.uint8)
        keys = np.stack(classes, axis=1).astype(np.uint8)
        yield Both(name, keys, columns[:, ::2], columns[:, 1::2])


def matching_of(
    options: BuildOptions, study: StudyOptions, progress: Progress
) -> tuple[str, list[Criterion]]:
    """Study drawn columns where both sides are known: a page in Markdown, and the criteria.

    Errors as `both_sides` and `observe`.
    """
    judged, errors = list[Criterion](), dict[str, Floats]()
    for people in both_sides(options):
        errors[people.name] = errors_of(people, study.seed)
        real, drawn, shuffled = errors[people.name]
        progress("drawing columns", len(errors) / (2 + len(options.description.donors)))
        removed = (shuffled[0] - drawn[0]) / max(shuffled[0] - real[0], 1e-9)
        more = drawn[1] - real[1]
        for what, wanted, share, met in (
            ("more than twice as many alike", f"at most {TWICE:.0%}", drawn[0], drawn[0] <= TWICE),
            ("nobody alike, above real people", f"at most {ABSENT:.0%}", more, more <= ABSENT),
            ("undone of what shuffling does", f"{REMOVED:.0%}", removed, removed >= REMOVED),
        ):
            result = f"{share:.1%}"
            judged.append(Criterion(f"{people.name}: {what}", wanted, result, bool(met), ""))
    worst = float(max(shuffled[0] for _, _, shuffled in errors.values()))
    wanted, result = f"above {TWICE:.0%} somewhere", f"{worst:.1%}"
    judged.append(Criterion("the shuffled control fails", wanted, result, worst > TWICE, ""))
    head = ("", *(f"{what}: {who}" for what in WRONG for who in DRAWN))
    rows = [(name, *(f"{each:.1%}" for each in wrong.T.flat)) for name, wrong in errors.items()]
    note = (
        f"Data: {options.description.source}, and the surveys drawn onto it. Half of the people "
        f"draw from the others; {sum(FACTS)} facts, {FACTS[-1]} of them drawn. Seed {study.seed}."
    )
    text = (
        "Shuffled, columns are drawn from anybody: this control has to fail. Real people are those "
        "of the other half, whose columns were not drawn: what is wrong with them is chance."
    )
    parts = f"# {DRAWN_TITLE}", note, table(head, rows), text, criteria_table(judged)
    return "\n\n".join(parts) + "\n", judged
