"""The policy: how it is, what it rules, and changes of it."""

from agent.daemon.calls.base import Base
from agent.wire.state import PolicyStatus


class Policing(Base):
    """The rules in use."""

    def policy(self) -> PolicyStatus:
        """Return how the policy is."""
        self._agent.look(self._clock())
        return self._agent.rules.status()

    def reload(self) -> PolicyStatus:
        """Read the policy now, whatever it is."""
        self._agent.rules.reload(self._clock())
        self._agent.bus.publish("policy")
        return self._agent.rules.status()
