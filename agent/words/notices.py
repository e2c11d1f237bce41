"""Sentences about what happened and what waits: requests, approvals, recipients, the daemon.

Names of attributes are shown by their titles where the caller has them.
"""

from collections import defaultdict
from collections.abc import Collection, Sequence
from itertools import zip_longest

from msgspec.structs import replace

from agent.decision.values import CountedAmong, FactTerms, Inferred, Proposal
from agent.wire.decide import Allowed
from agent.wire.policy import Edited, Lasting, Review, Ruled, Word
from agent.wire.state import (
    Changed,
    Corrected,
    Entry,
    Implied,
    ModelStatus,
    ReadingEdit,
    Recipient,
    Status,
    WithoutFacts,
)
from agent.words import figures
from agent.words.figures import alike, bits, counted, counted_among, listed, people, would_bring
from agent.words.titles import (
    NONE,
    ONCE_FOR_ALL,
    UNANSWERED,
    UNSPECIFIED,
    WHY_NOTHING,
    Titles,
    in_words,
    plain,
    quoted,
    read_as,
    titled,
    titles_in,
    value_title,
)

MOST_NAMED = 6  # recipients, or attributes, in one sentence
UNSAID = "What is set would otherwise give away what you answered."
GONE = "Data already sent cannot be recalled."
LEARNS = ("keep it", "get the new one at no extra cost, if no rule asks first")
FORGOTTEN = "marked as having forgotten everything"
FORGETTING = (
    "With a yes you state that {} can no longer link to you what it was sent: for example, you have"
    " another account there, and nothing else gives you away. This makes nobody forget, the ledger"
    " keeps what was sent, and you cannot undo it."
)


def whom(subject: Review | Entry) -> str:
    """Name a recipient, and the group with which it shares what it learns."""
    return subject.recipient + (f" (and {subject.pool})" if subject.pool.startswith("@") else "")


def why_nothing(handled: Entry) -> str:
    """Say why a request carried nothing, and how much of it waits for approval."""
    if handled.waiting and handled.code == "answered":
        waiting = handled.waiting - handled.settled
        verb = "waited" if not waiting else "waits" if waiting == 1 else "wait"
        return f"{counted(waiting or handled.waiting, 'fact')} {verb} for your approval"
    return handled.why or WHY_NOTHING[handled.code]


def verdict_of(handled: Entry, titles: Titles = NONE) -> str:
    """Say what became of a request in one sentence, the verdict first."""
    if handled.kind == "forgotten":
        return f"You marked {handled.recipient} as having forgotten everything."
    to = whom(handled)
    if handled.kind == "nothing":
        return f"Sent nothing to {to}: {why_nothing(handled)}."
    return sent_to(to, handled.disclosed, titles_in(handled.model, titles), handled.people_left)


def sent_to(
    to: str,
    names: Sequence[str],
    titles: Titles = NONE,
    left: float | None = None,
    again: Collection[str] = (),
    among: CountedAmong | None = None,
) -> str:
    """Say what was sent and to whom; ``left``: how many people still look like the user.

    ``again``: what of it the recipient already had.
    """
    many, who = counted(len(names), "fact"), "" if left is None else f"; {alike(left, among=among)}"
    what = f"{many} to {to}" + (f", {len(again)} of them again" if again else "")
    if len(again) == len(names):
        what = f"nothing new to {to}, only {many} that it already has"
    return f"Sent {what}: {listed(titled(names, titles))}{who}."


def outcome_of(handled: Entry, titles: Titles = NONE) -> str:
    """Say the same for a cell of a table."""
    if handled.kind == "forgotten":
        return FORGOTTEN
    if handled.kind == "nothing":
        return f"nothing: {why_nothing(handled)}"
    pending = handled.waiting - handled.settled
    waiting = f"; {pending} waiting" if pending else ""
    return ", ".join(titled(handled.disclosed, titles_in(handled.model, titles))) + waiting


def named_in(review: Review, titles: Titles = NONE) -> list[str]:
    """Name what a review is about: by titles, and facts in own words by these."""
    return titled(review.names, {**titles_in(review.model, titles), **in_words(review.own)})


