"""What a person tries out on a request, and the decisions that make it hold. Pure."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from itertools import zip_longest
from typing import NamedTuple

from agent.tui.numbers import bits, more, people
from agent.tui.screens.requests_list import Wanted, when
from agent.wire.policy import About, Decided, Disclose, Lasting, Override, Review, Ruled, Verdict
from agent.wire.records import Handled
from agent.wire.what_if import Weighed, Weight, WhatIf
from agent.words.outcomes import WHY_NOTHING

PROVEN, BEST = "proven", "no better set exists"  # the daemon's line about it
EXACT = "Of the sets that your rules allow none is better."
LIKELY = "Of the sets that your rules allow none is better, if each further fact helps less."
UNPROVEN = "A good set; your rules may allow a better one."
LIMITS = {
    "k": "fewer people like you would be left than you allow",
    "risk": "a guess at who you are would be right more often than you allow",
    "attributes_per_request": "more would leave at once than you allow",
    "new_facts_per_week": "more that is new would leave in a week than you allow",
    "protect": "fewer people like you would be left than you allow",
}
WEEK = 7  # days


@dataclass(frozen=True, slots=True)
class Change:
    """Names that are added to a set, and dropped from it."""

    add: frozenset[str] = frozenset()
    drop: frozenset[str] = frozenset()

    def __bool__(self) -> bool:
        return bool(self.add or self.drop)

    def switched(self, name: str, inside: frozenset[str]) -> "Change":
        """Return the change with one name the other way; ``inside``: the set it starts from.

        That may be another than when the name was added: it is never added and dropped.
        """
        if name in inside:
            return Change(self.add - {name}, self.drop ^ {name})
        return Change(self.add ^ {name}, self.drop - {name})

    def sign(self, name: str, inside: frozenset[str]) -> str:
        """Return whether a name is in, out, added or dropped."""
        if name in inside:
            return "[-]" if name in self.drop else "[x]"
        return "[+]" if name in self.add else "[ ]"


@dataclass(frozen=True, slots=True)
class Trial:
    """A request, a change to it, and what the daemon says of both, None before it did."""

    subject: Review | Handled
    change: Change
    weighed: Weighed | None = None

    @property
    def inside(self) -> frozenset[str]:
        """The set that the change starts from."""
        return frozenset(self.weighed.chosen.names) if self.weighed else frozenset()

    def approved(self) -> list[str]:
        """Return what of a review a yes is meant for: of an offer, all that it names."""
        subject = self.subject
        if isinstance(subject, Handled):
            return []
        return [
            name for name in subject.names if subject.kind == "offer" or name in self.change.add
        ]


def begun(subject: Review | Handled) -> Trial:
    """Return a request as it is; of what waits: as it would be with a yes."""
    if isinstance(subject, Review) and subject.kind == "ask":
        return Trial(subject, Change(add=frozenset(subject.names)))
    return Trial(subject, Change())


def question(trial: Trial) -> WhatIf | None:
    """Return what to ask the daemon; None where there is nothing to weigh."""
    subject, add, drop = trial.subject, sorted(trial.change.add), sorted(trial.change.drop)
    if isinstance(subject, Review):
        asked = subject.names if subject.kind == "offer" else None
        query = subject.query or None
        return WhatIf(recipient=subject.recipient, query=query, asked=asked, add=add, drop=drop)
    if subject.kind == "forgotten":
        return None
    if subject.number > 0:
        return WhatIf(entry=subject.number, add=add, drop=drop)
    query, asked = subject.query or None, subject.asked
    return WhatIf(recipient=subject.recipient, query=query, asked=asked, add=add, drop=drop)


def listed(names: Iterable[str], nothing: str = "nothing") -> str:
    """Return names as a sentence has them: a, b and c."""
    found = [*names]
    if len(found) < 2:  # noqa: PLR2004  (no two to join)
        return found[0] if found else nothing
    return f"{', '.join(found[:-1])} and {found[-1]}"


def only(wanted: Wanted) -> str:
    """Return what of the list is to be seen."""
    parts = {"waiting": "what waits", "disclosed": "what was told", "nothing": "what told nothing"}
    part = parts.get(wanted.only, "")
    of = "with these words" if wanted.text.split() else ""
    return f"Only {', '.join(each for each in (part, of) if each)}"


def headline(trial: Trial, now: datetime) -> str:
    """Return to whom, what was told and when; of what waits: what it is about."""
    subject = trial.subject
    if isinstance(subject, Review):
        return _waits(subject)
    number = f"Entry {subject.number}: " if subject.number > 0 else ""
    to = f"{number}{whom(subject)}, {when(subject.at, now)}"
    about = f"{to}, for “{subject.query}”" if subject.query else to
    match subject.kind:
        case "forgotten":
            return f"{to}: you said that it forgot what it held. The ledger keeps what it was told."
        case "nothing":
            return f"{about}\nTold nothing: {WHY_NOTHING[subject.code]}."
    return f"{about}\nTold: {listed(subject.disclosed)}."


def figures(trial: Trial) -> str:
    """Return what the set brought and cost, and how many people are left, before and after."""
    subject, weighed = trial.subject, trial.weighed
    if weighed is None:
        return ""
    if not weighed.rows:
        return weighed.headline
    if isinstance(subject, Handled) and subject.kind == "disclosed":
        chosen = weighed.chosen
        helped = _helped(subject, chosen)
        left = subject.people_left if subject.people_left is not None else chosen.people_left
        return f"{helped} To it you were {_one_of(weighed.people)}, then {_one_of(left)}."
    if weighed.code == "blocked":
        return f"{whom(subject)} is blocked: until it is unblocked nothing leaves to it."
    known = f"To it you are {_one_of(weighed.people)} now."
    if isinstance(subject, Review):
        without = f"Without your word {listed(weighed.chosen.names)} would leave."
        return f"{_when_asked(subject)}{without} {known}"
    return f"Today it would get {listed(weighed.chosen.names)}. {known}"


def proof(trial: Trial) -> str:
    """Return what is proven of the set that would be chosen today; nothing where none is."""
    weighed = trial.weighed
    if weighed is None or weighed.code != "answered":
        return ""
    said = _proven(weighed)
    if set(weighed.decided) == set(weighed.chosen.names):
        return said
    return f"Today it would be {listed(weighed.decided)}. {said}"


def changed(trial: Trial) -> str:
    """Return what a change would do; nothing where there is none."""
    if not trial.change:
        return ""
    named = change(trial.change)
    if trial.weighed is None:
        return f"{named}: weighing …"
    before, after = trial.weighed.chosen, trial.weighed.weighed
    helps = more(after.utility_bits - before.utility_bits)
    costs = more(after.cost_bits - before.cost_bits)
    left = f"about {people(before.people_left)} -> {people(after.people_left)} people left"
    said = f"{named}: {helps} bits of help, {costs} bits of cost, {left}"
    said += f"; {breaks(after)}." if after.breaks else "."
    held = {row.name for row in trial.weighed.rows if row.held} & trial.change.drop
    kept = f" It knows {listed(sorted(held))} already: keeping that back wins nothing back."
    return said + (kept if held else "")


def breaks(weight: Weight) -> str:
    """Return which limit a set breaks, and what that means."""
    limit = weight.breaks or ""
    means = LIMITS.get(limit, "")
    return f"breaks the limit {limit}" + (f": {means}" if means else "")


def hint(subject: Review | Handled) -> str:
    """Return the keys that make it hold."""
    if isinstance(subject, Handled):
        return "a always · o once · enter longer, everyone · r as it was"
    if subject.kind == "offer":
        return "a yes, always · d no, always · enter for some days"
    return "a yes, always · o yes, once · d no, always · enter more"


def _proven(weighed: Weighed) -> str:
    """Return what is known of the set: under a condition there is a bound, which few sets reach.

    Below the attributes stands by how much others miss it.
    """
    if weighed.proof == "enumerated":
        return EXACT
    reached = any(each.label == PROVEN and each.text.startswith(BEST) for each in weighed.lines)
    return LIKELY if weighed.proof == "if-submodular" and reached else UNPROVEN


def _helped(subject: Handled, chosen: Weight) -> str:
    """Return what a request of the past was to bring, and what it does by the rules of today."""
    now, cost = bits(chosen.utility_bits), bits(chosen.cost_bits)
    then = now if subject.utility_bits is None else bits(subject.utility_bits)
    again = "" if then == now else f"helps by {now} and "
    return f"It helped by {then} bits; at today's prices it {again}costs {cost}."


def _when_asked(review: Review) -> str:
    """Return the figures of when it was asked, which stand in the list."""
    if review.more_bits is None or review.people_left is None:
        return ""
    left = f"about {people(review.people_left)} people left"
    return f"When it was asked: {more(review.more_bits)} bits, {left}. "


def change(tried: Change) -> str:
    """Return what is tried in words."""
    parts = [f"with {listed(sorted(tried.add))}"] if tried.add else []
    parts += [f"without {listed(sorted(tried.drop))}"] if tried.drop else []
    return " and ".join(parts).capitalize() if len(parts) == 1 else " and ".join(parts)


def _waits(review: Review) -> str:
    names = listed(review.names)
    if review.kind == "offer":
        may = "With a yes it may get no more than that, as your rules allow; with a no, nothing."
        where = "" if review.search is None else f" in searches at {review.search}"
        return f"Review {review.id}: {whom(review)} says that it can use {names}{where}.\n{may}"
    about = f", asked last for “{review.query}”" if review.query else ""
    return f"Review {review.id}: {whom(review)} waits for your word on {names}{about}."


def whom(subject: Review | Handled) -> str:
    """Return who it is, and with whom it shares what it is told."""
    pool = f", and so {subject.pool}" if subject.pool.startswith("@") else ""
    return f"{subject.recipient}{pool}"


def _one_of(number: float) -> str:
    return f"1 of {people(number)} people" if number else "unlike anybody in the model"


class Span(NamedTuple):
    """For how long a word is meant, and for whom."""

    lasting: Lasting
    about: About = "recipient"
    days: int | None = None


ONCE, ALWAYS = Span("once"), Span("always")


SPANS = (ONCE, Span("until restart"), Span("days", days=WEEK), ALWAYS)


class Ruling(NamedTuple):
    """A word on a review."""

    decided: Decided
    span: Span


def spans(recipient: str) -> list[tuple[str, Span]]:
    """Return all that may be chosen for a change, for one recipient first."""
    whom: tuple[tuple[About, str], ...] = (("recipient", recipient), ("everyone", "everyone"))
    return [
        (f"{_long(each)}, for {name}", each._replace(about=about))
        for about, name in whom
        for each in SPANS
    ]


def rulings(review: Review) -> list[tuple[str, Ruling]]:
    """Return all that may be said of a review; an offer is settled for good or for some days."""
    verbs: tuple[tuple[Decided, str], ...] = (("approve", "Yes"), ("deny", "No"))
    if review.kind == "offer":
        lasting = [ALWAYS, Span("days", days=WEEK)]
        return [
            (f"{verb}, {_long(each).lower()}", Ruling(decided, each))
            for decided, verb in verbs
            for each in lasting
        ]
    return [
        (f"{verb}, {text[0].lower()}{text[1:]}", Ruling(decided, each))
        for decided, verb in verbs
        for text, each in spans(review.recipient)
    ]


def verdict(review: Review, ruling: Ruling, names: Iterable[str]) -> Verdict:
    """Return the message on a review as it was shown; ``names``: of it, those that are meant."""
    span = ruling.span
    return Verdict(
        decided=ruling.decided,
        lasting=span.lasting,
        about=span.about,
        days=span.days,
        names=[*names],
        pool=review.pool,
    )


def overrides(trial: Trial, span: Span) -> list[Override]:
    """Return the messages that make a change hold; what waits in a review is ruled on apart."""
    recipient = trial.subject.recipient
    waits = frozenset(trial.subject.names) if isinstance(trial.subject, Review) else frozenset()
    wishes: tuple[tuple[frozenset[str], Disclose], ...] = (
        (trial.change.add - waits, "always"),
        (trial.change.drop, "never"),
    )
    return [
        Override(
            recipient=recipient,
            names=sorted(names),
            disclose=disclose,
            lasting=span.lasting,
            about=span.about,
            days=span.days,
        )
        for names, disclose in wishes
        if names
    ]


def said(names: Iterable[str], whom: str, span: Span, *, leaves: bool) -> str:
    """Return a word on attributes in a sentence."""
    to = "everyone" if span.about == "everyone" else whom
    what = "may leave to" if leaves else "does not leave to"
    return f"{listed(names)} {what} {to}, {_long(span).lower()}."


def tells(word: Override) -> str:
    """Return the user's own word on attributes in a sentence."""
    span = Span(word.lasting, word.about, word.days)
    return said(word.names, word.recipient, span, leaves=word.disclose == "always")


