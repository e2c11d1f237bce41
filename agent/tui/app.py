"""The program: its screens, what works on all of them, and what the daemon tells."""

from collections.abc import Callable, Iterable
from functools import partial
from os import environ
from time import monotonic
from typing import Any, ClassVar

from textual import events
from textual.app import App, ComposeResult, SystemCommand
from textual.binding import BindingType
from textual.command import Provider
from textual.message import Message
from textual.screen import Screen
from textual.worker import Worker, WorkerFailed

from agent.errors import DaemonError, LockedError, ReticentError
from agent.tui.actions import everywhere
from agent.tui.actions.action import Where, keys
from agent.tui.actions.everywhere import TITLES
from agent.tui.bar import TopBar
from agent.tui.cover import Cover
from agent.tui.help import Help
from agent.tui.link import Happened, Heard, Link, Lost
from agent.tui.outside import Outside
from agent.tui.page import Doing, Page, standing
from agent.tui.palette import Actions
from agent.tui.plain import plain, plain_lines
from agent.tui.screens.table import PAGES
from agent.tui.state import State
from agent.tui.unlock import Unlocking
from agent.wire.reviews import Undone
from agent.wire.state import Status

FIRST: Where = "requests"  # of the screens
IDLE = 120.0  # seconds without a key, after which nothing private is on the screen
LOOKS = 5.0  # seconds between two looks at the clock
TOUCHES = 30.0  # seconds between two words to the daemon that a person is there


