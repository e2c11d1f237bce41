"""The screen of the questions, and of what the answers come to."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.widgets import OptionList, Static

from agent.tui.actions import calibrate
from agent.tui.actions.action import Where, keys
from agent.tui.asked import Confirm
from agent.tui.page import Page
from agent.tui.screens.calibrate.answering import Answering
from agent.tui.screens.calibrate.outcome import Outcome
from agent.tui.screens.calibrate.scale import Scale
from agent.wire.policy import AttributeStatus
from agent.wire.state import EventKind
from agent.wire.what_if import Calibrate, Calibrated

LEAD = (
    "What is being known worth to you? A few questions of about two minutes find your own prices. "
    "Answer for the attribute, never because of your own value of it. Your answers are private: "
    "they are in memory only, and locking forgets them."
)
OTHERS = "[ and ] show other screens"
WRITES = "This writes λ and the prices of the attributes that you were asked about."
LOSES = "Leave? Your answers are kept in memory only, and nothing of them is written."


class CalibratePage(Page):
    """One question at a time, then the line through the answers; it is written only if asked."""

    where: ClassVar[Where] = "calibrate"
    concerns: ClassVar[frozenset[EventKind]] = frozenset({"models", "policy"})
    BINDINGS: ClassVar[list[BindingType]] = [*keys(calibrate.ACTIONS)]

    def __init__(self) -> None:
        super().__init__()
        self._at = Answering()
        self._came_to: Calibrated | None = None

    def body(self) -> ComposeResult:
        """Lay the question above its answers, what was said so far beside them."""
        with Horizontal(id="calibrate-asking"):
            with Vertical():
                yield Static(Content(LEAD), id="calibrate-lead")
                yield Static(id="calibrate-progress")
                yield Static(id="calibrate-question")
                yield Scale()
            with VerticalScroll(id="calibrate-said") as beside:
                beside.tooltip = "What you have answered so far."
                yield Static()
        yield Outcome()

    def clear(self) -> None:
        """Forget what was said."""
        self._at, self._came_to = Answering(), None
        self._draw()

    async def renew(self) -> None:
        """Ask about the model in use; where that has other attributes than before, begin anew."""
        found: list[AttributeStatus] = await self.review.link.call("attributes")
        same = {each.name for each in found} == {each.name for each in self._at.attributes}
        at = Answering.about(found)
        at = replace(at, place=self._at.place) if same else at
        if self.review.reachable and at != self._at and not (same and self._at.said):
            self._go(at)

    # what is shown

    @property
    def _asking(self) -> bool:
        """Whether there is a question, or will be one once the attributes are known."""
        return not self._at.attributes or self._at.question is not None

    def _draw(self) -> None:
        question, asking = self._at.question, self._asking
        self.query_one("#calibrate-asking").display = asking
        progress, text = ("", "") if question is None else (self._progress(), question.asked)
        self.query_one("#calibrate-progress", Static).update(Content(progress))
        self.query_one("#calibrate-question", Static).update(Content(text))
        self.query_one(Scale).give(question.answers if question else (), self._at.chosen)
        outcome = self.query_one(Outcome)
        outcome.display = not asking
        outcome.tell(self._came_to, {each.name: each.title for each in self._at.attributes})
        self.query_one("#calibrate-said Static", Static).update(self._said())
        self._focus(asking=asking)
        self.refresh_bindings()

    def _progress(self) -> str:
        more = f"; o asks about {self._at.more} attributes more" if self._at.more else ""
        return f"{self._at.progress()}{more}; {OTHERS}"

    def _said(self) -> Content:
        said = [
            Content.assemble(asked, " ", Content(answer).stylize("bold"))
            for asked, answer in reversed(self._at.so_far())
        ]
        first = Content("Your answers, the latest first").stylize("bold")
        return Content("\n\n").join([first, *(said or [Content("None yet.")])])

    def _focus(self, *, asking: bool) -> None:
        wanted = self.query_one(Scale) if asking else self.query_one(Outcome)
        other = self.query_one(Outcome) if asking else self.query_one(Scale)
        if self.focused in (None, other):
            wanted.focus()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:  # noqa: ARG002
        """Say which actions can be done now."""
        asking = self._asking
        if action in ("only_back", "only_skip", "only_more", "answer"):
            return asking
        if action == "write":
            return self._came_to is not None and not self._came_to.written
        return not asking if action == "only_answers" else True

    # actions

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Answer."""
        self.action_answer(event.option_index + 1)

    def action_answer(self, number: int) -> None:
        """Answer, and go on."""
        self._go(self._at.answered(number))

    def action_only_back(self) -> None:
        """Go back to the question before."""
        self._go(self._at.back())

    def action_only_skip(self) -> None:
        """Leave the question open, and go on."""
        if self._at.skippable:
            self._go(self._at.skipped())
        else:
            self.review.tell("This one is needed: without it, what you called so has no price.")

    def action_only_more(self) -> None:
        """Ask about all attributes."""
        self._go(self._at.widened())

    def action_only_answers(self) -> None:
        """Go back to the last answer."""
        self._go(self._at.back())

    def action_write(self) -> None:
        """Write what the answers come to."""
        self.do(self._confirm)

    def action_leave(self) -> None:
        """Leave the program, after asking where answers would be lost."""
        self.do(partial(self._leave, self.review.exit))

    def action_end(self) -> None:
        """Leave the questions, after asking where answers would be lost."""
        self.do(partial(self._leave, self._end))

    def action_no_answer(self) -> None:
        """Switch to no screen: whoever types on after the last question meant to answer."""
        self.review.tell(f"There is no question left; {OTHERS}.")

    def _end(self) -> None:
        self._go(Answering.about([*self._at.attributes]))
        self.review.action_show("requests")

    def _go(self, at: Answering) -> None:
        self._at, self._came_to = at, None
        self._draw()
        if not self._asking:
            self.do(self._fit)

    async def _fit(self) -> None:
        await self._calibrate(write=False)

    async def _calibrate(self, *, write: bool) -> None:
        at = self._at
        answers = at.message()
        if answers is None:
            return
        body = Calibrate(answers=[answers], write=write)
        found: Calibrated = await self.review.link.call("calibrate", body, attended=True)
        if at is self._at:  # not where it was forgotten, or changed, meanwhile
            self._came_to = found
            self._draw()

    async def _confirm(self) -> None:
        if await self.review.push_screen_wait(Confirm(WRITES, "write it into the policy")):
            await self._calibrate(write=True)
            self.review.tell("Written into the policy.")

    async def _leave(self, leave: Callable[[], object]) -> None:
        written = self._came_to is not None and self._came_to.written
        sure: bool | None = written or not self._at.said
        if not sure:
            sure = await self.review.push_screen_wait(Confirm(LOSES, "leave"))
        if sure:
            leave()
