"""How the agent is attacked, and all ways to answer a request: from nothing to everything."""

from dataclasses import dataclass, replace
from typing import Any, Literal

from agent import Limits, Terms
from agent.tradeoff.study import Algorithm
from policy.settings import Memory, Mode, Protect

STEPS = (1, 2, 5, 10, 20, 50, 100, 200)  # requests after which the adversary guesses
Telling = Literal["nothing", "everything", "demographics", "topics", "random", "reticent"]
PRESETS = ("generous", "balanced", "strict")


@dataclass(frozen=True, slots=True)
class Options:
    """How many people send how many requests each; ``seed``: of all that is drawn.

    ``exact``: for how many of them exact search decides too, fewer where there are fewer.
    """

    people: int = 300
    requests: int = 100
    seed: int = 1
    processes: int = 2
    exact: int = 30

    @property
    def steps(self) -> tuple[int, ...]:
        """After how many requests the adversary guesses: after the last of them too."""
        return (*(each for each in STEPS if each < self.requests), self.requests)


@dataclass(frozen=True, slots=True, kw_only=True)
class Way:
    """One strategy; ``name``: what tables call it; ``telling``: what of, or who decides.

    ``count``: how many attributes are told at random, the same of a person every time. Of what
    Reticent decides: ``preset``: of the policy, None for none; ``answered``: whether the user says
    yes to all that it asks about, else nobody answers and it is not told; ``limits``: whether the
    preset's are kept; ``protect``: for whom; ``unset``: whether a person has not set what they did
    not say, else it is set to "unspecified"; ``k``, ``violations``, ``risk`` and the rest in place
    of the preset's, None for those.
    """

    name: str
    telling: Telling = "reticent"
    count: int = 0
    preset: str | None = None
    answered: bool = False
    limits: bool = True
    protect: Protect | None = None
    unset: bool = False
    k: int | None = None
    violations: float | None = None
    risk: float | None = None
    trade_off: float | None = None
    mode: Mode | None = None
    memory: Memory | None = None
    algorithm: Algorithm | None = None

    def changed(self, terms: Terms) -> Terms:
        """Return the preset's terms as this way changes them."""
        limits = terms.limits if self.limits else Limits()
        own = {
            "protect": self.protect,
            "k": self.k,
            "max_violations": self.violations,
            "max_risk": self.risk,
        }
        kept: dict[str, Any] = {name: value for name, value in own.items() if value is not None}
        limits = replace(limits, **kept)
        asked = frozenset[str]() if self.answered else terms.ask
        names = ("trade_off", "mode", "memory", "algorithm")
        changes: dict[str, Any] = {each: getattr(self, each) for each in names}
        return replace(
            terms,
            limits=limits,
            ask=frozenset(),
            excluded=terms.excluded | asked,
            **{name: value for name, value in changes.items() if value is not None},
        )


NOTHING = Way(name="nothing", telling="nothing")
EVERYTHING = Way(name="everything", telling="everything")
DEMOGRAPHICS = Way(name="all demographics", telling="demographics")
TOPICS = Way(name="all topics", telling="topics")
RANDOM = tuple(Way(name=f"{count} at random", telling="random", count=count) for count in (2, 4, 8))
CONSTANT = (NOTHING, EVERYTHING, DEMOGRAPHICS, TOPICS, *RANDOM)  # the same with every request


def _presets(like: Way) -> tuple[Way, ...]:
    """Return a way for each preset: one like this, whose name ends as this one's."""
    return tuple(
        replace(like, name=f"Reticent, {each}{like.name}", preset=each) for each in PRESETS
    )


_YES = Way(name=", yes to all", answered=True)
SHIPPED, ANSWERED = _presets(Way(name="")), _presets(_YES)
OWN = _presets(replace(_YES, name=f"{_YES.name}, protects me", protect="me"))
# People differ in which attributes they have set, and absence may tell that.
UNSET = _presets(replace(_YES, name=f"{_YES.name}, silence unset", unset=True))
# These two are set beside each other: what lasts of a plan is not found by exact search.
SINGLE = replace(ANSWERED[1], name=f"{ANSWERED[1].name}, a request at a time", mode="dynamic")
EXACT = replace(SINGLE, name=f"{SINGLE.name}, searched exactly", algorithm="exact")


def _family(like: Way, *trade_offs: float) -> tuple[Way, ...]:
    """Return a way at several lambdas: no limits, and everything may leave."""
    free = replace(like, answered=True, limits=False)
    return tuple(
        replace(free, name=f"{like.name}, λ = {each:g}", trade_off=each) for each in trade_offs
    )


FORGETFUL = _family(
    Way(name="without memory", mode="dynamic", memory="forgets"), 5.12, 20.0, 100.0, 400.0
)
STANDING = _family(Way(name="standing set", mode="standing"), 0.5, 1.0, 2.0, 5.12, 20.0, 100.0)
LEDGER = _family(
    Way(name="with the ledger", preset="balanced", mode="dynamic"),
    *(5.12, 10.0, 20.0, 30.0, 40.0, 60.0, 100.0),
)
PLANNED = _family(
    Way(name="planned", preset="balanced", mode="planned"), 1.0, 2.0, 3.5, 5.12, 10.0, 20.0
)
# The paper's choice taken alone (9.5.2), at its own lambda: what utility is kept of.
PAPERS = FORGETFUL[0]
# The lines of the frontier: no limits, everything may leave, each at several lambdas.
FAMILIES: dict[str, tuple[Way, ...]] = {
    "without memory": FORGETFUL,
    "standing set": STANDING,
    "with the ledger": LEDGER,
    "planned": PLANNED,
}
