"""Every call of the API but events, relay and shutdown: a function each, by its route's name.

A function takes the body, where there is one, the time and the agent, and parameters by keyword.
Each raises a ReticentError where it cannot be done. What is a coroutine leaves room for other
calls; all else is one step. All of it belongs to one thread.
"""

import asyncio
import dataclasses
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, suppress
from datetime import datetime, timedelta
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from msgspec.structs import replace

from agent import __version__
from agent.daemon import drafts, policy_api, profile, readings, records, what_if
from agent.daemon.agent import Agent
from agent.daemon.backup_files import contents_of, files_of, unpack
from agent.daemon.handle import JUDGED, UndecidedError, consider, failure, handle, situation_of
from agent.daemon.model_registry import UNREADABLE
from agent.daemon.programs import this_machine
from agent.daemon.prompts import Prompts
from agent.daemon.request_log import ASSISTED, Asker
from agent.decision.cache import Cache
from agent.decision.rerank import rerank
from agent.decision.values import Decision
from agent.errors import LockedError, VaultError
from agent.vault.secrets import Secret
from agent.vault.vault_files import set_aside_notice
from agent.wire.base import BackupContents, Done
from agent.wire.decide import Answer, Ask, Clicked, Draft, SearchResults
from agent.wire.state import EventKind, Locked, ModelStatus, Place, PolicyStatus, Status, Unlock
from agent.words.notices import without_facts
from agent.words.titles import UNANSWERED
from policy.audit import pressing
from policy.hosts import host_of

POLICY = "policy: "  # how notes begin on what `doctor` finds in the files itself
AHEAD = "the clock is behind the ledger, whose latest entry is of "
JUDGE = "the local judge was late, or gave no valid answer, "
PENDING = "its file is being written, or lacks its end: nothing is attached until it is whole"
MOST_DISCLOSED = 1_000  # facts that assistants were told; the oldest goes
MINUTE = timedelta(minutes=1)
SHOWN = timedelta(hours=1)  # after a lock, in which it is said what it cost
ORDERED = JUDGED | {"page"}  # who has results ordered: the extension, and the user's shell


class Call(NamedTuple):
    """A call, and what goes with it.

    ``unlocked``: it is refused while the vault is locked; ``writes``: it may have changed the
    policy file, which is then in force for the next request; ``publishes``: the event that says it
    was done.
    """

    function: Callable[..., Any]
    unlocked: bool = False
    writes: bool = False
    publishes: EventKind | None = None


def decide(ask: Ask, now: datetime, agent: Agent, *, by: Asker = "command") -> Answer:
    """Decide what one request carries, and record it before the answer leaves.

    UsageError if the recipient is not a host; VaultError where the vault fails, which the
    status then says until a decision is recorded again.
    """
    try:
        answer = handle(ask, now, agent, by)
    except VaultError as error:
        agent.carried_nothing(ask, Answer(code=failure(error)), now, by)
        raise
    if answer.id is None:
        agent.carried_nothing(ask, answer, now, by)
    else:
        agent.answered(answer.id, answer)
    for name in answer.attributes if by in ASSISTED else ():
        key = host_of(ask.recipient), answer.facts.get(name, name)
        agent.disclosed.pop(key, None)
        agent.disclosed[key] = now, replace(ask, earlier=[]), name, answer
        if len(agent.disclosed) > MOST_DISCLOSED:
            del agent.disclosed[next(iter(agent.disclosed))]
    return answer


async def reranked(
    body: SearchResults, now: datetime, agent: Agent, *, by: Asker = "command"
) -> list[int]:
    """Order the results of a search for the user's eyes; as given, where `decide` would refuse.

    Also for programs, which cannot be told from what they claim. For a page it is counted, and
    nothing of it is recorded, logged or kept. UsageError if the recipient is not a host.
    """
    with suppress(UndecidedError, LockedError):
        situation = situation_of(Ask(query=body.query, recipient=body.recipient), now, agent, by=by)
        if by in ORDERED and situation.terms.results != "send":
            silent = dataclasses.replace(situation.terms, nothing=True)
            consider(dataclasses.replace(situation, terms=silent), agent, by)  # what guards it
            profile = situation.vault.profile
            own = profile.own(situation.model, short=False)
            apart = dataclasses.replace(situation, own=own, cache=Cache())  # of the thread
            return [*await agent.in_thread(lambda: rerank(body.results, apart, profile.codes))]
    return [*range(len(body.results))]