def asks(review: Review, titles: Titles = NONE) -> str:
    """Say what waits for approval as a question, with what it would bring."""
    if review.address is not None:
        return f"Use Reticent in the chat box at {review.address}?"
    if review.topic is not None:
        what = repr(review.query) if review.query else "a text"
        return f"Read {what} as {quoted(review.topic.title)} from now on?"
    if review.kind == "fact":
        return f"Remember {review.query!r}, as {review.recipient} proposes?"
    names = listed(named_in(review, titles))
    if review.kind == "offer":
        where = "" if review.search is None else f" for searches at {review.search}"
        return f"{review.recipient} asks for {names}{where}"
    about = f", for {review.query!r}" if review.query else ""
    figures, to = would_bring(review.more_bits, review.people_left), review.recipient
    to += f" (and {review.pool})" if review.pool != to else ""
    once = f"Or once for all: {family_facts(review)}" if review.families else ""
    return f"Send {names} to {to}{about}? {'. '.join(filter(None, (figures, once)))}".rstrip()


def family_facts(review: Review) -> str:
    """Name all facts, and all recipients, that one word on the families of a review settles."""
    return f"{listed(each.removeprefix('@') for each in review.families)} facts to {review.whom}"


def waits(review: Review, titles: Titles = NONE) -> str:
    """Say what waits for approval, and how to settle it."""
    approve, deny = (f"`reticent {word} {review.id}`" for word in ("approve", "deny"))
    return f"{listed(named_in(review, titles))}, until you say {approve} or {deny}"


def how_long(lasting: Lasting, days: int | None = None) -> str:
    """Say for how long a decision of the user holds, as the end of a sentence."""
    if lasting == "days":
        return f"for {counted(days or 0, 'day')}"
    return "with the next request" if lasting == "once" else "from now on"


def settled(review: Review, verdict: Word, titles: Titles = NONE) -> str:
    """Say what the user decided about a review, for whom and for how long."""
    names = listed(named_in(replace(review, names=[*(verdict.names or review.names)]), titles))
    long, approved = how_long(verdict.lasting, verdict.days), verdict.disclose == "auto"
    if review.kind == "offer" and not verdict.days:
        long = "from now on"
    if review.kind == "fact":
        return "The fact is in your profile now." if approved else "The fact is not kept."
    if review.topic is not None:
        meant = f"The text is read as {quoted(review.topic.title)} from now on."
        return meant if approved else "The text is read as before."
    if verdict.about == "family":
        return ONCE_FOR_ALL[verdict.disclose].format(family_facts(review))
    if review.address is not None:
        works = f"The popup works in the chat box at {review.address} {long}."
        return works if approved else f"{review.recipient} is not among your assistants."
    if review.kind == "offer":
        after = f"{', then nothing' if verdict.days else ''}, as your rules allow"
        only = f"{review.recipient} may get {names} and nothing else {long}{after}."
        return only if approved else f"{review.recipient} gets nothing {long}."
    anybody = "everyone" if approved else "anyone"
    to = anybody if verdict.about == "everyone" else review.pool
    return f"{names} {'may be' if approved else 'will not be'} sent to {to} {long}."


def overridden(word: Word, titles: Titles = NONE, to: str = "") -> str:
    """Say what the user decided about attributes that did not wait, and for how long.

    ``to``: the recipient, with its group if it has one, where the caller knows that.
    """
    names, long = listed(titled(word.names or (), titles)), how_long(word.lasting, word.days)
    to = to or f"{word.recipient} (and its group, if any)"
    if word.about == "everyone":
        to = "anyone" if word.disclose == "never" else "everyone"
    match word.disclose:
        case "never":
            return f"{names} will not be sent to {to} {long}."
        case "ask":
            return f"{names} will wait for your approval before going to {to} {long}."
        case "auto":
            return f"{names} may be sent to {to} {long}, when worth it."
    return f"{names} will be sent to {to} {long}, unless a limit or a guard forbids it."


