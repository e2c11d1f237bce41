"""All strategies to answer a request: from nothing to everything."""

from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal

from agent.decision.context import Limits, Terms
from policy.settings import Memory, Mode, Protect

Telling = Literal["nothing", "relevant", "everything", "reticent"]
PRESETS = ("generous", "balanced", "strict")


@dataclass(frozen=True, slots=True, kw_only=True)
class Strategy:
    """One strategy; ``name``: what tables call it; ``telling``: what of, or who decides.

    Of what Reticent decides: ``preset``: of the policy, None for none; ``answered``: whether the
    user says yes to all that it asks about, else nobody answers and it is not told; ``limits``:
    whether the preset's are kept; ``protect``: for whom; ``unset``: whether a person has not set
    what they did not say, else it is set to "unspecified"; the rest in place of the preset's, None
    for those.
    """

    name: str
    telling: Telling = "reticent"
    preset: str | None = None
    answered: bool = False
    limits: bool = True
    protect: Protect | None = None
    unset: bool = False
    trade_off: float | None = None
    mode: Mode | None = None
    memory: Memory | None = None

    def changed(self, terms: Terms) -> Terms:
        """Change a preset's terms as this strategy changes them."""
        limits = terms.limits if self.limits else Limits()
        if self.protect is not None:
            limits = replace(limits, protect=self.protect)
        excluded = terms.excluded if self.answered else terms.excluded | terms.ask
        own = {"trade_off": self.trade_off, "mode": self.mode, "memory": self.memory}
        changes: dict[str, Any] = {key: value for key, value in own.items() if value is not None}
        return replace(terms, limits=limits, ask=frozenset(), excluded=excluded, **changes)


NOTHING = Strategy(name="nothing", telling="nothing")
EVERYTHING = Strategy(name="everything", telling="everything")
CONSTANT = (NOTHING, EVERYTHING)  # the same with every request


def _presets(like: Strategy) -> tuple[Strategy, ...]:
    """Make a strategy for each preset: one like this, whose name ends as this one's.

    Limits are kept for everyone, where it does not say for whom.
    """
    whom = like.protect or "everyone"
    return tuple(
        replace(like, name=f"Reticent, {each}{like.name}", preset=each, protect=whom)
        for each in PRESETS
    )


_YES = Strategy(name=", yes to all", answered=True)
SHIPPED, ANSWERED = _presets(Strategy(name="")), _presets(_YES)
# What strict and balanced do as they are shipped.
OWN = _presets(replace(_YES, name=f"{_YES.name}, with a stop", protect="me"))
# People differ in which attributes they have set, and absence may tell that.
UNSET = _presets(replace(_YES, name=f"{_YES.name}, silence unset", unset=True))


_free = partial(Strategy, answered=True, limits=False)
# The lines of the frontier: no limits, everything may leave, each at several lambdas.
FAMILIES = {
    like.name: tuple(
        replace(like, name=f"{like.name}, λ = {each:g}", trade_off=each) for each in trade_offs
    )
    for like, *trade_offs in (
        (_free(name="without memory", mode="dynamic", memory="forgets"), 5.12, 20.0, 100.0, 400.0),
        (_free(name="standing set", mode="standing"), 0.5, 1.0, 2.0, 5.12, 20.0, 100.0),
        (
            _free(name="with the ledger", preset="balanced", mode="dynamic"),
            *(5.12, 10.0, 20.0, 30.0, 40.0, 60.0, 100.0),
        ),
        (_free(name="planned", preset="balanced", mode="planned"), 1.0, 2.0, 3.5, 5.12, 10.0, 20.0),
    )
}
FORGETFUL, STANDING, LEDGER, PLANNED = FAMILIES.values()
# The paper's choice taken alone (9.5.2), at its own lambda: what utility is kept of.
PAPERS = FORGETFUL[0]
