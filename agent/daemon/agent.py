"""The agent: everything that lives as long as the daemon."""

import asyncio
import dataclasses
import os
from collections.abc import Awaitable, Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from functools import partial
from typing import TypeVar

from msgspec.structs import replace

from agent.daemon.consent import Consent
from agent.daemon.events import LOG, Bus
from agent.daemon.judge import Judge
from agent.daemon.locale import LOCALE
from agent.daemon.model_registry import ModelRegistry, TextReader
from agent.daemon.policy_file import PolicyFile
from agent.daemon.request_log import DOORS, Asker, OfferedDraft, Rates, SilentRequests, Sources
from agent.decision.cache import Cache
from agent.decision.values import Fact, Proposal, country_of
from agent.errors import LockedError, ReplacedVaultError, UsageError, VaultError
from agent.model.model import Concepts, Model
from agent.paths import Paths
from agent.vault.corrections import Corrections
from agent.vault.ledger import Disclosure, site_of
from agent.vault.secrets import Secret
from agent.vault.vault import Vault, unlock
from agent.vault.vault_files import Location
from agent.wire.decide import Answer, Ask
from agent.wire.state import Entry, ModelStatus, WithoutFacts, locale_country
from policy.hosts import host_of, load_suffixes

PAUSE = "pause"  # in the vault: until when nothing is attached
T = TypeVar("T")
Disclosed = tuple[datetime, Ask, str, Answer]  # when, with which request, and the fact's name in it
Opening = Callable[[Location, Secret], Awaitable[Vault]]


def now() -> datetime:
    """Read the clock, with the zone of this machine."""
    return datetime.now(UTC).astimezone()


async def open_in_thread(place: Location, secret: Secret) -> Vault:
    """Open a vault, of which the thread hands over nothing else; raises as `unlock` does."""
    return await asyncio.to_thread(unlock, place, secret)