def took_effect(ruled: Ruled, place: str | None = None, titles: Titles = NONE) -> list[str]:
    """Say where a decision was written, and which rules still win over it."""
    into = f" into {place}" if place else ""
    lines = [] if ruled.written is None else [f"Written{into} as {ruled.written!r}."]
    for name, rule in zip_longest(ruled.without_effect, ruled.decided_by, fillvalue="another rule"):
        lines.append(f"No effect on {titles.get(name, name)}: {rule!r} still wins.")
    return lines


def edited(done: str, edit: Edited, titles: Titles = NONE) -> str:
    """Say what became of an edit of the policy, and which rules still win over it."""
    text = f"{done}." if edit.changed else f"{done}. The policy already said so."
    grouped = defaultdict[tuple[str, str], list[str]](list)
    for win in edit.wins:
        rule = f"{win.rule} (line {win.line})" if win.line else win.rule.partition(",")[0]
        value = f"{win.value:g}" if isinstance(win.value, float) else str(win.value).lower()
        grouped[rule, f"{win.key} = {value}"] += titled(win.names, titles)
    for (rule, value), names in grouped.items():
        about = f" for {listed(names, most=MOST_NAMED)}" if names else ""
        text += f" {rule} still wins with {value}{about}."
    return text


def would_differ(trial: Edited) -> str:
    """Say what a dry run found: how many of the latest requests an edit would have changed."""
    if not trial.replayed:
        return "There is no past request to try it on."
    of = f"Of your last {counted(trial.replayed, 'request')}"
    return f"{of}, {trial.differ or 'none'} would have carried something else."


def outdated(changed: Changed, titles: Titles = NONE) -> list[str]:
    """Say who holds an older value of what was changed, and whether they learn the new one."""
    still_set = {each.name for each in changed.changes if each.is_set}
    return [
        f"{listed(pools, most=MOST_NAMED)} {'has' if len(pools) == 1 else 'have'} your "
        f"older value of {titles.get(name, name)}, and will "
        f"{LEARNS[name in still_set]}."
        for name, pools in changed.stale.items()
    ]


def also(implied: Sequence[Implied], *, masked: bool = False) -> list[str]:
    """Say what changed because other facts did; ``masked``: without the values."""
    now = {each.title: each.value for each in implied}
    set_ = {title: value for title, value in now.items() if value is not None}
    named = [f"{t} to {value_title(v, t)}" for t, v in set_.items() if v != UNSPECIFIED]
    unsaid = [title for title, value in set_.items() if value == UNSPECIFIED]
    kinds = [
        ("set, since it follows: {}.", named),
        (f'set to "prefer not to say" until you answer: {{}}. {UNSAID}', unsaid),
    ]
    kinds = [("set with it: {}.", [*set_])] if masked else kinds
    kinds += [("unset with it: {}.", [title for title in now if title not in set_])]
    return [f"Also {text.format(listed(titles))}" for text, titles in kinds if titles]


def who_know(recipients: Sequence[Recipient]) -> str:
    """Say how many know something, and of whom their numbers of people are."""
    if not recipients:
        return ""
    many, verb = counted(len(recipients), "recipient"), "knows" if len(recipients) == 1 else "know"
    whole = counted_among([each.among for each in recipients])
    return f"{many} {verb} something about you.{f' Numbers are out of {whole}.' if whole else ''}"


def corrected(correction: Corrected, edit: ReadingEdit) -> str:
    """Say what became of an edit of what a text means, and what the text is read as now."""
    names = listed(quoted(each.title) for each in correction.read_as)
    now = "It is no longer recognised, so it is sent unchanged."
    if correction.now is not None:
        now = f"It is read as {read_as(correction.now)} now."
    if edit.undo:
        return f"What you said of it is undone. {now}" if correction.done else "Nothing to undo."
    if edit.topic is not None:
        again = "" if correction.done else ", as you said before"
        return f"It means {names} from now on{again}. Texts that say nearly the same do too."
    again = " again" if correction.done else ", as you said before"
    return f"It will not be read as {names}{again}. {now}"


