"""The policy: how it is, what it rules, and changes of it."""

from agent.daemon.calls.base import Base
from agent.daemon.policing.attributes import attributes
from agent.daemon.policing.calibrated import calibration
from agent.daemon.policing.edited import edited, outcome
from agent.daemon.policing.ruled import ruled
from agent.wire.policy import AttributeStatus, Edited, PolicyEdit, RulesStatus
from agent.wire.state import PolicyStatus
from agent.wire.what_if import Calibrate, Calibrated


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

    def rules(self) -> RulesStatus:
        """Return all that the policy rules."""
        now = self._clock()
        self._agent.look(now)
        return ruled(now, self._agent)

    def attributes(self, *, recipient: str | None = None) -> list[AttributeStatus]:
        """Return the attributes of the model in use, and what the policy says of each."""
        now = self._clock()
        self._agent.look(now)
        return attributes(recipient, now, self._agent)

    def edit_policy(self, body: PolicyEdit) -> Edited:
        """Write settings into the policy, or take them out; UsageError where that cannot be."""
        now = self._clock()
        done = edited(body, self._agent.rules.path, now.date())
        if done.changed:
            self._agent.desk.moved_on()
        self._renew()
        return outcome(done, now, self._agent)

    def calibrate(self, body: Calibrate) -> Calibrated:
        """Turn answers into prices, and write them into the policy if that is asked."""
        found = calibration(body, self._clock(), self._agent)
        if body.write:
            self._agent.desk.moved_on()
            self._renew()
        return found
