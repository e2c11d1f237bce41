"""The user's decisions: on what is pending, and on attributes in advance."""

from collections.abc import Callable, Iterable
from contextlib import ExitStack
from dataclasses import replace
from datetime import date, datetime, timedelta

from agent.daemon.consent.intake import (
    ALREADY_SENT,
    Effect,
    Intake,
    State,
    Step,
    override_of,
    verdict_on,
)
from agent.daemon.consent.managed_rules import DISCLOSE, Wish, write
from agent.daemon.consent.reviews import Approved, cleared, expired, removed, settled
from agent.daemon.consent.verdicts import Said, Words, basis_of, say, unasked, written
from agent.daemon.policy_file import restore
from agent.errors import LockedError, RefusedError, UsageError
from agent.wire.policy import Override, Review, Ruled, Verdict
from policy.hosts import host_of, site_of
from policy.match import Rulebook, Ruling
from policy.precedence import GUARDED, may
from policy.rules import Rule

WRITTEN = ("days", "always")
ONLY = (
    "only your last decision or change can be, until the vault is locked; "
    "`reticent policy show` has the rules"
)


def chosen(review: Review, verdict: Verdict) -> tuple[str, ...]:
    """Return the names that a verdict is about; RefusedError for one that is not of its review.

    UsageError where it is about none, or does not say how long it lasts.
    """
    for name in verdict.names or ():
        if name not in review.names:
            raise conflict(f"{name!r} is not pending under {review.id}", review)
    if verdict.names is not None and not verdict.names:
        raise UsageError("the verdict names no attribute", "leave out names to mean all of them")
    check_days(verdict)
    return tuple(dict.fromkeys(verdict.names or review.names))


def check_days(word: Verdict | Override) -> None:
    """Raise UsageError where a word says for how many days and not that it lasts days, or so."""
    if (word.lasting == "days") != (word.days is not None):
        raise UsageError("days goes with lasting=days", "give both or neither")


def conflict(what: str, review: Review) -> RefusedError:
    """Return the error for a word on something else than what waits."""
    hint = f"see `reticent requests pending`; `--dismiss {review.id}` removes it from the list"
    return RefusedError("conflict", what, hint)


def until(word: Verdict | Override, now: datetime) -> date | None:
    """Return the last day of a word, None for no end."""
    return None if word.days is None else now.date() + timedelta(days=word.days)


def check_reached(word: Override, names: Iterable[str], ruling: Ruling) -> None:
    """Raise UsageError where no word on attributes changes anything, and say what would.

    ``ruling``: of a request of the recipient.
    """
    for name in names:
        verdicts = ruling.attributes[name]
        if may(verdicts) == GUARDED:
            what = f"{name} is guarded by {verdicts['guard'].rule.name!r}, so it is never sent"
            raise UsageError(what, "to allow it, remove the guard from the policy")
    nothing = ruling.settings["nothing"]
    if nothing.value is True and word.disclose != "never" and word.about == "recipient":
        what = f"{ruling.host} gets nothing, by {nothing.rule.name!r}, whatever else is said"
        hint = f"`reticent policy unblock {ruling.host}` removes Reticent's own rule"
        raise UsageError(what, f"{hint}, or names yours")


