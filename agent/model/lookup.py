"""Which known query a text means: the same one, the nearest one, or none."""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from agent.model.memory import Recent

if TYPE_CHECKING:
    from collections.abc import Sequence

MIN_SIMILARITY = 0.6  # java/javascript has 0.43, python/python 3 0.86, postgres/postgresql 0.78

KEPT = 256  # texts

_SEPARATORS = re.compile(r"[\s_\-]+")


@dataclass(frozen=True, slots=True)
class Match:
    """The known query (its index, or None) that a text means, and how alike they are, 0..1."""

    query: int | None
    kind: Literal["exact", "nearest", "unknown"]
    similarity: float


def normalise(text: str) -> str:
    """Return a text as it is compared: NFKC, case folded, white space collapsed and stripped.

    Control characters count as white space; invisible format characters (category Cf: zero
    width space and joiners, soft hyphen, direction marks) are dropped. Idempotent.
    Source: UAX 15; Unicode 3.13, caseless matching.
    """
    if text.isascii():
        folded = text.casefold()
    else:
        visible = "".join(each for each in text if unicodedata.category(each) != "Cf")
        # Folding can leave what NFKC would compose, and NFKC what folding would change.
        for _ in range(2):
            visible = unicodedata.normalize("NFKC", visible).casefold()
        folded = unicodedata.normalize("NFKC", visible)
    return " ".join(_without_controls(folded).split())


class QueryIndex:
    """Finds known queries by text.

    Similarity is Dice's coefficient over the sets of character trigrams of the normalised texts,
    with ``_``, ``-`` and white space as one space, and one more space at both ends: 1 where only
    separators differ.
    """

    def __init__(self, texts: Sequence[str]) -> None:
        """Take the known texts; of two that are normalised alike, the first is found."""
        self._exact: dict[str, int] = {}
        self._sizes: list[int] = []
        self._holders: defaultdict[str, list[int]] = defaultdict(list)
        self._found: Recent[str, Match] = Recent(KEPT)
        for index, text in enumerate(texts):
            normal = normalise(text)
            self._exact.setdefault(normal, index)
            trigrams = _trigrams(normal)
            self._sizes.append(len(trigrams))
            for trigram in trigrams:
                self._holders[trigram].append(index)

    def find(self, text: str) -> Match:
        """Return the same query, else the nearest of at least MIN_SIMILARITY, else unknown.

        Ties go to the lowest index. Empty text is unknown.
        """
        return self._found.get(text, lambda: self._find(text))

    def _find(self, text: str) -> Match:
        normal = normalise(text)
        if not normal:
            return Match(None, "unknown", 0.0)
        if normal in self._exact:
            return Match(self._exact[normal], "exact", 1.0)
        query, similarity = self._nearest(_trigrams(normal))
        if similarity < MIN_SIMILARITY:
            return Match(None, "unknown", similarity)
        return Match(query, "nearest", similarity)

    def _nearest(self, trigrams: frozenset[str]) -> tuple[int | None, float]:
        """Return the most similar query and its similarity."""
        shared: defaultdict[int, int] = defaultdict(int)
        for trigram in trigrams:
            for index in self._holders.get(trigram, ()):
                shared[index] += 1
        best, similarity = None, 0.0
        for index in sorted(shared):
            dice = 2 * shared[index] / (len(trigrams) + self._sizes[index])
            if dice > similarity:
                best, similarity = index, dice
        return best, similarity


def _without_controls(text: str) -> str:
    """Return the text with a space for every control character."""
    if text.isprintable():
        return text
    return "".join(" " if unicodedata.category(each) == "Cc" else each for each in text)


def _trigrams(normal: str) -> frozenset[str]:
    """Return the character trigrams of a normalised text; none if it has separators only."""
    words = _SEPARATORS.sub(" ", normal).strip()
    padded = f" {words} "
    return frozenset(padded[i : i + 3] for i in range(len(padded) - 2)) if words else frozenset()
