"""How many people are like what a recipient knows. Pure."""

from agent.decision.request import Knowledge
from agent.model.model import Model


def people_left(knowledge: Knowledge, model: Model) -> int:
    """Return how many of the model's people agree with what is known."""
    return model.remember((people_left, knowledge.codes), lambda: _people_left(knowledge, model))


def _people_left(knowledge: Knowledge, model: Model) -> int:
    return model.crowd((model.index(name), code) for name, code in knowledge.codes).people
