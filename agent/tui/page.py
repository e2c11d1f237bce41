"""What every screen has: the app around it, bars and footer; and screens that show a list."""

import re
from abc import abstractmethod
from collections.abc import Callable, Coroutine, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial, wraps
from typing import Any, ClassVar, Concatenate, Generic, ParamSpec, TypeVar, cast

from msgspec.structs import replace
from textual.app import App, ComposeResult
from textual.containers import Container, Vertical, VerticalScroll
from textual.content import Content
from textual.css.query import NoMatches
from textual.screen import Screen
from textual.timer import Timer
from textual.widget import Widget
from textual.widgets import Footer, Input, Static
from textual.worker import Worker

from agent.errors import ReticentError, UsageError
from agent.tui.actions import ACTIONS, Where, keys
from agent.tui.dialogs import confirm
from agent.tui.link import Link
from agent.tui.plain import plain, plain_lines
from agent.tui.status_bar import DaemonState, TopBar
from agent.tui.virtual_list import Listing, Look
from agent.wire.policy import Edited, PolicyEdit
from agent.wire.state import EventKind, Finding
from agent.words.notices import edited, would_differ
from agent.words.titles import Titles, titles_of

P = ParamSpec("P")
T = TypeVar("T")
Self = TypeVar("Self", bound="Page")
ListScreen = TypeVar("ListScreen", bound="ListPage[Any]")
Work = Callable[[], Coroutine[Any, Any, None]]
WIDE = 110  # columns, from which on a list and a detail stand side by side
SOON = 0.15  # seconds in which several events lead to one renewal
PAUSE = 0.08  # seconds that the cursor rests before the detail follows it
TYPED = 0.2  # seconds without a letter before the list follows what is typed
LONGEST = 200  # letters of a search
LEFT_TO = ("never", "ask", "auto", "always")  # what a user may choose of a fact
COPIED = 200  # columns in which what is copied is drawn


@dataclass(frozen=True, slots=True)
class Environment:
    """What the host provides to the screens.

    ``doctor``: checks this machine, in a thread; ``edit``: opens a file in the user's editor, at a
    line if one is given, and returns when the editor ends, UsageError where it cannot start;
    ``clock``: the time in the user's zone.
    """

    doctor: Callable[[], Sequence[Finding]]
    edit: Callable[[str, int | None], None]
    clock: Callable[[], datetime]


class BaseApp(App[None]):
    """The app as its screens see it.

    ``link``: to the daemon; ``environment``: what the host provides; ``masked``: whether the
    user's own values are hidden.
    """

    def __init__(self, link: Link, environment: Environment, *, ansi_color: bool | None) -> None:
        super().__init__(ansi_color=ansi_color)
        self.link = link
        self.environment = environment
        self.state = DaemonState(trouble="Connecting to the daemon …")
        self.masked = True
        self._titles: Titles = {}
        self._titles_of: tuple[str, ...] | None = None  # digests of models

    @property
    def reachable(self) -> bool:
        """Whether the daemon answers, and its vault is open."""
        status = self.state.status
        return status is not None and not status.locked and not self.state.stale

    def page(self) -> "Page | None":
        """Find the current screen, below any dialog in front of it."""
        return next((each for each in reversed(self.screen_stack) if isinstance(each, Page)), None)

    async def titles(self) -> Titles:
        """Fetch the titles of the attributes; they are kept until the models change."""
        status = self.state.status
        models = () if status is None else tuple(each.digest for each in status.models)
        if self._titles_of != models:
            self._titles = titles_of(await self.link.call("attributes"))
            self._titles_of = models
        return self._titles

    def tell(self, text: str) -> None:
        """Show what was done."""
        self.notify(plain_lines(text), markup=False)

    @abstractmethod
    def say(self, error: ReticentError) -> None:
        """Show an error with its hint; where the vault is locked, ask for its key."""


