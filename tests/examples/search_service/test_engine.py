"""Finding: by the names that agents know, by words, and in the order of P(x|q,a)."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.errors import UsageError
from agent.model.attributes import Attribute
from agent.model.model import Model, Query
from agent.model.tables import Singles, gather
from agent.tradeoff.tables import Population, QueryRows
from examples.search_service.engine import Engine
from examples.search_service.ranking import PULL, Ranker
from examples.search_service.texts import plain, questions
from tests.strategies import models

KNOWN = {"sex": 2, "age": 4, "work": 1}


def test_every_query_and_result_is_written_about(model: Model) -> None:
    """A title and a sentence each, and none twice for one query."""
    for query, question in zip(model.queries, questions(model.queries), strict=True):
        texts = [(question.title, question.text)]
        texts += [(each.title, each.text) for each in question.results]
        assert all(title and text.endswith((".", "?", "!")) for title, text in texts)
        assert len({each.title for each in question.results}) == len(query.intents)


def test_what_nobody_wrote_about_has_its_name(model: Model) -> None:
    """A model of other queries can be served as well."""
    query = model.queries[0]
    renamed = type(query)("other_things", ("a_b", "git"), 1.0, 2, 2, 1.0)
    (question,) = questions([renamed])
    assert (question.title, question.text) == ("Other things", "")
    assert [each.title for each in question.results] == [plain("a_b"), "Git"]


def test_a_query_is_ranked_as_the_ranker_ranks_it(engine: Engine, model: Model) -> None:
    """Every query, for somebody and for everyone; numbers lead to what is shown."""
    ranker, names = Ranker(model), set()
    for index, query in enumerate(model.queries):
        found = engine.search(query.text, KNOWN)
        ranking, everyone = ranker.rank(index, KNOWN), ranker.rank(index, {})
        assert found.question is not None
        assert found.question.name == query.text
        assert found.used == ranking.used
        for placed, intent in zip(found.placed, ranking.order, strict=True):
            assert placed.entry == found.question.results[intent]
            assert (placed.rank, placed.plain) == (ranking.rank(intent), everyone.rank(intent))
            assert placed.probability == ranking.probabilities[intent]
            assert engine.result(placed.number) == (found.question, placed.entry)
            names.add(placed.number)
    assert names == set(range(sum(len(query.intents) for query in model.queries)))


def test_there_is_no_result_beyond_the_last(engine: Engine, model: Model) -> None:
    """Neither before the first."""
    last = sum(len(query.intents) for query in model.queries) - 1
    assert engine.result(last) is not None
    assert engine.result(last + 1) is None
    assert engine.result(-1) is None


@pytest.mark.parametrize(
    ("text", "query", "first"),
    [
        ("Sport AND exercise", "sport and exercise", None),
        ("what could I do this weekend with two kids", "looking after children", None),
        ("yoga", "sport and exercise", "Yoga"),
        ("drag strips", "watching sport", "Motor racing"),
        ("of planks", "home repair", "Furniture building and repair"),
        ("zebra planks", None, "Furniture building and repair"),
    ],
)
def test_words_find_the_question(
    engine: Engine, text: str, query: str | None, first: str | None
) -> None:
    """As agents read it, else by its words or those of its results, which then come first."""
    found = engine.search(text, {})
    assert (found.question and found.question.name) == query
    if first is not None:
        assert found.placed[0].entry.title == first


def test_words_of_no_question_are_ranked_by_words(engine: Engine) -> None:
    """Each result once, whatever was told, and without a probability."""
    found = engine.search("zebra telescopes", KNOWN)
    assert found.question is None
    assert [each.entry.title for each in found.placed] == ["Other hobbies"]
    assert [(each.rank, each.plain, each.probability) for each in found.placed] == [(1, 1, None)]
    assert found.used == ()
    (question, _) = engine.result(found.placed[0].number) or (None, None)
    assert question is not None
    assert question.name == "leisure at home"
    assert engine.search("zebra telescopes", {}) == found


def test_a_result_that_is_named_comes_first_and_the_rest_is_ranked(engine: Engine) -> None:
    """For everyone as well: naming it is no merit of what was told."""
    named, ranked = engine.search("yoga", KNOWN), engine.search("sport and exercise", KNOWN)
    rest = [each.number for each in named.placed[1:]]
    assert rest == [each.number for each in ranked.placed if each.entry.title != "Yoga"]
    assert (named.placed[0].rank, named.placed[0].plain) == (1, 1)


@settings(max_examples=300)
@given(text=st.text(max_size=40) | st.text('"*:^(){}-+ NEAROTDabc', max_size=30))
def test_any_text_finds_something_or_nothing(engine: Engine, text: str) -> None:
    """No text is an operator of the index; ranks are 1, 2, 3 and so on, results differ."""
    placed = engine.search(text, {}).placed
    assert [each.rank for each in placed] == list(range(1, len(placed) + 1))
    assert sorted(each.plain for each in placed) == [each.rank for each in placed]
    assert len({each.number for each in placed}) == len(placed)


few = settings(max_examples=20)
Asking = tuple[Model, int, dict[str, int]]


@st.composite
def askings(draw: st.DrawFn) -> Asking:
    """Draw a model, one of its queries, and codes of some of its attributes."""
    drawn = draw(models())
    pulls = st.sampled_from([0.0, 0.5, 5.0, 200.0])  # 0: as a model may be built
    model = replace(
        drawn, queries=tuple(replace(each, shrinkage=draw(pulls)) for each in drawn.queries)
    )
    attributes = draw(st.lists(st.sampled_from(model.attributes), unique=True))
    codes = {each.name: draw(st.integers(0, len(each.values) - 1)) for each in attributes}
    return model, draw(st.integers(0, len(model.queries) - 1)), codes


def rows_of(model: Model, query: int) -> list[tuple[int, dict[str, int]]]:
    """Return the intent and the codes by name of each row, one after the other."""
    rows = model.rows(query)
    return [
        (
            int(intent),
            {
                attribute.name: int(code)
                for attribute, code in zip(
                    model.attributes, [*rows.person[user], *request], strict=True
                )
            },
        )
        for user, intent, request in zip(rows.user, rows.intent, rows.request, strict=True)
    ]


def smoothed(model: Model, query: int, codes: dict[str, int]) -> list[float]:
    """Return P(x|q,a) by going through the rows one after the other."""
    rows = rows_of(model, query)
    intents, pull = len(model.queries[query].intents), model.queries[query].shrinkage or PULL
    prior = [
        (Counter(intent for intent, _ in rows)[each] + 0.5) / (len(rows) + intents / 2)
        for each in range(intents)
    ]
    if not codes:
        return prior
    group = [intent for intent, row in rows if codes.items() <= row.items()]
    return [
        (group.count(each) + pull * prior[each]) / (len(group) + pull) for each in range(intents)
    ]


@few
@given(askings())
def test_the_probabilities_are_smoothed_counts(asking: Asking) -> None:
    """They are those of the names used, sum to 1, and give the order; ties go by index."""
    model, query, codes = asking
    ranking = Ranker(model).rank(query, codes)
    used = {name: codes[name] for name in ranking.used}
    assert ranking.probabilities == pytest.approx(smoothed(model, query, used), rel=1e-12)
    assert ranking.probabilities.sum() == pytest.approx(1)
    by_rule = sorted(ranking.order, key=lambda each: (-ranking.probabilities[each], each))
    assert list(ranking.order) == by_rule
    assert sorted(by_rule) == list(range(len(model.queries[query].intents)))
    assert [ranking.rank(each) for each in ranking.order] == list(range(1, len(by_rule) + 1))


@few
@given(askings(), st.data())
def test_it_never_looks_at_what_was_not_given(asking: Asking, data: st.DataObject) -> None:
    """Were all else in the model otherwise, the ranking would be the same."""
    model, query, codes = asking
    person = model.population.codes.copy()
    requests = [model.rows(each).request.copy() for each in range(len(model.queries))]
    for place, attribute in enumerate(model.attributes):
        if attribute.name not in codes:
            column = place if place < model.persons else place - model.persons
            top = len(attribute.values) - 1
            for table in [person] if place < model.persons else requests:
                table[:, column] = [data.draw(st.integers(0, top)) for _ in table]
    population = replace(model.population, codes=person)
    unlike = replace(model, tables=replace(model.tables, population=population))
    rows = [replace(unlike.rows(at), request=each) for at, each in enumerate(requests)]
    tables = gather(population, rows, model.tables.query_weights, model.tables.singles)
    other = Ranker(replace(model, tables=tables)).rank(query, codes)
    ranking = Ranker(model).rank(query, codes)
    assert (other.order, other.used) == (ranking.order, ranking.used)
    assert np.array_equal(other.probabilities, ranking.probabilities)


@few
@given(askings())
def test_the_names_used_have_the_most_utility(asking: Asking) -> None:
    """They are of those given, and have no less utility than all, than each, and than none."""
    model, query, codes = asking
    ranker = Ranker(model)
    used = ranker.helping(query, list(codes))
    reached = ranker.utility(query, used)
    assert set(used) <= set(codes)
    assert reached >= max(0.0, ranker.utility(query, list(codes)))
    assert all(reached >= ranker.utility(query, [name]) for name in codes)
    assert ranker.rank(query, codes).used == used


def test_two_that_only_help_together_are_both_used() -> None:
    """One by one neither is taken; all of them are, because they have more."""
    attributes = tuple(Attribute(each, each, "person", ("unspecified", "x", "y")) for each in "ab")
    person = np.tile(np.array([[1, 1], [1, 2], [2, 1], [2, 2]], np.uint8), (10, 1))
    intent = (person[:, 0] != person[:, 1]).astype(np.intp)
    rows = QueryRows(np.arange(40), intent, person, np.zeros((40, 0), np.uint8), 2)
    query = Query("q", ("same", "other"), 1.0, 40, 40, 1.0)
    singles = Singles(np.zeros((1, 2)), np.zeros((3, 2)))
    tables = gather(Population(person), [rows], np.ones(1), singles)
    model = Model(
        id="m",
        source="",
        licence="",
        estimator="louo",
        attributes=attributes,
        queries=(query,),
        tables=tables,
    )
    ranker = Ranker(model)
    assert ranker.helping(0, ["a"]) == ranker.helping(0, ["b"]) == ()
    assert ranker.helping(0, ["a", "b"]) == ("a", "b")
    assert ranker.rank(0, {"a": 1, "b": 2}).order == (1, 0)
    assert ranker.rank(0, {"b": 2, "a": 2}).order == (0, 1)


@few
@given(askings(), st.integers(1, 3))
def test_who_came_before_changes_nothing(asking: Asking, step: int) -> None:
    """What is remembered shows in no ranking, nor does the order in which names are given."""
    model, query, codes = asking
    ranker = Ranker(model)
    for each in range(len(model.queries)):
        ranker.rank(each, dict([*codes.items()][::step]))
    again = ranker.rank(query, dict(reversed(codes.items())))
    fresh = Ranker(model).rank(query, codes)
    assert (again.order, again.used) == (fresh.order, fresh.used)
    assert np.array_equal(again.probabilities, fresh.probabilities)


@few
@given(askings(), st.sampled_from([-1, 4, 255]))
def test_a_stranger_is_an_error(asking: Asking, code: int) -> None:
    """A name or a code that is not the model's is said, and not ranked for."""
    model, query, _ = asking
    ranker = Ranker(model)
    with pytest.raises(UsageError, match="unknown attribute"):
        ranker.rank(query, {"b7": 0})
    with pytest.raises(UsageError, match=f"a0 has no code {code}"):
        ranker.rank(query, {"a0": code})
