"""The calls about the policy and about what waits: rules, edits, answers, offers, blocks."""

import dataclasses
from collections import defaultdict
from collections.abc import Mapping
from contextlib import suppress
from datetime import datetime
from functools import cache as once
from functools import partial

from msgspec.structs import replace

from agent.daemon import profile
from agent.daemon.agent import Agent
from agent.daemon.handle import UndecidedError, left_by, situation_of
from agent.daemon.instructions import overriding_rules, plan_of
from agent.daemon.policy_file import check_rules, rewrite
from agent.daemon.readings import settle
from agent.decision.context import Context, rulebook, terms_under
from agent.decision.decide import decide
from agent.decision.knowledge import Holdings, knowledge_in
from agent.decision.topics import attributes_of, audited, topics_of
from agent.decision.values import Fact, Request
from agent.errors import ModelError, UsageError
from agent.model.attributes import Attribute
from agent.model.model import Concepts, Model
from agent.vault.ledger import Disclosure
from agent.wire import policy as wire
from agent.wire.base import Done, RecipientName, Undone, from_fields
from agent.wire.decide import Allowed, Ask, Offer
from policy import amend
from policy.audit import Remark
from policy.hosts import ANYBODY, host_of, site_of
from policy.match import GUARDED, Rulebook, Verdicts, may
from policy.rules import FACT, Layer, Policy, Pools, Rule
from policy.services import own_address, own_search
from policy.settings import SETTINGS
from policy.toml_text import lines_of, toml

NO_POLICY = "there is no policy"


def rules(now: datetime, agent: Agent) -> wire.RulesStatus:
    """List all rules of the policy in use."""
    policy, path = agent.rules.policy, str(agent.rules.path)
    problems = [from_fields(wire.RuleRemark, each) for each in agent.rules.problems]
    if policy is None:
        return wire.RulesStatus(path=path, in_use=False, problems=problems)
    today, lines = now.date(), lines_of(policy.text)
    remarks: dict[Rule, list[Remark]] = {}
    for remark in audited(policy, agent.known_models(now), today):
        remarks.setdefault(remark.rule, []).append(remark)
    alone = Rulebook(policy, {}).match(ANYBODY, "", today).settings  # for recipients without rules
    settings = ((key, alone[key].value, alone[key].rule) for key in SETTINGS if key in alone)
    effective = [
        wire.SettingStatus(key=k, value=toml(value), rule=rule.name, line=rule.line_in(lines, k))
        for k, value, rule in settings
    ]
    written = [
        from_fields(
            wire.RuleStatus,
            rule,
            line=rule.line_in(lines),
            settings={key: toml(value) for key, value in rule.settings.items()},
            expired=rule.is_over(today),
            remarks=[from_fields(wire.RuleRemark, each) for each in remarks.get(rule, ())],
        )
        for rule in (*policy.rules, *policy.contexts, *policy.together)
        if rule.layer is not Layer.DEFAULTS
    ]
    return wire.RulesStatus(
        path=path, in_use=True, problems=problems, effective=effective, rules=written
    )


def attributes(now: datetime, agent: Agent) -> list[wire.AttributeStatus]:
    """List the attributes of the model in use, and what the policy says of each to anybody.

    What only other models know follows, MODEL.NAME where a name is taken. Behind its kind stands
    each fact in own words, # and its id. ModelError and UsageError where the model cannot be used.
    """
    in_use, model = agent.rules.active, agent.model_for(ANYBODY, now)
    lines = {} if in_use.policy is None else lines_of(in_use.policy.text)
    others = (each for each in agent.known_models(now) if each is not model)
    kinds = Concepts((model, *others)).kinds

    @once
    def ruled(model: Model) -> Mapping[str, Verdicts]:
        if (book := in_use.book(model)) is None:
            return {}
        names = [FACT + each.id for each in in_use.facts]
        return in_use.with_facts(book.match(ANYBODY, "", now.date()), names).attributes

    def status(
        model: Model, attribute: Attribute, name: str, own: Fact | None = None
    ) -> wire.AttributeStatus:
        verdicts: Verdicts = ruled(model).get(name if own else attribute.name, {})
        key = "guard" if verdicts and may(verdicts) == GUARDED else "disclose"
        decisive, sensitivity = verdicts.get(key), verdicts.get("sensitivity")
        if own and decisive is verdicts.get("own"):
            key = "own"
        kind = kinds.get(attribute.concept) if attribute.scope == "person" else None
        bits = own.terms.sensitivity if own and own.terms else None
        bits = attribute.sensitivity if bits is None else bits
        return from_fields(
            wire.AttributeStatus,
            attribute,
            name=name,
            kind=attribute.concept,
            title=f"{attribute.title}, in your words" if own else attribute.title,
            shared=attribute.shared or (attribute.name if own else ""),
            values=[] if own else [*(attribute.values if kind is None else kind.choices)],
            model=model.id,
            disclose=GUARDED if key == "guard" else str(decisive.value) if decisive else "never",
            sensitivity_bits=bits if sensitivity is None else float(sensitivity.value),
            guard=float(decisive.value) if decisive and key == "guard" else 0.0,
            rule=NO_POLICY if decisive is None else decisive.because,
            line=None if decisive is None else decisive.rule.line_in(lines, key),
            also=sorted({one.name for _, one in kind.owners} - {name}) if kind else [],
        )

    taken = {each.concept for each in model.attributes}
    every = [(model, each, each.name) for each in model.attributes]
    every += [(*each.attributes[0], each.name) for c, each in kinds.items() if c not in taken]
    listed = list[wire.AttributeStatus]()
    for of, attribute, name in every:
        own = (e for e in in_use.facts if e.words and e.kind == attribute.concept)
        listed.append(status(of, attribute, name))
        listed += [status(of, attribute, FACT + each.id, each) for each in own]
    return listed


