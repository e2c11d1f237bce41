"""Which known query has a text as its name or phrasing, however it is written, or none."""

import re
import unicodedata
from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from functools import cached_property
from typing import Generic, TypeVar

K = TypeVar("K", bound="Hashable")
V = TypeVar("V")
_KEPT_MARKS = frozenset("#%&*@")  # C# is not C; + and $ are no punctuation to Unicode
_LEADING_DOT = re.compile(r"(?<![^\W_])\.(?=[^\W_])")  # .NET is not net
_ASCII_MARK = re.compile(r"""[!"'(),\-/:;?\[\\\]_{}]|(?<=[^\W_])\.|\.(?![^\W_])""")
_ES = re.compile(r"(?:ss|x|zz|ch|sh)es")
_NO_PLURAL = re.compile(r".*(?:[sui]|ic)s|news|windows|pandas|rails|goods|customs")


class Recent(Generic[K, V]):
    """Results by key, of which the most recently used are kept."""

    def __init__(self, size: int) -> None:
        """Keep at most ``size`` results."""
        self._size = size
        self._results: OrderedDict[K, V] = OrderedDict()

    def get(self, key: K, make: Callable[[], V]) -> V:
        """Return the result for ``key``, made now if it is not kept."""
        if key in self._results:
            self._results.move_to_end(key)
            return self._results[key]
        result = self._results[key] = make()
        if len(self._results) > self._size:
            self._results.popitem(last=False)
        return result

    def clear(self) -> None:
        """Forget all results."""
        self._results.clear()


class Once(Generic[K]):
    """Values that are kept once, each in the place that it took first, from 0 on."""

    def __init__(self) -> None:
        """Keep nothing yet."""
        self.values: list[K] = []
        self._places: dict[K, int] = {}

    def place(self, value: K) -> int:
        """Return the place of a value, which it takes if it is new."""
        place = self._places.setdefault(value, len(self.values))
        if place == len(self.values):
            self.values.append(value)
        return place

    def used(self, *columns: list[int]) -> tuple[list[K], list[list[int]]]:
        """Return the values in columns of places, and the columns with their places among these.

        A number below 0 is no place, and stays.
        """
        used = sorted({place for column in columns for place in column if place >= 0})
        among = {place: at for at, place in enumerate(used)}
        moved = [[among.get(place, place) for place in column] for column in columns]
        return [self.values[place] for place in used], moved


def normalise(text: str) -> str:
    """Return a text as it is compared: NFKC, case folded, white space collapsed and stripped.

    Control characters count as white space; invisible format characters (category Cf: zero
    width space and joiners, soft hyphen, direction marks) are dropped. Idempotent.
    Source: UAX 15; Unicode 3.13, caseless matching.
    """
    if text.isascii():
        folded = text.lower()
    else:
        visible = text
        if not text.isprintable():
            visible = "".join(each for each in text if unicodedata.category(each) != "Cf")
        # Folding can leave what NFKC would compose, and NFKC what folding would change.
        for _ in range(2):
            visible = unicodedata.normalize("NFKC", visible).casefold()
        folded = unicodedata.normalize("NFKC", visible)
    if not folded.isprintable():
        controls = (" " if unicodedata.category(each) == "Cc" else each for each in folded)
        folded = "".join(controls)
    return " ".join(folded.split())


def separated(text: str) -> str:
    """Return the normalised words of a text, with a space for punctuation. Idempotent.

    A dot that begins a word stays, and so do ``#%&*@``.
    """
    normal = normalise(text)
    if normal.isascii():  # 6 times as fast, for models of thousands of phrasings
        return " ".join(_ASCII_MARK.sub(" ", normal).split())
    kept = {found.start() for found in _LEADING_DOT.finditer(normal)}
    kept |= {at for at, each in enumerate(normal) if each in _KEPT_MARKS}
    spaced = (
        " " if unicodedata.category(each)[0] == "P" and at not in kept else each
        for at, each in enumerate(normal)
    )
    return " ".join("".join(spaced).split())


def singular(text: str) -> str:
    """Return the words of a text, the last of them without an English plural's ending. Idempotent.

    A word is left as it is rather than shortened to another.
    """
    words = separated(text)
    last = words.rpartition(" ")[2]
    short = len(last) < 4  # noqa: PLR2004  (names: aws, ios)
    if short or not (last.isascii() and last.isalpha()) or _NO_PLURAL.fullmatch(last):
        return words
    if last.endswith("ies"):
        return f"{words[:-3]}y"
    return words[:-2] if _ES.search(last, len(last) - 4) else words.removesuffix("s")


def spelling(text: str) -> str:
    """Return what all spellings of a text have in common that may mean one query. Idempotent."""
    return singular(text) or normalise(text)  # marks alone are no word


class QueryIndex:
    """Finds known queries by their texts; a text that is not one of them means none."""

    def __init__(self, texts: Sequence[Sequence[str]]) -> None:
        """Take the texts of each query, its name first.

        A phrasing of two queries means neither, and one that is the name of a query means that.
        Of two names that are normalised alike, the first is found.
        """
        self._texts = texts
        self._names: dict[str, int | None] = {}
        for query, (name, *_) in enumerate(texts):
            self._names.setdefault(normalise(name), query)
        self._ways: dict[Callable[[str], str], dict[str, int | None]] = {}

    @cached_property
    def _distinct(self) -> dict[str, int | None]:
        """The queries by each of their texts, normalised; made when a text is no name."""
        phrasings: dict[str, int | None] = {}
        for query, (_, *rest) in enumerate(self._texts):
            for text in map(normalise, rest):
                phrasings[text] = query if phrasings.get(text, query) == query else None
        return phrasings | self._names

    def _by(self, way: Callable[[str], str]) -> dict[str, int | None]:
        """Return the queries by what a way of comparing sees of their texts, made when needed."""
        if way is normalise:
            return self._distinct
        if way not in self._ways:
            found = self._ways[way] = {}
            for text, index in self._distinct.items():
                written = way(text)
                alike = found.get(written, index) == index  # else two are meant
                found[written] = index if alike else None
        return self._ways[way]

    def named(self, text: str) -> int | None:
        """Return the index of the query with this name, None where there is none."""
        normal = normalise(text)
        return self._names.get(normal) if normal else None

    def find(self, text: str) -> int | None:
        """Return the index of the known query that has this text, else None.

        The same text comes before one that differs in punctuation, and that before one that
        differs in a plural. None for empty text, and where two queries are meant alike.
        """
        if (named := self.named(text)) is not None:
            return named
        for way in (normalise, separated, singular):
            written = way(text)
            if written and written in self._by(way):
                return self._by(way)[written]
        return None