@dataclass(eq=False, repr=False, slots=True)
class Agent:
    """The state behind every decision; ``vault`` is None while locked, and set in one step.

    ``place``: of the vault; ``clock``: the time where the user lives, with a zone; ``locks``: how
    often a lock was requested; ``without_facts``: what the latest lock cost; ``paused_until``:
    nothing is attached before, None for no pause, or while locked; ``trouble``: why the vault let
    no answer leave, None where it lets them; ``ahead``: of the clock, the time by which all is
    decided; ``disclosed``: by host and fact, how an assistant was told it since the vault was
    opened; ``drafts``: that the user may tell from, by id; ``proposed``: facts that they may keep,
    by draft; ``models``: as they were last looked at, None before; ``swept``: on which day old
    texts were deleted, and how many days they are kept, None before; ``apart``: serves the one
    thread beside that of the requests, and ``apart_lock`` lets one call at a time use it;
    ``commanded``: called when the user opens the vault elsewhere than on control; ``locking``:
    whenever it is about to lock, and once it is open; ``afterwards``: calls what renews the witness
    of a vault that is opened from then on.
    """

    place: Location
    started_at: datetime
    rules: PolicyFile
    registry: ModelRegistry
    consent: Consent
    sources: Sources
    bus: Bus
    clock: Callable[[], datetime] = now
    opening: Opening = open_in_thread
    reader: TextReader = field(default_factory=TextReader)
    judge: Judge = field(default_factory=Judge)
    vault: Vault | None = None
    silent_requests: SilentRequests = field(default_factory=SilentRequests)
    rates: Rates = field(default_factory=Rates)
    disclosed: dict[tuple[str, str], Disclosed] = field(default_factory=dict)
    drafts: dict[str, OfferedDraft] = field(default_factory=dict)
    proposed: dict[str, tuple[Proposal, ...]] = field(default_factory=dict)
    ahead: timedelta = timedelta()
    locks: int = 0
    without_facts: WithoutFacts | None = None
    paused_until: datetime | None = None
    trouble: VaultError | None = None
    models: list[ModelStatus] | None = None
    swept: tuple[date, int] | None = None
    apart: Cache = field(default_factory=Cache)
    apart_lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    unlock_lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    commanded: Callable[[], object] = field(default=lambda: None)
    locking: Callable[[], object] = field(default=lambda: None)
    afterwards: Callable[[Callable[[], object]], object] = field(default=lambda renew: renew())

    def is_paused(self, now: datetime) -> bool:
        """Whether nothing is to be attached for now, as the user said."""
        return self.paused_until is not None and now < self.paused_until

    def look(self) -> datetime:
        """Read the time by which all is decided, and reload the policy if its file has changed.

        It is never before the ledger's latest: where the clock was set back what had expired would
        live again, and what was sent this week would not count. Time then stands still until the
        clock has caught up.
        """
        wall = now = self.clock()
        latest = None if self.vault is None else self.vault.ledger.disclosures.latest
        if latest is not None:
            now = max(now, latest.astimezone(now.tzinfo))
        self.ahead = now - wall
        if self.rules.check(wall):
            self.bus.publish("policy")
        return now

    def renew(self) -> None:
        """Put what was written into the policy in force."""
        if self.rules.reload(self.clock()):
            self.bus.publish("policy")

    def look_at_all(self) -> None:
        """Look whether the files of vault, policy and models have changed."""
        self.guard()
        now = self.look()
        self.look_at_models(now)
        if self.vault is not None:
            self.delete_old_texts(self.vault, now)

    def look_at_models(self, now: datetime) -> list[ModelStatus]:
        """Describe the models, and use them as they are now if any has changed."""
        before, in_rules = self.models, [each.id for each in self.rules.active.models]
        self.models = models = self.registry.status(self.rules.active.keys, now)
        if before != models or in_rules != [each.id for each in self.known_models(now)]:
            self.use_models(self.vault, now)
        if before not in (None, models):
            self.bus.publish("models")
        return models

    @property
    def open_vault(self) -> Vault:
        """The vault. LockedError while it is locked."""
        if self.vault is None:
            raise LockedError
        return self.vault

    def disclosure(self, number: int) -> Disclosure:
        """Find an entry of the ledger. UsageError where it discloses nothing, LockedError."""
        entry = self.open_vault.ledger.entry(number)
        if not isinstance(entry, Disclosure):
            raise UsageError(f"entry {number} discloses nothing", "see `reticent requests list`")
        return entry

    def carried_nothing(self, ask: Ask, answer: Answer, now: datetime, by: Asker) -> None:
        """List a request that carried nothing, if it had somewhere to go.

        While the vault is locked it is counted, and nothing of a query is kept.
        """
        if self.vault is None:
            if (lock := self.without_facts) is not None:
                self.without_facts = replace(lock, requests=lock.requests + 1)
                self.bus.publish("lock")
            return
        with suppress(UsageError):
            entry = Entry(
                number=0,
                kind="nothing",
                at=now,
                recipient=host_of(ask.recipient),
                door=DOORS[by],
                code=answer.code,
                why="" if answer.summary is None else answer.summary.why,
                query=ask.query,
                read_as=None if answer.summary is None else answer.summary.read_as,
            )
            number = self.silent_requests.add(entry, self.vault.ledger.count)
            self.silent_requests.note(number, answer)
            self.bus.publish("nothing", number)

    def answered(self, entry: int, answer: Answer) -> None:
        """Note an answer that an entry of the ledger has."""
        self.trouble = None
        self.silent_requests.note(entry, answer)
        self.bus.publish("answer", entry)

    def model_for(self, host: str, now: datetime) -> Model:
        """Find the model that decides for a recipient.

        UsageError if there is none, ModelError if it must not be used.
        """
        name, _ = self.rules.active.route(host, now.date())
        return self.registry.of(name, self.rules.active.keys, now)

    def usable_models(self, now: datetime) -> list[Model]:
        """The one world of all models that may be used; none without any."""
        return self.registry.usable(self.rules.active.keys, now)

    def named_models(self, now: datetime) -> list[Model]:
        """Those that decide because the policy names them, and there alone."""
        policy = self.rules.policy
        names = frozenset[str]() if policy is None else policy.models
        return self.registry.named(names, self.rules.active.keys, now)

    def models_by_id(self, now: datetime) -> dict[str, Model]:
        """These, the world and what it is made of, by id: one decided each entry of the ledger."""
        models = (*self.named_models(now), *self.usable_models(now))
        return {each.id: each for one in models for each in (*one.every, one)}

    def known_models(self, now: datetime) -> list[Model]:
        """List the world, LOCALE and the named models: by whose names rules and values are written.

        No value follows from another by a named model: it sets nothing that the user did not.
        """
        alone = partial(dataclasses.replace, implies={})
        named = (
            dataclasses.replace(model, attributes=tuple(map(alone, model.attributes)))
            for model in self.named_models(now)
        )
        return [*self.usable_models(now), LOCALE, *named]

    async def in_thread(self, work: Callable[[], T]) -> T:
        """Work something out in a thread, one call after another.

        LockedError where the vault is locked before the end.
        """
        locks = self.locks
        async with self.apart_lock:
            self.check_locks(locks)
            result = await asyncio.to_thread(work)
        self.check_locks(locks)
        return result

    def check_locks(self, locks: int) -> None:
        """Raise LockedError if the vault was locked since that number of locks."""
        if self.locks != locks:
            raise LockedError("the vault was locked meanwhile", "unlock it again")

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

        Loads the list of public suffixes too, indexes the names of queries and counts the people,
        so that the first request does not wait for them.
        """
        load_suffixes()
        self.trouble, self.swept = None, None
        self.delete_old_texts(vault, now)
        self.reader.corrections = Corrections(vault.items)
        self.use_models(vault, now)
        for model in self.usable_models(now):
            model.texts.find("")
            self.reader.cache.anonymity_set(model)  # of whoever knows nothing yet
        if until := (vault.items.get(PAUSE) or b"").decode():
            self.paused_until = datetime.fromisoformat(until)
        self.consent.opened(vault.items)
        self.judge.opened(vault.items)

    def delete_old_texts(self, vault: Vault, now: datetime) -> None:
        """Delete the texts that are older than the policy keeps them, once a day."""
        days = self.rules.active.daemon.keep_texts_days
        if days and not self.rules.pending and self.swept != (now.date(), days):
            self.swept = now.date(), days
            with suppress(OverflowError, VaultError):  # older than any date; else the next time
                oldest = now - timedelta(days=days)
                self.silent_requests.clear(oldest)
                vault.delete_texts(lambda _, at: at < oldest)

    def use_models(self, vault: Vault | None, now: datetime) -> None:
        """Use the models that may be used, in rules, corrections, ledger and sources.

        ``vault``: None while it is locked; of its user's country people are counted.
        """
        self.registry.count_in("" if vault is None else self.country(vault.profile.facts))
        models = self.known_models(now)
        if self.reader.corrections is not None:
            self.reader.corrections.use(models)
        self.rules.ever = self.registry.ever_known()
        self.rules.use(models, self.reader.read, () if vault is None else vault.profile.facts)
        if vault is not None:
            vault.ledger.disclosures.use(Concepts(models))
            names = frozenset(each.name for m in models for each in m.attributes[m.persons :])
            with suppress(VaultError):  # what cannot be kept now is no reason to end
                self.sources.opened(vault.items, names)

    def country(self, facts: Iterable[Fact]) -> str:
        """Where somebody with these facts lives, by default in the country of the locale."""
        code = country_of(facts, locale_country(os.environ))
        return code if code in LOCALE.person_codes["country"] else ""

    def lock(self) -> None:
        """Close the vault, if it is open; also where something cannot be written any more.

        What requests left in memory goes too. ReplacedVaultError, and it stays open, where its
        file was replaced and all of it cannot be written aside.
        """
        self.locks += 1
        self.disclosed.clear()
        self.drafts.clear()
        self.proposed.clear()
        self.locking()
        if self.vault is None:
            return
        self.vault.rescue()
        vault, self.vault = self.vault, None
        self.without_facts, self.paused_until = WithoutFacts(since=self.clock()), None
        self.sources.closed()
        self.reader.corrections = None
        self.consent.closed()
        self.judge.closed()
        try:
            vault.close()
        except ReplacedVaultError:
            self.vault = vault  # it stays open for the next try
            raise
        finally:
            self.registry.count_in("" if self.vault is None else self.registry.country)
            self.reader.cache.clear()
            self.apart = Cache()  # a thread that still works keeps its own until it ends
            self.rules.use(self.rules.active.models, self.rules.active.read)
            self.rates.clear()
            self.silent_requests.clear()
            site_of.cache_clear()
            self.bus.publish("lock")


def assemble(
    paths: Paths, bus: Bus, clock: Callable[[], datetime] = now, opening: Opening = open_in_thread
) -> Agent:
    """Assemble the agent of a machine, locked; nothing is read yet but the policy."""
    rules, started_at = PolicyFile(paths.policy), clock()
    rules.check(started_at)
    return Agent(
        place=Location.of(paths),
        started_at=started_at,
        rules=rules,
        registry=ModelRegistry(paths.models),
        consent=Consent(paths.policy, lambda: rules.active),
        sources=Sources(),
        bus=bus,
        clock=clock,
        opening=opening,
        without_facts=WithoutFacts(since=started_at),
    )