def edit_policy(edit: wire.PolicyEdit, now: datetime, agent: Agent) -> wire.Edited:
    """Write settings into the policy, or take them out.

    Says what still decides otherwise, and in a dry run which past requests would have carried
    something else. The user can undo it until the vault locks. UsageError, and the file as it was,
    as `plan_of` has it, for what is not set for exactly this, where the result would be no policy,
    and as in `rewrite`.
    """
    where, values = plan_of(edit, now.date())
    change = partial(amend.edited, where=where, new=values)
    models = agent.known_models(now)
    check = partial(check_rules, models=models, today=now.date(), ever=agent.rules.ever)
    written = rewrite(agent.rules.path, change, check, dry_run=edit.dry_run)
    policy = written.after
    policies = (written.before, policy) if edit.dry_run else ()
    tried = [*zip(*(replayed(each, now, agent) for each in policies), strict=True)]
    if not edit.dry_run:
        agent.consent.rewrote(f"Changed the rule {where.title or 'for all'!r}", written)
    try:
        model = agent.model_for(policy.host_for(where.rule(policy)), now)
        names = attributes_of((model, *models), [model])
    except (ModelError, UsageError):
        names = {}
    wins = overriding_rules(policy, where, values, names, now.date())
    differ = sum({*old} != {*new} for old, new in tried)
    return wire.Edited(changed=written.changed, wins=wins, replayed=len(tried), differ=differ)


def replayed(policy: Policy, now: datetime, agent: Agent) -> list[tuple[str, ...]]:
    """The names that a policy would have sent with each of the latest requests in the ledger.

    Oldest first, without those whose model is gone. LockedError while the vault is locked.
    """
    vault, models, by_id = agent.open_vault, agent.known_models(now), agent.models_by_id(now)
    concepts, pool_of = Concepts(models), Pools(policy.groups).of
    pools = defaultdict[str, Holdings[str]](partial(Holdings[str], concepts.replaces))
    books = {name: rulebook(policy, each, models) for name, each in by_id.items()}
    disclosed, stopped = list[tuple[str, ...]](), set[str]()
    records = [each for _, each in vault.ledger.read()]
    latest = [e for e in records if isinstance(e, Disclosure) and e.query][-wire.REPLAYED :]
    for record in records:
        if not isinstance(record, Disclosure):
            for site in record.sites:
                pools[pool_of(site)].forget({site})
                stopped.discard(pool_of(site))
            continue
        model, holdings = by_id.get(record.model), pools[pool_of(record.host)]
        names = {name for name, _ in record.disclosed}
        if record not in latest or model is None or names - {e.name for e in model.attributes}:
            # it is not replayed, or the model is gone, or another version of it decided
            holdings.add_facts(record.at, site_of(record.host), record.means)
            continue
        topics = topics_of(policy, models, agent.reader.read, record.query)
        at = record.at.astimezone(now.tzinfo)
        ruling = books[model.id].match(record.host, record.query, at, topics, record.door)
        codes = vault.profile.codes(model)  # past requests are the user's own: no answer leaves
        available = frozenset({*codes, *(e.name for e in model.attributes[model.persons :])})
        terms = dataclasses.replace(terms_under(ruling, model), available=available)
        cache, planned = agent.reader.cache, terms.mode == "planned"
        knowledge = knowledge_in(holdings, model, record.at, concepts, cache, with_queries=planned)
        request, pool = Request(record.query, record.host, record.asked), pool_of(record.host)
        context = Context(request, terms, knowledge, model, pool in stopped, cache=cache)
        if vault.profile.would_stand_out(decide(context, brief=True).disclosed, context):
            stopped.add(pool)
            context = dataclasses.replace(context, stopped=True)
        disclosed.append(_replayed(record, context, codes, holdings))
    return disclosed


