"""The user's facts, as messages: shown, proposed, and changed."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import datetime
from functools import partial
from secrets import token_hex

import numpy as np
from msgspec.structs import replace

from agent.daemon.agent import Agent
from agent.daemon.consent import IN_MEMORY
from agent.daemon.reviews import check_answer
from agent.decision.cache import Cache
from agent.decision.knowledge import Knowledge, people_left
from agent.decision.own_facts import groups_of
from agent.decision.values import Fact, FactTerms, Proposal
from agent.errors import RefusedError, UsageError
from agent.facts import marked, proposals
from agent.model.attributes import is_plain
from agent.model.model import Concepts, Kind, Meaning, Model
from agent.vault.profile import Profile, planned, values_of, with_own_words, without_closed
from agent.vault.vault import Vault
from agent.wire import state
from agent.wire.base import Done, from_fields
from agent.wire.policy import Review, Ruled, Word
from agent.words.figures import listed
from agent.words.notices import GONE, MOST_NAMED, rare_fact, stopped
from agent.words.titles import titled
from policy.hosts import ANYBODY, host_of
from policy.rules import FACT

MOST_TOPICS, LEAST = 3, 0.02  # that a fact helps with, each by so many bits
LEAST_ID = 4  # characters by which a fact may be named


def new_id() -> str:
    """Draw an id for a fact that no other has, 16 hexadecimal digits."""
    return token_hex(8)


def profile(now: datetime, agent: Agent) -> state.ProfileFacts:
    """List the user's facts, what each helps with, how rare it is, and what became of it."""
    vault, cache = agent.open_vault, agent.reader.cache
    models = [part for world in agent.usable_models(now) for part in world.every]
    shown = _shown(vault.profile.facts, agent)
    figures = {each.id: figures_of(each, models, cache) for each in shown}
    titles = {each.text: each.title for model in models for each in model.queries}
    ids = {each.kind: each.id for each in shown if each.value}
    ids |= {f"{each.kind}{FACT}{each.id}": each.id for each in shown}
    disclosures = vault.ledger.disclosures
    for pool, holdings in disclosures.pools(agent.rules.active.pool_of):
        for concept in ids.keys() & holdings.held:
            figures[ids[concept]].pools.append(pool)
    for step in disclosures.steps:
        topics = [titles[query] for query, _ in step.meant[:1] if query in titles]
        for concept in ids.keys() & dict(step.facts):
            helped = figures[ids[concept]].helped
            helped += [each for each in topics if each not in helped]
    own = [each for each in vault.profile.facts if each.words]
    groups = groups_of(own)
    same = (groups[:, None] == groups) & ~np.eye(len(own), dtype=bool)
    for one, other in np.argwhere(same).tolist():
        figures[own[one].id].same_as.append(own[other].id)
    return state.ProfileFacts(facts=shown, figures=figures, country=agent.registry.country)


def figures_of(fact: Fact, models: Sequence[Model], cache: Cache) -> state.FactFigures:
    """Say what a fact helps with, and how rare it is, by the first of the models that knows."""
    figures = state.FactFigures()
    for model in reversed([each for each in models if fact.kind in each.by_concept]):
        own, judged = model.by_concept[fact.kind], cache.judgements(model)
        every = judged.gains if judged.bits.size else model.tables.singles.utilities
        bits = every[:, model.index(own.name)]
        best = np.argsort(-bits, kind="stable")[:MOST_TOPICS].tolist()
        topics = [model.queries[at].title for at in best if bits[at] >= LEAST]
        figures = replace(figures, helps_with=topics)
        if fact.value in own.values[1:]:
            alone = Knowledge().with_facts({own.name: own.code(fact.value)})
            share = people_left(alone, model, cache) / model.people
            figures = replace(figures, share=share, share_of=model.stands_for)
    if fact.words and fact.terms:
        return replace(figures, share=fact.terms.share, share_of=None)
    return figures


def _shown(facts: Sequence[Fact], agent: Agent) -> list[Fact]:
    """Facts as messages have them: values as they are listed, without closed terms."""
    concepts = agent.open_vault.ledger.disclosures.concepts
    labels = (each.value and concepts.label(Meaning(each.kind, each.value))[1] for each in facts)
    shown = zip(facts, labels, strict=True)
    return [replace(without_closed(each), value=label) for each, label in shown]


async def propose(body: state.FactTexts, now: datetime, agent: Agent) -> state.FactDraft:
    """Say what facts in own words would be, marked beside those that are there; stores nothing.

    One draft is kept at a time. RefusedError where this one is not any more, UsageError without a
    model.
    """
    earlier = _draft(body.draft, agent)
    known = *agent.open_vault.profile.facts, *(each.fact for each in earlier)
    model, draft = agent.model_for(ANYBODY, now), body.draft or token_hex(8)

    def work() -> tuple[Proposal, ...]:
        new = enumerate(proposals(body.texts, model, now), len(earlier) + 1)
        numbered = [replace(each, fact=replace(each.fact, id=str(at))) for at, each in new]
        return marked(numbered, known, model)

    new = await agent.in_thread(work)
    agent.proposed = {draft: (*earlier, *new)}
    shown = zip(new, _shown([each.fact for each in new], agent), strict=True)
    masked = [replace(each, fact=fact) for each, fact in shown]
    return state.FactDraft(draft=draft, proposals=masked)


