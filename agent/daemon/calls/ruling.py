"""What waits for the user, and what the user says of it."""

from agent.daemon.calls.base import Base
from agent.daemon.holdings import opened
from agent.errors import UsageError
from agent.wire.asking import Allow, Offer, Refuse
from agent.wire.base import Done
from agent.wire.reviews import Override, Review, Ruled, Undone, Verdict
from policy.hosts import host_of, site_of


class Ruling(Base):
    """The user's word, and what asks for it."""

    def reviews(self) -> list[Review]:
        """Return what waits for the user, and says what was asked; LockedError while locked."""
        opened(self._agent)
        return self._agent.desk.reviews(self._clock())

    def verdict(self, body: Verdict, *, id: int) -> Ruled:  # noqa: A002  (the route's word)
        """Apply the user's word on a review; UsageError where there is none such.

        LockedError while locked.
        """
        opened(self._agent)
        ruled = self._agent.desk.verdict(id, body, self._clock())
        self._renew()
        self._agent.bus.publish("review", id)
        return ruled

    def dismiss(self, *, id: int) -> Done:  # noqa: A002  (the route's word)
        """Take a review off the list; UsageError where there is none such."""
        self._agent.desk.dismiss(id)
        self._agent.bus.publish("review", id)
        return Done()

    def offer(self, body: Offer) -> Done:
        """Queue what a recipient says it can use, of what the models have; not done if nothing."""
        now, agent = self._clock(), self._agent
        host = host_of(body.recipient)
        usable = agent.shelf.usable(agent.rules.in_force.keys, now)
        known = {attribute.name for model in usable for attribute in model.attributes}
        names = [name for name in body.names if name in known]
        if not names:
            return Done(done=False)
        pool = agent.rules.in_force.pool_of(host)
        review = agent.desk.offer(site_of(host), pool, names, now)
        if review is not None:
            agent.bus.publish("offer", review.id)
        return Done()

    def refuse(self, body: Refuse) -> Done:
        """Write into the policy that a recipient gets nothing more."""
        self._agent.desk.refuse(body.recipient, self._clock())
        self._renew()
        return Done()

    def allow(self, body: Allow) -> Done:  # noqa: ARG002  (not made yet)
        """Take out of the policy what gives a recipient nothing."""
        raise UsageError("this call is not made yet", "wait for the next release")

    def override(self, body: Override) -> Ruled:  # noqa: ARG002  (not made yet)
        """Apply the user's word on attributes."""
        raise UsageError("this call is not made yet", "wait for the next release")

    def undo(self) -> Undone:
        """Take back the last word."""
        raise UsageError("this call is not made yet", "wait for the next release")
