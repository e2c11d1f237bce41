"""One request in detail: what was told, what each attribute does, and what a change would."""

from collections.abc import Callable, Mapping
from datetime import datetime

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Static

from agent.tui.listing import Listing
from agent.tui.plain import plain_lines
from agent.tui.screens.requests import weights, words
from agent.tui.screens.requests.change import Change, Trial, begun
from agent.tui.screens.requests.weights import Shown, Shows
from agent.wire.policy import Review
from agent.wire.records import Handled

TOOLTIP = (
    "Each attribute with what it helps the recipient serve you, and what it costs you, in "
    "bits (one bit: an answer found twice as fast); "
    "how many people like you are expected to be left; and why it is in or out. Space tries it the "
    "other way; then a makes that hold always for this recipient, o once, Enter asks for how long."
)


class Detail(Vertical):
    """A request, the attributes beside it, and what is tried out on it."""

    def __init__(self, now: Callable[[], datetime]) -> None:
        """Take the time, where the user lives."""
        super().__init__(id="detail")
        self._clock = now
        self._trial: Trial | None = None
        self._values: Mapping[str, str] = {}
        self._order: tuple[str, ...] = ()  # rows stay where they are while something is tried

    def compose(self) -> ComposeResult:
        """Lay the sentences on top, the attributes below."""
        yield Static(id="what")
        yield Static(id="change")
        yield Static(id="over")
        yield Listing[Shows](weights.look(), id="rows", tooltip=TOOLTIP)

    @property
    def trial(self) -> Trial | None:
        """What is shown."""
        return self._trial

    @property
    def rows(self) -> Listing[Shows]:
        """The attributes."""
        return self.query_one(Listing)

    def row(self) -> str | None:
        """Return the attribute under the cursor."""
        under = self.rows.under
        return under.row.name if isinstance(under, Shown) else None

    def show(self, trial: Trial | None) -> None:
        """Show a request, with what the daemon says of it; None for none."""
        if self._trial is None or trial is None or self._trial.subject != trial.subject:
            self._values, self._order = {}, ()
            self.rows.show(())
        self._trial = trial
        self._draw()

    def switch(self, name: str) -> Trial | None:
        """Try an attribute the other way, and return what is to be weighed then."""
        if self._trial is None or self._trial.weighed is None:
            return None
        change = self._trial.change.switched(name, self._trial.inside)
        return self._tried(change)

    def reset(self) -> Trial | None:
        """Try nothing any more, and return what is to be weighed then."""
        return self._tried(begun(self._trial.subject).change) if self._trial else None

    def reveal(self, values: Mapping[str, str]) -> None:
        """Show the values that left, or none."""
        self._values = values
        self._draw()

    def on_listing_resized(self, event: Listing.Resized) -> None:
        """Draw it for the room there is."""
        event.stop()
        self._draw()

    def _tried(self, change: Change) -> Trial | None:
        """Show a change at once; the figures come when they are weighed."""
        if self._trial is None:
            return None
        self._trial = Trial(self._trial.subject, change, self._trial.weighed)
        self._draw(weighing=True)
        return self._trial

    def _draw(self, *, weighing: bool = False) -> None:
        trial = self._trial
        if not self.query("#what"):  # an answer may come while the screen is taken away
            return
        if trial is None:
            text = "Choose a request to see what was told, why, and what it cost."
            self.query_one("#what", Static).update(Content(text))
            self.query_one("#change").display = self.query_one("#over").display = False
            return
        said = (words.headline(trial, self._clock()), words.figures(trial), words.proof(trial))
        text = "\n".join(each for each in said if each)
        self.query_one("#what", Static).update(Content(plain_lines(text)))
        self._draw_change(Trial(trial.subject, trial.change) if weighing else trial)
        if trial.weighed is not None:
            self._order = self._order or weights.order_of(trial.weighed)
            past = isinstance(trial.subject, Handled)
            heads = weights.heads(self.rows.size.width, past=past)
            shown = weights.rows_of(trial, self._order, self._values)
            self.query_one("#over", Static).update(Content(heads))
            fresh = not self.rows.items
            self.rows.show(shown)
            if fresh and isinstance(trial.subject, Review) and trial.subject.names:
                self.rows.put(("row", trial.subject.names[0]))
        self.query_one("#over").display = bool(self.rows.items)

    def _draw_change(self, trial: Trial) -> None:
        text = words.changed(trial)
        waits = isinstance(trial.subject, Review)
        self.query_one("#change").display = bool(text) or waits
        said = "\n".join(each for each in (text, words.hint(trial.subject)) if each)
        self.query_one("#change", Static).update(Content(plain_lines(said)))
