"""The screen of the user's own values, and of which of them may be sent."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import ClassVar

from textual.content import Content
from textual.widgets import Input

from agent.tui.dialogs import Choice, Confirm
from agent.tui.list_page import SentencesPage, for_item
from agent.tui.plain import plain
from agent.tui.screens.profile_view import (
    NOT_SET,
    STEPS,
    Row,
    cheaper,
    dearer,
    detail,
    heads,
    line,
    made,
    matching,
)
from agent.tui.virtual_list import Look
from agent.wire.policy import AttributeStatus, Edited, PolicyEdit, Value
from agent.wire.records import Changed, Profile, ProfileChange, Recipient
from agent.wire.state import EventKind
from agent.words.notices import edited, outdated
from agent.words.outcomes import RULINGS
from agent.words.titles import in_order, value_title

UNSET = ""  # in place of a value
UNSPECIFIED = "unspecified"  # values[0]: set like any other
LAST = (
    ("not specified: you prefer not to say, which is an answer too", UNSPECIFIED),
    ("not set, so never sent", UNSET),
)
LEFT_TO = ("never", "ask", "auto", "always")


class ProfileScreen(SentencesPage[Row], where="profile"):
    """A row for each attribute of the model in use."""

    concerns: ClassVar[frozenset[EventKind]] = frozenset(
        {"profile", "policy", "models", "answer", "forget"}
    )
    sought = "a part of a title"
    tooltip_list = (
        "Your attributes. Values stay hidden until you press m. The bits say how much better an "
        "answer must get before the attribute may be sent: with 1 bit, the right result is twice "
        "as easy to find. Decide for what an attribute is, never because of your own value: a rule "
        "made for a value gives the value away by what it leaves out."
    )
    tooltip_detail = "What is known about the attribute under the cursor, and which rule decides."

    def __init__(self) -> None:
        super().__init__()
        self._all: Sequence[Row] = ()
        self._slid: dict[str, float] = {}

    def item_look(self) -> Look[Row]:
        """Return how rows are shown."""
        return Look(
            key=lambda row: row.attribute.name, lines=lambda row, width: (line(row, width),)
        )

    def items(self) -> Sequence[Row]:
        """Return the rows that fit what is sought, with the sliders where they stand."""
        found = matching(self._all, self.text)
        return [replace(row, slid=self._slid.get(row.attribute.name)) for row in found]

    def explain(self, item: Row) -> Content:
        """Return all that there is to say about an attribute."""
        names = (each.attribute for each in self._all)
        pending = [each.title for each in names if each.name in self._slid]
        every = detail(item, self.items(), pending)
        parts = [Content.assemble((f"{head}: ", "bold"), plain(text)) for head, text in every]
        return Content("\n").join(parts)

    def on_listing_resized(self) -> None:
        """Show the titles of the columns that there is room for."""
        width = self.listing.scrollable_content_region.width - 1
        self.put_text("#heads", f" {heads(width)}")

    def clear(self) -> None:
        """Show no attribute and no value."""
        self._all, self._slid = (), {}
        self.query_one(Input).value = ""
        self.draw()

    def mask(self) -> None:
        """Drop the values, or ask for them."""
        if self.review.masked:
            self._all = [replace(each, value=None) for each in self._all]
            self.draw()
        elif self.review.reachable:
            self.do(partial(self.renew, attended=True))

    async def renew(self, *, attended: bool = False) -> None:
        """Show what the daemon says now."""
        call = partial(self.review.link.call, attended=attended)
        attributes: list[AttributeStatus] = await call("attributes")
        recipients: list[Recipient] = await call("recipients")
        own: Profile = await call("profile")
        if self.review.reachable:  # else it was locked meanwhile
            held = {each.pool: each.held for each in recipients}
            self._all = made(attributes, own.values, held, masked=self.review.masked)
            self.draw()

    # sliders

    def action_more(self) -> None:
        """Let it be sent only for more bits."""
        self._slide(dearer)

    def action_less(self) -> None:
        """Let it be sent for fewer bits."""
        self._slide(cheaper)

    def action_slide(self, place: int) -> None:
        """Put the slider at a step, where the mouse is."""
        self._slide(lambda _: STEPS[place])

    def _slide(self, to: Callable[[float], float]) -> None:
        row = self.listing.under
        if row is not None:
            name, bits = row.attribute.name, to(row.bits)
            self._slid[name] = bits
            if bits == row.attribute.sensitivity_bits:
                del self._slid[name]
            self.draw()

    def action_only_back(self) -> None:
        """Put the slider back; or show all attributes again."""
        row = self.listing.under
        if row is None or self._slid.pop(row.attribute.name, None) is None:
            super().action_only_back()
        self.draw()

    @for_item
    async def action_save(self, row: Row) -> None:
        """Write the slider under the cursor, if it was moved."""
        if row.slid is not None:
            self._slid.pop(row.attribute.name, None)
            done = f"{row.attribute.title}: must help by {row.bits:.4g} bits"
            await self._edit(row, {"sensitivity": row.bits}, done)

    # decisions

    @for_item
    async def action_set_value(self, row: Row) -> None:
        """Choose a value, or remove it after asking; the user learns who knows an older one."""
        fact = row.attribute
        if not row.own:
            self.review.tell(f"{fact.title} is set for each request; there is nothing to set.")
            return
        values = in_order(fact.values[1:])
        answers = [*((value_title(each, fact.title), each) for each in values), *LAST]
        every = [*values, UNSPECIFIED]
        begins = every.index(row.value) if row.value in every else None  # none while it is hidden
        question = Choice(f"Your value of: {fact.title}", answers, begins, find=True)
        picked = await self.review.push_screen_wait(question)
        if picked is None:
            return
        if picked == await self._value(fact):
            self.review.tell(f"{fact.title}: nothing changed.")
            return
        change = ProfileChange(model=fact.model, set={fact.name: picked})
        if picked == UNSET:
            change = ProfileChange(model=fact.model, unset=[fact.name])
            asked = f"Remove your value of: {fact.title}? Whoever knows it keeps it."
            if not await self.review.push_screen_wait(Confirm(asked, "remove it")):
                return
        changed: Changed = await self.ask("change_profile", change)
        done = f"{fact.title}: {'set' if picked else 'not set any more'}. u reverts that."
        self.review.tell("\n".join((done, *outdated(changed, {fact.name: fact.title}))))

    @for_item
    async def action_copy(self, row: Row) -> None:
        """Copy its value, after asking, also while values are hidden."""
        fact = row.attribute
        if not row.is_set:
            self.review.tell(f"{fact.title} is {NOT_SET}; there is nothing to copy.")
            return
        asked = f"Copy your value of: {fact.title}? Every program of yours can read the clipboard."
        if await self.review.push_screen_wait(Confirm(asked, "copy it")):
            self.review.copy_to_clipboard(await self._value(fact))
            self.review.tell("Copied.")

    @for_item
    async def action_disclose(self, row: Row) -> None:
        """Choose whether it may be sent."""
        fact = row.attribute
        if fact.disclose == "guarded":
            self.review.tell(f"{fact.title} is guarded, so never sent. g stops guarding it.")
            return
        asked = f"May it be sent: {fact.title}? Decide for what it is, not for your value."
        now = {fact.disclose: " (current)"}
        answers = [
            (f"{RULINGS[each].short}: it {RULINGS[each].sentence}{now.get(each, '')}", each)
            for each in LEFT_TO
        ]
        question = Choice(asked, answers, LEFT_TO.index(fact.disclose))
        picked = await self.review.push_screen_wait(question)
        if picked not in (None, fact.disclose):
            await self._edit(row, {"disclose": picked}, f"{fact.title}: {RULINGS[picked].sentence}")

    @for_item
    async def action_guard(self, row: Row) -> None:
        """Guard it, or guard it no more."""
        guard = 0 if row.attribute.guard else 1
        done = RULINGS["guarded"].sentence if guard else "not guarded any more"
        await self._edit(row, {"guard": guard}, f"{row.attribute.title}: {done}")

    async def _value(self, fact: AttributeStatus) -> str:
        own: Profile = await self.ask("profile")
        return own.values.get(fact.model, {}).get(fact.name, UNSET)

    async def _edit(self, row: Row, settings: dict[str, Value], done: str) -> None:
        edit = PolicyEdit(attribute=row.attribute.name, set=settings)
        made: Edited = await self.ask("edit_policy", edit)
        self.review.tell(edited(done, made))
