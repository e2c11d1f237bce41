"""A search, whole and without HTTP: which results, in which order, for whom."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING

from examples.search_service.index import Index
from examples.search_service.ranking import Ranker
from examples.search_service.texts import Entry, Question, questions

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from agent import Model


@dataclass(frozen=True, slots=True)
class Placed:
    """A result at its place.

    ``number``: of the result, through all questions; ``rank`` and ``plain``: its place, from 1,
    and the one that it has for everyone; ``probability``: that it is chosen, None by words alone.
    """

    number: int
    entry: Entry
    rank: int
    plain: int
    probability: float | None


@dataclass(frozen=True, slots=True)
class Found:
    """What a search found: ``question``, if the text means one, and ``placed``, best first.

    ``used``: the names of the attributes that the order depends on.
    """

    question: Question | None
    placed: tuple[Placed, ...]
    used: tuple[str, ...] = ()


class Engine:
    """Searches the queries and intents of a model."""

    def __init__(self, model: Model) -> None:
        """Take the model, and index it."""
        self.questions = questions(model.queries)
        self.source = model.source
        self._model, self._ranker = model, Ranker(model)
        self._index = Index(self.questions)
        ends = accumulate((len(each.results) for each in self.questions), initial=0)
        self._first = tuple(ends)  # number of the first result of each question, and of all
        self._entries = [entry for each in self.questions for entry in each.results]

    def search(self, text: str, codes: Mapping[str, int]) -> Found:
        """Search for a text; ``codes``: of attributes by name, as ``Ranker.rank`` takes them.

        The question is the one that agents read the text as, else the one that has its words.
        Its results are ranked by P(x|q,a), those that have all the words before the others unless
        the text is the question's own name or phrasing. A text that means no question finds the
        results that have some of its words, by bm25.
        """
        query = self._model.texts.find(text)
        if query is not None:
            return self._ranked(query, codes, frozenset())
        query = self._model.read(text).query
        if query is None:
            query = self._index.question(text)
        if query is not None:
            return self._ranked(query, codes, frozenset(self._index.all_words(text)))
        return Found(None, tuple(self._by_words(text)))

    def result(self, number: int) -> tuple[Question, Entry] | None:
        """Look up a result by its number, and the question that it answers; None if none has it."""
        if not 0 <= number < len(self._entries):
            return None
        query = next(at for at, end in enumerate(self._first[1:]) if number < end)
        return self.questions[query], self._entries[number]

    def close(self) -> None:
        """Forget the index."""
        self._index.close()

    def _by_words(self, text: str) -> Iterator[Placed]:
        found: dict[Entry, int] = {}
        for number in self._index.any_word(text):
            found.setdefault(self._entries[number], number)  # one for several questions
        for rank, (entry, number) in enumerate(found.items(), 1):
            yield Placed(number, entry, rank, rank, None)

    def _ranked(self, query: int, codes: Mapping[str, int], named: frozenset[int]) -> Found:
        first = self._first[query]
        ranking = self._ranker.rank(query, codes)
        everyone = self._ranker.rank(query, {})
        order, plain = (
            sorted(each.order, key=lambda intent: first + intent not in named)
            for each in (ranking, everyone)
        )
        question = self.questions[query]
        placed = (
            Placed(
                first + intent,
                question.results[intent],
                rank,
                plain.index(intent) + 1,
                float(ranking.probabilities[intent]),
            )
            for rank, intent in enumerate(order, 1)
        )
        return Found(question, tuple(placed), ranking.used)
