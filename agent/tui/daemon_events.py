"""What the daemon reports, and how the program reacts."""

from textual.message import Message
from textual.worker import Worker

from agent.errors import DaemonError, LockedError, ReticentError
from agent.tui.link import Happened, Heard, Lost
from agent.tui.page import Doing, Page, Program
from agent.tui.plain import plain
from agent.tui.status_bar import State, lost, trouble_of
from agent.wire.state import Status

STARTED = "The daemon was started, and goes on when you leave; `reticent daemon stop` ends it."
WAY_OUT = 8.0  # seconds, in which what went wrong and the way out can be read


class DaemonEvents(Program):
    """Follows the daemon, and says on every screen how it is."""

    def say(self, error: ReticentError) -> None:
        """Say what went wrong, and the way out; where the vault is locked, ask for its key."""
        if isinstance(error, LockedError):
            self.beside(self.look_at_daemon)
        else:
            said = f"✗ {plain(str(error))}: {plain(error.hint)}"
            self.notify(said, severity="error", markup=False, timeout=WAY_OUT)

    def page(self) -> Page | None:
        """Return the screen that is shown, below whatever asks something in front of it."""
        return next((each for each in reversed(self.screen_stack) if isinstance(each, Page)), None)

    def mask(self) -> None:
        """Hide the user's own values."""
        raise NotImplementedError

    def hide(self) -> None:
        """Take everything private off all screens, and ask for the key."""
        raise NotImplementedError

    def uncover(self, status: Status) -> None:
        """Ask for the key no more."""
        raise NotImplementedError

    # what the daemon tells

    def on_heard(self, message: Heard) -> None:
        """Show that the daemon is there."""
        if self.is_running:  # else its screens are being removed, their parts first
            self.take(message.status)

    def on_lost(self, message: Lost) -> None:
        """Show that what stands there may not be so any more; nor may the vault be open."""
        if not self.is_running:
            return
        self.mask()
        self.state = State(self.state.status, stale=True, trouble=lost(str(message.error)))
        self._show_state()

    def on_happened(self, message: Happened) -> None:
        """Look again at what it is about."""
        if not self.is_running:
            return
        self.beside(self.look_at_daemon, group="status", exclusive=True)
        page = self.page()
        if page is not None:
            page.happened(message.event.kind)

    # how it does that

    def beside(self, doing: Doing, group: str = "default", *, exclusive: bool = False) -> None:
        """Do something beside the drawing; one that is replaced before it begins is never made."""
        if self.is_running:
            _: Worker[None] = self.run_worker(doing, group=group, exclusive=exclusive)

    async def begin(self) -> None:
        """Reach the daemon, start it if none runs, and follow it."""
        await self.start()
        self.link.follow(self._pass_on)

    async def start(self) -> None:
        """Start the daemon if none runs."""
        try:
            if await self.link.begin():
                self.tell(STARTED)
        except ReticentError as error:
            self.say(error)

    def _pass_on(self, message: Message) -> None:
        """Take a message from another thread."""
        self.post_message(message)

    async def call_and_take(self, name: str) -> None:
        """Make a call that a person asked for and that answers with the state."""
        try:
            self.take(await self.link.call(name, attended=True))
        except ReticentError as error:
            self.say(error)

    async def look_at_daemon(self) -> None:
        """Ask how the daemon is."""
        try:
            self.take(await self.link.call("status"))
        except DaemonError:
            return  # the thread that follows it will say so
        except ReticentError as error:
            self.say(error)

    def take(self, status: Status) -> None:
        """Show how the daemon is; ask for the key where the vault is locked.

        Before the first screen is there, it waits in the state.
        """
        page = self.page()
        was_reachable = self.reachable
        self.state = State(status, trouble=trouble_of(status))
        self._show_state()
        there_was_one = status.vault or status.notice is not None
        if page is not None and status.locked and there_was_one:
            self.hide()
        else:
            self.uncover(status)
        if self.reachable and not was_reachable and page is not None:
            page.look()

    def _show_state(self) -> None:
        for each in self.screen_stack:
            if isinstance(each, Page):
                each.tell(self.state)