def _draft(draft: str | None, agent: Agent) -> tuple[Proposal, ...]:
    if draft is not None and draft not in agent.proposed:
        what = "this list of facts is no longer kept: the vault was locked, or another was begun"
        raise RefusedError("conflict", what, "add them again")
    return agent.proposed[draft] if draft is not None else ()


def remember(body: state.FactProposal, now: datetime, agent: Agent) -> Done:
    """Queue a fact that a program proposes; nothing is stored before the user agrees."""
    host = host_of(body.recipient)
    pool, text = agent.rules.active.pool_of(host), " ".join(body.text.split())
    if not text or not text.isprintable():
        raise UsageError("the fact is not one line of text", "propose one sentence")
    review = Review(id=0, kind="fact", at=now, recipient=host, pool=pool, names=[], query=text)
    if (new := agent.consent.queue(review)) is not None:
        agent.bus.publish("review", new.id)
    return Done()


def settle(proposal: Review, word: Word, now: datetime, agent: Agent) -> Ruled:
    """Apply the user's word on a fact to remember. Raises as `check_answer`, `change_profile`."""
    check_answer(proposal, word, agent.rules.active.pool_of(proposal.recipient))
    vault, before = agent.open_vault, agent.open_vault.profile.facts
    if word.disclose == "auto":
        [new] = proposals([proposal.query], agent.model_for(ANYBODY, now), now)
        models = vault.ledger.disclosures.concepts.models
        _keep(agent, vault, with_own_words(before, [new.fact], models, now, new_id))
        agent.bus.publish("profile")
    agent.consent.dismiss(proposal.id, partial(_put_back, agent, vault, before))
    return IN_MEMORY


def standing_out(now: datetime, agent: Agent) -> Iterator[str]:
    """Yield a sentence for each fact that alone makes the user stand out, and for each stop."""
    vault, policy = agent.open_vault, agent.rules.active
    models = agent.models_by_id(now)
    for model in agent.usable_models(now):
        terms = policy.terms(model, ANYBODY, "", now.date())
        if terms is not None and terms.limits.protect == "me":
            names = vault.profile.names(model) - terms.excluded - {n for n, _ in terms.guards}
            values = tuple(values_of(vault.profile.facts).items())
            key, rarest = (standing_out, values, terms), vault.profile.rarest
            rare = agent.reader.cache.get(model, key, partial(rarest, model, terms.limits, names))
            yield from map(rare_fact, titled(rare, model.titles))
    for stop in vault.profile.in_force(policy.limits):
        titles = models[stop.model].titles if stop.model in models else {}
        yield stopped(policy.pool_of(stop.site), titled(stop.names, titles))


def change_profile(body: state.ProfileChange, now: datetime, agent: Agent) -> state.Changed:
    """Set, unset, keep or edit facts, all or none.

    The user can undo it until the vault locks; with ``dry_run`` nothing is done. UsageError as
    `planned`, for an id that is not there, and for a short form that a search takes for more than
    words; RefusedError where the draft is not kept any more.
    """
    vault = agent.open_vault
    concepts, facts = vault.ledger.disclosures.concepts, vault.profile.facts
    planned_facts = _planned(body, agent, now)
    before, after = _stated(facts), _stated(planned_facts)
    changes = {kind: after.get(kind) for kind, _ in sorted(before.items() ^ after.items())}
    old, own = ({e.id: e for e in some if e.words} for some in (facts, planned_facts))
    new = [each for each in own.values() if old.get(each.id) != each]
    gone = [each for each in old.values() if each.id not in own]
    if (changes or new) and not body.dry_run:
        _keep(agent, vault, planned_facts)
        kinds = dict.fromkeys(e.partition(FACT)[0] for e in (*changes, *(e.kind for e in new)))
        titles = [concepts.kinds[e].title if e in concepts.kinds else e for e in kinds]
        named = listed(titles) if len(titles) <= MOST_NAMED else f"{len(titles)} facts"
        put_back = partial(_put_back, agent, vault, facts)
        agent.consent.changed(f"Changed {named} in your profile", put_back)
        agent.proposed.pop(body.draft or "", None)
    stated = {*body.set, *body.unset, *(each.kind for each in (*new, *gone))}
    stale = vault.ledger.disclosures.holders(changes, agent.rules.active.pool_of)
    return state.Changed(
        done=not body.dry_run,
        changes=[
            state.ValueChange(name=_name(concepts, e), was_set=e in before, is_set=e in after)
            for e in changes
        ],
        facts=_shown(new, agent),
        gone=_shown(gone, agent),
        implied=implied(changes, stated, concepts),
        stale={_name(concepts, kind): [*pools] for kind, pools in stale.items()},
    )


