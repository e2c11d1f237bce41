"""The record as a table for a spreadsheet, and what is found in it."""

import csv
from io import StringIO

from hypothesis import given
from hypothesis import strategies as st

from agent.wire.state import Entry
from agent.words.layout import printable
from agent.words.record import is_meant, spreadsheet
from tests.worlds.people import MONDAY

TEXTS = st.text(st.sampled_from("=+-@'\n\r\t\x1b, \"aB"), max_size=5)


@given(st.lists(st.lists(TEXTS, min_size=2, max_size=2), max_size=4))
def test_a_table_for_a_spreadsheet_reads_back(rows: list[list[str]]) -> None:
    """Each cell as a terminal shows it; none of them is computed."""
    back = [*csv.reader(StringIO(spreadsheet(rows)))]
    for row, found in zip(rows, back, strict=True):
        for cell, text in zip(row, found, strict=True):
            assert text in (printable(cell), f"'{printable(cell)}")
            assert text[:1] not in {*"=+-@"}


@given(TEXTS, TEXTS, st.lists(TEXTS.filter(bool), max_size=2))
def test_all_words_are_meant(query: str, title: str, words: list[str]) -> None:
    """In any case, each in the query, the recipient, or the title of a fact that was sent."""
    asked = Entry(number=1, kind="disclosed", at=MONDAY, recipient="a.example", query=query or "q")
    entry = Entry(**{e: getattr(asked, e) for e in asked.__struct_fields__} | {"disclosed": ["n"]})
    places = [text.casefold() for text in (query or "q", "a.example", title)]
    found = all(any(word.casefold() in place for place in places) for word in words)
    assert is_meant(entry, words, {"n": title}) == found