class Page(Screen[None]):
    """A screen; ``where``: its name among the actions; ``concerns``: the events it is about.

    ``needs_vault``: there is something to show only where the daemon answers and its vault is
    open. A subclass names itself, and has its keys from the registry.
    """

    where: ClassVar[Where]
    concerns: ClassVar[frozenset[EventKind]] = frozenset()
    needs_vault: ClassVar[bool] = True
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (WIDE, "-wide")]  # noqa: RUF012  (no class variable to Textual)

    def __init_subclass__(cls, where: Where | None = None, **options: Any) -> None:  # noqa: ANN401  (Textual's own)
        if where is not None:
            cls.where = where
            cls.BINDINGS = [*keys(ACTIONS[where])]
        super().__init_subclass__(**options)

    def __init__(self) -> None:
        super().__init__()
        self._due: Timer | None = None
        self._answered = False  # whether the daemon's answer is shown
        self._missing = ""  # why it is not

    @property
    def review(self) -> BaseApp:
        """The program."""
        return cast("BaseApp", self.app)

    def compose(self) -> ComposeResult:
        """Lay the bars on top, the footer below, and what the screen is about between."""
        with Container(id="bars"):
            yield TopBar(self.where)
            yield Static(id="banner")
            yield Static(id="missing")
        yield from self.body()
        yield Footer(show_command_palette=False)

    @abstractmethod
    def body(self) -> ComposeResult:
        """Lay out what the screen is about."""

    @abstractmethod
    async def renew(self) -> None:
        """Ask the daemon, with calls that no person made, and show its answers."""

    @abstractmethod
    def clear(self) -> None:
        """Take everything private off the screen: the vault is locked."""

    def mask(self) -> None:
        """Show or hide the user's values, as `review.masked` says."""

    def put_text(self, part: str, text: str) -> None:
        """Show a text in a part of the screen, which is not there where the text is empty."""
        for each in self.query(part).results(Static):  # none before or after it is laid out
            each.display = bool(text)
            each.update(Content(text))

    def show_state(self, state: DaemonState) -> None:
        """Show how the daemon is."""
        for bar in self.query(TopBar):
            bar.show_state(state)
        self.put_text("#banner", state.trouble)
        self._show_missing()

    def forget(self) -> None:
        """Take everything private off the screen, and drop answers on their way."""
        self.workers.cancel_group(self, "look")
        self._answered, self._missing = False, ""
        self.clear()
        self._show_missing()

    def on_screen_resume(self) -> None:
        """Refresh the screen when it is shown again."""
        self.show_state(self.review.state)
        self.look()

    def happened(self, kind: EventKind) -> None:
        """Refresh the screen if the event concerns it."""
        if kind in self.concerns:
            self.soon()

    def soon(self) -> None:
        """Refresh the screen in a moment, once for several events."""
        if self._due is None:
            self._due = self.set_timer(SOON, self.look)

    def look(self) -> None:
        """Ask the daemon again."""
        self._due = None
        if self.review.reachable or not self.needs_vault:
            self.do(self._renewed, "look", exclusive=True)

    async def ask(self, name: str, body: Any = None, **given: Any) -> Any:  # noqa: ANN401  (of the route's types)
        """Make a call on the user's behalf, which keeps the vault open for a while."""
        return await self.review.link.call(name, body, attended=True, **given)

    def do(self, work: Work, group: str = "do", *, exclusive: bool = False) -> None:
        """Run something in the background; show an error with its hint."""

        async def safely() -> None:
            try:
                await work()
            except ReticentError as error:
                self.review.say(error)
            except NoMatches:
                if self.review.is_running:  # else it is being removed, its parts first
                    raise

        _: Worker[None] = self.run_worker(safely, group=group, exclusive=exclusive)

    async def _renewed(self) -> None:
        try:
            await self.renew()
        except ReticentError as error:
            self._missing = f"Not known: {plain(str(error))}."
            raise
        else:
            self._answered = True
        finally:
            self._show_missing()

    def _show_missing(self) -> None:
        """Say why the screen is still empty, where empty would mean that there is nothing."""
        missing = "" if self._answered else self._missing or self.review.state.missing()
        self.set_class(bool(missing), "-unknown")
        self.put_text("#missing", missing)


def background(
    method: Callable[Concatenate[Self, P], Coroutine[Any, Any, None]],
) -> Callable[Concatenate[Self, P], None]:
    """Make a screen's method run in the background; show an error with its hint."""

    @wraps(method)
    def started(page: Self, /, *args: P.args, **options: P.kwargs) -> None:
        page.do(partial(method, page, *args, **options))

    return started


def mounted_pages(stacks: Iterable[Iterable[Screen[Any]]]) -> list[Page]:
    """List the screens that are laid out, shown or not."""
    every = (each for stack in stacks for each in stack)
    return [each for each in every if isinstance(each, Page) and each.is_mounted]