def knows_of(holding: Recipient, titles: Titles = NONE) -> str:
    """Say how many facts a recipient knows, how far they single the user out, and what is new."""
    new = f"; {holding.recent} new in the last seven days" if holding.recent else ""
    if not holding.values:
        if holding.recent:
            new += ", all of it marked as forgotten"
        return f"{holding.pool} knows nothing about you{new}."
    whole = counted_among([holding.among])
    whole = whole or f"the {people(holding.people)} people in {holding.model}"
    match holding.people_left:
        case 0:
            fits = f"You stand out: you match none of {whole}"
        case 1:
            fits = f"It may know who you are: you match only 1 of {whole}"
        case left:
            fits = f"To it, you blend in with {people(left)} of {whole}"
    unset = [name for name, value in holding.values.items() if value == UNSPECIFIED]
    learns = f" It also knows what you did not say: {listed(titled(unset, titles))}."
    facts = counted(len(holding.values), "fact")
    why = f" {stopped(holding.pool, titled(holding.stopped, titles))}." if holding.stopped else ""
    return f"{holding.pool} knows {facts} about you. {fits}{new}.{learns if unset else ''}{why}"


def forgotten(recipient: str, *, done: bool) -> str:
    """Say that a recipient counts as having forgotten; ``done``: it knew something before."""
    if not done:
        return f"{recipient} already knows nothing about you, so there is nothing to forget."
    after = "The ledger keeps what was sent, and that you said this."
    return f"From now on {recipient} counts as knowing nothing about you. {after}"


def unblocked(recipient: str, allowed: Allowed) -> str:
    """Say what became of a recipient that was unblocked, and which rule still blocks it."""
    after = "is treated like others again from now on"
    after = after if allowed.done else "was not blocked, so nothing was changed"
    by = f"by {allowed.rule!r}, which is not for it alone: change it by hand"
    return f"{recipient} {after if allowed.rule is None else f'still gets nothing, {by}'}."


def stopped(pool: str, titles: Sequence[str]) -> str:
    """Say why a recipient is told nothing new, and what ends that; the rarest fact comes first."""
    facts = listed(titles, most=MOST_NAMED)
    what = f"{pool} is told nothing new: with {facts}, too few people would look like you there"
    return f"{what}. To change that, unset {titles[0]}, or lower your limits"


def rare_fact(title: str) -> str:
    """Say beforehand that a fact makes the user stand out by itself, and what to do."""
    return (
        f"{title}: so few people share your value that you would stand out by it alone, and a site "
        "that may get it is told nothing new instead. Unset it, or let it never be sent"
    )


def inferred(fact: Inferred) -> str:
    """Say what a recipient could guess about a guarded attribute."""
    if not fact.best_guess:
        return f"{fact.title}: too few people look like you to tell what it could guess."
    guess = f"its best guess is right for {fact.best_guess:.0%} of people like you"
    amount, whole = bits(abs(fact.bits), decimals=2), bits(fact.bits_in_all, decimals=2)
    learned = f"it has learned {amount} of {whole} bits about it"
    if fact.bits < 0:
        learned = f"it is {amount} bits less certain than before"
    return f"{fact.title} (kept secret): {guess}, and {fact.by_chance:.0%} by chance; {learned}."


def taken_for(proposal: Proposal, title: str) -> dict[str, str]:
    """Say what a fact in own words was taken for, by label; ``title``: of its kind."""
    fact, terms = proposal.fact, proposal.fact.terms or FactTerms()
    note = "this does not read like a fact" if not proposal.chance else ""
    note = "you have said this already" if proposal.same_as else note
    note = "another fact of yours says the opposite" if proposal.contradicts else note
    rows = {
        "about": f"{title}: {value_title(fact.value, title)}" if fact.value else title,
        "private": f"you would tell {figures.whom(terms.sensitivity)}" if terms.sensitivity else "",
        "rare": figures.rarity(terms.share) if terms.share else "",
        "helps with": "; ".join(proposal.helps),
        "short form": fact.short or ("" if fact.value else "none, so only assistants get it"),
        "note": note,
    }
    return {label: text for label, text in rows.items() if text}


