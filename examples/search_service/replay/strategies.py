"""What a recipient is told with a request: nothing, everything, or what Reticent decides."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Literal, Protocol

from agent.daemon.deciding.fitting import fitting
from agent.decision.decide import decide
from agent.decision.request import Request
from agent.decision.terms import Limits, Terms
from agent.decision.under import terms_under
from policy.careful import careful
from policy.load import preset
from policy.match import Rulebook
from policy.read import read

if TYPE_CHECKING:
    from datetime import date, datetime

    from agent.decision.request import Knowledge
    from agent.model.model import Model

RECIPIENT = "search.example"
Telling = Literal["nothing", "everything", "reticent"]
Ranking = Literal["best", "plain"]


class Strategy(Protocol):
    """Chooses what is told, from all but the person's values (DESIGN.md 2.6)."""

    def chosen(self, query: int, held: Knowledge, at: datetime) -> tuple[str, ...]:
        """Return the names of the attributes that are told with a query of the model.

        ``held``: what the recipient holds already.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Way:
    """One line of a table: what is told, and how the service ranks by it.

    ``ranking``: by the best subset of what is given, or by all of it. Of Reticent: ``preset``;
    ``trade_off``: lambda in place of the preset's; ``limits``: whether the preset's are kept.
    """

    name: str
    telling: Telling
    ranking: Ranking = "best"
    preset: str = "balanced"
    trade_off: float | None = None
    limits: bool = True

    def changed(self, terms: Terms) -> Terms:
        """Return the preset's terms as this way changes them."""
        if self.trade_off is not None:
            terms = replace(terms, trade_off=self.trade_off)
        return terms if self.limits else replace(terms, limits=Limits())


NOTHING = Way(name="nothing", telling="nothing")
BEST = Way(name="all, best ranking", telling="everything")
PLAIN = Way(name="all, plain counts", telling="everything", ranking="plain")
SHIPPED = tuple(
    Way(name=f"Reticent, {name}", telling="reticent", preset=name)
    for name in ("generous", "balanced", "strict")
)


def strategy(way: Way, model: Model, asked: frozenset[str]) -> Strategy:
    """Return how a way chooses; ``asked``: the names that the service asks for.

    Everything is all that the model has, asked for or not: no service can know more.
    """
    if way.telling == "reticent":
        return Reticent(way, model, asked)
    names = tuple(attribute.name for attribute in model.attributes)
    return Constant(names if way.telling == "everything" else ())


@dataclass(frozen=True, slots=True)
class Constant:
    """The same names with every request."""

    names: tuple[str, ...]

    def chosen(self, query: int, held: Knowledge, at: datetime) -> tuple[str, ...]:  # noqa: ARG002  (of the protocol)
        """Return the names."""
        return self.names


class Reticent:
    """What the agent decides under a preset, for a user who says no to all that it asks about."""

    def __init__(self, way: Way, model: Model, asked: frozenset[str]) -> None:
        """Take a preset and what is changed in it, the model, and what the service asks for."""
        names = [attribute.name for attribute in model.attributes]
        rules = read(f'preset = "{way.preset}"', way.preset, preset)
        self._way, self._model, self._asked = way, model, asked
        self._rulebook = Rulebook(careful(rules, names), names)
        self._terms = cache(self._ruled)

    def chosen(self, query: int, held: Knowledge, at: datetime) -> tuple[str, ...]:
        """Return what is disclosed, in the order chosen, as the daemon decides it."""
        request = Request(self._model.queries[query].text, RECIPIENT, self._asked)
        return fitting(
            self._model,
            self._terms(request.query, at.date()),
            lambda terms: decide(request, terms, held, self._model),
        ).disclosed

    def _ruled(self, query: str, today: date) -> Terms:
        ruling = self._rulebook.match(RECIPIENT, query, today)
        terms = self._way.changed(terms_under(ruling, self._model))
        return replace(terms, ask=frozenset(), excluded=terms.excluded | terms.ask)
