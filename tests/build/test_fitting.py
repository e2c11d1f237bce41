"""Beta, prices and validation: what a model of one half promises, and what the other half gets."""

import os
import signal
import subprocess
import sys
from multiprocessing import active_children
from pathlib import Path
from unittest.mock import Mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.build import fitting
from agent.build.canonical import Observed
from agent.build.fitting import (
    SHRINKAGES,
    Advance,
    HalfTrial,
    each_of,
    figures,
    fit,
    in_parts,
    mean,
    validate,
)
from agent.build.observe import Observations
from agent.errors import BuildError
from agent.model.attributes import Attribute
from agent.tradeoff.anonymity_set import AnonymitySet
from agent.tradeoff.counts import heldout_bits
from agent.tradeoff.grouping import row_columns
from agent.tradeoff.search import maximise
from agent.tradeoff.tables import Kinds, Population, QueryRows, members
from tests import strategies
from tests.build import naive
from tests.build.worlds import CARDS, learnable
from tests.tradeoff.naive import identifiability, louo
from tests.waiting import PATIENCE, until


def expected(seen: Observations, side: list[bool], shrinkage: float | None) -> HalfTrial | None:
    """The trial of one direction; only beta and the search are taken for granted."""
    (query,) = seen.queries
    rows, population = query.rows, seen.population
    trained = [side[query.people[user]] for user in rows.user]
    if not any(trained):
        return None
    users = [user for user in range(len(rows.person)) if side[query.people[user]]]
    intents = sorted({int(x) for x, each in zip(rows.intent, trained, strict=True) if each})
    training = QueryRows(
        user=np.array([users.index(u) for u, t in zip(rows.user, trained, strict=True) if t]),
        intent=np.array([intents.index(x) for x, t in zip(rows.intent, trained, strict=True) if t]),
        person=rows.person[users],
        request=rows.request[trained],
        intents=len(intents),
    )
    counts = tuple(Kinds.of(each.counts[each.of_row][side]) for each in population.requests)
    people = Population(population.codes[side], None, counts)
    fitted = fit(training, AnonymitySet(people, CARDS), "louo", shrinkage)
    mask = maximise(fitted.objective, "lls").mask
    score = naive.heldout(rows, trained, fitted.shrinkage, mask)
    if score is None:
        return None
    levels = [identifiability(people, each, (), "maxprob", 1) for each in (mask, 0)]
    luck = (naive.price_of(training, each, fitted.shrinkage) for each in members(mask))
    promise = louo(training, mask, fitted.shrinkage) - sum(luck)
    return HalfTrial(promise, score, mask.bit_count(), levels[0] - levels[1])


@settings(max_examples=25)
@given(seen=learnable(), key=st.binary(max_size=4), shrinkage=st.sampled_from([None, 0.5, 5.0]))
def test_everything_is_that_of_the_half_it_is_built_from(
    seen: Observations, key: bytes, shrinkage: float | None
) -> None:
    """Rows, intents, beta, people and prior; and the figures are means of both directions."""
    half = naive.in_half_a(seen.users, key)
    both = [expected(seen, side, shrinkage) for side in (half, [not each for each in half])]
    found = [trial for trial in both if trial is not None]
    trials = validate(seen, key, "louo", shrinkage, lambda _: None)
    if not found:
        assert trials == (None,)
        assert figures(trials) == {}
        return
    (trial,) = trials
    assert trial == pytest.approx(tuple(np.mean(found, axis=0)), abs=1e-9)
    assert mean(trials) == trial


@st.composite
def queries(draw: st.DrawFn) -> tuple[QueryRows, tuple[Attribute, ...]]:
    attributes = draw(strategies.attribute_lists())
    return draw(strategies.query_rows(attributes)), attributes