class Review(App[None]):
    """The screens of one daemon.

    ``link``: the way to it; ``outside``: what others do for it; ``idle``: seconds without a key
    until all is covered.
    """

    TITLE = "Reticent"  # all that a window's title says
    CSS_PATH = "review.tcss"
    ALLOW_SELECT = False  # what is copied is asked about
    AUTO_FOCUS = "#first"
    BINDINGS: ClassVar[list[BindingType]] = [*keys(everywhere.ACTIONS)]
    COMMANDS: ClassVar[set[type[Provider] | Callable[[], type[Provider]]]] = {Actions}
    MODES: ClassVar[dict[str, str | Callable[[], Screen[Any]]]] = dict(PAGES)

    def __init__(
        self,
        link: Link,
        outside: Outside,
        idle: float = IDLE,
    ) -> None:
        super().__init__(ansi_color="NO_COLOR" in environ or None)  # else it is grey
        self.link = link
        self.outside = outside
        self.masked = True
        self.state = State(trouble="Connecting to the daemon …")
        self._idle = idle
        self._touched = self._told = monotonic()

    @property
    def defect(self) -> Exception | None:
        """What ended the program, None where nothing did."""
        ended = self._exception
        cause = ended.error if isinstance(ended, WorkerFailed) else ended
        return cause if isinstance(cause, Exception) else ended

    @property
    def reachable(self) -> bool:
        """Whether the daemon was heard, and its vault is open."""
        status = self.state.status
        return status is not None and not status.locked and not self.state.stale

    def compose(self) -> ComposeResult:
        """Lay out the first line alone: it stands there in a third of the time of a screen."""
        yield TopBar(FIRST)

    def on_mount(self) -> None:
        """Show the first screen, reach the daemon, and look at the clock from time to time."""
        self.call_after_refresh(self._show_first)
        self._beside(self._begin)
        self.set_interval(min(LOOKS, self._idle / 4), self._look_at_clock)

    def on_unmount(self) -> None:
        """Leave the daemon alone."""
        self.link.close()

    def say(self, error: ReticentError) -> None:
        """Say what went wrong, and the way out; where the vault is locked, ask for its key."""
        if isinstance(error, LockedError):
            self._beside(self._look_at_daemon)
        else:
            said = f"{plain(str(error))}\n{plain(error.hint)}"
            self.notify(said, severity="error", markup=False, timeout=10)

    def tell(self, text: str) -> None:
        """Say what was done."""
        self.notify(plain_lines(text), markup=False)

    def page(self) -> Page | None:
        """Return the screen that is shown, below whatever asks something in front of it."""
        return next((each for each in reversed(self.screen_stack) if isinstance(each, Page)), None)

    # what the daemon tells

    def on_heard(self, message: Heard) -> None:
        """Show that the daemon is there."""
        self._take(message.status)

    def on_lost(self, message: Lost) -> None:
        """Show that what stands there may not be so any more."""
        trouble = f"STALE: {message.error}; this waits until it is back"
        self.state = State(self.state.status, stale=True, trouble=trouble)
        self._show_state()

    def on_happened(self, message: Happened) -> None:
        """Look again at what it is about."""
        self._beside(self._look_at_daemon, group="status", exclusive=True)
        page = self.page()
        if page is not None:
            page.happened(message.event.kind)

    # actions

    def action_show(self, where: Where) -> None:
        """Show another screen."""
        if not isinstance(self.screen, Page):
            return
        self.switch_mode(where)

    def action_turn(self, by: int) -> None:
        """Show the screen after this one, or before it; after the last comes the first."""
        page = self.page()
        if page is not None:
            names = [*TITLES]
            self.action_show(names[(names.index(page.where) + by) % len(names)])

    async def action_lock(self) -> None:
        """Close the vault."""
        await self._call_and_take("lock")

    async def action_undo(self) -> None:
        """Take back the last word."""
        try:
            undone: Undone = await self.link.call("undo", attended=True)
        except ReticentError as error:
            self.say(error)
        else:
            self.tell(undone.what)

    def action_mask(self) -> None:
        """Show the user's values, or hide them."""
        self.masked = not self.masked
        self._show_mask()

    def action_renew(self) -> None:
        """Ask the daemon again."""
        self._beside(self._look_at_daemon)
        page = self.page()
        if page is not None:
            page.look()

    def action_help(self) -> None:
        """Say what can be done on this screen."""
        page = self.page()
        if page is not None and self.screen is page:
            self.push_screen(Help(page.where, self.focused))

    # what is on the screen while nobody is there

    async def on_event(self, event: events.Event) -> None:
        """Note that somebody is there."""
        if isinstance(event, events.Key | events.MouseDown | events.Paste):
            self._touched = monotonic()
        await super().on_event(event)

    def _look_at_clock(self) -> None:
        """Cover all once nobody is there; tell the daemon if somebody is."""
        now = monotonic()
        if now - self._touched >= self._idle:
            self.cover()
        elif self.reachable and self._touched > self._told and now - self._told >= TOUCHES:
            self._told = now
            self._beside(partial(self._call_and_take, "status"))

    def cover(self) -> None:
        """Hide all that is private, until a key is pressed; values stay hidden then."""
        self.masked = True
        self._show_mask()
        if not isinstance(self.screen, Cover | Unlocking):
            self.push_screen(Cover())

    # how it does that

    def _beside(self, doing: Doing, group: str = "default", *, exclusive: bool = False) -> None:
        """Do something beside the drawing; one that is replaced before it begins is never made."""
        if self.is_running:
            _: Worker[None] = self.run_worker(doing, group=group, exclusive=exclusive)

    async def _begin(self) -> None:
        """Reach the daemon; start it if none runs."""
        try:
            if await self.link.begin():
                self.tell("The daemon was started; it goes on when you leave.")
        except ReticentError as error:
            self.say(error)
        self.link.follow(self._pass_on)

    def _pass_on(self, message: Message) -> None:
        """Take a message from another thread."""
        self.post_message(message)

    async def _call_and_take(self, name: str) -> None:
        """Make a call that a person asked for and that answers with the state."""
        try:
            self._take(await self.link.call(name, attended=True))
        except ReticentError as error:
            self.say(error)

    async def _look_at_daemon(self) -> None:
        """Ask how the daemon is."""
        try:
            self._take(await self.link.call("status"))
        except DaemonError:
            return  # the thread that follows it will say so
        except ReticentError as error:
            self.say(error)

    def _take(self, status: Status) -> None:
        """Show how the daemon is; ask for the key where the vault is locked.

        Before the first screen is there, it waits in the state.
        """
        page = self.page()
        was_reachable = self.reachable
        trouble = "" if status.vault else "There is no vault yet: leave, and run `reticent init`."
        self.state = State(status, trouble=trouble)
        self._show_state()
        if page is not None and status.locked and status.vault:
            self._hide()
        elif not status.locked and isinstance(self.screen, Unlocking):
            self.screen.dismiss(status)
        if self.reachable and not was_reachable and page is not None:
            page.look()

    async def _show_first(self) -> None:
        """Show the first screen, and on it what was heard meanwhile."""
        await self.switch_mode(FIRST)
        if self.state.status is not None:
            self._take(self.state.status)

    def _hide(self) -> None:
        """Take everything private off all screens, and ask for the key."""
        self.masked = True
        for each in standing(self._screen_stacks.values()):
            each.clear()
        if not isinstance(self.screen, Unlocking):
            self.push_screen(Unlocking(), self._unlocked)

    def _unlocked(self, status: Status | None) -> None:
        if status is not None:
            self._take(status)

    def _show_state(self) -> None:
        for each in self.screen_stack:
            if isinstance(each, Page):
                each.tell(self.state)

    def _show_mask(self) -> None:
        """Hide the values on all screens, or show them on this one."""
        for each in standing(self._screen_stacks.values()):
            if self.masked or each is self.page():
                each.masked()

    def get_system_commands(self, screen: Screen[object]) -> Iterable[SystemCommand]:  # noqa: ARG002
        """Return none: the palette has our own actions, and nothing that writes the screen."""
        return ()

    async def _close_all(self) -> None:
        """End what runs beside the drawing before the screens go that it would draw on."""
        self.workers.cancel_all()
        self._idle = float("inf")  # nor is a screen covered that goes
        await super()._close_all()

    def _fatal_error(self) -> None:
        """End at a defect without a word: whoever ran this says it, and no values with it.

        Textual would print what the variables hold.
        """
        self._close_messages_no_wait()
