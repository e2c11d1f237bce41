"""What the user says of readings: "not that", and "this means", at once or as a proposal."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from difflib import get_close_matches

from agent.daemon.agent import Agent
from agent.daemon.consent import IN_MEMORY
from agent.daemon.records import reading_of
from agent.daemon.reviews import check_answer
from agent.decision.decide import read_by
from agent.decision.values import Reading
from agent.errors import LockedError, UsageError, normalise
from agent.model.model import Model
from agent.wire.base import Done
from agent.wire.decide import Ask
from agent.wire.policy import Review, Ruled, Word
from agent.wire.state import Corrected, ReadingEdit
from agent.words.notices import GONE
from agent.words.titles import quoted
from policy.hosts import ANYBODY, host_of


def topics(ask: Ask, now: datetime, agent: Agent) -> list[Reading]:
    """List all topics of the model that reads a request, the likeliest first."""
    model = agent.model_for(ask.recipient, now)
    candidates = agent.reader.read(model, ask.query).candidates
    sure = {each.query: each.probability for each in candidates}
    listed = (
        Reading(query=q.text, title=q.title, probability=sure.get(at, 0.0), model=model.id)
        for at, q in enumerate(model.queries)
    )
    return sorted(listed, key=lambda each: (-each.probability, each.title.casefold()))


def correct(body: ReadingEdit, now: datetime, agent: Agent) -> Corrected:
    """Say what a text means, or that it does not mean what it was read as, or take that back.

    The user can undo it until the vault locks. UsageError for no text or two, for one that was read
    as nothing and gets no topic, for a topic that no model has, and where there is no room;
    VaultError where it cannot be kept.
    """
    corrections = agent.reader.corrections
    if corrections is None:
        raise LockedError
    models = agent.models_by_id(now)
    text, host, then = _subject(body, agent, models)
    reader, before = agent.model_for(host, now), corrections.of(text)

    def read() -> Reading | None:
        return read_by(agent.reader.read(reader, text), reader)

    if body.undo:
        readings = [reading_of(each.query, each.model, models) for each in before]
        is_new, what = bool(before), "means or does not"
        corrections.replace(text, ())
    else:
        wanted, reading = body.topic, then or read()
        if wanted is not None:
            reading = _named(wanted, topics(Ask(query=text, recipient=host), now, agent))
        if reading is None:
            hint = "nothing to correct: this text matches no topic"
            raise UsageError("the text was not understood as anything", hint)
        readings, what = [reading], "does not mean" if wanted is None else "means"
        model, query, place = reading.model, reading.query, agent.reader.place(text)
        is_new = corrections.add(text, model, query, means=wanted is not None, place=place)

    def put_back() -> str:
        corrections.replace(text, before)
        agent.bus.publish("review")
        return GONE

    if is_new:
        agent.bus.publish("review")
        agent.consent.changed(f"Said what a text {what}", put_back)
    return Corrected(done=is_new, query=text, read_as=[*filter(None, readings)], now=read())


def means(body: ReadingEdit, now: datetime, agent: Agent) -> Done:
    """Queue what a program says that a text means; UsageError where it names no topic."""
    if body.query is None or body.topic is None or body.undo:
        raise UsageError("a proposal is of a text and a topic", "name both")
    host = host_of(body.recipient or ANYBODY)
    topic = _named(body.topic, topics(Ask(query=body.query, recipient=host), now, agent))
    pool, of = agent.rules.active.pool_of(host), body.query
    review = Review(
        id=0, kind="means", at=now, recipient=host, pool=pool, names=[], query=of, topic=topic
    )
    if (new := agent.consent.queue(review)) is not None:
        agent.bus.publish("review", new.id)
    return Done()


def settle(proposal: Review, topic: Reading, word: Word, now: datetime, agent: Agent) -> Ruled:
    """Apply the user's word on a proposal. Raises as `check_answer` and `correct`."""
    check_answer(proposal, word, agent.rules.active.pool_of(proposal.recipient))
    corrections, text = agent.reader.corrections, proposal.query
    if corrections is None:
        raise LockedError
    before = corrections.of(text)
    if word.disclose == "auto":
        edit = ReadingEdit(query=text, recipient=proposal.recipient, topic=topic.query)
        correct(edit, now, agent)
    agent.consent.dismiss(proposal.id, lambda: corrections.replace(text, before))
    return IN_MEMORY


def _subject(
    body: ReadingEdit, agent: Agent, models: Mapping[str, Model]
) -> tuple[str, str, Reading | None]:
    """Find the text that an edit is about, its recipient, and what an entry was read as then."""
    if (body.entry is None) == (body.query is None):
        raise UsageError("not one text", "name an entry of the ledger, or a text")
    if body.entry is None:
        return body.query or "", body.recipient or ANYBODY, None
    entry = agent.disclosure(body.entry)
    if not entry.query:
        raise UsageError(f"the text of entry {body.entry} was deleted", "name the text itself")
    then = reading_of(entry.read_as, entry.model, models, entry.probability)
    return entry.query, entry.host, then


def _named(wanted: str, every: Sequence[Reading]) -> Reading:
    """Find the topic with a name or a title, else the only one that begins so.

    ``every``: to choose from; of several with the name, the first. UsageError where none is it.
    """
    names = [(_plain(name), each) for each in every for name in (each.query, each.title)]
    begun = [each for name, each in names if name == _plain(wanted)][:1]
    begun = begun or [each for name, each in names if name.startswith(_plain(wanted))]
    if len({(each.model, each.query) for each in begun}) == 1:
        return begun[0]
    what = "several topics begin with" if begun else "unknown topic"
    [near] = get_close_matches(wanted, [each.title for each in begun or every], 1, 0)
    raise UsageError(f"{what} {wanted!r}", f"the nearest is {quoted(near)}")


def _plain(name: str) -> str:
    return normalise(name.replace("_", " "))