def _stated(facts: Sequence[Fact]) -> dict[str, str]:
    """What facts say, by kind, and what is in own words alone by that and the id."""
    own = {f"{each.kind}{FACT}{each.id}": each.words or "" for each in facts if not each.value}
    return {**values_of(facts), **own}


def _planned(body: state.ProfileChange, agent: Agent, now: datetime) -> tuple[Fact, ...]:
    """The facts after a change, which is not made. Raises as `change_profile`."""
    vault = agent.open_vault
    concepts, facts = vault.ledger.disclosures.concepts, vault.profile.facts
    drafted = {each.fact.id: each.fact for each in _draft(body.draft, agent)}
    edits = (_edited(_own(each.id, facts), each, vault) for each in body.edit)
    edited = {each.id: each for each in edits}
    new = [_edited(drafted.get(each.id), each, vault) for each in body.keep]
    named = {each: _own(each, facts) for each in body.unset}
    alone = {each.id for each in named.values() if each and not each.value}
    rest = [edited.get(each.id, each) for each in facts if each.id not in alone]
    unset = [own.kind if own else name for name, own in named.items() if not own or own.value]
    after = planned(rest, body.set, unset, concepts.models, now, new_id)
    return with_own_words(after, new, concepts.models, now, new_id)


def _own(begun: str, facts: Sequence[Fact]) -> Fact | None:
    """The fact in own words whose id begins so; UsageError where several do."""
    some = [each for each in facts if each.words and each.id.startswith(begun)]
    if len(some) > 1 and len(begun) >= LEAST_ID:
        what = f"several facts have an id that begins with {begun!r}"
        raise UsageError(what, "`reticent profile show --json` has whole ids")
    return some[0] if len(some) == 1 and len(begun) >= LEAST_ID else None


def _edited(fact: Fact | None, edit: state.FactEdit, vault: Vault) -> Fact:
    """A fact in own words as it is edited, by any name of its kind."""
    other = _own(edit.same_as, vault.profile.facts) if edit.same_as else fact
    if fact is None or other is None:
        missing = edit.id if fact is None else edit.same_as
        hint = "`reticent profile show` lists the ids of facts in your own words"
        raise UsageError(f"no fact in your own words has the id {missing!r}", hint)
    if edit.same_as:
        fact = replace(fact, group=new_id() if other is fact else other.group or other.id)
    if edit.short and not is_plain(edit.short):
        hint = "use up to four words of letters, digits and . + # -"
        raise UsageError("the short form is not a few plain words", hint)
    if edit.kind is not None:
        concepts = vault.ledger.disclosures.concepts
        kind, before = concepts.called(edit.kind)[0], concepts.kinds.get(fact.kind)
        same = before is not None and _first(kind) == _first(before)
        edit = replace(edit, kind=fact.kind if same else kind.concept)
    return edited(fact, edit)


def edited(fact: Fact, edit: state.FactEdit) -> Fact:
    """Change a fact in own words; of another kind, by its concept, it has no value.

    And the sensitivity of that kind, unless the edit says another.
    """
    terms = fact.terms or FactTerms()
    if edit.kind and edit.kind != fact.kind:
        fact, terms = replace(fact, kind=edit.kind, value=None), replace(terms, sensitivity=None)
    numbers = {"share": edit.share, "sensitivity": edit.sensitivity}
    terms = replace(terms, **{name: each for name, each in numbers.items() if each is not None})
    short = fact.short if edit.short is None else edit.short or None
    return replace(fact, short=short, terms=terms)


def _first(kind: Kind) -> str:
    """The name of the first of the attributes that facts of a kind have."""
    attribute = kind.attributes[0][1]
    return attribute.shared or attribute.name


def _put_back(agent: Agent, vault: Vault, facts: tuple[Fact, ...]) -> str:
    _keep(agent, vault, facts)
    agent.bus.publish("profile")
    return GONE


def _keep(agent: Agent, vault: Vault, facts: tuple[Fact, ...]) -> None:
    """Replace the facts; what the user allowed for attributes that are unset ends.

    Another country has other people.
    """
    before = _names(vault.profile, vault.ledger.disclosures.concepts)
    vault.profile.keep(facts)
    agent.use_models(vault, agent.clock())
    agent.consent.unset(before - _names(vault.profile, vault.ledger.disclosures.concepts))


def _names(profile: Profile, concepts: Concepts) -> set[str]:
    return {name for model in concepts.models for name in profile.names(model)}


def implied(
    changes: Mapping[str, str | None], stated: Collection[str], concepts: Concepts
) -> list[state.Implied]:
    """List the changes, by kind, that follow from the stated ones, with their new values."""
    return [
        from_fields(state.Implied, kind, value=value and concepts.label(Meaning(concept, value))[1])
        for concept, value in changes.items()
        if (kind := concepts.kinds.get(concept)) and not any(map(kind.called, stated))
    ]


def _name(concepts: Concepts, kind: str) -> str:
    """The name of a kind; of a fact in own words, of which a recipient holds some, its id."""
    kind, _, own = kind.partition(FACT)
    return own or (concepts.kinds[kind].name if kind in concepts.kinds else kind)
