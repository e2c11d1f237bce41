"""What the daemon says, and what the program does of it: the half that hears."""

from textual.app import App
from textual.message import Message
from textual.worker import Worker

from agent.errors import DaemonError, LockedError, ReticentError
from agent.tui.link import Happened, Heard, Link, Lost
from agent.tui.page import Doing, Page
from agent.tui.plain import plain, plain_lines
from agent.tui.state import State
from agent.tui.unlock import Unlocking
from agent.wire.state import Status


class Hearing(App[None]):
    """Follows the daemon behind ``link``, and says on every screen how it is."""

    def __init__(self, link: Link, *, ansi_color: bool | None) -> None:
        super().__init__(ansi_color=ansi_color)
        self.link = link
        self.state = State(trouble="Connecting to the daemon …")

    @property
    def reachable(self) -> bool:
        """Whether the daemon was heard, and its vault is open."""
        status = self.state.status
        return status is not None and not status.locked and not self.state.stale

    def say(self, error: ReticentError) -> None:
        """Say what went wrong, and the way out; where the vault is locked, ask for its key."""
        if isinstance(error, LockedError):
            self.beside(self.look_at_daemon)
        else:
            said = f"{plain(str(error))}\n{plain(error.hint)}"
            self.notify(said, severity="error", markup=False, timeout=10)

    def tell(self, text: str) -> None:
        """Say what was done."""
        self.notify(plain_lines(text), markup=False)

    def page(self) -> Page | None:
        """Return the screen that is shown, below whatever asks something in front of it."""
        return next((each for each in reversed(self.screen_stack) if isinstance(each, Page)), None)

    def hide(self) -> None:
        """Take everything private off all screens, and ask for the key."""
        raise NotImplementedError

    # what the daemon tells

    def on_heard(self, message: Heard) -> None:
        """Show that the daemon is there."""
        self.take(message.status)

    def on_lost(self, message: Lost) -> None:
        """Show that what stands there may not be so any more."""
        trouble = f"STALE: {message.error}; this waits until it is back"
        self.state = State(self.state.status, stale=True, trouble=trouble)
        self._show_state()

    def on_happened(self, message: Happened) -> None:
        """Look again at what it is about."""
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
        trouble = "" if status.vault else "There is no vault yet: leave, and run `reticent init`."
        self.state = State(status, trouble=trouble)
        self._show_state()
        if page is not None and status.locked and status.vault:
            self.hide()
        elif not status.locked and isinstance(self.screen, Unlocking):
            self.screen.dismiss(status)
        if self.reachable and not was_reachable and page is not None:
            page.look()

    def _show_state(self) -> None:
        for each in self.screen_stack:
            if isinstance(each, Page):
                each.tell(self.state)
