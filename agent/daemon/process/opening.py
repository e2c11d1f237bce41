"""The vault is opened in a thread: that takes half a second, and others are answered meanwhile."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress

from agent.errors import VaultError
from agent.vault import secrets
from agent.vault.secrets import Secret
from agent.vault.vault import Vault, accounts_of, unlock
from agent.vault.vault_files import Location

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
    return await asyncio.to_thread(accounts_of, place.vault)


async def from_keyring(names: Sequence[str]) -> Secret:
    """Return what the keyring has for accounts. Raises VaultError.

    It may ask the user something: it is waited for beside all else, for so long only, and by nobody
    once the daemon ends.
    """
    asked = asyncio.wrap_future(secrets.fetching(names))
    try:
        async with asyncio.timeout(secrets.SECONDS):
            found = await asked
    except TimeoutError:
        raise secrets.silent() from None
    return Secret("keyring", kept=found)


def _closed(opening: asyncio.Future[Vault]) -> None:
    """Close a vault, if there is one."""
    with suppress(VaultError):
        opening.result().close()
