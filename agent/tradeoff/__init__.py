"""The mathematics: utility, identifiability, the objective and the search for its best set.

NumPy in, NumPy out. An attribute is an index, a value is a small integer code, and a set of
attributes is the integer whose bit ``i`` says that attribute ``i`` is in it: the same set is
always the same integer, whatever the path that led to it.

Usable alone, with a utility and a cost of your own; nothing deeper needs to be imported:

    def covered(mask): ...                    # what the attributes in members(mask) bring

    people = Population(codes)                # or any function from a set to its cost
    objective = Objective(covered, people, attributes=10, trade_off=5.0)
    best = maximise(objective, "lls")         # a Result: mask, order, value, proof, bound
    points = curve(objective)                 # the best set as the trade-off varies

A utility that people judged, without any rows, is `agent.tradeoff.coverage.Coverage`; costs that
say how they bend, so that a search may prove bounds, are in `agent.tradeoff.costs`.
`examples/python/README.md` has more. Studies of the trade-off are in `agent.tradeoff.study`.
"""

from agent.tradeoff.objective import Objective
from agent.tradeoff.search import Result, maximise
from agent.tradeoff.tables import Population, members
from agent.tradeoff.tradeoff_curve import Point, curve, knee
from agent.tradeoff.utility import Utility

__all__ = [
    "Objective",
    "Point",
    "Population",
    "Result",
    "Utility",
    "curve",
    "knee",
    "maximise",
    "members",
]
