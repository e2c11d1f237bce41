"""The popup says what the other doors say."""

from agent.model.file import read, shipped_models
from agent.words.titles import value_title
from tests.words.popup import PLACE, words


def test_the_popup_s_words_are_up_to_date() -> None:
    """`python -m tests.words.popup` writes them anew."""
    assert PLACE.read_text() == words()


def test_one_title_per_value_is_enough() -> None:
    """The popup does not know which model an attribute is of."""
    found: dict[tuple[str, str], set[str]] = {}
    for each in (each for path in shipped_models() for each in read(path).attributes):
        for value in each.values:
            found.setdefault((each.name, value), set()).add(value_title(value, each.title))
    assert {value: titles for value, titles in found.items() if len(titles) > 1} == {}
