"""All that a user has on a machine, and every call to it: a real vault, policy file and model."""

import asyncio
from collections.abc import Callable
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any, Self

from hypothesis import strategies as st

from agent.daemon.agent import Agent, Opening, assemble, open_in_thread
from agent.daemon.api import Api
from agent.model.attributes import UNSPECIFIED
from agent.model.file import write
from agent.paths import HOME, Paths, paths
from agent.vault.vault_files import Location
from agent.wire.base import RecipientName
from agent.wire.decide import Ask
from agent.wire.state import ProfileChange, Status, Unlock
from tests.decision.transcripts import HOSTS, QUERIES
from tests.vault.worlds import FAST, PASSPHRASE, create
from tests.worlds.people import MODEL, MONDAY, SECOND, Heard, living

POLICY = """
preset = "none"
anonymity_price = 0
population = "mine"
[attributes]
region = "ask"
[groups]
adverts = ["ads.test", "more.test"]
[daemon]
lock_after_minutes = 3
"""
OWN = {"age": "age1", "region": "region2", "gender": UNSPECIFIED}
OPEN = Unlock(method="passphrase", secret=PASSPHRASE)
WRONG = Unlock(method="passphrase", secret="wrong")  # noqa: S106  (that of nothing)


class Calls:
    """The calls of an API, as functions by the names of their routes."""

    def __init__(self, agent: Agent, clock: Callable[[], datetime] | None = None) -> None:
        agent.clock = clock or agent.clock
        self.api = Api(agent)

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401  (a function of the route's types)
        return partial(self.api.call, name)


class Home:
    """A machine with a locked daemon; each call is a second after the last."""

    def __init__(self, folder: Path, opening: Opening = open_in_thread) -> None:
        self.paths: Paths = paths({HOME: str(folder / "home")})
        self.now = MONDAY
        for each in (self.paths.config, self.paths.data, self.paths.state, self.paths.models):
            each.mkdir(mode=0o700, parents=True)
        self.paths.policy.write_text(POLICY)
        write(MODEL, self.paths.models / "mine.safetensors")
        vault, _ = create(Location.of(self.paths), PASSPHRASE, FAST)
        vault.close()
        self.bus = Heard()
        self.agent: Agent = assemble(self.paths, self.bus, self.clock, opening)
        self.calls = Calls(self.agent)

    def clock(self) -> datetime:
        """Return a time, later than the last."""
        self.now += timedelta(seconds=1)
        return self.now

    def unlock(self, body: Unlock = OPEN) -> Status:
        """Open the vault, and wait for it."""
        status: Status = asyncio.run(self.calls.unlock(body))
        return status

    def fill(self) -> None:
        """Set the user's values."""
        self.calls.change_profile(ProfileChange(set=OWN))

    def rule(self, text: str) -> None:
        """Let another policy hold."""
        self.paths.policy.write_text(text)
        self.calls.reload()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.agent.lock()


SOME = """
preset = "none"
anonymity_price = 0
new_facts_per_week = 2
[groups]
adverts = ["ads.test"]
[attributes]
region = "ask"
[[rule]]
recipient = "books.example"
nothing = true
"""
Deed = tuple[str, str, str]
DEEDS = st.lists(
    st.tuples(
        st.sampled_from(["ask", "ask", "ask", "forget", "locked", "lock"]),
        st.sampled_from(HOSTS),
        st.sampled_from(QUERIES),
    ),
    max_size=12,
)


class Life:
    """An agent to which things happen; ``said``: what it told of, in order, by number."""

    def __init__(self, policy: str | None = SOME, *, backwards: bool = False) -> None:
        self.agent, self.vault = living(policy)
        self.now = MONDAY
        self.step = -SECOND if backwards else SECOND
        self.calls = Calls(self.agent, self.clock)
        self.numbers: list[int] = []
        self.waited: dict[int, int] = {}

    def clock(self) -> datetime:
        """Return a time that nobody was told yet."""
        self.now += self.step
        return self.now

    def do(self, deed: Deed) -> None:
        what, host, query = deed
        if what == "lock":
            self.lock()
        elif what == "locked":
            self.agent.vault = None
            assert self.calls.decide(Ask(query=query, recipient=host)).code == "locked"
            self.agent.vault = self.vault
        elif what == "forget":
            before = self.vault.ledger.count
            self.calls.forget(RecipientName(recipient=host))
            self.numbers += range(before + 1, self.vault.ledger.count + 1)
        else:
            self.ask(host, query)

    def ask(self, host: str, query: str) -> None:
        """Make a request, and note by which number it was told of."""
        answer = self.calls.decide(Ask(query=query, recipient=host))
        number = told(self.agent)
        assert number is not None
        assert (answer.id or number) == number
        self.numbers.append(number)
        self.waited[number] = answer.summary.waiting if answer.summary else 0

    def lock(self) -> None:
        """Lock the vault, and open it again."""
        self.agent.lock()
        self.numbers = [number for number in self.numbers if number > 0]
        self.waited = {}
        self.agent.opened(self.vault, self.now)
        self.agent.vault = self.vault


def told(agent: Agent) -> int | None:
    """Return the number that was last told of as that of a request."""
    assert isinstance(agent.bus, Heard)
    pairs = zip(agent.bus.kinds, agent.bus.ids, strict=True)
    return [about for kind, about in pairs if kind in ("answer", "nothing")][-1]
