"""What the user says a text does not mean."""

from datetime import datetime

from agent.daemon.agent import Agent
from agent.daemon.consent.word import ALREADY_SENT
from agent.daemon.records import known_query, opened, read_then
from agent.decision.decide import read_by
from agent.decision.values import Reading
from agent.errors import LockedError, UsageError
from agent.vault.disclosure_index import Disclosure
from agent.wire.state import Corrected, NotThat
from policy.hosts import ANYBODY


def correct(agent: Agent, wanted: NotThat, now: datetime) -> Corrected:
    """Keep that a text does not mean what it was read as, or take all of that back.

    The user can undo it until the vault locks. UsageError where the text is read as nothing, or
    there is no room, and for no text or two; VaultError where it cannot be kept.
    """
    vault, corrections = opened(agent), agent.reader.corrections
    if corrections is None:
        raise LockedError
    if (wanted.entry is None) == (wanted.query is None):
        raise UsageError("not one text", "name an entry of the ledger, or a text")
    text, host, then = wanted.query or "", wanted.recipient or ANYBODY, None
    models = {model.id: model for model in agent.usable_models(now)}
    if wanted.entry is not None:
        entry = vault.ledger.entry(wanted.entry)
        if not isinstance(entry, Disclosure):
            hint = "see `reticent requests ledger`"
            raise UsageError(f"entry {wanted.entry} discloses nothing", hint)
        text, host = entry.query, entry.host
        then = read_then(entry, models.get(entry.model))

    def read() -> Reading | None:
        name = agent.rules.active.model(host, text, now.date())
        model, reading = agent.reader.surest(text, agent.readers(name, now))
        return read_by(reading, model)

    before = corrections.of(text)
    if wanted.undo:
        changed = [
            known_query(each.query, each.model, 1.0, models.get(each.model)) for each in before
        ]
        is_new = bool(before)
        corrections.replace(text, ())
    else:
        reading = then if wanted.entry is not None else read()
        if reading is None:
            hint = "nothing to correct: this text matches no topic"
            raise UsageError("the text was not understood as anything", hint)
        changed, is_new = [reading], corrections.add(text, reading.model, reading.query)

    def put_back() -> str:
        corrections.replace(text, before)
        agent.bus.publish("review")
        return ALREADY_SENT

    if is_new:
        agent.bus.publish("review")
        agent.consent.changed("Said what a text does not mean", put_back)
    return Corrected(done=is_new, query=text, read_as=changed, now=read())