def _replayed(
    record: Disclosure, context: Context, codes: Mapping[str, int], holdings: Holdings[str]
) -> tuple[str, ...]:
    """Decide a past request, and note in the holdings what would have been sent."""
    model, decision = context.model, decide(context, brief=True)
    persons = [name for name in decision.disclosed if name in model.person_codes]
    sent = {name: codes.get(name, 0) for name in persons}
    values = {name: model.attributes[model.index(name)].values[sent[name]] for name in sent}
    facts = [model.meanings[name, value] for name, value in values.items()]
    holdings.add_facts(record.at, site_of(record.host), facts)
    holdings.spent[site_of(record.host)] += decision.figures.spent
    if decision.disclosed:
        meant = context.cache.read(model, record.query).accepted
        named = [(model.queries[each.query].text, each.probability) for each in meant]
        holdings.add_query(site_of(record.host), named)
    return decision.disclosed


def offer(body: Offer, now: datetime, agent: Agent) -> Done:
    """Queue a recipient's offer.

    Of what the models have; done if it waits. So is queued that the user wants an assistant
    listed. UsageError if the recipient is not a host, or the search or the address is not its own.
    """
    host, address = host_of(body.recipient), body.address
    search = None if body.search is None else own_search(body.search, host)
    known = {e for e in agent.rules.active.attributes if not e.startswith(FACT)}
    names = [each for each in dict.fromkeys(body.names) if each in known]
    site = site_of(host)
    if address is not None:
        site, names, search, address = host, [], None, own_address(address, host)
    elif not names:
        return Done(done=False)
    pool = agent.rules.active.pool_of(host)
    review = wire.Review(id=0, kind="offer", at=now, recipient=site, pool=pool, names=names)
    new = agent.consent.offer(replace(review, search=search, address=address))
    if new is not None:
        agent.bus.publish("offer", new.id)
    return Done(done=agent.consent.waiting_offer(site, now, address) is not None)


def refuse(body: RecipientName, now: datetime, agent: Agent) -> Done:
    """Give a recipient nothing from now on."""
    agent.consent.refuse(body.recipient, now)
    return Done()


def allow(body: RecipientName, now: datetime, agent: Agent) -> Allowed:
    """Take back a refusal; a rule that is not ours stays, and is named."""
    done = agent.consent.allow(body.recipient).changed
    agent.renew()
    rule = agent.consent.refused_by(agent.rules.active.host(body.recipient), now)
    return Allowed(done=done, rule=None if rule is None else rule.name)


def verdict(body: wire.Word, now: datetime, agent: Agent, *, id: int) -> wire.Ruled:  # noqa: A002  (the route's word)
    """Approve or deny what waits.

    UsageError if there is no such review.
    """
    for each in agent.consent.reviews(now):
        if each.id == id and each.topic is not None:
            return settle(each, each.topic, body, now, agent)
        if each.id == id and each.kind == "fact":
            return profile.settle(each, body, now, agent)
    return agent.consent.answer(id, body, now)


def override(body: wire.Word, now: datetime, agent: Agent) -> wire.Ruled:
    """Say whether attributes may leave.

    UsageError for one that no model has.
    """
    names = agent.rules.active.attributes
    for name in body.names or ():
        if name not in names:
            raise UsageError.unknown("fact", name, names)
    return agent.consent.override(body, now)


def reviews(now: datetime, agent: Agent) -> list[wire.Review]:
    """List what waits for the user's word."""
    own = {FACT + each.id: each.words for each in agent.open_vault.profile.facts if each.words}
    some = [replace(e, people_left=_left_with(e, now, agent)) for e in agent.consent.reviews(now)]
    return [replace(e, own={name: own[name] for name in e.names if name in own}) for e in some]


def _left_with(review: wire.Review, now: datetime, agent: Agent) -> float | None:
    """Count for the user's eyes who would be left with what waits, beside what is held now.

    As it was expected when it was asked for, where that is not known.
    """
    if review.kind != "ask":
        return review.people_left
    with suppress(UndecidedError, UsageError):
        situation = situation_of(Ask(query=review.query, recipient=review.recipient), now, agent)
        model, reveal = situation.model, situation.vault.profile.reveal
        if model.person_codes.keys() >= {*review.names}:
            return left_by(reveal(review.names, model), situation)
    return review.people_left


def dismiss(_now: datetime, agent: Agent, *, id: int) -> Done:  # noqa: A002  (the route's word)
    """Drop a review without a verdict.

    UsageError if it does not exist.
    """
    agent.consent.dismiss(id)
    return Done()


def undo(now: datetime, agent: Agent) -> Undone:
    """Undo the user's last word.

    UsageError where there is none.
    """
    return Undone(what=agent.consent.undo(now))
