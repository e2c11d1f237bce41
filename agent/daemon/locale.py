"""Language and country: a model of their own, sent in the address of a search or not at all."""

from collections.abc import Collection
from dataclasses import replace

import numpy as np
from msgspec import structs

from agent.decision.context import Context, barred_of
from agent.decision.values import SILENT, Decision, Figures, Outcome, Reason
from agent.model.attributes import UNSPECIFIED, Attribute
from agent.model.model import Model
from agent.model.tables import NO_ROWS, Tables, no_singles
from agent.tradeoff.tables import Population
from agent.words.titles import titles_of_values

NAMES = ("language", "country")


# The two as attributes of a model that knows no query, and nobody. The browser and the network
# address tell them to everybody anyway: so they belong to no other model, are charged nothing, and
# change no decision on anything else; the user's rules hold for them all the same (DESIGN.md 2.8).
_NOBODY = Population(np.zeros((1, len(NAMES)), np.uint8))
LOCALE = Model(
    id="locale",
    source="ISO 639-1 and ISO 3166-1",
    licence="",
    estimator="louo",
    attributes=tuple(
        Attribute(each, each, "person", (UNSPECIFIED, *sorted(titles_of_values(each))))
        for each in NAMES
    ),
    queries=(),
    tables=Tables(_NOBODY, NO_ROWS, np.zeros(0), no_singles(len(NAMES))),
)


def located(context: Context, people: int) -> Decision:
    """Decide which of the two are sent in the address of a search; no value is looked at.

    ``context``: of LOCALE, by the rules for its recipient; ``people``: who agree with all that the
    recipient holds, which stays so. What a parameter is made of is sent where the rules allow all
    of it, and also where the user's values have none that is documented: so its absence says no
    more (DESIGN.md 2.6).
    """
    terms, most = context.terms, context.terms.limits.attributes_per_request
    engine = None if terms.ruling is None or terms.nothing else terms.ruling.engine
    carried = frozenset[str]() if engine is None else engine.needs(NAMES)
    barred, place = barred_of(replace(context, terms=replace(terms, carried=carried))), NAMES.index
    out = {name: why for why, mask in barred.items() for name in NAMES if mask >> place(name) & 1}
    held_names = context.knowledge.names if terms.memory == "remembers" else frozenset[str]()

    def needed(names: Collection[str]) -> tuple[str, ...]:
        """The names that the address needs of these, none where they are too many."""
        some = () if engine is None else engine.needs(names)
        return tuple(n for n in NAMES if n in some and (most is None or len(some) <= most))

    free, asks = {*NAMES} - out.keys(), terms.ask - held_names
    disclosed = needed(free - asks)
    pending = tuple(name for name in needed(free) if name in asks and name not in disclosed)
    why: dict[str, Reason] = {
        **dict.fromkeys(NAMES, "not carried"),
        **out,
        **dict.fromkeys(pending, "waits for you"),
        **dict.fromkeys(disclosed, "told anyway"),
        **dict.fromkeys(held_names.intersection(disclosed), "known to the recipient"),
    }
    figures = Figures(names=disclosed, people=people, people_left=float(people))
    outcomes = (
        Outcome(
            name=name,
            title=name,
            disclosed=name in disclosed,
            reason=why[name],
            held=name in held_names,
            disclose=terms.disclose(name),
        )
        for name in NAMES
    )
    return Decision(
        code=SILENT[terms.results] if terms.nothing else "answered",
        request=context.request,
        model=LOCALE.id,
        disclosed=disclosed,
        figures=figures,
        pending=structs.replace(figures, names=(*disclosed, *pending)) if pending else None,
        outcomes=() if terms.nothing else tuple(outcomes),
        mode=terms.mode,
    )
