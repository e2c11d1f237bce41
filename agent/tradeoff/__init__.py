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

`examples/python/README.md` has more. The laboratory builds on the rest of these names.
"""

from agent.tradeoff.anonymity_set import COMBINATIONS, AnonymitySet
from agent.tradeoff.bounds import sample_size, sampling_error
from agent.tradeoff.check import Pair, Violations, random_pairs, submodularity, supermodularity
from agent.tradeoff.local_search import SetFunction, eager_pass, lazy_pass
from agent.tradeoff.measures import Metric
from agent.tradeoff.objective import DisclosureObjective, Objective, Settings
from agent.tradeoff.search import Algorithm, Result, greedy_order, maximise
from agent.tradeoff.sets import members, singleton, union
from agent.tradeoff.tables import UNSPECIFIED, Kinds, Population, QueryRows
from agent.tradeoff.tradeoff_curve import Point, beaten, curve, knee
from agent.tradeoff.utility import (
    Estimator,
    MeanUtility,
    PlugIn,
    QueryUtility,
    Utility,
    query_utility,
)

__all__ = [
    "COMBINATIONS",
    "UNSPECIFIED",
    "Algorithm",
    "AnonymitySet",
    "DisclosureObjective",
    "Estimator",
    "Kinds",
    "MeanUtility",
    "Metric",
    "Objective",
    "Pair",
    "PlugIn",
    "Point",
    "Population",
    "QueryRows",
    "QueryUtility",
    "Result",
    "SetFunction",
    "Settings",
    "Utility",
    "Violations",
    "beaten",
    "curve",
    "eager_pass",
    "greedy_order",
    "knee",
    "lazy_pass",
    "maximise",
    "members",
    "query_utility",
    "random_pairs",
    "sample_size",
    "sampling_error",
    "singleton",
    "submodularity",
    "supermodularity",
    "union",
]
