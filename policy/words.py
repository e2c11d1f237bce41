"""Words of a query: how texts are compared, and patterns that find words in them."""

import re
import unicodedata
from dataclasses import dataclass, field

from agent.errors import UsageError

MOST_CHARACTERS = 200

# Any more of a word. A mark that no normal text has (NFKC makes it U+0300), so only itself.
_REST = "\u0340"
# Scripts without spaces: Thai, Lao, Burmese, Khmer, kana, bopomofo, Han.
_UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3021-\u312f\u31a0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]"
)

_SPOKEN = {ord(each): " " for each in "_-\u2010\u2011\u2012\u2013\u2014\u2015\u2212"}
_SPOKEN |= dict.fromkeys((0x034F, *range(0xFE00, 0xFE10)), "")  # joiners, variants: unseen
_SPOKEN |= {ord(each): "'" for each in "\u2018\u2019\u02bc\u2032`"}


def normal(text: str) -> str:
    """Return a text as it is compared: NFKC, case folded, white space collapsed and stripped.

    Control characters count as white space; invisible format characters (category Cf) are
    dropped. It is what a model does to queries, so that both see the same words. Idempotent.
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
    if not folded.isprintable():
        spaced = (" " if unicodedata.category(each) == "Cc" else each for each in folded)
        folded = "".join(spaced)
    return " ".join(folded.split())


def spoken(text: str) -> str:
    """Return the words of a text: normal, with ``_`` and hyphens as spaces, ``'`` for apostrophes.

    Whatever is written in more than one way must not slip past a block. Idempotent.
    """
    plain = normal(text).translate(_SPOKEN).replace("i\u0307", "i")  # what a dotted I folds to
    return " ".join(plain.split())


@dataclass(frozen=True, slots=True)
class Words:
    """Words that stand side by side in a query, whole; ``*`` ends a word that may go on.

    A word is a run of letters, digits and the marks on them; in scripts without spaces
    every letter is one. Punctuation stands in the query as in the pattern, and is whole
    anywhere: ``c`` and ``c++`` are both found in "c++11", ``.net`` in "asp.net".
    """

    text: str
    _pieces: tuple[str, ...] = field(repr=False, compare=False)

    @classmethod
    def parse(cls, text: str) -> "Words":
        """Return the pattern; UsageError where no query could match, or ``*`` ends no word."""
        words = spoken(text)
        if len(words) > MOST_CHARACTERS:
            what = f"a query of a policy has more than {MOST_CHARACTERS} characters"
            raise UsageError(what, "write fewer words, or several patterns")
        if not any(each.isalnum() for each in words):
            raise UsageError(f"{words!r} has no letter and no digit", "write words of a query")
        if not _ends_words(words):
            hint = "write * only for the rest of a word, as in pregnan*"
            raise UsageError(f"{words!r} has * where it is the rest of no word", hint)
        return cls(words, tuple(words.split("*")))

    @property
    def rank(self) -> int:
        """How specific it is: its characters that are neither ``*`` nor white space."""
        return len(self.text) - self.text.count("*") - self.text.count(" ")

    @property
    def sample(self) -> str:
        """A query that just the patterns match which match whatever this does."""
        return self.text.replace("*", _REST)

    def matches(self, query: str) -> bool:
        """Say whether a query, as `spoken` returns it, has the words."""
        head = self._pieces[0]
        at = query.find(head)
        while at >= 0:
            if not _joined(query, at) and self._stand(query, at + len(head)):
                return True
            at = query.find(head, at + 1)
        return False

    def covers(self, other: "Words") -> bool:
        """Say whether this surely matches whatever the other matches; False may be doubt."""
        return self.matches(other.sample)

    def _stand(self, query: str, at: int) -> bool:
        """Say whether from `at`, where the first piece ends, the others follow to a word's end.

        Each begins where a word ends, so there is one place to look, and time is linear.
        """
        for piece in self._pieces[1:]:
            while _joined(query, at):
                at += 1
            if not query.startswith(piece, at):
                return False
            at += len(piece)
        return not _joined(query, at)


def _ends_words(words: str) -> bool:
    """Say whether every ``*`` stands where a word ends."""
    around = zip(f" {words}", words, f"{words[1:]} ", strict=False)
    return all(_is_word(one) and not _is_word(two) for one, star, two in around if star == "*")


def _joined(text: str, at: int) -> bool:
    """Say whether the characters before and at a place are of one word."""
    if not 0 < at < len(text):
        return False
    before, after = text[at - 1], text[at]
    if not (_is_word(before) and _is_word(after)):
        return False
    return _is_mark(after) or not (_UNSPACED.match(before) or _UNSPACED.match(after))


def _is_word(character: str) -> bool:
    return character.isalnum() or _is_mark(character)


def _is_mark(character: str) -> bool:
    return unicodedata.category(character)[0] == "M"
