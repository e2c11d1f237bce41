"""People of a made model, each with an agent."""

from datetime import timedelta

from hypothesis import strategies as st

from agent.daemon.agent import Agent
from agent.model.model import Model
from agent.wire.decide import Ask
from tests.daemon.doubles import FixedRules, MemoryVault, agent_of
from tests.decision.made import NAMES, made_model
from tests.decision.transcripts import HOSTS, QUERIES

MODEL = made_model(1, people=300)
OPEN = "lambda = 0.0\n"
SHOP = Ask(query="python today", recipient="shop.example")
ROWS = MODEL.population.codes
SECOND = timedelta(seconds=1)
PEOPLE = st.integers(0, len(ROWS) - 1)
ASKS = st.builds(
    Ask,
    query=st.sampled_from(QUERIES),
    recipient=st.sampled_from(HOSTS),
    asked=st.none() | st.none() | st.lists(st.sampled_from([*NAMES, "shoe_size"])),
)
STEPS = st.tuples(st.sampled_from([1, 1, 60, 200]), ASKS)  # hours later


def values_of(row: int, model: Model = MODEL) -> dict[str, str]:
    """Return the values of one of the model's people."""
    return {
        each.name: each.values[code]
        for each, code in zip(model.attributes, ROWS[row].tolist(), strict=False)
    }


def living(policy: str | None, row: int = 0, model: Model = MODEL) -> tuple[Agent, MemoryVault]:
    """Return the unlocked agent of one of the model's people, and their vault."""
    vault = MemoryVault(values_of(row, model), model)
    return agent_of(FixedRules(policy), model, vault), vault