class ListPage(Page, Generic[T]):
    """A list with a sentence above it, a field that filters it, and one of its items in detail.

    The detail stands beside the list where there is room. Elsewhere it stands below, or, where it
    ``opens``, in place of the list. ``sought``: what the field asks for, empty for no field;
    ``tooltip_list``: what the list shows; ``none_yet``: why there is nothing.
    """

    opens: ClassVar[bool] = False
    sought: ClassVar[str] = ""
    tooltip_list: ClassVar[str] = ""
    none_yet: ClassVar[str] = ""
    no_match: ClassVar[str] = "No matches. Escape shows all again."

    def __init__(self) -> None:
        super().__init__()
        self._following: Timer | None = None
        self._typing: Timer | None = None
        self._drawn = ""  # the words of the filter that is drawn

    def body(self) -> ComposeResult:
        """Lay the sentence on top, then the list beside or above the detail."""
        yield Static(id="headline")
        with Container(id="both", classes="opens" if self.opens else ""):
            with Vertical(id="side"):
                if self.sought:
                    find = Input(placeholder=self.sought, id="find", max_length=LONGEST)
                    find.tooltip = f"Show only what contains these words: {self.sought}."
                    find.display = False
                    yield find
                yield Static(id="heads")
                yield Listing[T](self.item_look(), id="first", tooltip=self.tooltip_list)
                yield Static(id="none")
            yield self.beside()

    @abstractmethod
    def item_look(self) -> Look[T]:
        """Say how items are shown."""

    @abstractmethod
    def beside(self) -> Widget:
        """Make the widget that shows an item in detail."""

    @abstractmethod
    def items(self) -> Sequence[T]:
        """List the items that pass the filter."""

    @abstractmethod
    def follow(self) -> None:
        """Show what is under the cursor in detail."""

    @property
    def listing(self) -> Listing[T]:
        """The list."""
        return self.query_one("#first", Listing)

    def chosen_item(self) -> T | None:
        """Find the item that keys apply to; UsageError where it is out of view."""
        return self.listing.under

    @property
    def text(self) -> str:
        """What the field seeks."""
        return self.query_one("#find", Input).value if self.sought else ""

    def draw(self) -> None:
        """Show the items that fit; the cursor goes to the first where others are sought."""
        items, words = self.items(), self.text.strip()
        self.listing.show(items)
        if words != self._drawn and (words or self.listing.under is None):
            self.listing.action_edge(1)
        self._drawn = words
        none = self.no_match if words else self.none_yet
        self.put_text("#none", "" if items else none)

    def on_listing_moved(self) -> None:
        """Let the detail follow, once the cursor rests."""
        if self._following is not None:
            self._following.stop()
        self._following = self.set_timer(PAUSE, self.follow)

    def on_input_changed(self) -> None:
        """Filter the list, once typing pauses."""
        if self._typing is not None:
            self._typing.stop()
        self._typing = self.set_timer(TYPED, self.draw)

    def on_input_submitted(self) -> None:
        """Go to the list that was found."""
        self.draw()
        self.listing.focus()

    def action_only_find(self) -> None:
        """Ask for the words."""
        self.remove_class("opened")
        field = self.query_one("#find", Input)
        field.display = True
        self.call_after_refresh(field.focus)

    def action_only_back(self) -> None:
        """Go back to the list; there, show all of it again."""
        if not self.has_class("opened"):
            self.show_all()
        self.close()

    def copied(self, *, every: bool) -> str:
        """Write the item under the cursor as it is shown, or all that pass; a tab parts columns."""
        under, draws = self.listing.under, self.item_look()
        items = self.listing.items if every else [] if under is None else [under]
        lines = (line for each in items for line in draws.lines(each, COPIED))
        rows = ("".join(part.text for part in line).strip() for line in lines)
        return "\n".join(re.sub(" {2,}", "\t", plain(each)) for each in rows)

    def show_all(self) -> None:
        """Seek nothing any more."""
        field = self.query_one("#find", Input)
        field.value, field.display = "", False
        self.draw()

    def close(self) -> None:
        """Go back to the list."""
        self.remove_class("opened")
        self.call_after_refresh(self.listing.focus)


class SentencesPage(ListPage[T]):
    """A list whose items are explained in sentences; ``tooltip_detail``: what these are about."""

    tooltip_detail: ClassVar[str] = ""

    def beside(self) -> Widget:
        """Make the widget that shows the sentences."""
        detail = VerticalScroll(Static(id="sentences"), id="detail")
        detail.tooltip = self.tooltip_detail
        return detail

    @abstractmethod
    def explain(self, item: T) -> Content:
        """Explain an item."""

    def draw(self) -> None:
        """Show the items that fit, and the sentences about the one under the cursor."""
        super().draw()
        self.follow()

    def follow(self) -> None:
        """Explain what is under the cursor."""
        item, sentences = self.listing.under, self.query_one("#sentences", Static)
        text = Content("") if item is None else self.explain(item)
        if text != sentences.content:
            sentences.update(text)
            self.query_one("#detail").scroll_home(animate=False)

    def on_listing_moved(self) -> None:
        """Explain it at once."""
        self.follow()


async def write_rule(page: Page, edit: PolicyEdit, done: str) -> None:
    """Change a rule of the policy, once the user has seen its effect; ``done``: what it does."""
    trial: Edited = await page.ask("edit_policy", replace(edit, dry_run=True))
    question = confirm(f"{edited(done, trial)} {would_differ(trial)}", "write this rule")
    if await page.review.push_screen_wait(question):
        outcome: Edited = await page.ask("edit_policy", edit)
        page.review.tell(f"{edited(done, outcome)} u reverts that.")


def for_item(
    method: Callable[Concatenate[ListScreen, T, P], Coroutine[Any, Any, None]],
) -> Callable[Concatenate[ListScreen, P], None]:
    """Make a screen's method run for the item that keys apply to, and refresh the screen after it.

    An error is shown with its hint; without an item nothing happens.
    """

    async def done(page: ListScreen, item: T, *args: P.args, **options: P.kwargs) -> None:
        await method(page, item, *args, **options)
        page.soon()

    @wraps(method)
    def started(page: ListScreen, /, *args: P.args, **options: P.kwargs) -> None:
        try:
            item = page.chosen_item()
        except UsageError as error:
            page.review.say(error)
        else:
            if item is not None:
                page.do(partial(done, page, item, *args, **options))

    return started
