"""The screen of the questions, and of what the answers come to."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container, Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.widgets import OptionList, Static

from agent.tui.dialogs import Confirm
from agent.tui.page import Page, background
from agent.tui.plain import fitted as cut
from agent.tui.screens.calibrate_questions import LEVELS, Answering
from agent.wire.policy import AttributeStatus
from agent.wire.state import EventKind
from agent.wire.what_if import Calibrate, Calibrated
from agent.words.figures import bits

HELP = (
    "Press 1 to 5 to answer; the arrows with Enter, and the mouse, do the same. Answer for the "
    "attribute, never because of your own value: a price made for a value gives the value away. "
    "Your answers stay in memory until you save the result, lock, or leave."
)
DOT, LINE, BOTH, BEYOND = "●", "│", "◉", "›"
NAME, NUMBER = 14, 8  # columns
PLOT = f"{DOT} wanted {LINE}line"
LEAST_PLOT = len(PLOT)
ANY = 100  # times as good, from which on it says no more how much
ENDLESS = 64.0  # bits: beyond that a factor is of no use
NO_PRICE = (
    "There is no result: no answer about being recognised has a price. Go back and answer the "
    "questions about being one of some number of people, or leave λ as it is."
)
NEVER = (
    "What you would never allow has no price, so λ does not cover it. A limit does: `k` or `risk` "
    "in the policy. An attribute that you would never share gets the rule never."
)
WIDEST = 100  # columns of the picture
OUTCOME_HELP = (
    "λ says by how many bits a search must improve before you let yourself be recognised. Dots are "
    "what you wanted; bars show the line that fits them best. Nothing is saved until you press w."
)
NOTHING = "No result: without an answer there is no price. b goes back to the questions."
LEAD = (
    "What is your privacy worth to you? Two minutes of questions find your own prices. Answer for "
    "the attribute, never because of your own value. Your answers are private: they stay in "
    "memory, and locking the vault forgets them."
)
OTHERS = "[ and ] show other screens"
WRITES = "Write λ and the prices of these attributes into the policy?"
LOSES = "Leave? Your answers were not saved, and will be lost."


def headline(found: Calibrated) -> str:
    """Return λ in words."""
    if found.trade_off is None:
        return NO_PRICE

    def times(gain: float) -> str:
        factor = 2 ** min(gain, ENDLESS)
        much = f"{factor:.3g}" if factor <= ANY else f"more than {ANY}"
        return f"{gain:.2f} bits, that is a search {much} times as good"

    return (
        f"λ = {found.trade_off:.4g}. To be recognised with certainty you want "
        f"{times(found.trade_off)}; to be known to be one of 10 people, "
        f"{times(found.trade_off / 10)}."
    )


def picture(found: Calibrated, titles: Mapping[str, str], width: int) -> Iterator[str]:
    """Yield the pairs, each with what was wanted and what lies on the line, on one scale."""
    room = max(LEAST_PLOT, width - NAME - 3 * NUMBER - 2)
    heads = "".join(f"{each:>{NUMBER}}" for each in ("wanted", "line", "off by"))
    yield f"{cut('bits', NAME)} {PLOT:<{room}} {heads}"
    price = found.trade_off or 0.0
    priced = [each for each in found.pairs if each.wanted_bits is not None]
    most = max(
        (max(each.wanted_bits or 0, price * each.identifiability) for each in priced), default=0
    )

    def place(gain: float) -> int:
        return round(min(gain / most, 1) * (room - 1)) if most else 0

    for each in found.pairs:
        signs, line = ["·"] * room, price * each.identifiability
        if found.trade_off is not None:
            signs[place(line)] = BEYOND if line > most else LINE
        if each.wanted_bits is not None:
            at = place(each.wanted_bits)
            signs[at] = BOTH if signs[at] == LINE else DOT
        numbers = (
            "never" if each.wanted_bits is None else bits(each.wanted_bits),
            "" if found.trade_off is None else bits(line),
            "" if each.residual_bits is None else bits(each.residual_bits, signed=True),
        )
        name = f"one of {int(each.name):,}" if found.source == "one_of" else titles[each.name]
        columns = "".join(f"{number:>{NUMBER}}" for number in numbers)
        yield f"{cut(name, NAME)} {''.join(signs)} {columns}"


def prices(found: Calibrated, titles: Mapping[str, str], width: int) -> Iterator[str]:
    """Yield what each attribute must bring."""
    for name, wanted in found.sensitivity.items():
        said = "never sent" if wanted is None else f"{bits(wanted)} bits"
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
        return "√ Written into the policy. b goes back to the answers."
    return "Nothing is written yet. w writes it into the policy, b goes back to the answers."


def outcome(found: Calibrated | None, titles: Mapping[str, str], width: int) -> Content:
    """Return what the answers come to: λ in words, what can be done now, the fit, the prices."""
    if found is None:
        return Content(NOTHING)
    parts = [Content(headline(found)).stylize("bold"), Content(next_step(found))]
    parts += map(Content, remarks(found))
    parts.append(Content("\n".join(picture(found, titles, width))))
    if found.sensitivity:
        head = Content("How much an attribute must help before it may be sent").stylize("bold")
        parts.append(Content.assemble(head, "\n", "\n".join(prices(found, titles, width))))
    return Content("\n\n").join(parts)


class Questions(Container):
    """The questions and their outcome, where digits answer, and leaving may lose answers."""

    BINDINGS: ClassVar[list[BindingType]] = [
        *(Binding(str(each), f"screen.answer({each})", show=False) for each in LEVELS),
        Binding("q,escape", "screen.end", "Leave"),
        Binding("ctrl+q", "screen.leave", "Quit", show=False),
    ]


class CalibrateScreen(Page, where="calibrate"):
    """One question at a time, then the line through the answers; it is written only if asked."""

    concerns: ClassVar[frozenset[EventKind]] = frozenset({"models", "policy"})

    def __init__(self) -> None:
        super().__init__()
        self._at = Answering()
        self._result: Calibrated | None = None

    def body(self) -> ComposeResult:
        """Lay the question above its answers, the answers so far beside them."""
        with Questions():
            with Horizontal(id="calibrate-asking"):
                with Vertical():
                    yield Static(Content(LEAD), id="calibrate-lead")
                    yield Static(id="calibrate-progress")
                    yield Static(id="calibrate-question")
                    scale = OptionList(id="first")
                    scale.tooltip = HELP
                    yield scale
                with VerticalScroll(id="calibrate-answers") as answers:
                    answers.tooltip = "Your answers so far."
                    yield Static()
            with VerticalScroll(id="calibrate-outcome") as result:
                result.tooltip = OUTCOME_HELP
                yield Static()

    def clear(self) -> None:
        """Forget the answers."""
        self._at, self._result = Answering(), None
        self._draw()

    async def renew(self) -> None:
        """Ask about the model in use; where that has other attributes than before, begin anew."""
        found: list[AttributeStatus] = await self.review.link.call("attributes")
        same = {each.name for each in found} == {each.name for each in self._at.attributes}
        at = Answering.about(found)
        at = replace(at, place=self._at.place) if same else at
        if self.review.reachable and at != self._at and not (same and self._at.given):
            self._go(at)

    # what is shown

    @property
    def _asking(self) -> bool:
        """Whether there is a question, or will be one once the attributes are known."""
        return not self._at.attributes or self._at.question is not None

    def on_resize(self) -> None:
        """Draw it for the room there is."""
        self._draw()

    def _draw(self) -> None:
        at, asking = self._at, self._asking
        progress = at.progress() if at.question else ""
        more = f"; o asks about {at.more} more attributes" if at.more and at.question else ""
        scale, result = self.query_one(OptionList), self.query_one("#calibrate-outcome")
        self.query_one("#calibrate-asking").display, result.display = asking, not asking
        for part, text in (
            ("#calibrate-progress", f"{progress}{more}; {OTHERS}" if at.question else ""),
            ("#calibrate-question", at.question.asked if at.question else ""),
        ):
            self.query_one(part, Static).update(Content(text))
        answers = at.question.answers if at.question else ()
        scale.set_options(Content(f"{each}  {text}") for each, text in enumerate(answers, 1))
        scale.highlighted = None if at.chosen is None else at.chosen - 1
        titles = {each.name: each.title for each in at.attributes}
        width = min(WIDEST, result.scrollable_content_region.width)
        result.query_one(Static).update(outcome(self._result, titles, width))
        given = [
            Content.assemble(asked, " ", (answer, "bold"))
            for asked, answer in reversed(at.so_far())
        ]
        first = Content("Your answers, the latest first").stylize("bold")
        every = Content("\n\n").join([first, *(given or [Content("None yet.")])])
        self.query_one("#calibrate-answers Static", Static).update(every)
        wanted, other = (scale, result) if asking else (result, scale)
        if self.focused in (None, other):
            wanted.focus()
        self.refresh_bindings()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:  # noqa: ARG002
        """Say which actions can be done now."""
        if action in ("only_back", "only_skip", "only_more"):
            return self._asking
        if action == "write":
            return self._result is not None and not self._result.written
        return not self._asking if action == "only_answers" else True

    # actions

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Answer."""
        self.action_answer(event.option_index + 1)

    def action_answer(self, number: int) -> None:
        """Answer, and go on; after the last question a digit does nothing, nor switches screens."""
        if self._asking:
            self._go(self._at.answered(number))
        else:
            self.review.tell(f"There is no question left; {OTHERS}.")

    def action_only_back(self) -> None:
        """Go back to the question before."""
        self._go(self._at.back())

    action_only_answers = action_only_back

    def action_only_skip(self) -> None:
        """Leave the question open, and go on."""
        if self._at.skippable:
            self._go(self._at.answered(None))
        else:
            self.review.tell("This one is needed: without it, those things have no price.")

    def action_only_more(self) -> None:
        """Ask about all attributes."""
        self._go(self._at.widened())

    @background
    async def action_write(self) -> None:
        """Write what the answers come to, after asking."""
        if await self.review.push_screen_wait(Confirm(WRITES, "write them")):
            await self._calibrate(write=True)
            self.review.tell("Written into the policy.")

    @background
    async def action_leave(self) -> None:
        """Leave the program, after asking where answers would be lost."""
        await self._leave(self.review.exit)

    @background
    async def action_end(self) -> None:
        """Leave the questions, after asking where answers would be lost."""

        def end() -> None:
            self._go(Answering.about([*self._at.attributes]))
            self.app.switch_mode("requests")

        await self._leave(end)

    async def _leave(self, leave: Callable[[], object]) -> None:
        saved = self._result is not None and self._result.written
        sure: bool | None = saved or not self._at.given
        if sure or await self.review.push_screen_wait(Confirm(LOSES, "leave")):
            leave()

    def _go(self, at: Answering) -> None:
        self._at, self._result = at, None
        self._draw()
        if not self._asking:
            self.do(partial(self._calibrate, write=False))

    async def _calibrate(self, *, write: bool) -> None:
        at = self._at
        answers = at.message()
        if answers is not None:
            body = Calibrate(answers=[answers], write=write)
            found: Calibrated = await self.ask("calibrate", body)
            if at is self._at:  # not where it was forgotten, or changed, meanwhile
                self._result = found
                self._draw()
