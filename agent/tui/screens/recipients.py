"""Recipients: what each was sent and could infer, and the user's decisions about them."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import tzinfo
from functools import partial
from typing import ClassVar

from msgspec.structs import replace
from textual.content import Content
from textual.widgets import Input, Static

from agent.tui.actions import TEXTS
from agent.tui.dialogs import confirm
from agent.tui.list_page import ListPage, for_item
from agent.tui.plain import HIDDEN, fitted, plain
from agent.tui.virtual_list import Kind, Line, Look, Part
from agent.wire.base import Done, RecipientName
from agent.wire.state import EventKind, Recipient
from agent.words.figures import listed, moment, people
from agent.words.notices import FORGETTING, forgotten, inferred, knows_of, unblocked, who_know
from agent.words.titles import NONE, Titles, titled, value_title

PEOPLE, REQUESTS = 32, 10  # columns
LEAST_NAME = 12
ORDERS: Mapping[str, Callable[[Recipient], tuple[object, ...]]] = {
    "latest first": lambda _each: (),
    "by name": lambda each: (each.pool,),
    "fewest people like you first": lambda each: (each.people_left,),
}


def lines(recipient: Recipient, width: int, titles: Titles = NONE) -> tuple[Line, ...]:
    """Draw its name and how many people look like you to it, then what it knows."""
    blocked = recipient.blocked
    kind: Kind = "bad" if blocked else "strong"
    name = fitted(f"{'×' if blocked else ' '} {recipient.pool}", _name(width))
    people_left = fitted(left_of(recipient), PEOPLE, right=True)
    requests = fitted(f"{recipient.requests:,}", REQUESTS, right=True)
    facts = listed(titled(recipient.held, titles), "nothing about you")
    state = "blocked · " if blocked else "told nothing new · " if recipient.stopped else ""
    below = fitted(f"    {state}knows {facts}", width)
    return ((Part(name, kind), Part(people_left), Part(requests, "muted")), (Part(below, "muted"),))


def left_of(recipient: Recipient) -> str:
    """Say how many people look like the user to a recipient, and from how many that fell."""
    first, now = people(recipient.first_left), people(recipient.people_left)
    return now if first == now else f"from {first} to {now}"


def _name(width: int) -> int:
    return max(LEAST_NAME, width - PEOPLE - REQUESTS)


def knowledge(
    recipient: Recipient, held: Recipient, titles: Titles, zone: tzinfo | None, *, masked: bool
) -> Iterator[str]:
    """Describe what a recipient knows: the verdict, the count, each fact, each inference.

    The latest facts come first; values only where they may be seen.
    """
    yield knows_of(held, titles)
    if recipient.blocked:
        yield "× Blocked: nothing is sent to it. b unblocks it."
    if recipient.sites != [recipient.pool]:
        yield f"They share what they learn: {', '.join(recipient.sites)}."
    yield from ("", f"People like you to it: {left_of(recipient)}.", "")
    since = {name: each.timestamp() for name, each in held.since.items()}
    for name in sorted(held.values, key=lambda name: (-since.get(name, 0.0), name)):
        title = titles.get(name, name)
        value = HIDDEN if masked else value_title(held.values[name], title)
        when = f" (since {moment(held.since[name], zone)})" if name in since else ""
        yield f"{title}: {value}{when}"
    unguarded = TEXTS["recipients"]["unguarded"]
    yield from ("", *([inferred(each) for each in held.inferred] or [unguarded]))


def matches(recipient: Recipient, text: str, titles: Titles = NONE) -> bool:
    """Say whether a recipient has these words: in its name, its sites or what it knows."""
    facts = (*recipient.held, *titled(recipient.held, titles))
    words = " ".join([recipient.pool, *recipient.sites, *facts]).casefold()
    state = " blocked" if recipient.blocked else " told nothing new" if recipient.stopped else ""
    return all(each in words + state for each in text.casefold().split())


class RecipientsScreen(ListPage[Recipient], where="recipients"):
    """Who knows what: a list, and one in detail."""

    concerns: ClassVar[frozenset[EventKind]] = frozenset(
        {"answer", "forget", "policy", "models", "offer"}
    )
    opens = True
    orders = (*ORDERS,)

    def __init__(self) -> None:
        super().__init__()
        self.looked_into: tuple[Recipient, Recipient] | None = None  # listed, and what it holds

    def item_look(self) -> Look[Recipient]:
        """Say how recipients are shown."""
        return Look(
            key=lambda each: each.pool,
            lines=lambda each, width: lines(each, width, self._titles),
            height=lambda _item, _width: 2,
        )

    def items(self) -> Sequence[Recipient]:
        """List the recipients that pass the filter."""
        found = [each for each in self._all if matches(each, self.text, self._titles)]
        return sorted(found, key=ORDERS[self.order])

    def record(self, item: Recipient) -> Mapping[str, str]:
        """Name the cells of a recipient in a file."""
        knows = listed(titled(item.held, self._titles))
        cells = {"recipient": item.pool, "knows": knows, "people like you": left_of(item)}
        return {**cells, "requests": str(item.requests), "blocked": "yes" if item.blocked else "no"}

    # rendering

    def draw(self) -> None:
        """Show the recipients that fit, and above them whose people the numbers count."""
        super().draw()
        order = f" In order: {self.order}." if self._all else ""
        self.put_text("#headline", who_know(self._all) + order)
        self.on_listing_resized()

    def on_listing_resized(self) -> None:
        """Show the titles of the columns, and the detail where there is room now."""
        width = self.listing.scrollable_content_region.width
        titles = f"{'people like you':>{PEOPLE}}{'requests':>{REQUESTS}}"
        self.put_text(
            "#heads", f"{fitted('  recipient', _name(width))}{titles}" if self._all else ""
        )
        if self.looked_into is None and self._all:
            self.follow()

    def clear(self) -> None:
        """Show nobody, and keep nobody."""
        self._show(None)
        self.remove_class("opened")
        super().clear()

    def mask(self) -> None:
        """Show the values that a recipient holds, or hide them."""
        if self.review.masked:
            self._show(self.looked_into)
        else:
            self._look_into(attended=True)

    def _show(self, both: tuple[Recipient, Recipient] | None) -> None:
        """Show a recipient, or none; values are kept only while they are seen."""
        masked, zone = self.review.masked, self.review.environment.clock().tzinfo
        if both is not None and masked:
            both = both[0], replace(both[1], values=dict.fromkeys(both[1].values, ""))
        if both and self.looked_into and both[0].pool != self.looked_into[0].pool:
            self.query_one("#detail").scroll_home(animate=False)
        self.looked_into = both
        parts = knowledge(*both, self._titles, zone, masked=masked) if both else ()
        self.query_one("#sentences", Static).update(Content("\n".join(map(plain, parts))))

    # daemon calls

    async def renew(self) -> None:
        """Show who knows anything, and look again into the one that is looked into."""
        recipients = await self.review.link.call("recipients")
        titles = await self.review.titles()
        if self.review.reachable:
            self._all, self._titles = recipients, titles
            self.draw()
            self._look_into(attended=False)

    def follow(self) -> None:
        """Look into the one under the cursor."""
        self._look_into(attended=self.looked_into is not None)

    def _look_into(self, *, attended: bool) -> None:
        """Ask all about the one under the cursor; the answer about another is late."""
        under, seen = self.listing.under, self.has_class("-wide") or self.has_class("opened")
        if under is not None and seen:
            self.do(partial(self._looked_into, under, attended=attended), "into", exclusive=True)

    async def _looked_into(self, one: Recipient, *, attended: bool) -> None:
        call = self.review.link.call
        [knowledge] = await call("recipients", attended=attended, recipient=one.pool)
        if self.review.reachable:
            self._show((one, knowledge))

    def on_listing_chosen(self) -> None:
        """Open what is clicked."""
        self.action_knows()

    def action_knows(self) -> None:
        """Look into the recipient under the cursor."""
        under = self.listing.under
        if under is not None:
            self.add_class("opened")
            self.query_one("#detail").focus()
            if self.looked_into is None or self.looked_into[0].pool != under.pool:
                self._show(None)
                self._look_into(attended=True)

    @for_item
    async def action_requests(self, one: Recipient) -> None:
        """List the requests of the recipient under the cursor; of a group, of all its sites."""
        await self.app.switch_mode("requests")
        field = self.app.screen.query_one("#find", Input)
        field.value, field.display = one.pool, True

    # the user's decisions

    @for_item
    async def action_forget(self, one: Recipient) -> None:
        """State that it has forgotten, after asking."""
        question = f"Mark {one.pool} as having forgotten you? {FORGETTING.format(one.pool)}"
        sure = confirm(question, f"{one.pool} can no longer link it")
        if await self.review.push_screen_wait(sure):
            stated: Done = await self.ask("forget", RecipientName(recipient=one.pool))
            self.review.tell(forgotten(one.pool, done=stated.done))

    @for_item
    async def action_block(self, one: Recipient) -> None:
        """Send it nothing any more, or treat it like others again."""
        if one.blocked:
            names = (RecipientName(recipient=site) for site in one.sites)
            done = [unblocked(each.recipient, await self.ask("allow", each)) for each in names]
            self.review.tell(" ".join(done))
            return
        for site in one.sites:
            await self.ask("refuse", RecipientName(recipient=site))
        self.review.tell(f"Blocked: {listed(one.sites)}. Nothing more is sent there. b unblocks.")