@given(
    case=queries(),
    data=st.data(),
    shrinkage=st.sampled_from([0.5, 5.0, 200.0]),
    mask=st.integers(0),
)
def test_the_score_is_the_definition(
    case: tuple[QueryRows, tuple[Attribute, ...]], data: st.DataObject, shrinkage: float, mask: int
) -> None:
    """Row by row, whichever users were trained on and whatever is disclosed."""
    rows, attributes = case
    mask %= 1 << len(attributes)
    users = len(rows.person)
    chosen = np.array(data.draw(st.lists(st.booleans(), min_size=users, max_size=users)))
    trained = chosen[rows.user]
    columns = row_columns(rows, [len(each.values) for each in attributes])
    groups = columns.dense[mask].labels
    expected = naive.heldout(rows, trained.tolist(), shrinkage, mask)
    found = heldout_bits(rows.intent, trained, shrinkage, groups)
    assert found == (None if expected is None else pytest.approx(expected, abs=1e-9))


SILENT, NO_REQUESTS = (np.zeros((4, columns), np.uint8) for columns in (1, 0))
NOTHING_TOLD = QueryRows(np.arange(4), np.array([0, 1, 1, 0]), SILENT, NO_REQUESTS, 2)


def test_without_shrinkage_an_unforeseen_intent_has_no_score() -> None:
    """Minus infinity cannot be kept in a model; a group that nobody was in costs nothing."""
    intent, trained = NOTHING_TOLD.intent, np.array([True, True, False, False])
    assert heldout_bits(intent, trained, 0.0, np.array([0, 1, 0, 0])) is None
    assert heldout_bits(intent, trained, 0.0, np.array([0, 1, 2, 2])) == 0.0


def small_queries(count: int, rows: int) -> Observations:
    """Queries of few rows, each by other people, and ten attributes: four tell a little."""
    rng = np.random.default_rng(0)
    values = ("unspecified", "a", "b", "c")
    attributes = tuple(Attribute(f"p{at}", "fact", "person", values) for at in range(10))
    codes = rng.integers(4, size=(4_000, 10)).astype(np.uint8)
    queries = []
    for number in range(count):
        people = np.sort(rng.choice(len(codes), rows, replace=False))
        drawn = rng.choice(6, rows, p=[0.35, 0.25, 0.15, 0.1, 0.1, 0.05])
        of_whom = codes[people, rng.integers(4, size=rows)]
        intent = np.where(rng.random(rows) < 0.5, of_whom, drawn)
        each = QueryRows(np.arange(rows), intent, codes[people], np.zeros((rows, 0), np.uint8), 6)
        queries.append(Observed(f"q{number}", tuple("uvwxyz"), each, people, rows))
    users = tuple(f"user {number}" for number in range(len(codes)))
    return Observations(attributes, Population(codes), tuple(queries), {}, users)


