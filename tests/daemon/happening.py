"""What can happen to an agent, and the numbers under which it told of it."""

from datetime import datetime

from hypothesis import strategies as st

from agent.daemon.agent import Agent
from agent.daemon.api import Calls
from agent.wire.decide import Ask
from agent.wire.state import Forget
from tests.daemon.doubles import MONDAY, Heard
from tests.daemon.people import SECOND, living
from tests.decision.transcripts import HOSTS, QUERIES

SOME = """
lambda = 0.0
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
        """Do one thing."""
        what, host, query = deed
        if what == "lock":
            self.lock()
        elif what == "locked":
            self.agent.vault = None
            assert self.calls.decide(Ask(query=query, recipient=host)).code == "locked"
            self.agent.vault = self.vault
        elif what == "forget":
            before = self.vault.ledger.count
            self.calls.forget(Forget(recipient=host))
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
