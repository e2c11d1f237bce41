"""How many people are like what a recipient knows. Pure."""

from agent.decision.request import Knowledge
from agent.model.model import Model


def people_left(knowledge: Knowledge, model: Model) -> int:
    """Return how many of the model's people agree with what is known."""
    known = [(model.index(name), code) for name, code in knowledge.codes]
    key = (people_left, knowledge.codes)
    return model.remember(key, lambda: model.crowd(known).people)