def test_promises_about_few_rows_come_true(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without prices the best of many sets promises twice what people held out get."""
    seen = small_queries(24, 500)

    def excess() -> tuple[float, float, float]:
        trials = validate(seen, b"few", "louo", None, lambda _: None)
        found = np.array([each[:2] for each in trials if each is not None])
        off = found[:, 0] - found[:, 1]
        return float(off.mean()), float(2 * off.std(ddof=1) / len(off) ** 0.5), found[:, 1].mean()

    off, twice_the_error, got = excess()
    assert abs(off) <= max(0.15 * got, 0.003, twice_the_error)
    monkeypatch.setattr(fitting, "LUCKY", 0.0)
    off, twice_the_error, uncorrected = excess()
    assert off > max(uncorrected, 2 * twice_the_error)
    assert uncorrected < got


def objective(rows: QueryRows, population: Population, beta: float, mask: int) -> float:
    """F at a trade-off of 1 from the definitions."""
    cost = [identifiability(population, each, (), "maxprob", 1) for each in (mask, 0)]
    price = sum(naive.price_of(rows, each, beta) for each in range(len(CARDS)) if mask >> each & 1)
    return louo(rows, mask, beta) - price - (cost[0] - cost[1])


@settings(max_examples=20)
@given(seen=learnable())
def test_no_other_beta_reaches_more(seen: Observations) -> None:
    """Each beta is searched alone; what its search found is what the definition says."""
    rows, population = seen.queries[0].rows, seen.population
    reached = []
    for beta in SHRINKAGES:
        fitted = fit(rows, AnonymitySet(population, CARDS), "louo", beta)
        alone = maximise(fitted.objective, "greedy")
        expected = objective(rows, population, beta, alone.mask)
        assert alone.value == pytest.approx(expected, abs=1e-6)
        reached.append(alone.value)
    chosen = fit(rows, AnonymitySet(population, CARDS), "louo", None).shrinkage
    assert chosen == SHRINKAGES[len(reached) - 1 - int(np.argmax(reached[::-1]))]


def test_a_tie_goes_to_the_beta_that_believes_the_least() -> None:
    """All reach 0 where nothing is worth disclosing; one that is given stays, also 0."""
    crowd = AnonymitySet(Population(NOTHING_TOLD.person), (2,))
    assert fit(NOTHING_TOLD, crowd, "louo", None).shrinkage == max(SHRINKAGES)
    fitted = fit(NOTHING_TOLD, crowd, "plugin", 0.0)
    assert (fitted.shrinkage, fitted.utility.value(1)) == (0.0, 0.0)


@pytest.fixture
def _three_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fitting, "MUCH", 0)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1, 2})


@pytest.mark.usefixtures("_three_processes")
def test_the_work_is_done_in_several_processes() -> None:
    """Each item once, by about as many rows in each; this process alone says how far it is."""
    rows, told = [1, 9, 5, 5, 3, 2, 8, 1], list[float]()
    done = each_of([*range(8)], lambda item: (item, os.getpid()), rows, told.append)
    assert [item for item, _ in done] == [*range(8)]
    by_process = {pid: sum(rows[at] for at, own in done if own == pid) for _, pid in done}
    assert len(by_process) == 3
    assert os.getpid() in by_process
    assert max(by_process.values()) - min(by_process.values()) <= max(rows)
    assert told == sorted(told)
    assert (told[0], told[-1], len(told)) == (0.0, 1.0, 1 + sum(e == os.getpid() for _, e in done))
    assert active_children() == []


@pytest.mark.usefixtures("_three_processes")
def test_whoever_ends_one_of_them_is_told() -> None:
    here = os.getpid()

    def work(_part: object, _advance: Advance) -> None:
        if os.getpid() != here:
            os.kill(os.getpid(), signal.SIGKILL)

    with pytest.raises(BuildError, match="a process that did a part of the work ended"):
        in_parts(work, [1, 1, 1], lambda _: None)
    assert active_children() == []


@pytest.mark.usefixtures("_three_processes")
@pytest.mark.parametrize("wrong", range(3))
def test_an_error_is_the_same_wherever_it_is_met(wrong: int) -> None:
    def work(item: int) -> None:
        if item == wrong:
            raise BuildError("no such item", "take another")

    with pytest.raises(BuildError, match="no such item"):
        each_of(range(3), work, [1] * 3, lambda _: None)
    assert active_children() == []


@pytest.mark.usefixtures("_three_processes")
def test_what_no_process_can_be_started_for_is_done_here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "fork", Mock(side_effect=BlockingIOError))
    done = each_of([*range(8)], lambda item: (item, os.getpid()), [1] * 8, lambda _: None)
    assert done == [(item, os.getpid()) for item in range(8)]


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_no_process_stays_when_the_first_is_ended(number: int) -> None:
    """Neither by Ctrl-C, which comes to all of them, nor by what leaves no time to say so.

    The others have done their part by then, and wait until somebody takes it.
    """
    script = """
import os, signal
from agent.build import fitting
fitting.MUCH, os.sched_getaffinity, first = 0, lambda _: {0, 1, 2}, os.getpid()

def work(item):
    os.write(1, b"%d\\n" % os.getpid())
    if os.getpid() == first:
        signal.pause()
    return bytes(1_000_000)

fitting.each_of(range(6), work, [1] * 6, lambda _: None)
"""
    with subprocess.Popen(
        [sys.executable, "-c", script],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as running:
        assert running.stdout is not None
        others = {int(running.stdout.readline()) for _ in range(5)} - {running.pid}
        assert len(others) == 2
        states = [Path(f"/proc/{each}/status") for each in others]
        until(lambda: not any("State:\tR" in each.read_text() for each in states))
        (os.kill if number == signal.SIGKILL else os.killpg)(running.pid, number)
        _, told = running.communicate(timeout=PATIENCE)  # until the last of them is gone
    assert told.count("Traceback") == (number == signal.SIGINT)
