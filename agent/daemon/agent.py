"""The agent: everything that lives as long as the daemon, and its status."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from time import monotonic
from typing import TYPE_CHECKING, NamedTuple

from agent import __version__
from agent.daemon.consent import Consent
from agent.daemon.events import LOG
from agent.daemon.model_registry import UNREADABLE, ModelRegistry, TextReader
from agent.daemon.policy_file import PolicyFile
from agent.daemon.request_log import Rates, SilentRequests
from agent.daemon.sources import Sources
from agent.decision.cache import Cache
from agent.decision.locale import LOCALE
from agent.errors import ModelError, ReplacedVaultError, UsageError, VaultError
from agent.model.concepts import Concepts
from agent.model.model import Model
from agent.vault import secrets
from agent.vault.corrections import Corrections
from agent.vault.disclosure_index import site_of
from agent.vault.secrets import Secret
from agent.vault.vault import Vault, unlock
from agent.vault.vault_files import Location, read_notice
from agent.wire.state import ModelStatus, PolicyStatus, Status
from policy.hosts import load_suffixes
from policy.settings import DaemonSettings

if TYPE_CHECKING:
    from agent.daemon.events import Bus
    from agent.paths import Paths


Opening = Callable[[Location, Secret], Awaitable[Vault]]
# How notes begin. Of the first three, `doctor` looks at the files itself.
NO_POLICY, POLICY, MODEL = "no policy is in use", "policy: ", "model "
AHEAD = "the clock is behind the ledger, whose latest entry is of "
MINUTE = timedelta(minutes=1)


def now() -> datetime:
    """Return the time, with the zone of this machine."""
    return datetime.now(UTC).astimezone()


async def open_in_thread(place: Location, secret: Secret) -> Vault:
    """Open a vault, of which the thread hands over nothing else; raises as `unlock` does.

    The thread cannot be stopped: if the caller gives up, the vault is closed once it is open.
    """
    opening = asyncio.get_running_loop().run_in_executor(None, unlock, place, secret)
    try:
        return await asyncio.shield(opening)
    except asyncio.CancelledError:
        opening.add_done_callback(_close_late)
        raise


async def secret_from_keyring(names: Sequence[str]) -> Secret:
    """Return what the keyring has for accounts. Raises VaultError.

    The keyring may prompt the user. Other calls go on meanwhile, the wait is limited, and the end
    of the daemon does not wait for it.
    """
    asked = asyncio.wrap_future(secrets.fetching(names))
    try:
        async with asyncio.timeout(secrets.SECONDS):
            found = await asked
    except TimeoutError:
        raise secrets.timed_out() from None
    return Secret("keyring", kept=found)


def _close_late(opening: asyncio.Future[Vault]) -> None:
    """Close a vault, if there is one."""
    with suppress(VaultError):
        opening.result().close()


class _Floor(NamedTuple):
    """A time that is not past, and by another clock, in seconds, since when that is so."""

    at: datetime
    since: float


@dataclass(eq=False, repr=False, slots=True)
class Agent:
    """The state behind every decision; ``vault`` is None while locked, and set in one step.

    ``place``: of the vault; ``started_at``: with a zone; ``locks``: how often a lock was requested;
    ``trouble``: why the vault let no answer leave, None where it lets them; ``ahead``: of the
    clock, the time by which all is decided; ``apart``: serves the one thread beside that of the
    requests; ``commanded``: to be called when the user opens the vault elsewhere than on control;
    ``locking``: called first whenever it locks.
    """

    place: Location
    started_at: datetime
    rules: PolicyFile
    registry: ModelRegistry
    consent: Consent
    sources: Sources
    bus: Bus
    reader: TextReader = field(default_factory=TextReader)
    vault: Vault | None = None
    silent_requests: SilentRequests = field(default_factory=SilentRequests)
    rates: Rates = field(default_factory=Rates)
    ahead: timedelta = timedelta()
    locks: int = 0
    trouble: VaultError | None = None
    apart: Cache = field(default_factory=Cache)
    commanded: Callable[[], object] = field(default=lambda: None)
    locking: Callable[[], object] = field(default=lambda: None)
    _floor: _Floor | None = field(default=None, init=False)

    def time(
        self, clock: Callable[[], datetime], since: Callable[[], float] = monotonic
    ) -> datetime:
        """Return the time by which all is decided: never before the ledger's latest.

        Where the clock was set back what had expired would live again, and what was told this
        week would not count. From the latest time it goes on by ``since``, in seconds, until the
        clock has caught up.
        """
        wall = now = clock()
        latest = None if self.vault is None else self.vault.ledger.latest
        if latest is not None and latest > now:
            if self._floor is None or self._floor.at != latest:
                self._floor = _Floor(latest, since())
            passed = timedelta(seconds=since() - self._floor.since)
            now = max(now, (latest + passed).astimezone(now.tzinfo))
        self.ahead = now - wall
        return now

    @property
    def settings(self) -> DaemonSettings:
        """The policy's settings of the daemon, or the defaults."""
        policy = self.rules.policy
        return DaemonSettings() if policy is None else policy.daemon

    def model_for(self, host: str, query: str, now: datetime) -> Model:
        """Return the model that the policy chooses for a request.

        UsageError if there is none, ModelError if it must not be used.
        """
        in_use = self.rules.active
        return self.registry.of(in_use.model(host, query, now.date()), in_use.keys, now)

    def readers(self, name: str | None, now: datetime) -> list[Model]:
        """Return the models that may read a request: the one that the policy names, or all.

        UsageError if there is none, ModelError if it must not be used.
        """
        found = self.usable_models(now) if name is None else []
        return found or [self.registry.of(name, self.rules.active.keys, now)]

    async def readable(self, text: str, host: str, now: datetime) -> None:
        """Wait for the encoder, a second at most, where it is being loaded and a text needs it."""
        if self.vault is not None and self.reader.state == "loading":
            with suppress(ModelError, UsageError):  # which the call itself will raise
                name = self.rules.active.model(host, text, now.date())
                await self.reader.ready(text, self.readers(name, now))

    def usable_models(self, now: datetime) -> list[Model]:
        """Return all models that may be used, the shipped one first."""
        return self.registry.usable(self.rules.active.keys, now)

    def known_models(self, now: datetime) -> list[Model]:
        """Return them and LOCALE: all by whose names rules and values are written."""
        return [*self.usable_models(now), LOCALE]

    def look(self, now: datetime) -> None:
        """Reload the policy if it has changed, and publish that."""
        if self.rules.check(now - self.ahead):
            self.bus.publish("policy")

    def guard(self) -> None:
        """Lock a vault that was replaced while it was open, once all of it is written aside.

        Where that cannot be done it stays open for the next try, and answers nothing.
        """
        if self.vault is not None and not self.vault.intact:
            LOG.warning("the file of the open vault was replaced, removed or written to")
            self.trouble = None
            try:
                self.lock()
            except VaultError as error:
                self.trouble = None if self.vault is None else error

    def opened(self, vault: Vault, now: datetime) -> None:
        """Load from a vault what its users keep there. Raises VaultError.

        Loads the list of public suffixes too, and indexes the names of queries, so that the first
        request does not wait for them.
        """
        load_suffixes()
        for model in self.usable_models(now):
            model.match("")
        self.trouble = None
        self.use_models(vault, now)
        self.rules.usage.begin(now)
        self.consent.opened(vault.items)
        self.reader.corrections = Corrections(vault.items)
        policy, keys = self.rules.policy, self.rules.active.keys
        complete = policy is not None and self.registry.complete(policy.models, keys, now)
        self.sources.opened(vault.items, self.request_attributes(now), complete=complete)

    def use_models(self, vault: Vault | None, now: datetime) -> None:
        """Use the models that may be used, in rules and ledger.

        The encoder begins to load where it is not, the vault is open, and a model reads texts.
        """
        known = self.known_models(now)
        self.rules.use(known)
        if vault is None:
            return
        self.reader.begin(self.usable_models(now))
        vault.ledger.disclosures.concepts = Concepts(known)

    def request_attributes(self, now: datetime) -> frozenset[str]:
        """Return the names of the request attributes of all models that may be used."""
        usable = self.usable_models(now)
        return frozenset(each.name for m in usable for each in m.attributes[m.persons :])

    def lock(self) -> None:
        """Close the vault, if it is open; also where something cannot be written any more.

        What requests left in memory goes too. ReplacedVaultError, and it stays open, where its
        file was replaced and all of it cannot be written aside.
        """
        self.locks += 1
        self.locking()
        if self.vault is None:
            return
        self.vault.rescue()
        vault, self.vault = self.vault, None
        with ExitStack() as ends:  # from the last to the first, each whatever the others do
            ends.callback(self.bus.publish, "lock")
            ends.callback(site_of.cache_clear)
            ends.callback(self.silent_requests.clear)
            ends.callback(self.rates.clear)
            ends.callback(self.rules.forget)
            ends.callback(self._forget)
            ends.callback(self._close, vault)
            ends.callback(self.consent.closed)
            ends.callback(setattr, self.reader, "corrections", None)
            ends.callback(self.sources.closed)

    def _forget(self) -> None:
        """Drop all that was computed; a thread that still works keeps its own until it ends."""
        self.reader.cache.clear()
        self.apart = Cache()

    def _close(self, vault: Vault) -> None:
        """Close a vault, or keep it for the next try where it stays open."""
        try:
            vault.close()
        except ReplacedVaultError:
            self.vault = vault
            raise


