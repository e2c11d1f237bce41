"""The pages: whatever stands in them is escaped, and they say for whom they are ranked."""

from html.parser import HTMLParser

from hypothesis import given
from hypothesis import strategies as st

from examples.search_service import page
from examples.search_service.engine import Found, Placed
from examples.search_service.texts import Entry, Question

nasty = st.text(st.sampled_from("<>&\"' a=/é\n"), min_size=1, max_size=12)
TITLES = {"region": "region of the world", "python": "interested in Python"}


class Reading(HTMLParser):
    """Takes down the tags and texts of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, tuple[str, ...]]] = []
        self.values: list[str | None] = []
        self.text = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Take down a tag with the names of its attributes."""
        self.tags.append((tag, tuple(name for name, _ in attrs)))
        self.values += [value for name, value in attrs if name == "value"]

    def handle_data(self, data: str) -> None:
        """Take down text."""
        self.text += data


def view(word: str, *places: tuple[int, int]) -> page.View:
    """Return a view in which everything that can be is a word."""
    entry = Entry(word, word)
    placed = tuple(Placed(rank, entry, rank, plain, 0.25) for rank, plain in places)
    found = Found(Question(word, word, word, (entry,)), placed, ("region",))
    return page.View(word, found, word, {"region": word, "python": "yes"}, TITLES)


@given(nasty)
def test_no_text_is_taken_for_a_tag(word: str) -> None:
    """Whatever the words are, the tags and their attributes are those of a harmless word."""
    for made in (
        lambda text: page.results(view(text, (1, 2), (2, 1)), [], text),
        lambda text: page.result(Question("q", text, text, ()), Entry(text, text), text),
        lambda text: page.home([Question(text, text, text, ())], text, text),
        lambda text: page.empty([Question(text, text, text, ())], text),
        page.problem,
    ):
        nasty_one, harmless = Reading(made(word)), Reading(made("word"))
        assert nasty_one.tags == harmless.tags
        assert word.strip() in nasty_one.text


@given(nasty)
def test_the_form_keeps_what_was_typed(word: str) -> None:
    """As it was typed."""
    assert word in Reading(page.results(view(word, (1, 1)), [], "")).values


def test_it_says_what_it_was_ranked_for_and_what_was_told_in_vain() -> None:
    """Titles of attributes, and the values that were told."""
    text = Reading(page.results(view("west_europe", (1, 1)), [], "")).text
    assert "ranked for: region of the world: west_europe\n" in text
    assert "told, but of no use here: interested in Python: yes\n" in text


def test_it_says_that_it_was_ranked_for_everyone() -> None:
    """Where nothing was told, or nothing of use."""
    found = view("x", (1, 1)).found
    nobody = page.View("x", Found(found.question, found.placed), "p", {}, TITLES)
    text = Reading(page.results(nobody, [], "")).text
    assert "ranked for everyone" in text
    assert "told" not in text


def test_results_say_how_far_they_moved() -> None:
    """Up, down, and nothing where they are as for everyone."""
    text = page.results(view("x", (1, 3), (2, 2), (3, 1)), [], "")
    assert 'aria-label="2 up, from place 3 for everyone">▲ 2<' in text
    assert 'aria-label="2 down, from place 1 for everyone">▼ 2<' in text
    assert text.count("aria-label") == 3  # with that of the form
