"""An oracle that shares nothing with the search: a mixed-integer programme (paper 4.4)."""

import highspy
import numpy as np
import pytest
from hypothesis import given, settings

from agent.tradeoff.search import maximise
from agent.tradeoff.sets import members, singleton
from tests.tradeoff.doubles import Tabulated, submodular


def nemhauser_wolsey(function: Tabulated) -> tuple[float, int]:
    """Return the optimum of a submodular F and a set that has it, by HiGHS.

    Maximise eta over 0/1 vectors x with, for every set S,
    eta <= F(S) + sum over j outside S of r_j(S) x_j - sum over j in S of r_j(V - j) (1 - x_j),
    where r_j(S) = F(S + j) - F(S). Source: Nemhauser & Wolsey 1981.
    """
    whole = function.everything
    attributes = list(members(whole))
    model = highspy.Highs()  # type: ignore[no-untyped-call]  # the package is not typed
    model.setOptionValue("output_flag", False)
    chosen = [model.addBinary() for _ in attributes]
    eta = model.addVariable(lb=-highspy.kHighsInf, ub=highspy.kHighsInf)
    for mask in range(whole + 1):
        limit = function.value(mask)
        terms = [(eta, 1.0)]
        for j in attributes:
            if mask >> j & 1:
                loss = function.value(whole) - function.value(whole ^ singleton(j))
                limit -= loss
                terms.append((chosen[j], -loss))
            else:
                gain = function.value(mask | singleton(j)) - function.value(mask)
                terms.append((chosen[j], -gain))
        model.addConstr(sum(weight * variable for variable, weight in terms) <= limit)
    model.maximize(eta)
    solution = np.rint(model.vals(chosen))
    mask = sum(singleton(j) for j in attributes if solution[j])
    return model.getObjectiveValue(), mask


@settings(max_examples=60)
@given(submodular(most=6))
def test_exact_search_agrees_with_a_mip(function: Tabulated) -> None:
    """The optimum; ``exact`` and ``exhaustive`` find it, and the set that HiGHS names has it."""
    optimum, mask = nemhauser_wolsey(function)
    assert optimum == pytest.approx(function.value(mask), abs=1e-6)
    assert maximise(function, "exact").value == pytest.approx(optimum, abs=1e-6)
    assert maximise(function, "exhaustive").value == pytest.approx(optimum, abs=1e-6)
    assert maximise(function, "lls").value <= optimum + 1e-6
