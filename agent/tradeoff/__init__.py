"""The mathematics: utility, identifiability, the objective and the search for its best set.

NumPy in, NumPy out. An attribute is an index, a value is a small integer code, and a set of
attributes is the integer whose bit ``i`` says that attribute ``i`` is in it: the same set is
always the same integer, whatever the path that led to it.

Usable alone, with a utility and a cost of your own; nothing deeper needs to be imported:

    class Coverage(Utility):
        def value(self, mask): ...            # bits that the attributes in members(mask) bring

    people = Population(codes)                # or any function from a set to its cost
    objective = Objective(Coverage(), people, attributes=10, trade_off=5.0)
    best = maximise(objective, "lls")         # a Result: mask, order, value, proof, bound
    points = curve(objective)                 # the best set as the trade-off varies

A set function of another form subclasses SetFunction: ``candidates`` and ``value``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agent.tradeoff.local_search import SetFunction
    from agent.tradeoff.objective import Objective
    from agent.tradeoff.search import Result, maximise
    from agent.tradeoff.sets import members
    from agent.tradeoff.tables import Population
    from agent.tradeoff.tradeoff_curve import Point, curve
    from agent.tradeoff.utility import Utility

__all__ = [
    "Objective",
    "Point",
    "Population",
    "Result",
    "SetFunction",
    "Utility",
    "curve",
    "maximise",
    "members",
]

if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        """Import a public name when it is first asked for: a set of bits needs none of the rest."""
        if name not in __all__:
            message = f"module {__name__!r} has no attribute {name!r}"
            raise AttributeError(message)
        from agent.tradeoff import objective, search, sets, tradeoff_curve, utility

        modules = (objective, search, sets, tradeoff_curve, utility)
        return next(vars(each)[name] for each in modules if name in vars(each))
