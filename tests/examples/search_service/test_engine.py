"""Finding: by the names that agents know, by words, and in the order of P(x|q,a)."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.model.model import Model
from examples.search_service.engine import Engine
from examples.search_service.ranking import Ranker
from examples.search_service.texts import plain, questions

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
