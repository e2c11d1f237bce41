"""The screen of the questions, and of what the answers come to."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.widgets import OptionList, Static

from agent.tui.dialogs import Confirm
from agent.tui.page import Page
from agent.tui.plain import fitted as cut
from agent.tui.screens.calibrate_questions import LEVELS, Answering
from agent.wire.policy import AttributeStatus
from agent.wire.state import EventKind
from agent.wire.what_if import Calibrate, Calibrated, Pair
from agent.words.figures import bits

HELP = (
    "1 to 5 answer and go on; so do the arrows with Enter, and the mouse. Answer for the "
    "attribute, never because of your own value of it: a price made for a value tells the value. "
    "Answers are kept in memory only, until you write what they come to, lock, or leave."
)
LEAVE: tuple[BindingType, ...] = (
    Binding("q,escape", "screen.end", "Leave"),
    Binding("ctrl+q", "screen.leave", "Quit", show=False),
)
DOT, LINE, BOTH, BEYOND = "●", "│", "◉", "›"
NAME, NUMBER = 14, 8  # columns
PLOT = f"{DOT} wanted {LINE}line"
LEAST_PLOT = len(PLOT)
ANY = 100  # times as good, from which on it says no more how much
ENDLESS = 64.0  # bits: beyond that a factor is of no use
NO_PRICE = (
    "Nothing fits: no answer about being recognised has a price. Go back and answer the questions "
    "about being one of so many people, or leave λ as it is."
)
NEVER = (
    "What you would never allow has no price, and λ does not know of it. A limit keeps it: `k` or "
    "`risk` in the policy. An attribute that you would never share is ruled never."
)
WIDEST = 100  # columns of the picture
OUTCOME_HELP = (
    "λ says how many bits a search must improve before you let yourself be recognised. Dots are "
    "what you wanted, bars lie on the line that fits them best. Nothing is written until you "
    "press w."
)
NOTHING = "Nothing to show: without an answer there is no price. b goes back to the questions."
LEAD = (
    "What is your privacy worth to you? A few questions of about two minutes find your own prices. "
    "Answer for the attribute, never because of your own value of it. Your answers are private: "
    "they are in memory only, and locking forgets them."
)
OTHERS = "[ and ] show other screens"
WRITES = "This writes λ and the prices of the attributes that you were asked about."
LOSES = "Leave? Your answers are kept in memory only, and nothing of them is written."


class Scale(OptionList):
    """Answers by number; the numbers are its own while it has the focus."""

    BINDINGS: ClassVar[list[BindingType]] = [
        *(Binding(str(each), f"screen.answer({each})", show=False) for each in LEVELS),
        *LEAVE,
    ]

    def __init__(self) -> None:
        super().__init__(id="first")
        self.tooltip = HELP

    def give(self, answers: Sequence[str], chosen: int | None) -> None:
        """Show the answers, the cursor on the one that was given, if one was."""
        self.set_options(Content(f"{at}  {each}") for at, each in enumerate(answers, 1))
        self.highlighted = None if chosen is None else chosen - 1


def headline(found: Calibrated) -> str:
    """Return λ in words."""
    if found.trade_off is None:
        return NO_PRICE
    tenth = found.trade_off / 10
    return (
        f"λ = {found.trade_off:.4g}. You want {found.trade_off:.2f} bits for being recognised with "
        f"certainty, that is {_times(found.trade_off)}; {tenth:.2f} bits for being known to be one "
        f"of 10 people, that is {_times(tenth)}."
    )


def picture(found: Calibrated, titles: Mapping[str, str], width: int) -> Iterator[str]:
    """Yield the pairs, each with what was wanted and what lies on the line, on one scale."""
    room = max(LEAST_PLOT, width - NAME - 3 * NUMBER - 2)
    heads = "".join(f"{each:>{NUMBER}}" for each in ("wanted", "line", "off by"))
    yield f"{cut('bits', NAME)} {PLOT:<{room}} {heads}"
    priced = [each for each in found.pairs if each.wanted_bits is not None]
    most = max((max(each.wanted_bits or 0, _on_line(found, each)) for each in priced), default=0.0)
    for each in found.pairs:
        said = f"one of {int(each.name):,}" if found.source == "one_of" else titles[each.name]
        yield f"{cut(said, NAME)} {_plot(found, each, most, room)} {_numbers(found, each)}"


def prices(found: Calibrated, titles: Mapping[str, str], width: int) -> Iterator[str]:
    """Yield what each attribute must bring."""
    for name, wanted in found.sensitivity.items():
        said = "never leaves" if wanted is None else f"{bits(wanted)} bits"
        yield f"{cut(titles.get(name, name), max(NAME, min(44, width - 14)))} {said:>12}"


def remarks(found: Calibrated) -> Iterator[str]:
    """Yield how far the line is off, and what it knows nothing of."""
    if found.rms_residual_bits is not None:
        off = f"{found.rms_residual_bits:.2f} bits"
        yield f"The line begins at 0 and is off by {off} (root mean square)."
    never = [each.wanted_bits for each in found.pairs] + [*found.sensitivity.values()]
    if None in never:
        yield NEVER


def next_step(found: Calibrated) -> str:
    """Return what can be done now."""
    if found.written:
        return "√ Written: the policy says so now. b goes back to the answers."
    return "Nothing is written yet. w writes it into the policy, b goes back to the answers."


def _times(gain: float) -> str:
    factor = 2 ** min(gain, ENDLESS)
    if factor > ANY:
        return f"a search more than {ANY} times as good"
    return f"a search {factor:.3g} times as good"


def _on_line(found: Calibrated, pair: Pair) -> float:
    return 0.0 if found.trade_off is None else found.trade_off * pair.identifiability


def _plot(found: Calibrated, pair: Pair, most: float, room: int) -> str:
    """Return one line of the picture; ``most``: bits at its right end."""
    signs = ["·"] * room
    last = room - 1
    if found.trade_off is not None:
        line = _on_line(found, pair)
        signs[_place(line, most, last)] = BEYOND if line > most else LINE
    if pair.wanted_bits is not None:
        at = _place(pair.wanted_bits, most, last)
        signs[at] = BOTH if signs[at] == LINE else DOT
    return "".join(signs)


def _place(gain: float, most: float, last: int) -> int:
    return round(min(gain / most, 1) * last) if most else 0


def _numbers(found: Calibrated, pair: Pair) -> str:
    wanted = "never" if pair.wanted_bits is None else bits(pair.wanted_bits)
    line = "" if found.trade_off is None else bits(_on_line(found, pair))
    off = "" if pair.residual_bits is None else bits(pair.residual_bits, signed=True)
    return "".join(f"{each:>{NUMBER}}" for each in (wanted, line, off))


class Outcome(VerticalScroll):
    """λ in words, the fit, the prices."""

    BINDINGS: ClassVar[list[BindingType]] = [
        *(Binding(str(each), "screen.no_answer", show=False) for each in LEVELS),
        *LEAVE,
    ]

    def __init__(self) -> None:
        super().__init__(id="calibrate-outcome")
        self.tooltip = OUTCOME_HELP
        self._told: Calibrated | None = None
        self._titles: Mapping[str, str] = {}

    def compose(self) -> ComposeResult:
        """Lay out one text."""
        yield Static()

    def tell(self, found: Calibrated | None, titles: Mapping[str, str]) -> None:
        """Show what was found, None for nothing."""
        self._told, self._titles = found, titles
        self._draw()

    def on_resize(self) -> None:
        """Draw it for the room there is."""
        self._draw()

    def _draw(self) -> None:
        found = self._told
        if found is None:
            self.query_one(Static).update(Content(NOTHING))
            return
        width = min(WIDEST, self.scrollable_content_region.width)
        parts = [Content(headline(found)).stylize("bold"), Content(next_step(found))]
        parts += map(Content, remarks(found))
        parts.append(Content("\n".join(picture(found, self._titles, width))))
        if found.sensitivity:
            head = Content("What an attribute must bring before it may leave").stylize("bold")
            text = "\n".join(prices(found, self._titles, width))
            parts.append(Content.assemble(head, "\n", text))
        self.query_one(Static).update(Content("\n\n").join(parts))


class CalibrateScreen(Page, where="calibrate"):
    """One question at a time, then the line through the answers; it is written only if asked."""

    concerns: ClassVar[frozenset[EventKind]] = frozenset({"models", "policy"})

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
        more = f"; o asks about {self._at.more} more attributes" if self._at.more else ""
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
        self.app.switch_mode("requests")

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
