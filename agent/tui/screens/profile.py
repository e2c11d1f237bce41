"""The screen of the user's own values, and of which of them may leave."""

from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar

from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.widgets import Input, Static

from agent.tui.dialogs import Choice, Confirm
from agent.tui.page import Page, Program
from agent.tui.screens.profile_view import (
    STEPS,
    Attributes,
    Row,
    cheaper,
    dearer,
    detail,
    foot,
    made,
    matching,
)
from agent.wire.policy import AttributeStatus, Edited, PolicyEdit, Value
from agent.wire.records import Changed, Profile, ProfileChange, Recipient
from agent.wire.state import EventKind
from agent.words.notices import edited, outdated
from agent.words.outcomes import RULINGS
from agent.words.titles import in_order, value_title

UNSET = ""  # in place of a value
UNSET_SAID = "not set, so never sent"
UNSPECIFIED = "unspecified"  # values[0]: set like any other
UNSPECIFIED_SAID = "not specified: you prefer not to say, which is an answer too"
TAKEN = "It is not sent any more. Whoever knows it keeps it."
GUARDED = "guarded"
STAYS = "is guarded, so it is never sent. g stops guarding it."
LEFT_TO = ("never", "ask", "auto", "always")


@dataclass(frozen=True, slots=True)
class Doing:
    """The program, and the attribute that something is done to, as it was when that began.

    Each raises ReticentError where the daemon refuses.
    """

    review: Program
    row: Row

    async def value(self) -> None:
        """Set its value, or take it away after asking; who holds an older one is said."""
        said = self.row.attribute
        if not self.row.own:
            self.review.tell(f"{said.title} is set for each request; there is nothing to set.")
            return
        values = in_order(said.values[1:])
        answers = [(value_title(each, said.title), each) for each in values]
        answers += [(UNSPECIFIED_SAID, UNSPECIFIED), (UNSET_SAID, UNSET)]
        asked = f"Your value of: {said.title}"
        picked = await self.review.push_screen_wait(Choice(asked, answers, self._present()))
        if picked is None:
            return
        own: Profile = await self.review.link.call("profile", attended=True)
        if picked == own.values.get(said.model, {}).get(said.name, UNSET):
            self.review.tell(f"{said.title}: nothing changed.")
            return
        sure = Confirm(f"Remove your value of: {said.title}? {TAKEN}", "remove it")
        if picked == UNSET and not await self.review.push_screen_wait(sure):
            return
        stale = await _changed(self.review, said, picked or None)
        done = f"{said.title}: {'set' if picked else 'not set any more'}. u reverts that."
        self.review.tell("\n".join((done, *stale)))

    def _present(self) -> int | None:
        """Return which answer it has; none while that is hidden: it would show it."""
        values = [*in_order(self.row.attribute.values[1:]), UNSPECIFIED]
        return values.index(self.row.value) if self.row.value in values else None

    async def copy(self) -> None:
        """Copy its value, after asking, also while values are hidden."""
        said = self.row.attribute
        if not self.row.is_set:
            self.review.tell(f"{said.title} is not set; there is nothing to copy.")
            return
        asked = f"Copy your value of: {said.title}? Every program of yours can read the clipboard."
        if await self.review.push_screen_wait(Confirm(asked, "copy it")):
            own: Profile = await self.review.link.call("profile", attended=True)
            self.review.copy_to_clipboard(own.values.get(said.model, {}).get(said.name, ""))
            self.review.tell("Copied.")

    async def disclose(self) -> None:
        """Say whether it may leave."""
        said = self.row.attribute
        asked = f"May it be sent: {said.title}? Decide for what it is, not for your value."
        if said.disclose == GUARDED:
            self.review.tell(f"{said.title} {STAYS}")
            return
        now = {said.disclose: " (so it is now)"}
        answers = [
            (f"{RULINGS[each].short}: it {RULINGS[each].sentence}{now.get(each, '')}", each)
            for each in LEFT_TO
        ]
        picked = await self.review.push_screen_wait(
            Choice(asked, answers, LEFT_TO.index(said.disclose))
        )
        if picked not in (None, said.disclose):
            await self._edit({"disclose": picked}, f"{said.title}: {RULINGS[picked].sentence}")

    async def guard(self) -> None:
        """Guard it, or guard it no more."""
        said = self.row.attribute
        if said.guard:
            await self._edit({"guard": 0}, f"{said.title}: not guarded any more")
        else:
            await self._edit({"guard": 1}, f"{said.title}: {RULINGS['guarded'].sentence}")

    async def sensitivity(self) -> None:
        """Write what it must bring."""
        done = f"{self.row.attribute.title}: must help by {self.row.bits:.4g} bits"
        await self._edit({"sensitivity": self.row.bits}, done)

    async def _edit(self, settings: dict[str, Value], done: str) -> None:
        edit = PolicyEdit(attribute=self.row.attribute.name, set=settings)
        made: Edited = await self.review.link.call("edit_policy", edit, attended=True)
        self.review.tell(edited(done, made))


async def _changed(review: Program, said: AttributeStatus, value: str | None) -> list[str]:
    """Set a value, or take it away; return who holds an older one, in sentences."""
    change = ProfileChange(model=said.model, unset=[said.name])
    if value is not None:
        change = ProfileChange(model=said.model, set={said.name: value})
    changed: Changed = await review.link.call("change_profile", change, attended=True)
    return outdated(changed, {said.name: said.title})


