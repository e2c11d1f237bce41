"""An attribute: one private fact with a small list of values."""

import math
import re
from dataclasses import dataclass
from typing import Literal

from agent.errors import DamagedModelError, UsageError

Scope = Literal["person", "request"]

NAME = re.compile(r"[a-z][a-z0-9_]*")
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
    the values. Raises ValueError if one of these does not hold.
    """

    name: str
    title: str
    scope: Scope
    values: tuple[str, ...]
    refines: str | None = None
    sensitivity: float = 0.0
    concept: str = ""
    value_concepts: tuple[str | None, ...] = ()

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
        )
        for holds, problem in checks:
            if not holds:
                raise ValueError(f"attribute {self.name!r} {problem}")

    def code(self, value: str) -> int:
        """Return the code of a value; UsageError, naming the nearest, if there is none such."""
        if value not in self.values:
            raise UsageError.unknown(f"value of {self.name}", value, self.values)
        return self.values.index(value)


def damaged(what: str) -> DamagedModelError:
    """Return the error for a file that does not hold what it should, in printable text."""
    what = "".join(each if each.isprintable() else "\ufffd" for each in what)
    return DamagedModelError(what, "get the file again from where it came, or build it anew")
