"""Language and country: the browser and the network address tell both to everybody anyway.

So they belong to no model, are charged nothing, and change no decision on anything else; the user's
rules hold for them all the same (DESIGN.md 2.8).
"""

from dataclasses import replace

import numpy as np
from msgspec import structs

from agent.decision.context import Context, barred_of
from agent.decision.values import Decision, Figures, Outcome, Reason
from agent.model.attributes import UNSPECIFIED, Attribute
from agent.model.model import Model
from agent.model.tables import Rows, Singles, Tables
from agent.tradeoff.tables import Population
from policy.services import codes

NAMES = ("language", "country")


def _locale() -> Model:
    """Return both as attributes of a model that knows no query, and nobody."""
    none, people = np.zeros((0, len(NAMES))), np.zeros((1, len(NAMES)), np.uint8)
    empty = np.zeros(0, np.uint8)
    rows = Rows(empty, np.zeros((0, 0), np.uint8), empty, empty)
    tables = Tables(Population(people), rows, np.zeros(0), Singles(none, np.zeros((3, len(NAMES)))))
    return Model(
        id="locale",
        source="ISO 639-1 and ISO 3166-1",
        licence="",
        estimator="louo",
        attributes=tuple(
            Attribute(name, name, "person", (UNSPECIFIED, *codes(name))) for name in NAMES
        ),
        queries=(),
        tables=tables,
    )


LOCALE = _locale()


def located(context: Context, people: int) -> Decision:
    """Decide which of the two are told in the address of a search; no value is looked at.

    ``context``: of LOCALE, by the rules for its recipient; ``people``: who agree with all that the
    recipient holds, which stays so. What a parameter is made of is told where the rules allow all
    of it, and also where the user's values have none that is documented: so its absence says no
    more (DESIGN.md 2.6).
    """
    terms, most = context.terms, context.terms.limits.attributes_per_request
    engine = None if terms.ruling is None or terms.nothing else terms.ruling.engine

    def needed(names: frozenset[str]) -> frozenset[str]:
        """Return the names that the address needs of these, none where they are too many."""
        some = frozenset[str]() if engine is None else engine.needs(names)
        return some if most is None or len(some) <= most else frozenset()

    every = frozenset(NAMES)
    carried = frozenset[str]() if engine is None else engine.needs(every)
    out = barred_of(replace(context, terms=replace(terms, carried=carried)))
    held = context.knowledge.names if terms.memory == "remembers" else frozenset[str]()
    free, asks = every - out.keys(), terms.ask - held
    sent = needed(free - asks)
    disclosed = tuple(name for name in NAMES if name in sent)
    pending = tuple(name for name in NAMES if name in (needed(free) - sent) & asks)

    def outcome(attribute: Attribute) -> Outcome:
        name = attribute.name
        reason: Reason = "known to the recipient" if name in held else "told anyway"
        if name not in sent:
            reason = "waits for you" if name in pending else out.get(name, "not carried")
        return Outcome(
            name=name,
            title=attribute.title,
            disclosed=name in sent,
            reason=reason,
            held=name in held,
            disclose=terms.disclose(name),
        )

    figures = Figures(names=disclosed, people=people, people_left=float(people))
    return Decision(
        code="blocked" if terms.nothing else "answered",
        request=context.request,
        model=LOCALE.id,
        disclosed=disclosed,
        figures=figures,
        pending=structs.replace(figures, names=(*disclosed, *pending)) if pending else None,
        outcomes=() if terms.nothing else tuple(map(outcome, LOCALE.attributes)),
        mode=terms.mode,
    )
