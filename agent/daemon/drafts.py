"""A line for the chat box of an assistant: what it may say, and what of it was told.

A draft is what `/v1/decide` would decide at that moment, shown to the user and recorded nowhere.
What the user then puts into the box is decided anew: if anything is not as it was shown, nothing is
told.
"""

from collections.abc import Callable
from collections.abc import Set as AbstractSet
from datetime import datetime, timedelta
from hashlib import blake2b
from secrets import token_urlsafe
from typing import NamedTuple

import msgspec
from msgspec import structs

from agent.daemon.agent import Agent
from agent.daemon.context import UndecidedError, with_own
from agent.daemon.handle import Considered, considered, left_by, record, summarised
from agent.decision.decide import counted_among
from agent.decision.what_if import SetChange, taken, weigh_steps
from agent.errors import LockedError, RefusedError, UsageError
from agent.model.attributes import UNSPECIFIED
from agent.wire.decide import Answer, Ask, Draft, DraftedFact, Tell, Told
from agent.words.figures import alike
from agent.words.titles import WHY_NOTHING, about, breaks, phrase, plain, titled, value_title
from policy.hosts import host_of

LASTS = timedelta(minutes=10)
MOST = 100  # drafts that are kept; the oldest goes
AGAIN = "nothing was sent: draft the line again"
Note = Callable[[Ask, Answer, datetime], int | None]


class _Kept(NamedTuple):
    """A draft that may be told: the question, when, the digest, and its number in the list."""

    ask: Ask
    at: datetime
    digest: bytes
    number: int | None


class Drafts:
    """The drafts that the user may tell from; they belong to one thread."""

    def __init__(self, agent: Agent, note: Note, token: Callable[[], str] = token_urlsafe) -> None:
        """Begin with none.

        ``note``: puts a request that carried nothing into the list, and returns its number there;
        ``token``: returns what nobody guesses.
        """
        self._agent, self._note, self._token = agent, note, token
        self._kept: dict[str, _Kept] = {}

    def clear(self) -> None:
        """Forget all: nothing of them can be told any more."""
        self._kept.clear()

    def draft(self, ask: Ask, now: datetime) -> Draft:
        """Return what a line may say now without asking; what needs a word of the user's waits.

        RefusedError where the recipient is not an assistant by the policy; else as `handle`.
        """
        self._check_listed(ask, now)
        try:
            found = considered(ask, now, self._agent, "draft")
        except UndecidedError as error:
            self._note(ask, Answer(code=error.code), now)
            return Draft(code=error.code, headline=WHY_NOTHING[error.code])
        decision, expected = found.decision, found.decision.figures.people_left
        summary, facts = summarised(decision, found.context, expected), _facts(found)
        drafted = Draft(
            code=decision.code,
            id=self._token() if facts else "",
            facts=facts,
            line=about(each.phrase for each in facts),
            waiting=[plain(each) for each in titled(summary.pending, summary.titles)],
            headline=summary.headline,
            people=f"expected: {alike(expected, among=counted_among(found.context.model))}",
            read_as=summary.read_as,
        )
        code = "drafted" if facts else drafted.code
        number = self._note(ask, Answer(code=code, summary=summary), now)
        if facts:
            self._kept[drafted.id] = _Kept(ask, now, _digest(drafted.id, found), number)
            if len(self._kept) > MOST:
                del self._kept[next(iter(self._kept))]
        return drafted

    def tell(self, body: Tell, now: datetime) -> Told:
        """Record what the user tells of a draft, then return its line; each draft works once.

        What is set to "unspecified" goes with it: leaving it out tells that. RefusedError, and
        nothing is told, where the draft is not kept any more, or anything would be drafted
        otherwise by now; LockedError; UsageError for a name that the draft does not have.
        """
        kept, agent = self._kept.pop(body.id, None), self._agent
        if agent.vault is None:
            raise LockedError
        if kept is None or not timedelta() <= now - kept.at < LASTS:
            what = "the draft was used already, or is older than ten minutes"
            raise RefusedError("conflict", what, AGAIN)
        self._check_listed(kept.ask, now)
        try:
            found = considered(kept.ask, now, agent, "program")
        except UndecidedError as error:
            raise RefusedError("conflict", WHY_NOTHING[error.code], AGAIN) from None
        if _digest(body.id, found) != kept.digest:
            what = "your rules, your values or what the recipient knows have changed since"
            raise RefusedError("conflict", what, AGAIN)
        facts = {each.name: each for each in _facts(found)}
        for name in body.names:
            if name not in facts:
                raise UsageError.unknown("fact", name, facts)
        line = about(each.phrase for name, each in facts.items() if name in body.names)
        some = _without(facts.keys() - {*body.names}, found)
        answer = Answer(
            code=some.decision.code, summary=summarised(some.decision, some.context, some.left)
        )
        number = record(some, kept.ask, now, agent, "program")
        assert number is not None  # noqa: S101  (it has a value at least)
        agent.silent_requests.replaced(kept.number, number, answer)
        agent.bus.publish("answer", number)
        return Told(id=number, line=line)

    def _check_listed(self, ask: Ask, now: datetime) -> None:
        """Raise RefusedError where no rule lists the recipient as an assistant."""
        book, host = self._agent.rules.active.recipients, host_of(ask.recipient)
        if book is None or host not in dict(book.assistants(now.date())):
            hint = f"write a rule with assistant = true and the address of {host}"
            raise RefusedError("refused", f"{host} is not among your assistants", hint)


def _facts(found: Considered) -> list[DraftedFact]:
    """Return what is said of the user, in the order chosen."""
    titles = {each.name: each.title for each in found.context.model.attributes}
    return [
        DraftedFact(
            name=name,
            title=plain(titles[name]),
            value=plain(value_title(value, titles[name])),
            phrase=phrase(titles[name], value),
        )
        for name, value in found.values.items()
        if value != UNSPECIFIED
    ]


def _without(names: AbstractSet[str], found: Considered) -> Considered:
    """Return the same without what the user leaves out, with its own figures."""
    if not names:
        return found
    context, change = with_own(found.context), SetChange(drop=frozenset(names))
    weighed = taken(weigh_steps(found.decision, context, change)).changed
    if weighed.breaks is not None:
        raise RefusedError("conflict", breaks(weighed.breaks), AGAIN)
    values = {name: value for name, value in found.values.items() if name not in names}
    decision = structs.replace(
        found.decision,
        disclosed=tuple(values),
        figures=weighed,
        outcomes=tuple(each for each in found.decision.outcomes if each.name in values),
    )
    return Considered(found.context, decision, values, left_by(values, found.context))


def _digest(key: str, found: Considered) -> bytes:
    """Return what stands for the values that are disclosed, to whom, and all it knew before."""
    context = found.context
    held = context.knowledge
    parts = (context.ruling.pool, held.codes, held.share, [*found.values.items()])
    return blake2b(msgspec.msgpack.encode(parts), key=key.encode(), digest_size=32).digest()
