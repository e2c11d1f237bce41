"""The vault is opened in a thread: that takes half a second, and others are answered meanwhile."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress

from agent.errors import VaultError
from agent.vault.keys import keyrings
from agent.vault.keys.secrets import Secret
from agent.vault.location import Location
from agent.vault.outside import accounts
from agent.vault.vault import Vault, unlock

Opening = Callable[[Location, Secret], Awaitable[Vault]]


async def in_thread(place: Location, secret: Secret) -> Vault:
    """Open a vault, of which the thread hands over nothing else; raises as `unlock` does.

    The thread cannot be stopped: a vault that nobody waits for any more is closed once it is open.
    """
    opening = asyncio.get_running_loop().run_in_executor(None, unlock, place, secret)
    try:
        return await asyncio.shield(opening)
    except asyncio.CancelledError:
        opening.add_done_callback(_closed)
        raise


async def keyring_accounts(place: Location) -> list[str]:
    """Return whose passwords in the keyring open a vault that is not open. Raises VaultError."""
    return await asyncio.to_thread(accounts, place.vault)


async def from_keyring(names: Sequence[str]) -> Secret:
    """Return what the keyring has for accounts. Raises VaultError.

    It may ask the user something: it is waited for beside all else, for so long only, and by nobody
    once the daemon ends.
    """
    asked = asyncio.wrap_future(keyrings.fetching(names))
    try:
        async with asyncio.timeout(keyrings.SECONDS):
            found = await asked
    except TimeoutError:
        raise keyrings.silent() from None
    return Secret("keyring", kept=found)


def _closed(opening: asyncio.Future[Vault]) -> None:
    """Close a vault, if there is one."""
    with suppress(VaultError):
        opening.result().close()
