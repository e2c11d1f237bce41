"""How hard a passphrase is to guess, roughly, and said in a way that people can use."""

from itertools import pairwise
from typing import NamedTuple

from agent.errors import UsageError

SHORTEST = 8  # characters
ENOUGH = 40.0  # bits
SECONDS = 0.5  # of one guess: what the key derivation is calibrated to
MACHINES = 1_000

_FIRST, _INSIDE = 5.0, 2.0  # bits of the first letter of a word, and of the others
_DIGIT, _SIGN, _SPACE = 3.3, 5.0, 0.5
_EXPECTED = 0.5  # what follows by itself: the next in a sequence, a piece that was there before
_UNITS = (("year", 31_557_600.0), ("day", 86_400.0), ("hour", 3_600.0), ("minute", 60.0))


class Strength(NamedTuple):
    """A rough count of the guesses that a passphrase withstands, as a power of two."""

    bits: float

    @property
    def enough(self) -> bool:
        """Whether it withstands somebody who has the file and many machines."""
        return self.bits >= ENOUGH

    @property
    def sentence(self) -> str:
        """What the number means."""
        seconds = 2**self.bits * SECONDS / MACHINES
        return (
            f"By a rough count, {MACHINES:,} machines like this one would guess it in"
            f" {_duration(seconds)}."
        )


def check_passphrase(text: str) -> None:
    """Refuse a passphrase that is too short; UsageError."""
    if len(text) < SHORTEST:
        hint = f"use {SHORTEST} characters or more; four random words are good and easy to keep"
        raise UsageError("the passphrase is too short", hint)


def strength(passphrase: str) -> Strength:
    """Return a rough count: words and sequences count little, whatever their letters.

    It knows no list of words, so that a famous passphrase counts as if it were anybody's.
    """
    seen: set[str] = set()
    bits = 0.0
    for piece in _pieces(passphrase):
        bits += _EXPECTED if piece in seen else _piece_bits(piece)
        seen.add(piece)
    return Strength(bits)


def _pieces(text: str) -> list[str]:
    """Return the parts of a text that are one word or number each, and the signs between."""
    pieces: list[str] = []
    for before, each in pairwise(f"\0{text}"):
        word = before.isalpha() and each.isalpha() and before.islower() <= each.islower()
        if pieces and (word or (before.isdigit() and each.isdigit())):
            pieces[-1] += each
        else:
            pieces.append(each)
    return pieces


def _piece_bits(piece: str) -> float:
    """Return what one piece adds."""
    if piece.isspace():
        return _SPACE
    first, inside = (_FIRST, _INSIDE) if piece.isalpha() else (_SIGN, 0.0)
    if piece.isdigit():
        first = inside = _DIGIT
    steps = (abs(ord(one) - ord(other)) for one, other in pairwise(piece.lower()))
    return first + sum(_EXPECTED if step <= 1 else inside for step in steps)


def _duration(seconds: float) -> str:
    """Return a time in its largest unit, in whole numbers."""
    for unit, length in _UNITS:
        if seconds >= length:
            number = round(seconds / length)
            most = 1_000_000
            if number > most:
                return f"more than {most:,} years"
            return f"{number:,} {unit}{'' if number == 1 else 's'}"
    return "less than a minute"
