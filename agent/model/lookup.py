"""Finding the known query whose name or phrasing a text is, however it is written."""

import re
import unicodedata
from collections.abc import Sequence
from functools import cached_property
from itertools import chain

_KEPT_MARKS = frozenset("#%&*@")  # C# is not C; + and $ are no punctuation to Unicode
_LEADING_DOT = re.compile(r"(?<![^\W_])\.(?=[^\W_])")  # .NET is not net
_ASCII_MARK = re.compile(r"""[!"'(),\-/:;?\[\\\]_{}]|(?<=[^\W_])\.|\.(?![^\W_])""")
_ES = re.compile(r"(?:ss|x|zz|ch|sh)es")
_NO_PLURAL = re.compile(r".*(?:[sui]|ic)s|news|windows|pandas|rails|goods|customs")


def normalise(text: str) -> str:
    """Return the form in which texts are compared: NFKC, case folded, white space collapsed.

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
    kept = {dot.start() for dot in _LEADING_DOT.finditer(normal)}
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
    """Return the form that all spellings of a text share. Idempotent."""
    return singular(text) or normalise(text)  # marks alone are no word


class TextIndex:
    """Finds known queries by their texts; any other text means none of them."""

    def __init__(
        self,
        names: Sequence[str],
        phrasings: Sequence[tuple[Sequence[str], Sequence[str]]] = (),
    ) -> None:
        """Take the name of each query, and its phrasings with the `spelling` of each.

        A phrasing of two queries means neither, and one that is the name of a query means that.
        Of two names with the same normal form, the first counts.
        """
        self._names: dict[str, int] = {}
        self._phrasings = phrasings
        for query, name in enumerate(names):
            self._names.setdefault(normalise(name), query)

    @cached_property
    def _by_spelling(self) -> dict[str, int | None]:
        """The query by the spelling of its texts, None for one of several queries."""
        queries: dict[str, int | None] = {}
        names = ((query, spelling(name)) for name, query in self._names.items())
        others = ((query, each) for query, (_, some) in enumerate(self._phrasings) for each in some)
        for query, spelt in chain(names, others):
            if queries.setdefault(spelt, query) != query:
                queries[spelt] = None
        return queries

    def _distinguish(self, text: str, spelt: str) -> int | None:
        """Return the query of a text whose spelling several queries share; None if it means two."""
        queries: dict[str, int | None] = {}
        for query, pairs in enumerate(self._phrasings):
            for phrasing, other in zip(*pairs, strict=True):
                if other == spelt:
                    normal = normalise(phrasing)
                    queries[normal] = query if queries.get(normal, query) == query else None
        queries |= {name: at for name, at in self._names.items() if spelling(name) == spelt}
        for way in (normalise, separated, singular):
            alike = {query for each, query in queries.items() if way(each) == way(text)}
            if alike and way(text):
                return alike.pop() if len(alike) == 1 else None
        return None

    def named(self, text: str) -> int | None:
        """Return the index of the query with this name, None where there is none."""
        normal = normalise(text)
        return self._names.get(normal) if normal else None

    def find(self, text: str) -> int | None:
        """Return the index of the known query that has this text, else None.

        The same text comes before one that differs in punctuation, and that before one that
        differs in a plural. None for empty text, and where two queries are equally close.
        """
        if (named := self.named(text)) is not None:
            return named
        spelt = spelling(text)
        if not spelt or spelt not in self._by_spelling:
            return None
        query = self._by_spelling[spelt]
        return self._distinguish(text, spelt) if query is None else query
