"""The user's decisions: on what is pending, on attributes in advance, and on recipients."""

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from datetime import datetime, timedelta

from agent.daemon.consent import managed_rules
from agent.daemon.consent.pending import Approved, PendingConsent, State, Step
from agent.daemon.consent.preferences import (
    DISCLOSE,
    Instruction,
    Preference,
    Preferences,
    basis_of,
    remembered,
    unasked,
    undone,
    written,
)
from agent.daemon.consent.reviews import HOUR, cleared, expired, put_back, settled
from agent.daemon.policy_file import Edit, restore, rewrite
from agent.errors import LockedError, RefusedError, UsageError
from agent.wire.policy import Override, Review, Ruled, Verdict
from agent.words.figures import listed
from policy.assistants import with_assistant
from policy.hosts import host_of, site_of
from policy.match import Rulebook, assistants
from policy.precedence import GUARDED, Attributes, may
from policy.rules import Policy

MOST_REFUSALS = 60  # within an hour
ALREADY_SENT = "Data already sent cannot be recalled."
ONLY_THE_LAST = (
    "only your last decision or change can be undone, until the vault is locked; "
    "`reticent policy show` has the rules"
)
IN_MEMORY = Ruled(written=None, without_effect=[])


def instruction(
    word: Verdict | Override, host: str, names: Attributes, query: str, now: datetime
) -> Instruction:
    """Return what the user wants; UsageError where days are given without a need, or missing."""
    if (word.lasting == "days") != (word.days is not None):
        raise UsageError("days goes with lasting=days", "give both or neither")
    return Instruction(
        host,
        word.disclose if isinstance(word, Override) else word.decided,
        names,
        query,
        everyone=word.about == "everyone",
        until=None if word.days is None else now.date() + timedelta(days=word.days),
        lasting=word.lasting,
    )


def conflict(what: str, review: Review) -> RefusedError:
    """Return the error for a verdict on something else than what waits."""
    hint = f"see `reticent requests pending`; `--dismiss {review.id}` removes it from the list"
    return RefusedError("conflict", what, hint)


