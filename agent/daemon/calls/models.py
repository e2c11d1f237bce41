"""The models: which there are, and which of them can be used."""

from collections.abc import Callable
from contextlib import suppress
from datetime import datetime

from agent.daemon.agent import Agent
from agent.daemon.calls.base import Base
from agent.daemon.calls.places import absolute
from agent.daemon.process.opening import Opening, in_thread
from agent.errors import VaultError
from agent.wire.base import Done
from agent.wire.state import ModelStatus, Place


class Models(Base):
    """The files that requests are decided with."""

    def __init__(
        self, agent: Agent, clock: Callable[[], datetime], opening: Opening = in_thread
    ) -> None:
        super().__init__(agent, clock, opening)
        self._models: list[ModelStatus] | None = None

    def models(self) -> list[ModelStatus]:
        """Return how each model is, and tell if that changed."""
        found = self._agent.shelf.status(self._agent.rules.in_force.keys, self._clock())
        before, self._models = self._models, found
        if before not in (None, found):
            self._agent.bus.publish("models")
            if self._agent.vault is not None:
                with suppress(VaultError):  # what cannot be kept now is no reason to end
                    self._agent.models_changed(self._agent.vault, self._clock())
        return found

    def add_model(self, body: Place) -> ModelStatus:
        """Copy a model to the others; UsageError or ModelError where that cannot be."""
        keys = self._agent.rules.in_force.keys
        added = self._agent.shelf.add(absolute(body), keys, self._clock())
        self.models()
        return added

    def remove_model(self, *, name: str) -> Done:
        """Remove a model; UsageError where there is none such."""
        self._agent.shelf.remove(name)
        self.models()
        return Done()