def settled(review: Review, ruling: Ruling, names: Iterable[str]) -> str:
    """Return a word on a review in a sentence."""
    if review.kind == "ask":
        leaves = ruling.decided == "approve"
        return said(names, review.recipient, ruling.span, leaves=leaves)
    lasting = _long(ruling.span).lower()
    if ruling.decided == "approve":
        may = f"{review.recipient} may get {listed(names)} and nothing else"
        return f"{may}, as your rules allow, {lasting}."
    return f"{review.recipient} gets nothing, {lasting}."


def outcome(sentence: str, ruled: Ruled) -> str:
    """Return what was said, where it stands now, and which rule still wins."""
    lines = [sentence]
    lines += [] if ruled.written is None else [f"Your policy says so: {ruled.written}."]
    if ruled.blocked and ruled.decided_by:
        lines.append(f"Nothing leaves all the same: blocked by {ruled.decided_by[0]}.")
        return "\n".join(lines)
    for name, rule in zip_longest(ruled.without_effect, ruled.decided_by, fillvalue="another rule"):
        lines.append(f"Without effect on {name}: {rule} still wins.")
    return "\n".join(lines)


def _long(span: Span) -> str:
    match span.lasting:
        case "once":
            return "Once, with the next request"
        case "until restart":
            return "Until the daemon restarts"
        case "days":
            return f"For {span.days} days"
    return "Always"