class Consent(PendingConsent):
    """What waits, what the user wants, and their last step, which can be undone.

    Nothing is written because something is dismissed.
    """

    _refusals: tuple[datetime, ...] = ()

    def verdict(self, number: int, verdict: Verdict, now: datetime) -> Ruled:
        """Apply the user's decision from the next request on; it may change the policy file.

        An offer is settled for good, or for some days. UsageError if there is no such
        review, or the policy cannot be written; RefusedError where it is not what the user was
        shown; LockedError for an offer that cannot be remembered.
        """
        before = self._current(now)
        review = before.waiting.find(number)
        for name in verdict.names or ():
            if name not in review.names:
                raise conflict(f"{name!r} is not pending under {number}", review)
        if verdict.names is not None and not verdict.names:
            raise UsageError("the verdict names no attribute", "leave out names for all of them")
        names = tuple(dict.fromkeys(verdict.names or review.names))
        asked = self.known(names, number)
        wanted = instruction(verdict, review.recipient, asked, review.query, now)
        pool = self._active().pool_of(review.recipient)
        if pool != review.pool or verdict.pool not in (None, pool):
            raise conflict(f"who {review.recipient} pools with has changed", review)
        scope = None if wanted.everyone else pool
        approves, offer = verdict.decided == "approve", None
        if review.kind == "offer":
            if review.address is not None:
                ruled, edit = self._settle_assistant(wanted, review.address, now)
            else:
                ruled, edit, offer = self._settle_offer(wanted, review.search, now)
            after = before._replace(waiting=settled(before.waiting, number))
        else:
            ruled, edit, preferences = self._apply(wanted, scope, now)
            nothing = self.refused_by(review.recipient, now)
            if nothing is not None and approves and scope is not None:
                ruled = Ruled(
                    written=ruled.written,
                    without_effect=[*names],
                    decided_by=[nothing.name] * len(names),
                    blocked=True,
                )
            after = State(preferences, settled(before.waiting, number, frozenset(names)))
        verb, whom = "Approved" if approves else "Denied", scope or "everyone"
        what = review.address or f"{listed(names)} for {whom}"
        sentence = f"{verb} {what}: undone. {ALREADY_SENT}"
        self._take(Step(sentence, before, after, edit, offer))
        return ruled

    def override(self, word: Override, now: datetime) -> Ruled:
        """Apply the user's decision on attributes of a model; it may change the policy file.

        UsageError where no rules are in use, where one of them is guarded or the recipient gets
        nothing, where a rule decides that none of ours can beat, or the policy cannot be written.
        """
        names = tuple(dict.fromkeys(word.names))
        wanted = instruction(word, host_of(word.recipient), self.known(names), "", now)
        before, policy = self._current(now), self._active().policy
        if policy is None:
            hint = "create one with `reticent init`, or write one by hand"
            raise UsageError("no policy is in use, so nothing is sent", hint)
        ruling = managed_rules.ruling_of(policy, wanted, now.date())
        for name in names:
            verdicts = ruling.attributes[name]
            if may(verdicts) == GUARDED:
                what = f"{name} is guarded by {verdicts['guard'].rule.name!r}, so it is never sent"
                raise UsageError(what, "to allow it, remove the guard from the policy")
        nothing = ruling.settings["nothing"]
        if nothing.value is True and word.disclose != "never" and not wanted.everyone:
            what = f"{ruling.host} gets nothing, by {nothing.rule.name!r}, so this has no effect"
            hint = f"`reticent policy unblock {ruling.host}` removes Reticent's own rule"
            raise UsageError(what, f"{hint}, or names yours")
        pool = None if wanted.everyone else ruling.pool
        ruled, edit, preferences = self._apply(wanted, pool, now)
        waiting = before.waiting
        if word.disclose != "ask":
            had = {each: wanted.names[each] for each in names if each not in ruled.without_effect}
            waiting = cleared(waiting, replace(wanted, names=had).called, pool)
        what = f"Set {listed(names)} to {word.disclose} for {pool or 'everyone'}"
        sentence = f"{what}: undone. {ALREADY_SENT}"
        self._take(Step(sentence, before, State(preferences, waiting), edit))
        return ruled

    def dismiss(self, number: int) -> None:
        """Take a review off the list, ruling nothing; UsageError where there is none."""
        before = self._state
        review = before.waiting.find(number)
        after = before._replace(waiting=settled(before.waiting, number))
        what = review.address or f"{listed(review.names)} for {review.pool}"
        sentence = f"Dismissed {what}: undone."
        self._take(Step(sentence, before, after))

    def changed(self, what: str, put_back: Callable[[], str]) -> None:
        """Note that the user's values were changed: a step that can be undone like others.

        ``put_back``: restores them, and says what was sent meanwhile.
        """
        self._step = Step(f"{what}: undone.", self._state, self._state, put_back=put_back)

    def commit(self, *, values_only: bool = False) -> None:
        """Make the last step final: something was done since that cannot be undone.

        ``values_only``: only where it was a change of the user's values.
        """
        if not values_only or (self._step is not None and self._step.put_back is not None):
            self._step = None

    def undo(self, now: datetime) -> str:
        """Undo the last verdict, override, dismissal or change of the user's values.

        Returns what it was, and what cannot be undone. UsageError, and nothing undone, where there
        is none, or where the policy file has changed since; LockedError for an offer that cannot
        be remembered; VaultError for values that cannot be kept.
        """
        step = self._step
        if step is None:
            raise UsageError("nothing to undo", ONLY_THE_LAST)
        if step.put_back is not None:
            sent, self._step = step.put_back(), None
            return f"{step.sentence} {sent}"
        if step.offer is not None and self._offers is None:
            raise LockedError
        if step.edit is not None and step.edit.changed:
            restore(self._path, step.edit)
            self._step = replace(step, edit=None)  # should the rest fail
        if step.offer is not None and self._offers is not None:
            self._offers.keep(*step.offer)
        before, after, state = step.before, step.after, self._state
        waiting = put_back(state.waiting, before.waiting, after.waiting)
        self._state = State(
            undone(state.preferences, before.preferences, after.preferences), expired(waiting, now)
        )
        self._step = None
        return step.sentence

    def refuse(self, recipient: str, now: datetime) -> None:
        """Write into the policy that a recipient gets nothing; UsageError where it cannot be.

        RefusedError where that was asked for too often: each time the file is written.
        """
        host = host_of(recipient)

        def change(text: str, policy: Policy) -> str:
            rule = Rulebook(policy, {}).refusing(site_of(host), now.date())
            if rule is not None and rule.expires is None:
                return text
            self._refusals = tuple(each for each in self._refusals if now - each < HOUR)
            if len(self._refusals) >= MOST_REFUSALS:
                what = f"{MOST_REFUSALS} recipients were refused within an hour"
                hint = "write one rule for several of them in the policy"
                raise RefusedError("refused", what, hint)
            return managed_rules.refused(text, managed_rules.alone(policy, host))

        if rewrite(self._path, change).changed:
            self._refusals = (*self._refusals, now)
        waiting = self._current(now).waiting
        offer = waiting.reviews.get(("offer", site_of(host), frozenset()))
        if offer is not None:
            self._state = self._state._replace(waiting=settled(waiting, offer.id))

    def allow(self, recipient: str) -> Edit:
        """Take out of the policy what we wrote so that a recipient gets nothing.

        UsageError where no rule can mean it alone, or the file cannot be changed.
        """
        host = host_of(recipient)
        return rewrite(
            self._path,
            lambda text, policy: managed_rules.allowed(text, managed_rules.alone(policy, host)),
        )

    def _apply(
        self, wanted: Instruction, pool: str | None, now: datetime
    ) -> tuple[Ruled, Edit | None, Preferences]:
        """Write an instruction that lasts into the policy, or remember it.

        What is denied and would not wait now is firm: it does not leave all the same.
        """
        preferences, policy = self._state.preferences, self._active().policy
        if wanted.is_written:
            return *self._write(wanted, now), written(preferences, wanted.names, pool)
        today = now.date()
        ruling = None if policy is None else managed_rules.ruling_of(policy, wanted, today)
        firm = frozenset[str]()
        if wanted.value not in DISCLOSE:
            firm = frozenset(wanted.names)
        elif wanted.value == "deny" and ruling is not None:
            firm = unasked(preferences, ruling)
        new = (
            Preference(
                concept,
                pool,
                wanted.disclose,
                once=wanted.lasting == "once",
                firm=name in firm,
                against=None if ruling is None else basis_of(ruling, name),
            )
            for name, asked in wanted.names.items()
            for concept in sorted(asked.concepts)
        )
        return IN_MEMORY, None, remembered(preferences, new)

    def _write(self, wanted: Instruction, now: datetime) -> tuple[Ruled, Edit]:
        edit = rewrite(
            self._path,
            lambda text, policy: managed_rules.with_instruction(text, policy, wanted, now.date()),
            lambda before, after: managed_rules.check_effect(before, after, wanted, now.date()),
        )
        return managed_rules.outcome(edit.after, wanted, now.date()), edit

    def _settle_offer(
        self, wanted: Instruction, search: str | None, now: datetime
    ) -> tuple[Ruled, Edit | None, tuple[str, Approved | None] | None]:
        site = wanted.host
        if wanted.everyone:
            raise UsageError("an offer concerns its recipient only", "leave out everyone")
        if wanted.value == "deny":
            return *self._write(Instruction(site, None, until=wanted.until), now), None
        if self._offers is None:
            raise LockedError
        before, edit = self._offers.find(site), None
        with ExitStack() as on_failure:  # it is narrowed first, so that nothing opens if this ends
            searches = () if search is None else (search,)
            approved = Approved((*wanted.names,), wanted.until, searches).after(before, now.date())
            self._offers.keep(site, approved)
            on_failure.callback(self._offers.keep, site, before)
            if self.refused_by(site, now) is not None:
                edit = self.allow(site)
            on_failure.pop_all()
        return IN_MEMORY, edit, (site, before)

    def _settle_assistant(
        self, wanted: Instruction, address: str, now: datetime
    ) -> tuple[Ruled, Edit | None]:
        """List an assistant by a rule; nothing is written where it is not to be.

        UsageError where another rule decides otherwise, or the policy cannot be written.
        """
        if wanted.everyone:
            raise UsageError("this concerns one assistant only", "leave out everyone")
        if wanted.value == "deny":
            return IN_MEMORY, None
        today = now.date()

        def check(_: Policy, after: Policy) -> None:
            if address.rstrip("/") not in dict(assistants(Rulebook(after, {}), today)).values():
                what = "this would have no effect: another rule decides about this assistant"
                raise UsageError(what, f"`reticent policy explain {wanted.host}` names it")

        edit = rewrite(
            self._path,
            lambda text, _: with_assistant(text, wanted.host, address, wanted.until),
            check,
        )
        ours = [each for each in edit.after.rules if each.settings.get("address") == address]
        return Ruled(written=ours[-1].name, without_effect=[]), edit

    def _take(self, step: Step) -> None:
        self._state, self._step = step.after, step
