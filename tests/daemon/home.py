"""All that a user has on a machine, and every call to it: a real vault, policy file and model."""

import asyncio
from datetime import datetime, timedelta
from pathlib import Path
from typing import Self

from agent.daemon.agent import Agent, Opening, assemble, open_in_thread
from agent.daemon.api import Calls
from agent.model.attributes import UNSPECIFIED
from agent.model.file import write
from agent.paths import HOME, Paths, paths
from agent.vault.vault_files import Location
from agent.wire.state import ProfileChange, Status, Unlock
from tests.daemon.doubles import MONDAY, Heard
from tests.daemon.people import MODEL
from tests.vault.worlds import FAST, PASSPHRASE, create

POLICY = """
lambda = 0.0
model = "mine"
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
        self.agent: Agent = assemble(self.paths, self.bus, MONDAY)
        self.calls = Calls(self.agent, self.clock, opening)

    def clock(self) -> datetime:
        """Return a time, later than the last."""
        self.now += timedelta(seconds=1)
        return self.now

    def unlock(self, body: Unlock = OPEN) -> Status:
        """Open the vault, and wait for it."""
        return asyncio.run(self.calls.unlock(body))

    def fill(self) -> None:
        """Set the user's values."""
        self.calls.change_profile(ProfileChange(set=OWN))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.agent.lock()
