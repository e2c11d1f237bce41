"""What waits for the user, and what the user says of it."""

from datetime import datetime

from agent.daemon.calls.base import Base
from agent.daemon.desk.sites import own_search
from agent.daemon.holdings import opened
from agent.daemon.policing.ruled import place_of
from agent.errors import UsageError
from agent.wire.base import Done
from agent.wire.decide import Allow, Allowed, Offer, Refuse
from agent.wire.policy import Override, Review, Ruled, Undone, Verdict
from policy.hosts import host_of, site_of
from policy.toml_edit import lines_of


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
        """Queue what a recipient says it can use, of what the models have; done if it waits.

        UsageError where the recipient is no host, or the search is not its own.
        """
        now, agent = self._clock(), self._agent
        host, known = host_of(body.recipient), self._known(now)
        search = None if body.search is None else own_search(body.search, host)
        names = [name for name in body.names if name in known]
        if not names:
            return Done(done=False)
        site, pool = site_of(host), agent.rules.in_force.pool_of(host)
        review = agent.desk.offer(site, pool, names, now, search)
        if review is not None:
            agent.bus.publish("offer", review.id)
        return Done(done=agent.desk.waiting_offer(site, now) is not None)

    def refuse(self, body: Refuse) -> Done:
        """Write into the policy that a recipient gets nothing more."""
        self._agent.desk.refuse(body.recipient, self._clock())
        self._agent.desk.ruled()
        self._renew()
        return Done()

    def allow(self, body: Allow) -> Allowed:
        """Take out of the policy what we wrote so that a recipient gets nothing.

        Not done where there is no such rule; a rule that is not ours stays, and is named.
        """
        done = self._agent.desk.allow(body.recipient)
        self._agent.desk.ruled()
        self._renew()
        rule = self._agent.desk.refused_by(body.recipient, self._clock())
        if rule is None:
            return Allowed(done=done)
        policy = self._agent.rules.policy
        lines = {} if policy is None else lines_of(policy.text)
        return Allowed(done=done, rule=rule.name, line=place_of(lines, rule, ("nothing",)))

    def override(self, body: Override) -> Ruled:
        """Apply the user's word on attributes; UsageError for one that no model has.

        LockedError while locked.
        """
        opened(self._agent)
        now = self._clock()
        self._agent.look(now)
        known = self._known(now)
        for name in body.names:
            if name not in known:
                raise UsageError.unknown("attribute", name, known)
        ruled = self._agent.desk.override(body, now)
        self._tell()
        return ruled

    def undo(self) -> Undone:
        """Take back the last word, on requests or values; UsageError where there is none.

        LockedError while locked.
        """
        opened(self._agent)
        what = self._agent.desk.undo(self._clock())
        self._tell()
        return Undone(what=what)

    def _known(self, now: datetime) -> frozenset[str]:
        """Return the names of the attributes of all models that may be used."""
        usable = self._agent.shelf.usable(self._agent.rules.in_force.keys, now)
        return frozenset(attribute.name for model in usable for attribute in model.attributes)

    def _tell(self) -> None:
        """Let what was written hold from now on, if anything; tell that, or that words changed."""
        renewed = self._agent.rules.renew(self._clock())
        self._agent.bus.publish("policy" if renewed else "review")
