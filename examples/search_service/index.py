"""The full-text index over questions and results: SQLite's FTS5, in memory."""

from __future__ import annotations

import re
import sqlite3
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from examples.search_service.texts import Question

MOST_WORDS = 16
PREFIX = 3  # letters from which a word also finds longer ones
COMMON = re.compile(
    "a|an|and|are|as|at|by|do|does|for|from|how|i|in|is|it|me|my|of|on|or|should|that|the|to|"
    "use|what|when|where|which|who|why|with|you|your"
)

_TABLES = """
create virtual table question using fts5(asks, answers, tokenize = 'porter unicode61');
create virtual table result using fts5(title, text, tokenize = 'porter unicode61');
"""
_QUESTION = "select rowid from question where question match ? order by bm25(question, 10, 1), 1"
_RESULTS = "select rowid from result where result match ? order by bm25(result, 10, 1), 1"


class Index:
    """Finds questions and results by words; results are numbered through, question by question."""

    def __init__(self, questions: Sequence[Question]) -> None:
        """Index the questions, and their results in their order."""
        self._tables = sqlite3.connect(":memory:")
        self._tables.executescript(_TABLES)
        number = 0
        for place, question in enumerate(questions):
            asks = f"{question.name} {question.title} {question.text}"
            answers = " ".join(f"{each.title} {each.text}" for each in question.results)
            self._tables.execute(
                "insert into question (rowid, asks, answers) values (?, ?, ?)",
                (place, asks, answers),
            )
            self._tables.executemany(
                "insert into result (rowid, title, text) values (?, ?, ?)",
                [(number + at, each.title, each.text) for at, each in enumerate(question.results)],
            )
            number += len(question.results)

    def question(self, text: str) -> int | None:
        """Find the question that has every word of a text, itself or in its results, if any.

        Of several the best by bm25, a word of the question itself counting ten times.
        """
        found = self._rows(_QUESTION, " AND ".join(_terms(text)))
        return found[0] if found else None

    def all_words(self, text: str) -> tuple[int, ...]:
        """Find the results that have every word of a text, by bm25."""
        return self._rows(_RESULTS, " AND ".join(_terms(text)))

    def any_word(self, text: str) -> tuple[int, ...]:
        """Find the results that have some word of a text, by bm25."""
        return self._rows(_RESULTS, " OR ".join(_terms(text)))

    def close(self) -> None:
        """Forget the index."""
        self._tables.close()

    def _rows(self, statement: str, match: str) -> tuple[int, ...]:
        if not match:
            return ()
        return tuple(row for (row,) in self._tables.execute(statement, (match,)))


def _terms(text: str) -> list[str]:
    """Write the words of a text in the syntax of FTS5, in quotes: none is an operator."""
    words = re.findall(r"[^\W_]+", text.casefold())
    telling = [word for word in words if not COMMON.fullmatch(word)][:MOST_WORDS]
    return [f'"{word}"*' if len(word) >= PREFIX else f'"{word}"' for word in telling]