class Consent(Intake):
    """What waits, what was said, and the last step of it, which can be taken back.

    Nothing is written because something is dismissed.
    """

    def verdict(self, number: int, verdict: Verdict, now: datetime) -> Ruled:
        """Apply the user's decision from the next request on; it may change the policy file.

        An offer is settled for good, or for some days. UsageError if there is no such
        review, or the policy cannot be written; RefusedError where it is not what the user was
        shown; LockedError for an offer that cannot be remembered.
        """
        before = self._current(now)
        review = before.waiting.find(number)
        names = chosen(review, verdict)
        pool = self._pool(review.recipient)
        if pool != review.pool or verdict.pool not in (None, pool):
            raise conflict(f"who {review.recipient} pools with has changed", review)
        if review.kind == "offer":
            made = self._settle_offer(review, names, verdict, now)
            after = before._replace(waiting=removed(before.waiting, number))
        else:
            made, words = self._rule(review, names, verdict, now)
            made = self._unless_blocked(made, review, verdict, now)
            after = State(words, settled(before.waiting, number, frozenset(names)))
        whom = None if verdict.about == "everyone" else pool
        self._take(Step(verdict_on(verdict.decided, names, whom), before, after, made))
        return made.ruled

    def override(self, word: Override, now: datetime) -> Ruled:
        """Apply the user's decision on attributes of a model; it may change the policy file.

        UsageError where no rules are in use, where one of them is guarded or the recipient gets
        nothing, where a rule decides that no word of ours can beat, or the policy cannot be
        written.
        """
        check_days(word)
        before, host = self._current(now), host_of(word.recipient)
        names = tuple(dict.fromkeys(word.names))
        ruling = self._ruling(host, "", names, now)
        check_reached(word, names, ruling)
        pool = None if word.about == "everyone" else self._pool(host)
        if word.lasting in WRITTEN:
            end = until(word, now)
            wish = Wish(host, word.disclose, names, everyone=pool is None, until=end)
            made, words = self._write(wish, now), written(before.words, names, pool)
        else:
            once = word.lasting == "once"
            new = (
                Said(name, pool, word.disclose, once, firm=True, against=basis_of(ruling, name))
                for name in names
            )
            made, words = Effect(Ruled(written=None, without_effect=[])), say(before.words, new)
        named = frozenset(names).difference(made.ruled.without_effect)
        asks = word.disclose == "ask"
        waiting = before.waiting if asks else cleared(before.waiting, named, pool)
        what = override_of(word.disclose, names, pool)
        self._take(Step(what, before, State(words, waiting), made))
        return made.ruled

    def dismiss(self, number: int) -> None:
        """Take a review off the list, ruling nothing; UsageError where there is none."""
        before = self._state
        review = before.waiting.find(number)
        after = before._replace(waiting=removed(before.waiting, number))
        self._take(Step(verdict_on("dismiss", review.names, review.pool), before, after))

    def changed(self, what: str, put_back: Callable[[], str]) -> None:
        """Note that the user's values were changed: a word that can be taken back like others.

        ``put_back``: gives them back, and says what left meanwhile.
        """
        self._take(Step(what, self._state, self._state, own=put_back))

    def ruled(self) -> None:
        """Take no change of the user's values back any more: a later word of theirs is the last."""
        if self._step is not None and self._step.own is not None:
            self._step = None

    def moved_on(self) -> None:
        """Take no word back any more: something else was done since, which cannot be."""
        self._step = None

    def undo(self, now: datetime) -> str:
        """Take back the last verdict, override, dismissal or change of the user's values.

        Returns what it was, and what cannot be taken back. UsageError, and nothing taken back,
        where there is none, or where the policy file has changed since; LockedError for an offer
        that cannot be remembered; VaultError for values that cannot be kept.
        """
        step = self._step
        if step is None:
            raise UsageError("nothing to undo", ONLY)
        if step.own is not None:
            told, self._step = step.own(), None
            return f"{step.sentence} {told}"
        made = step.made or Effect(Ruled(written=None, without_effect=[]))
        if made.offer is not None and self._offers is None:
            raise LockedError
        if made.edit is not None and made.edit.changed:
            restore(self._path, made.edit)
            self._step = replace(step, made=made._replace(edit=None))  # should the rest fail
        if made.offer is not None and self._offers is not None:
            self._offers.restore(*made.offer)
        back = step.back(self._state)  # the rules that were put back are in force later
        self._state = back._replace(waiting=expired(back.waiting, now))
        self._step = None
        return step.sentence if step.made is None else f"{step.sentence} {ALREADY_SENT}"

    def refuse(self, host: str, now: datetime) -> None:
        """Write into the policy that a recipient gets nothing; UsageError where it cannot be.

        RefusedError where that was asked for too often: each time the file is written.
        """
        canonical = host_of(host)
        self._refusals_book.refuse(canonical, now)
        waiting = self._current(now).waiting
        for review in [*waiting.reviews.values()]:
            if review.kind == "offer" and review.recipient == site_of(canonical):
                waiting = removed(waiting, review.id)
        self._state = self._state._replace(waiting=waiting)

    def allow(self, host: str) -> bool:
        """Take out of the policy what we wrote so that a recipient gets nothing.

        Returns whether there was any; UsageError where it cannot be.
        """
        return self._refusals_book.allow(host_of(host)).changed

    def refused_by(self, host: str, now: datetime) -> Rule | None:
        """Return the rule by which a recipient gets nothing, None where it may get something."""
        return self._refusals_book.rule(host_of(host), now)

    def _rule(
        self, review: Review, names: tuple[str, ...], verdict: Verdict, now: datetime
    ) -> tuple[Effect, Words]:
        """Rule on what waits; what is denied and would not wait now does not leave all the same."""
        words, everyone = self._state.words, verdict.about == "everyone"
        pool = None if everyone else review.pool
        if verdict.lasting in WRITTEN:
            end = until(verdict, now)
            wish = Wish(review.recipient, verdict.decided, names, review.query, everyone, end)
            return self._write(wish, now), written(words, names, pool)
        once, firm = verdict.lasting == "once", frozenset[str]()
        if verdict.decided == "deny" and self._policy() is not None:
            firm = unasked(words, self._ruling(review.recipient, review.query, names, now))
        disclose = DISCLOSE[verdict.decided]
        new = (Said(name, pool, disclose, once, name in firm) for name in names)
        return Effect(Ruled(written=None, without_effect=[])), say(words, new)

    def _unless_blocked(
        self, made: Effect, review: Review, verdict: Verdict, now: datetime
    ) -> Effect:
        """Report that an approval has no effect while a rule gives the recipient nothing."""
        nothing = self._refusals_book.rule(review.recipient, now)
        if nothing is None or verdict.decided == "deny" or verdict.about == "everyone":
            return made
        names = [*dict.fromkeys(verdict.names or review.names)]
        by = [nothing.name] * len(names)
        ruled = Ruled(written=made.ruled.written, without_effect=names, decided_by=by, blocked=True)
        return made._replace(ruled=ruled)

    def _write(self, wish: Wish, now: datetime) -> Effect:
        found, edit = write(self._path, wish, now.date())
        without, by = [*found.without_effect], [*found.decided_by]
        return Effect(Ruled(written=found.rule, without_effect=without, decided_by=by), edit)

    def _settle_offer(
        self, review: Review, names: tuple[str, ...], verdict: Verdict, now: datetime
    ) -> Effect:
        site, end = review.recipient, until(verdict, now)
        if verdict.about == "everyone":
            raise UsageError("an offer concerns its recipient only", "leave out everyone")
        if verdict.decided == "deny":
            return self._write(Wish(site, None, until=end), now)
        if self._offers is None:
            raise LockedError
        before = self._offers.find(site)
        with ExitStack() as on_failure:  # it is narrowed first, so that nothing opens if this ends
            searches = () if review.search is None else (review.search,)
            approved = Approved(names, end, searches).after(before, now.date())
            self._offers.approve(site, approved)
            on_failure.callback(self._offers.restore, site, before)
            edit = (
                self._refusals_book.allow(site)
                if self._refusals_book.gets_nothing(site, now)
                else None
            )
            on_failure.pop_all()
        return Effect(Ruled(written=None, without_effect=[]), edit, (site, before))

    def _take(self, step: Step) -> None:
        self._state, self._step = step.after, step

    def _ruling(self, host: str, query: str, names: tuple[str, ...], now: datetime) -> Ruling:
        """Return what the policy rules of a request; UsageError where no rules are in use."""
        policy = self._policy()
        if policy is None:
            hint = "create one with `reticent init`, or write one by hand"
            raise UsageError("no policy is in use, so nothing is sent", hint)
        return Rulebook(policy, names).match(host, query, now.date())
