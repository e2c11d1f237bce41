"""Queries whose attributes mostly decide what people want, so that some are worth disclosing."""

import numpy as np
from hypothesis import strategies as st

from agent.build.canonical import Observed
from agent.build.observe import Observations
from agent.model.attributes import Attribute
from agent.tradeoff.tables import Population, QueryRows

ATTRIBUTES = (
    Attribute("p0", "decides", "person", ("unspecified", "a", "b")),
    Attribute("p1", "noise", "person", ("unspecified", "a")),
    Attribute("r0", "also decides", "request", ("unspecified", "a")),
)
CARDS = tuple(len(each.values) for each in ATTRIBUTES)


@st.composite
def observations(draw: st.DrawFn) -> Observations:
    """Draw a query of up to 24 people, whose attributes mostly decide what they want."""
    people = draw(st.integers(1, 24))
    codes = np.array(
        [[draw(st.integers(0, card - 1)) for card in CARDS[:2]] for _ in range(people)], np.uint8
    )
    asked = draw(st.permutations(range(people)))[: draw(st.integers(1, people))]
    user = np.repeat(np.arange(len(asked)), [draw(st.sampled_from([1, 1, 2])) for _ in asked])
    request = np.array([[draw(st.integers(0, 1))] for _ in user], np.uint8)
    usual = codes[asked][user, 0] + 3 * request[:, 0]
    odd = np.array([draw(st.sampled_from([None] * 9 + [0])) is not None for _ in user])
    wanted, intent = np.unique(np.where(odd, 0, usual), return_inverse=True)
    counts = np.zeros((people, CARDS[2]), np.uint32)
    np.add.at(counts, (np.array(asked)[user], request[:, 0]), 1)
    rows = QueryRows(user, intent, codes[asked], request, len(wanted))
    query = Observed("q", tuple(map(str, wanted)), rows, np.array(asked))
    return Observations(
        attributes=ATTRIBUTES,
        population=Population(codes, None, (counts,)),
        queries=(query,),
        dropped={},
        users=tuple(f"user {number}" for number in range(people)),
    )
