"""Facts that are sent against results that are re-ranked on the user's machine (paper 9.2)."""

from collections.abc import Mapping, Sequence

import numpy as np

from agent.decision.rerank import PULL, Choices
from agent.lab import TEXTS, Progress, StudyOptions
from agent.lab.attack.simulation import Material, Person, people_of
from agent.model.model import Model
from agent.tradeoff.tables import UNSPECIFIED, Codes, Floats, Indexes, QueryRows, union
from agent.words.layout import numeric, paragraph, table, wide

RERANK_TITLE = "What is sent against what is re-ranked here"
EACH, ALL = "one question, its results", "all questions at once, their results"
STEP = 10  # where all questions are one, of so many people one counts
# How many facts are sent, those that help most; and how many results are re-ranked by all of them.
WAYS: list[tuple[int | str, int]] = [(0, 0), (1, 0), (2, 0), (4, 0), (8, 0), ("all", 0)]
WAYS += [(sent, returned) for sent in (0, 2) for returned in (10, 30, 100)]
ADDING = ("2 sent, none re-ranked", "nothing sent, 10 re-ranked", "2 sent, 10 re-ranked")
FIGURES = ("bits", "1/rank", "told", "by a click", "and its place")


def rerank_study(
    material: Material, options: StudyOptions, progress: Progress
) -> Mapping[str, Mapping[str, Mapping[str, float]]]:
    """Compare the ways where each question has its own results, and where all are one.

    By title, way and name of the figure, as `compared` has them.
    """
    model, others = material.model, material.others
    people = people_of(others, options.people, options.requests, options.seed)
    ends = np.cumsum([0, *(len(each.intents) for each in model.queries)]).tolist()
    one = [[ends[e.query] + e.intent for e in person.requests] for person in people]
    whole = compared(Choices(_pooled(model), model.cards, PULL), people, one, others.codes)
    parts, weights = list[Floats](), list[int]()
    for query in range(len(model.queries)):
        wanted = [[e.intent for e in person.requests if e.query == query] for person in people]
        weights.append(sum(map(len, wanted)))
        parts.append(compared(Choices.of(model, query), people, wanted, others.codes))
        progress("ordering results", (query + 1) / len(model.queries))
    found = {EACH: np.average(parts, axis=0, weights=weights), ALL: whole}
    return {
        title: {
            f"{sent or 'nothing'} sent, {end or 'none'} re-ranked": dict(
                zip(FIGURES, row, strict=True)
            )
            for (sent, end), row in zip(WAYS, rows.tolist(), strict=True)
        }
        for title, rows in found.items()
    }


def compared(
    choices: Choices, people: Sequence[Person], wanted: Sequence[Sequence[int]], listed: Codes
) -> Floats:
    """The figures of each way for one question, float64, shape (ways, figures): means.

    In bits log2 P(x)/p0(x) of the result x that somebody unseen chose; one over its place; the bits
    that the facts sent tell of them, log2 of people over people who agree; I(clicked result;
    person); the same of one who also sees where in the shown list it stood. People click on what
    they want, P(x|all facts), the more the higher it stands: the place r is looked at with a chance
    in proportion to 1/r. ``wanted``: the intents that each person chose; ``listed``: unsigned,
    shape (N, P), of whom the person is one.
    """
    count, prior = len(choices.chances({})), choices.chances({})
    sums, pairs = np.zeros((len(WAYS), len(FIGURES))), np.zeros((len(WAYS), count, count))
    for person, chosen in zip(people, wanted, strict=True):
        own = {at: code for at, code in enumerate(person.codes) if code != UNSPECIFIED}
        mine, best = choices.chances(choices.helping(own)), choices.greedy(union(own))
        for way, (sent, returned) in enumerate(WAYS):
            told = {at: own[at] for at in (best[:sent] if isinstance(sent, int) else own)}
            places, chances = _shown(choices.chances(choices.helping(told)), mine, returned)
            clicks = mine / places
            clicks /= clicks.sum()
            pairs[way, np.arange(count), places - 1] += clicks
            agree = np.logical_and.reduce([listed[:, at] == told[at] for at in told] or [[True]])
            sums[way, 0] += np.log2(chances[chosen] / prior[chosen]).sum()
            sums[way, 1] += (1 / places[chosen]).sum()
            sums[way, 2] -= np.log2(agree.mean())
            sums[way, 3:] += np.log2(clicks) @ clicks
    pairs /= len(people)
    sums[:, :2] /= max(1, sum(map(len, wanted)))
    sums[:, 2:] /= len(people)
    sums[:, 3] -= [*map(_log_mean, pairs.sum(axis=2))]
    sums[:, 4] -= [*map(_log_mean, pairs)]
    return sums


def _shown(chances: Floats, own: Floats, returned: int) -> tuple[Indexes, Floats]:
    """The place of each result from 1, and its chance, once the first ones are re-ranked."""
    order = np.argsort(-chances, kind="stable")
    first, chances = order[:returned], chances.copy()
    if returned:
        order[:returned] = first = first[np.argsort(-own[first], kind="stable")]
        chances[first] = own[first] * (chances[first].sum() / own[first].sum())
    places = np.empty_like(order)
    places[order] = np.arange(1, len(order) + 1)
    return places, chances


def _log_mean(shares: Floats) -> float:
    """The mean of log2 of a distribution: minus its entropy, in bits."""
    some = shares[shares > 0]
    return float(some @ np.log2(some))


def _pooled(model: Model) -> QueryRows:
    """The rows of every STEPth person as those of one question, whose intents are all of theirs."""
    parts, users, first = [], 0, 0
    for query in range(len(model.queries)):
        rows = model.rows(query)
        some, person = rows.user % STEP == 0, rows.person[::STEP]
        user, intent = rows.user[some] // STEP + users, rows.intent[some] + first
        parts.append((user, intent, person, rows.request[some]))
        users, first = users + len(person), first + rows.intents
    user, intent, person, request = (np.concatenate(each) for each in zip(*parts, strict=True))
    return QueryRows(user=user, intent=intent, person=person, request=request, intents=first)


def rerank_page(figures: Mapping[str, Mapping[str, Mapping[str, float]]]) -> str:
    """The tables, and what they mean, in 80 columns."""
    parts = []
    for title, ways in figures.items():
        rows = [(name, *(f"{e:.3f}" for e in found.values())) for name, found in ways.items()]
        parts += [f"{title}:", table([wide("way"), *map(numeric, FIGURES)], rows)]
        sent, here, both = (ways[each]["bits"] for each in ADDING)
        adds = (both - here) / (sent or 1.0)
        parts.append(f"Beside 10 that are re-ranked, 2 facts still add {adds:.2f} of their bits.")
    return "\n\n".join([*parts, paragraph(TEXTS["rerank"])])
