"""The trade-off: how many people look like you, and what help that leaves, as a few choices."""

from collections.abc import Iterator, Sequence
from typing import ClassVar, NamedTuple

from textual.content import Content

from agent.decision.values import Figures, Reading
from agent.tui.list_page import SentencesPage, for_item
from agent.tui.page import write_rule
from agent.tui.plain import fitted, plain_lines
from agent.tui.virtual_list import Kind, Line, Look, Part
from agent.wire.decide import Ask, Weighed, WhatIf
from agent.wire.policy import PolicyEdit, RulesStatus
from agent.wire.state import Entry, EventKind, Status
from agent.words.figures import counted, listed
from agent.words.titles import HOLDING, NONE, Titles, titled

LOOKED_BACK = 50  # requests, among which the latest that differ are looked at
MOST = 8  # of these, or of the model's topics
STEPS = (100, 700, 5_000, 50_000, 500_000)  # people, to choose from
MORE, LESS = ("Send more", "Send much more"), ("Send less", "Send much less")
IN_FORCE = "As now"
LEAST_GAIN = 5e-4  # bits: less help is none
NOBODY = "anybody.invalid"  # a recipient that knows nothing, and that no rule names (RFC 2606)
ANYTHING = Ask(query="anything", recipient=NOBODY)  # lists topics of all kinds
REQUESTS = "What your latest requests would carry, to somebody who knows nothing about you yet."
TOPICS = "You have made no requests yet, so this is what some topics of all kinds would carry."
NO_LIMIT = "no number of people must look like you"


class PeopleChoice(NamedTuple):
    """How many people are to look alike, None for no limit.

    ``sent``: what each request would carry then; ``doubled``: as of `PolicyStatus`.
    """

    label: str
    people: int | None
    doubled: bool = False
    sent: tuple[Figures, ...] = ()

    @property
    def helps(self) -> float:
        """How much it helps all requests together, in bits."""
        return sum(each.utility for each in self.sent)

    @property
    def promise(self) -> str:
        """The choice in a sentence."""
        holds = (self.people or 0) * (1 + self.doubled)
        what = NO_LIMIT if self.people is None else HOLDING["people"].format(holds)
        return f"{self.label}: {what}"


def choices(now: int | None, *, doubled: bool = False) -> list[PeopleChoice]:
    """List the numbers of people to choose from, that which sends most first; ``now``: in force."""
    below = [each for each in STEPS if each < (now or 0)][::-1]
    above = [each for each in STEPS if each > (now or 0)]
    more, less = zip(MORE, below, strict=False), zip(LESS, above, strict=False)
    every = [*[*more][::-1], (IN_FORCE, now), *less]
    return [PeopleChoice(label, people, doubled) for label, people in every]


def effect(choice: PeopleChoice, now: PeopleChoice) -> str:
    """Say how many requests are answered better or less well, and how much of the help is left."""
    many = counted(len(choice.sent), "request")
    if choice == now:
        return f"{sum(bool(each.names) for each in now.sent)} of {many} carry facts"
    more = (choice.people or 0) < (now.people or 0)
    gains = (one.utility - other.utility for one, other in zip(choice.sent, now.sent, strict=True))
    changed = sum((each if more else -each) > LEAST_GAIN for each in gains)
    whole = f"; {choice.helps / now.helps:.0%} of the help that you get now" if now.helps else ""
    return f"{changed} of {many} answered {'better' if more else 'less well'}{whole}"


def carried(
    choice: PeopleChoice, now: PeopleChoice, requests: Sequence[str], titles: Titles = NONE
) -> Iterator[str]:
    """Say what each request would carry, those first that carry something else now."""
    every = zip(requests, choice.sent, now.sent, strict=True)
    for request, then, before in sorted(every, key=lambda each: each[1].names == each[2].names):
        facts, instead = (listed(titled(e.names, titles), "nothing") for e in (then, before))
        yield f"“{request}”: {facts}" + ("" if facts == instead else f" (now: {instead})")