def assemble(paths: Paths, bus: Bus, now: datetime) -> Agent:
    """Return the agent of a machine, locked; nothing is read yet but the policy."""
    rules = PolicyFile(paths.policy)
    rules.check(now)
    return Agent(
        place=Location.of(paths),
        started_at=now,
        rules=rules,
        registry=ModelRegistry(paths.models),
        consent=Consent(paths.policy, lambda: rules.active),
        sources=Sources(),
        bus=bus,
    )


def status_of(
    agent: Agent, policy: PolicyStatus, models: Sequence[ModelStatus], now: datetime
) -> Status:
    """Return the status of the daemon, given that of the policy and of the models."""
    vault, notice = agent.vault, read_notice(agent.place)
    return Status(
        version=__version__,
        process=os.getpid(),
        started_at=agent.started_at,
        vault=agent.place.vault.exists(),
        locked=vault is None,
        lock_after_minutes=agent.settings.lock_after_minutes,
        policy=policy,
        models=[*models],
        waiting=len(agent.consent.reviews(now)),
        entries=None if vault is None else vault.ledger.count,
        notes=[*_status_notes(agent, policy, models, now)],
        notice=None if notice is None else f"{notice}: {notice.hint}",
        encoder=agent.reader.state,
    )


def _status_notes(
    agent: Agent, policy: PolicyStatus, models: Sequence[ModelStatus], now: datetime
) -> Iterator[str]:
    """Yield a sentence for each thing that the user should know."""
    if not policy.in_use:
        yield f"{NO_POLICY}, so nothing is attached"
    for problem in policy.problems:
        yield f"{POLICY}{problem}"
    wanted = frozenset[str]() if agent.rules.policy is None else agent.rules.policy.models
    for name in sorted(wanted - {each.name for each in models}):
        yield f"{POLICY}it names the model {name!r}, which is missing"
    for each in models:
        if each.problem is not None:
            yield f"{MODEL}{each.name}: {each.problem}"
    usable = agent.known_models(now)
    for remark in agent.rules.active.misspelt(usable):
        yield f"{POLICY}{remark}"
    if agent.reader.problem is not None:
        yield f"{UNREADABLE}{agent.reader.problem}"
    if agent.trouble is not None:
        what, hint = agent.trouble.what, agent.trouble.hint
        yield f"the last request could not be answered: {what} ({hint})"
    if agent.vault is not None:
        yield from _vault_notes(agent, agent.vault, now)


def _vault_notes(agent: Agent, vault: Vault, now: datetime) -> Iterator[str]:
    """Yield the notes that need an open vault."""
    if agent.ahead > MINUTE:
        latest = vault.ledger.latest or now
        yield f"{AHEAD}{latest:%Y-%m-%d %H:%M}: rules and limits follow that, not the clock"
    yield from vault.notes