def clicked(body: Clicked, _now: datetime, agent: Agent) -> Done:
    """Note that a result was visited, if the policy allows it.

    In the paper ACLK asks about the page that will be clicked (5.2); live it can only mean
    that a result of this query was visited before.
    """
    if agent.vault is None or not agent.rules.active.daemon.clicks:
        return Done(done=False)
    agent.sources.clicked(body)
    return Done()


async def backup(body: Place, _now: datetime, agent: Agent) -> BackupContents:
    """Write a backup of the vault, the policy, added models, and what is connected."""
    at = agent.rules.path, agent.registry.folder, this_machine()
    write = agent.open_vault.backup
    files = await asyncio.to_thread(files_of, *at)
    await asyncio.to_thread(write, Path(body.path), files)
    return contents_of(files)


def locked(now: datetime, agent: Agent) -> Locked:
    """Say whether the vault is locked, and where facts may be offered."""
    return Locked(
        version=__version__,
        locked=agent.vault is None,
        clicks=agent.rules.active.daemon.clicks,
        sites=agent.consent.sites(now),
        assistants=agent.consent.assistants(now),
        stale_rules=agent.rules.stale,
    )


async def unlock(body: Unlock, _now: datetime, agent: Agent) -> Status:
    """Open the vault.

    VaultError where it cannot be opened; LockedError where it was locked since this was asked
    for.
    """
    locks = agent.locks
    async with agent.unlock_lock:
        if agent.vault is None and agent.locks == locks:
            vault = await agent.opening(agent.place, Secret(body.method, body.secret))
            with ExitStack() as on_failure:
                on_failure.callback(vault.close)
                unpack(vault, agent.rules.path, agent.registry.folder)
                await agent.reader.prepare(agent.usable_models(agent.look()))
                agent.check_locks(locks)
                agent.opened(vault, agent.look())
                on_failure.pop_all()
            agent.vault = vault
            vault.renew_witness_by(agent.afterwards)
            if agent.without_facts is not None:
                agent.without_facts = replace(agent.without_facts, until=agent.look())
            agent.locking()
            agent.bus.publish("lock")
        agent.check_locks(locks)
    return status(agent.look(), agent)


def lock(_now: datetime, agent: Agent) -> Status:
    """Close the vault."""
    agent.lock()
    return status(agent.look(), agent)


def models(now: datetime, agent: Agent) -> list[ModelStatus]:
    """List the models."""
    return agent.look_at_models(now)


def status(now: datetime, agent: Agent) -> Status:
    """Say how the daemon, its models and its policy are."""
    agent.guard()
    models = agent.registry.status(agent.rules.active.keys, now)
    vault, notice = agent.vault, set_aside_notice(agent.place)
    waiting = agent.consent.reviews(now)
    return Status(
        version=__version__,
        process=os.getpid(),
        started_at=agent.started_at,
        vault=agent.place.vault.exists(),
        locked=vault is None,
        lock_after_minutes=agent.rules.active.daemon.lock_after_minutes,
        paused_until=agent.paused_until if agent.is_paused(now) else None,
        without_facts=agent.without_facts,
        silent=agent.silent_requests.count,
        policy=agent.rules.status(now.date()),
        models=models,
        people=next((e.stands_for for e in agent.usable_models(now) if vault is not None), None),
        waiting=len(waiting),
        raised=sum(each.raised or each.kind != "ask" for each in waiting),
        entries=None if vault is None else vault.ledger.count,
        notes=[*_status_notes(agent, models, now)],
        notice=None if notice is None else ": ".join(notice),
    )


def _status_notes(agent: Agent, models: list[ModelStatus], now: datetime) -> Iterator[str]:
    """Yield a sentence for each thing that the user should know."""
    if agent.rules.pending:
        yield f"{POLICY}{PENDING}"
    if (lock := agent.without_facts) and now - (lock.until or now) < SHOWN:
        yield from filter(None, [without_facts(lock)])
    if (policy := agent.rules.policy) is not None:
        names = {each.name for model in agent.known_models(now) for each in model.attributes}
        remarks = pressing(policy, sorted(names), now.date())
        yield from (f"line {e.line} of the policy: {e.what} ({e.hint})" for e in remarks)
        missing = sorted(policy.models - {each.name for each in models})
        yield from (f"{POLICY}it names the model {e!r}, which is missing" for e in missing)
    if agent.reader.problem is not None:
        yield f"{UNREADABLE}{agent.reader.problem}"
    if agent.judge.failed:
        yield f"{JUDGE}{agent.judge.failed} of {agent.judge.asked} times"
    if (error := agent.trouble) is not None:
        yield f"{UNANSWERED}{error.what} ({error.hint})"
    if agent.vault is not None:
        if agent.ahead > MINUTE:
            latest = agent.vault.ledger.disclosures.latest or now
            yield f"{AHEAD}{latest:%Y-%m-%d %H:%M}: rules and limits follow that, not the clock"
        yield from agent.vault.notes
        yield from profile.standing_out(now, agent)


