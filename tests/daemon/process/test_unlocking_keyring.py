"""The keyring may wait for the user; nobody else waits for it."""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from threading import Event as Flag

import keyring
import pytest

from agent.errors import VaultError
from agent.vault import secrets
from agent.vault.secrets import Secret
from agent.vault.vault import unlock
from agent.wire.state import Status, Unlock
from tests.cli.vaults import Memory
from tests.daemon.home import OPEN, Home

RING = Unlock(method="keyring")


class Waiting(Memory):
    """A keyring that asks the user something, who answers once this is set."""

    def __init__(self) -> None:
        super().__init__()
        self.begun, self.answered = Flag(), Flag()

    def get_password(self, service: str, username: str) -> str | None:
        """Return what is kept, once the user agrees."""
        self.begun.set()
        self.answered.wait()
        return super().get_password(service, username)


@pytest.fixture
def keyed(tmp_path: Path) -> Iterator[tuple[Home, Waiting]]:
    """A machine with a vault that the keyring opens too, which waits for the user."""
    before, ring = keyring.get_keyring(), Waiting()
    ring.answered.set()
    keyring.set_keyring(ring)
    with Home(tmp_path) as home:
        with unlock(home.agent.place, Secret("passphrase", OPEN.secret)) as vault:
            vault.add_keyring()
        ring.begun.clear()
        ring.answered.clear()
        yield home, ring
    ring.answered.set()
    keyring.set_keyring(before)


async def waiting(home: Home, ring: Waiting) -> asyncio.Task[Status]:
    """Return an unlocking by the keyring, once that is asked."""
    task = asyncio.create_task(home.calls.unlock(RING))
    assert await asyncio.to_thread(ring.begun.wait, 10)
    return task


@pytest.mark.parametrize("other", [True, False])
def test_while_the_keyring_waits_the_passphrase_opens_it(
    keyed: tuple[Home, Waiting], other: bool
) -> None:
    """And what the keyring says later changes nothing, or opens it."""
    home, ring = keyed

    async def scenario() -> None:
        task = await waiting(home, ring)
        if other:
            assert not (await home.calls.unlock(OPEN)).locked
        vault = home.agent.vault
        ring.answered.set()
        assert not (await task).locked
        assert not other or home.agent.vault is vault
        assert not (await home.calls.unlock(RING)).locked, "open already: nobody is asked"

    asyncio.run(scenario())


def test_a_keyring_that_does_not_answer_holds_up_nothing(
    keyed: tuple[Home, Waiting], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither who asked, for ever, nor the end of the daemon: its thread is waited for by none."""
    home, ring = keyed

    async def scenario() -> None:
        ended = await waiting(home, ring)
        monkeypatch.setattr(secrets, "SECONDS", 0)
        with pytest.raises(VaultError, match="did not answer"):
            await home.calls.unlock(RING)
        ended.cancel()

    asyncio.run(scenario())
    assert not ring.answered.is_set()
    assert home.agent.vault is None
