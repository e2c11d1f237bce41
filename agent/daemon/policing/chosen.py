"""The model that the policy chooses for a recipient, or for whoever no rule names."""

from datetime import datetime

from agent.daemon.agent import Agent
from agent.errors import ModelError, UsageError
from agent.model.model import Model


def model_for(host: str, query: str, now: datetime, agent: Agent) -> Model:
    """Return the model for a request; UsageError where there is none, ModelError as the shelf."""
    in_force = agent.rules.in_force
    return agent.shelf.of(in_force.model(host, query, now.date()), in_force.keys, now)


def names_for(host: str, query: str, now: datetime, agent: Agent) -> tuple[str, ...]:
    """Return the attributes of that model, none where it cannot be used."""
    try:
        model = model_for(host, query, now, agent)
    except (ModelError, UsageError):
        return ()
    return tuple(each.name for each in model.attributes)