def reload(now: datetime, agent: Agent) -> PolicyStatus:
    """Read the policy again."""
    agent.rules.reload(now)
    agent.bus.publish("policy")
    return agent.rules.status(now.date())


CALLS: Mapping[str, Call] = MappingProxyType(
    {
        "status": Call(status),
        "locked": Call(locked),
        "unlock": Call(unlock),
        "lock": Call(lock),
        "pause": Call(records.pause, unlocked=True, publishes="lock"),
        "decide": Call(decide),
        "disclosed": Call(records.disclosed),
        "draft": Call(drafts.draft),
        "tell": Call(drafts.tell, unlocked=True),
        "export": Call(drafts.export, unlocked=True),
        "explain": Call(what_if.explain),
        "requests": Call(records.requests, unlocked=True),
        "whatif": Call(what_if.whatif, unlocked=True),
        "curve": Call(what_if.curve, unlocked=True),
        "reviews": Call(policy_api.reviews, unlocked=True),
        "verdict": Call(policy_api.verdict, unlocked=True, writes=True, publishes="review"),
        "dismiss": Call(policy_api.dismiss, publishes="review"),
        "override": Call(policy_api.override, unlocked=True, writes=True, publishes="review"),
        "undo": Call(policy_api.undo, unlocked=True, writes=True, publishes="review"),
        "ledger": Call(records.ledger, unlocked=True),
        "delete_texts": Call(records.delete_texts, unlocked=True, publishes="forget"),
        "recipients": Call(records.recipients, unlocked=True),
        "forget": Call(records.forget, unlocked=True, publishes="forget"),
        "correct": Call(readings.correct, unlocked=True),
        "topics": Call(readings.topics, unlocked=True),
        "means": Call(readings.means, unlocked=True),
        "profile": Call(profile.profile, unlocked=True),
        "change_profile": Call(profile.change_profile, unlocked=True, publishes="profile"),
        "propose": Call(profile.propose, unlocked=True),
        "remember": Call(profile.remember, unlocked=True),
        "attributes": Call(policy_api.attributes),
        "reload": Call(reload),
        "rules": Call(policy_api.rules),
        "edit_policy": Call(policy_api.edit_policy, writes=True),
        "models": Call(models),
        "backup": Call(backup, unlocked=True),
        "reranked": Call(reranked),
        "clicked": Call(clicked),
        "offer": Call(policy_api.offer),
        "refuse": Call(policy_api.refuse, writes=True),
        "allow": Call(policy_api.allow, writes=True),
    }
)


class Api:
    """The calls, made on one agent."""

    def __init__(self, agent: Agent) -> None:
        self.agent, self.prompts = agent, Prompts(agent, self.call, os.environ)
        agent.locking = self.prompts.end

    def call(self, name: str, body: Any = None, /, **parameters: Any) -> Any:  # noqa: ANN401  (of the route's types)
        """Make a call by the rules as they are now; return its answer, or what awaits that."""
        function, unlocked, writes, publishes = CALLS[name]
        agent = self.agent
        now = agent.look()
        if unlocked and agent.vault is None:
            raise LockedError
        if isinstance(body, Unlock) and body.screen:
            self.prompts.use(body.screen)
        try:
            answer = function(*(() if body is None else (body,)), now, agent, **parameters)
        except VaultError as error:
            if name in {"decide", "tell"}:
                agent.trouble = error
            raise
        pinentry = agent.rules.active.daemon.prompt == "pinentry"
        if name == "decide" and (pinentry or answer.code == "locked"):
            self.prompts.after(body, answer, parameters.get("by", "command"), now)
        if writes:
            agent.renew()
        if publishes is not None and getattr(answer, "done", True):
            agent.bus.publish(publishes, parameters.get("id"))
        if agent.rules.stale and isinstance(answer, Answer | Draft | Decision):
            return replace(answer, stale_rules=True)
        return answer
