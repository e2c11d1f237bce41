"""Hard limits: the sets that may be chosen at all (DESIGN.md 2.4)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from agent.tradeoff.crowd import COMBINATIONS

if TYPE_CHECKING:
    from agent.tradeoff.crowd import Crowd, OwnClass
    from agent.tradeoff.settings import Settings

Limit = Literal["most", "most new", "risk", "k", "own"]


class HardLimits:
    """Which sets keep every limit of one person's settings for one crowd."""

    def __init__(self, crowd: Crowd, settings: Settings) -> None:
        """Join the two."""
        self._crowd, self._settings = crowd, settings
        self._known = crowd.known
        self._countable = crowd.persons & ~crowd.known
        self._capped = settings.most is not None or settings.most_new is not None
        self._recognised = crowd.people <= 1
        self._k_lasts = crowd.monotone("k-anonymity", settings.candidates)
        self._measured = settings.k is not None or settings.max_risk is not None
        self._even = crowd.monotone("k-anonymity", 0)
        self._own = None if settings.own is None else dict(settings.own)
        self._own_classes: dict[int, OwnClass] = {}

    def kept(self, mask: int) -> bool:
        """Say whether A keeps every limit."""
        if self._capped and not self._few_enough(mask):
            return False
        if not mask & ~self._known:
            return True
        if self._recognised or self._crowd.combinations(mask) > COMBINATIONS:
            return False
        return not self._measured or (
            self._keeps_risk(mask) and self._keeps_k(mask) and self._keeps_own(mask)
        )

    def broken(self, mask: int) -> Limit | None:
        """Return the first limit that A breaks; None where it keeps all that the settings have."""
        if self._capped and not self._few_enough(mask):
            most = self._settings.most
            return "most" if most is not None and mask.bit_count() > most else "most new"
        if not mask & ~self._known or not self._measured:
            return None
        if not self._keeps_risk(mask):
            return "risk"
        if not self._keeps_k(mask):
            return "k"
        return None if self._keeps_own(mask) else "own"

    def hopeless(self, mask: int) -> bool:
        """Say True only where neither A nor a set that contains it keeps every limit.

        Caps and the expected peak only get harder to keep; k does where all are equally likely.
        The user's own class only gets smaller, but with weights its largest share may fall.
        """
        if self._capped and not self._few_enough(mask):
            return True
        if not mask & ~self._known:
            return False
        if self._recognised or self._crowd.combinations(mask) > COMBINATIONS:
            return True
        return self._measured and not (
            self._keeps_risk(mask)
            and (not self._k_lasts or self._keeps_k(mask))
            and self._keeps_own(mask, lasting=True)
        )

    def _few_enough(self, mask: int) -> bool:
        most, most_new = self._settings.most, self._settings.most_new
        if most is not None and mask.bit_count() > most:
            return False
        return most_new is None or (mask & self._countable).bit_count() <= most_new

    def _keeps_risk(self, mask: int) -> bool:
        risk = self._settings.max_risk
        return risk is None or self._crowd.identifiability(mask, "maxprob", 1) <= risk

    def _keeps_k(self, mask: int) -> bool:
        k, share = self._settings.k, self._settings.max_violations
        return k is None or self._crowd.identifiability(mask, "k-anonymity", k) <= share

    def _keeps_own(self, mask: int, *, lasting: bool = False) -> bool:
        """Say whether k and the risk hold for the people like the user; nobody is certainty.

        With ``lasting``, whether they might for a larger set. Of a set with request attributes
        only the person part counts.
        """
        if self._own is None:
            return True
        k, risk = self._settings.k, self._settings.max_risk
        people, peak = self._own_class(mask & self._crowd.persons)
        if not people or (k is not None and people < k):
            return False
        return risk is None or peak <= risk or (lasting and not self._even)

    def _own_class(self, mask: int) -> OwnClass:
        found = self._own_classes.get(mask)
        if found is None:
            found = self._own_classes[mask] = self._crowd.own_class(mask, self._own or {})
        return found