def model_line(model: ModelStatus) -> str:
    """Describe a model in one line: what it covers and who made it, or why it cannot be used."""
    if model.problem is not None:
        return f"{model.name} cannot be used: {model.problem}"
    attributes = counted(model.attributes, "kind of fact", "kinds of facts")
    queries = counted(model.queries, "topic")
    origin = "comes with reticent" if model.shipped else f"signed with {model.maker}"
    origin = origin if model.shipped or model.maker else "not signed"
    return f"{model.name}: {attributes}, {queries}; {origin}"


def running(status: Status) -> str:
    """Say in one sentence whether requests are answered, and what to do where they are not."""
    if status.notice is not None and (status.locked or not status.vault):
        return f"Locked: {status.notice}."
    if not status.vault:
        return "No vault yet: `reticent init` creates one."
    if status.locked:
        return "Locked: nothing is attached to requests until you run `reticent unlock`."
    if status.paused_until is not None:
        until = figures.moment(status.paused_until)
        return f"Paused until {until}: nothing is attached. `reticent pause off` ends it."
    if not status.policy.in_use:
        return "Unlocked, but nothing is attached: no policy in use."
    unanswered = [each for each in status.notes if each.startswith(UNANSWERED)]
    return f"Unlocked, but {unanswered[0]}." if unanswered else "Unlocked: requests are answered."


def without_facts(lock: WithoutFacts) -> str:
    """Say how many requests went without facts while the vault was locked; empty for none."""
    since = figures.moment(lock.since)
    until = "" if lock.until is None else figures.moment(lock.until)
    when = f"from {since} to {until}" if until else f"since {since}"
    of = counted(lock.requests, "request")
    return f"locked {when}: {of} left without facts" if lock.requests else ""


def health(problems: int, notes: int, fine: str = "Nothing is wrong") -> str:
    """Say what a check of this machine found; ``fine``: what to say without a problem."""
    verdict = counted(problems, "problem") if problems else fine
    return f"{verdict}, {counted(notes, 'note')}." if notes else f"{verdict}."


# Dialogs on the desktop are short, and nothing in them could pass for ours: a recipient is its
# canonical host, so in punycode, and keeps its end where it is cut; titles come from models.

DESKTOP_LOCKED = "The vault is locked: requests go without facts until `reticent unlock`."
DIALOG_NAMES = 4  # attributes that one dialog is about; others wait on
DIALOG_TITLE = 48  # characters of a title or a query; the shipped titles fit
DIALOG_HOST = 60
_MARKUP = str.maketrans("<>&", "()+")  # some labels take it for markup


def dialog_locked(host: str) -> str:
    """Say why the passphrase is asked for; ``host``: whom the request went to."""
    return (
        f"A request of yours to {_ending(host)} was answered without your facts, since the vault "
        "is locked. Unlock it for the next ones?\n"
        'After "Not now" you are not asked for ten minutes.'
    )


def dialog_asks(review: Review, titles: Titles) -> str:
    """Ask about what waits, that is about the first `DIALOG_NAMES` of its attributes."""
    safe = replace(
        review,
        recipient=_ending(review.recipient),
        pool=_ending(review.pool),
        query=_plain(review.query),
        names=review.names[:DIALOG_NAMES],
        families=[],
    )
    return asks(safe, {name: _plain(titles.get(name, name)) for name in safe.names})


def _plain(text: str) -> str:
    return plain(text.translate(_MARKUP), DIALOG_TITLE)


def _ending(host: str) -> str:
    """Shorten a host to its end, which says whose it is; escape all but ASCII."""
    clean = host.encode("ascii", "backslashreplace").decode().translate(_MARKUP)
    clean = "".join(each if each.isprintable() else "?" for each in clean)
    return clean if len(clean) <= DIALOG_HOST else f"...{clean[3 - DIALOG_HOST :]}"