class TradeoffScreen(SentencesPage[PeopleChoice], where="tradeoff"):
    """What the latest requests would carry if more or fewer people had to look alike."""

    concerns: ClassVar[frozenset[EventKind]] = frozenset({"policy", "models", "answer"})

    def __init__(self) -> None:
        super().__init__()
        self._weighed: dict[tuple[str, int | None], Figures] = {}  # by query and number of people
        self._basis: object = None  # what that depends on
        self._requests: Sequence[str] = ()  # by their titles

    def item_look(self) -> Look[PeopleChoice]:
        """Say how choices are shown."""
        return Look(
            key=lambda choice: choice.people, lines=self._lines, height=lambda _item, _width: 2
        )

    def _lines(self, choice: PeopleChoice, width: int) -> tuple[Line, ...]:
        kind: Kind = "accent" if choice == self._now else "strong"
        what = f"  {effect(choice, self._now)}"
        return ((Part(fitted(choice.promise, width), kind),), (Part(fitted(what, width)),))

    @property
    def _now(self) -> PeopleChoice:
        return next(each for each in self._all if each.label == IN_FORCE)

    def explain(self, item: PeopleChoice) -> Content:
        """Say what each request would carry."""
        every = carried(item, self._now, self._requests, self._titles)
        return Content(plain_lines("\n".join(every)))

    def clear(self) -> None:
        """Forget the requests and what they would carry."""
        self._weighed, self._requests = {}, ()
        super().clear()

    # daemon calls

    async def renew(self) -> None:
        """Look at what the latest requests would carry; what was computed before is kept."""
        call = self.review.link.call
        status: Status = await call("status")
        basis = status.policy.loaded_at, [each.digest for each in status.models]
        if basis != self._basis:
            self._weighed, self._basis = {}, basis
        rules: RulesStatus = await call("rules")
        now = [int(each.value) for each in rules.effective if each.key == "people"]
        texts, headline = await self._looked_at()
        found = [
            each._replace(sent=tuple([await self._sent(e, each.people) for e in texts.values()]))
            for each in choices(next(iter(now), None), doubled=status.policy.doubled)
        ]
        titles = await self.review.titles()
        if self.review.reachable:  # else it was locked meanwhile
            is_first = not self._all
            self._titles, self._requests, self._all = titles, [*texts], found
            self.put_text("#headline", headline)
            self.draw()
            if is_first:
                self.listing.put(self._now.people)

    async def _looked_at(self) -> tuple[dict[str, str], str]:
        """Choose the requests, or topics where there are none, by their titles."""
        latest: list[Entry] = await self.review.link.call("requests", limit=LOOKED_BACK)
        queries = dict.fromkeys(each.query for each in reversed(latest) if each.read_as)
        if queries:
            return {each: each for each in [*queries][:MOST]}, REQUESTS
        topics: list[Reading] = await self.review.link.call("topics", ANYTHING)
        spread = topics[:: max(1, len(topics) // MOST)][:MOST]
        return {each.title: each.query for each in spread}, TOPICS

    async def _sent(self, query: str, people: int | None) -> Figures:
        """Find what a query would carry where so many people must look alike, once."""
        if (query, people) not in self._weighed:
            ask = WhatIf(recipient=NOBODY, query=query, people=people)
            weighed: Weighed = await self.review.link.call("whatif", ask)
            self._weighed[query, people] = weighed.chosen
        return self._weighed[query, people]

    @for_item
    async def action_take(self, choice: PeopleChoice) -> None:
        """Write the choice under the cursor into the policy, once its effect is seen."""
        if choice == self._now:
            self.review.tell("Your policy does this already. Up and down select another choice.")
            return
        edit = PolicyEdit(set={} if choice.people is None else {"people": choice.people})
        await write_rule(self, edit, choice.promise)
