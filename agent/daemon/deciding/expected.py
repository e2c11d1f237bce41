"""What a recipient may be asked about next, decided before it is: nothing is sent or recorded."""

from collections.abc import Generator
from datetime import datetime

import numpy as np

from agent.daemon.agent import Agent
from agent.daemon.deciding.case import NothingError, case_of, decided_for
from agent.errors import UsageError
from agent.model.model import Model
from agent.wire.asking import Ask

MOST = 64  # queries of a model, those asked most: far more is remembered for several recipients


def expected(ask: Ask, now: datetime, agent: Agent) -> Generator[None, None, None]:
    """Decide, a query in each step, what the recipient of a request would get for another.

    By all that holds at each step; the model remembers it. Where the terms protect this user
    alone, nothing is decided: such decisions are not remembered. It ends where none can be made.
    """
    try:
        for query in most_asked(case_of(ask, now, agent).model):
            case = case_of(Ask(query=query, recipient=ask.recipient, asked=ask.asked), now, agent)
            if case.terms.limits.protect == "everyone":
                decided_for(case, None)
            yield
    except (NothingError, UsageError):
        return


def most_asked(model: Model) -> list[str]:
    """Return the texts of the queries that are asked most, at most MOST, in that order."""
    order = np.argsort(-model.tables.query_weights, kind="stable")[:MOST]
    return [model.queries[query].text for query in order.tolist()]
