"""Which item of the second survey speaks of which attribute of Table 1, and why.

No item is about an attribute itself. A mapping needs one of two relations, and what has neither
stays without one: `UNMAPPED` says why.

    finer   the attribute is computed from what the item names: who tells the item tells it too
    hint    the attribute is interest in what the item names
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal, NamedTuple


class Mapped(NamedTuple):
    """Items for an attribute: the highest level among them counts, person by person."""

    items: tuple[str, ...]
    relation: Literal["finer", "hint"]
    reason: str


_WHERE = "computed from where one was: 'details about your physical location over a period of time'"

MAPPED: Mapping[str, Mapped] = MappingProxyType(
    {
        "DAGE": Mapped(("birthdate",), "finer", "an age group follows from 'your birth date'"),
        "DMTL": Mapped(
            ("relationship",), "finer", "'your relationship history' ends in the marital status"
        ),
        "AQRY": Mapped(("search",), "finer", "computed from 'searches you have made'"),
        "ACLK": Mapped(("website",), "finer", "computed from 'the websites you have visited'"),
        "AZIP": Mapped(("location",), "finer", _WHERE),
        "ACTY": Mapped(("location",), "finer", _WHERE),
        "ACRY": Mapped(("location",), "finer", _WHERE),
        "THEA": Mapped(
            ("health",), "hint", "of 'the state of your health and the medications you take'"
        ),
        "TSOC": Mapped(
            ("religion", "politics"),
            "hint",
            "the directory's Society holds religion and politics; it is as sensitive as either",
        ),
        "TSHP": Mapped(
            ("purchases",), "hint", "of 'your basic purchasing habits', stores among them"
        ),
        "TART": Mapped(
            ("media",), "hint", "of 'your tastes in music, movies, books', which are its Arts"
        ),
        "TNWS": Mapped(("media",), "hint", "of 'your tastes in ... websites, magazines'"),
    }
)

_NOT_OF_AN_ITEM = (
    *("TBUS", "TCMP", "TGMS", "THOM", "TKID", "TREC"),
    *("TREF", "TREG", "TSCI", "TCIN", "TSPT", "TWLD"),
)
_NO_ITEM = "no item is about it"
_ONE_OF_MANY = (
    "all that fits is 'the websites you have visited', of which this is one bit of eighteen; as "
    "sensitivities add up, the whole history would be charged eighteen times"
)
UNMAPPED: Mapping[str, str] = MappingProxyType(
    {
        **dict.fromkeys(("DGDR", "DOCC", "DREG", "DCHD", "AWHR", "AWDY", "ATLV"), _NO_ITEM),
        "AFRQ": "how often one searches says nothing of what: 'searches you have made' is far more",
        "TADT": "what comes nearest, sexual orientation, does not follow from such a visit",
        **dict.fromkeys(_NOT_OF_AN_ITEM, _ONE_OF_MANY),
    }
)
