"""An attribute: one private fact with a small list of values."""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Literal
from unicodedata import normalize

from agent.errors import DamagedModelError, UsageError

Scope = Literal["person", "request"]

NAME = re.compile(r"[a-z][a-z0-9_]*")
# Letters and digits first, so that none is a search engine's operator: no -x, "x", x:y, (x), !x.
WORD = re.compile(r"[^\W_](?:[^\W_]|[.+#-])*(?: [^\W_](?:[^\W_]|[.+#-])*){0,3}")
OPERATORS = frozenset({"and", "or", "not", "near", "around"})
LONGEST_WORD = 32  # characters
UNSPECIFIED = "unspecified"  # values[0]: code 0 of every attribute
MAX_VALUES = 256  # a code is one byte


@dataclass(frozen=True, slots=True)
class Attribute:
    """One attribute of a model; the position of a value in ``values`` is its code.

    ``name``: matches ``[a-z][a-z0-9_]*``; ``title``: for people; ``scope``: fixed per person, or
    set per request; ``values``: unique, ``"unspecified"`` first; ``refines``: the attribute of
    which this is a finer grain; ``sensitivity``: default, bits of utility it must bring;
    ``concept``: what it is called across models, its name by default; ``value_concepts``: what
    each value is called across models, None where nothing elsewhere corresponds to it; by default
    the values; ``implies``: for a value, the values that other person attributes have by it;
    ``words``: for a value, what a person would add to a search for it, as `WORD` has it.
    Raises ValueError if one of these does not hold.
    """

    name: str
    title: str
    scope: Scope
    values: tuple[str, ...]
    refines: str | None = None
    sensitivity: float = 0.0
    concept: str = ""
    value_concepts: tuple[str | None, ...] = ()
    implies: Mapping[str, Mapping[str, str]] = field(default_factory=dict, hash=False)
    words: Mapping[str, str] = field(default_factory=dict, hash=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "concept", self.concept or self.name)
        object.__setattr__(self, "value_concepts", self.value_concepts or self.values)
        known = [each for each in self.value_concepts if each is not None]
        checks = (
            (NAME.fullmatch(self.name), "has a name that does not match [a-z][a-z0-9_]*"),
            (self.title, "has no title"),
            (self.values[:1] == (UNSPECIFIED,), f"does not have {UNSPECIFIED!r} as first value"),
            (len(self.values) <= MAX_VALUES, f"has more than {MAX_VALUES} values"),
            (len(set(self.values)) == len(self.values), "has a value twice"),
            (all(self.values), "has an empty value"),
            (self.refines != self.name, "refines itself"),
            (math.isfinite(self.sensitivity), "has a sensitivity that is not finite"),
            (self.sensitivity >= 0, "has a sensitivity below 0"),
            (len(self.value_concepts) == len(self.values), "does not have a concept per value"),
            (self.value_concepts[:1] == (UNSPECIFIED,), f"gives {UNSPECIFIED!r} another concept"),
            (len(set(known)) == len(known), "has two values of one concept"),
            (all(known), "has a value with an empty concept"),
            ({*self.implies} <= {*self.values[1:]}, "implies something by what is not its value"),
            (self.scope == "person" or not self.implies, "implies something for each request"),
            ({*self.words} <= {*self.values[1:]}, "has a word for what is not its value"),
            (all(map(is_plain, self.words.values())), "has a word that is no plain word"),
        )
        for holds, problem in checks:
            if not holds:
                raise ValueError(f"attribute {self.name!r} {problem}")

    @property
    def decides(self) -> tuple[str, ...]:
        """The attributes that hang on this one: those that some value implies a value of."""
        return tuple(dict.fromkeys(chain.from_iterable(self.implies.values())))

    def code(self, value: str) -> int:
        """Return the code of a value; UsageError, naming the nearest, if there is none such."""
        if value not in self.values:
            raise UsageError.unknown(f"value of {self.name}", value, self.values)
        return self.values.index(value)


def is_plain(word: str) -> bool:
    """Say whether a search box takes a word as it is: up to four words, and none an operator.

    A model's text is not trusted, and must not steer a search engine.
    """
    short = len(word) <= LONGEST_WORD and normalize("NFC", word) == word
    return short and bool(WORD.fullmatch(word)) and not OPERATORS & {*word.casefold().split()}


def wrong_implication(attributes: Sequence[Attribute]) -> str | None:
    """Return what is wrong with what attributes imply of each other, None if nothing is.

    What is implied is a value of a person attribute, which hangs on one attribute alone, and on
    which none hangs: so one step finds all that follows, in any order.
    """
    known, hangs_on = {each.name: each for each in attributes}, dict[str, str]()
    for each in attributes:
        for name, value in (pair for then in each.implies.values() for pair in then.items()):
            other, by = known.get(name), f"attribute {each.name!r} implies"
            if other is None or other.scope != "person":
                return f"{by} a value of {name!r}, which is not an attribute of persons"
            if value not in other.values[1:]:
                return f"{by} that {name!r} is {value!r}, which is not one of its values"
            if other.implies:
                return f"{by} a value of {name!r}, which implies others itself"
            if hangs_on.setdefault(name, each.name) != each.name:
                return f"{by} a value of {name!r}, and so does {hangs_on[name]!r}"
    return None


def damaged(what: str) -> DamagedModelError:
    """Return the error for a file that does not hold what it should, in printable text."""
    what = "".join(each if each.isprintable() else "\ufffd" for each in what)
    return DamagedModelError(what, "get the file again from where it came, or build it anew")
