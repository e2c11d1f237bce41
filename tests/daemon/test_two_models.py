"""Two models that call different facts alike."""

from dataclasses import replace
from datetime import datetime

from msgspec import structs

from agent.daemon.api import Calls
from agent.daemon.model_registry import Keys
from agent.model.concepts import Meaning
from agent.model.model import Model
from agent.wire.state import ProfileChange
from agent.words.notices import outcome_of
from tests.vault.histories import disclosed
from tests.worlds.people import MODEL, MONDAY, OPEN, OneModel, living


class Two(OneModel):
    """A registry with another model that calls a fact of its own like one of the first."""

    def usable(self, keys: Keys, now: datetime) -> list[Model]:
        """Return both."""
        own, *rest = MODEL.attributes
        other = replace(own, title="Age of the car", concept="two.age")
        both = replace(MODEL, id="two", stands_for="drivers", attributes=(other, *rest))
        return [*super().usable(keys, now), both]


def test_a_fact_is_named_and_counted_by_the_model_that_told_it() -> None:
    """Where another calls a different fact alike: in what is undone, in lists and in numbers."""
    agent, vault = living(OPEN)
    calls, age = Calls(agent, lambda: MONDAY), MODEL.attributes[0]
    agent.registry = Two(MODEL)
    agent.use_models(vault, MONDAY)
    calls.change_profile(ProfileChange(set={f"two.{age.name}": age.values[2]}))
    entry = disclosed(MONDAY, "shop.example", age=age.values[2])
    means = (Meaning("two.age", age.values[2]),)
    vault.ledger.append(structs.replace(entry, model="two", means=means))
    [recipient], [handled] = calls.recipients(), calls.requests()
    held = calls.knowledge(recipient="shop.example")
    assert [*held.values] == recipient.held == ["two.age"]
    for each in (recipient, held):
        assert each.among is not None
        assert each.among.people == "drivers"
    titles = {"two.age": "Age of the car", "age": age.title}
    assert outcome_of(handled, titles) == "Age of the car"
    said = calls.undo().what
    assert said.startswith("Changed Age of the car in your profile")
    assert said.endswith("shop.example was sent Age of the car.")