class ProfileScreen(Page, where="profile"):
    """A row for each attribute of the model in use; what is said of one stands beside it."""

    concerns: ClassVar[frozenset[EventKind]] = frozenset(
        {"profile", "policy", "models", "answer", "forget"}
    )

    def __init__(self) -> None:
        super().__init__()
        self._all: Sequence[Row] = ()
        self._slid: dict[str, float] = {}

    def body(self) -> ComposeResult:
        """Lay the list beside what is said of the attribute under its cursor."""
        with Horizontal():
            with Vertical(id="profile-list"):
                find = Input(placeholder="a part of a title; Escape shows all", compact=True)
                find.tooltip = "Only attributes whose title or name has this in it are shown."
                yield find
                yield Attributes()
                yield Static(id="profile-foot")
            with VerticalScroll(id="profile-detail") as beside:
                beside.tooltip = "What is known and ruled of the attribute under the cursor."
                yield Static()

    def on_mount(self) -> None:
        """Show no field until something is to be found."""
        self.query_one(Input).display = False

    def clear(self) -> None:
        """Show no attribute and no value."""
        self._all, self._slid = (), {}
        self.query_one(Input).value = ""
        self._draw()

    def mask(self) -> None:
        """Drop the values, or ask for them."""
        if self.review.masked:
            self._all = [replace(each, value=None) for each in self._all]
            self._draw()
        elif self.review.reachable:
            self.do(partial(self._ask, attended=True))

    async def renew(self) -> None:
        """Show what the daemon says now."""
        await self._ask(attended=False)

    async def _ask(self, *, attended: bool) -> None:
        call = self.review.link.call
        attributes: list[AttributeStatus] = await call("attributes", attended=attended)
        recipients: list[Recipient] = await call("recipients", attended=attended)
        own: Profile = await call("profile", attended=attended)
        if not self.review.reachable:
            return  # locked meanwhile: what was asked for is nobody's to see
        held = {each.pool: each.held for each in recipients}
        self._all = made(attributes, own.values, held, masked=self.review.masked)
        self._draw()

    # what is shown

    def _shown(self) -> list[Row]:
        found = matching(self._all, self.query_one(Input).value)
        return [replace(row, slid=self._slid.get(row.attribute.name)) for row in found]

    def _draw(self) -> None:
        self.query_one(Attributes).give(self._shown())
        self._tell_of_row()

    def _tell_of_row(self) -> None:
        row, said = self._row(), Content("")
        if row is not None:
            every = detail(row, self._all, self._pending())
            parts = [(Content(head).stylize("bold"), text) for head, text in every]
            said = Content("\n\n").join(Content.assemble(head, "\n", text) for head, text in parts)
        self.query_one("#profile-detail Static", Static).update(said)
        self.query_one("#profile-foot", Static).update(
            Content("" if row is None else foot(row, self._pending()))
        )

    def _pending(self) -> list[str]:
        return [each.attribute.title for each in self._all if each.attribute.name in self._slid]

    def _row(self) -> Row | None:
        under = self.query_one(Attributes).under
        return next((each for each in self._shown() if each.attribute.name == under), None)

    def on_data_table_row_highlighted(self) -> None:
        """Say what there is of the row."""
        self.query_one(Attributes).mark()
        self._tell_of_row()

    def on_data_table_row_selected(self) -> None:
        """Write the slider that was moved, if it was."""
        self._write()

    def on_input_changed(self) -> None:
        """Show what fits."""
        self._draw()

    def on_input_submitted(self) -> None:
        """Go to what was found."""
        self.query_one(Attributes).focus()

    # actions

    def action_more(self) -> None:
        """Let it leave only for more bits."""
        self._slide(dearer)

    def action_less(self) -> None:
        """Let it leave for fewer bits."""
        self._slide(cheaper)

    def action_slide(self, place: int) -> None:
        """Put the slider at a step, where the mouse is."""
        self._slide(lambda _: STEPS[place])

    def action_only_back(self) -> None:
        """Put the slider back; or show all attributes again."""
        find, row = self.query_one(Input), self._row()
        if row is None or self._slid.pop(row.attribute.name, None) is None:
            find.value, find.display = "", False
            self.query_one(Attributes).focus()
        self._draw()

    def action_only_filter(self) -> None:
        """Let a part of a title be typed."""
        find = self.query_one(Input)
        find.display = True
        find.focus()

    def action_set_value(self) -> None:
        """Choose a value."""
        self._begin(Doing.value)

    def action_copy(self) -> None:
        """Copy the value."""
        self._begin(Doing.copy)

    def action_disclose(self) -> None:
        """Say whether it may leave."""
        self._begin(Doing.disclose)

    def action_guard(self) -> None:
        """Guard it, or guard it no more."""
        self._begin(Doing.guard)

    def _begin(self, doing: Callable[[Doing], Coroutine[Any, Any, None]]) -> None:
        """Do something with the row under the cursor."""
        row = self._row()
        if row is not None:
            self._begin_with(row, doing)

    def _begin_with(self, row: Row, doing: Callable[[Doing], Coroutine[Any, Any, None]]) -> None:
        doing_it = partial(doing, Doing(self.review, row))
        self.do(partial(self._through, doing_it))

    async def _through(self, doing: Callable[[], Coroutine[Any, Any, None]]) -> None:
        await doing()
        await self.renew()

    def _slide(self, to: Callable[[float], float]) -> None:
        row = self._row()
        if row is None:
            return
        name, bits = row.attribute.name, to(row.bits)
        self._slid[name] = bits
        if bits == row.attribute.sensitivity_bits:
            del self._slid[name]
        self._draw()

    def _write(self) -> None:
        """Write the slider under the cursor, if it was moved."""
        row = self._row()
        if row is not None and self._slid.pop(row.attribute.name, None) is not None:
            self._begin_with(row, Doing.sensitivity)
            self._draw()
