"""A made model whose attributes are named so that some are demographics, and some are topics."""

from dataclasses import replace
from functools import cache

import numpy as np

from agent.lab.paper.subject import Subject, subject_of
from agent.model.model import Model
from agent.tradeoff.utility import Estimator
from tests.decision import made

PEOPLE = 240
NAMES = ("gender", "region", "int_sql", "dev_web", "asked_before")


@cache
def made_model(seed: int) -> Model:
    """Return a model: intents lean on two attributes, and the last is of the request."""
    model = made.made_model(seed, PEOPLE)
    pairs = zip(model.attributes, NAMES, strict=True)
    weighed = replace(model.tables, query_weights=np.array([2.0, 1.0]))
    named = tuple(replace(each, name=name) for each, name in pairs)
    return replace(model, attributes=named, tables=weighed)


@cache
def made_subject(seed: int, estimator: Estimator) -> Subject:
    """Return the model under an estimator."""
    return subject_of(made_model(seed), estimator)
