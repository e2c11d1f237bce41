"""The user's facts, by kind and in own words; and where the user would stand out by them."""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, KeysView, Mapping, Sequence
from datetime import datetime
from hashlib import sha256
from typing import Annotated

import msgspec
from msgspec import Meta, Struct

from agent.decision.cache import Cache
from agent.decision.context import Context, Limits, stands_out
from agent.decision.knowledge import Knowledge, people_left
from agent.decision.own_facts import OwnFacts, level_of
from agent.decision.values import Fact, FactTerms
from agent.errors import UsageError
from agent.model.attributes import UNSPECIFIED, Attribute
from agent.model.model import Concepts, Meaning, Model
from agent.tradeoff.shares import LEAST
from agent.vault.database import damaged, decoded
from agent.vault.ledger import site_of
from agent.vault.store import MAX_ITEM_BYTES, Store
from policy.families import impossible

ITEM, STOPS = "profile", "stops"
TERMS = "terms/"  # items: closed terms of the facts whose ids begin with the character behind it
MOST_FACTS = 2_000
SHORT = 48  # bytes of a short form that is sent
Values = Mapping[str, str]  # by kind: a value's name across models, or MODEL:VALUE (`Meaning`)
_DECODER = msgspec.json.Decoder(list[Fact])
_TERMS = msgspec.json.Decoder(dict[str, FactTerms])
ClosedTerms = dict[str, dict[str, FactTerms]]  # by the name of the item, then by a fact's id


class Stop(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A recipient that learns nothing new, since the user would stand out there (DESIGN.md 2.6).

    ``site``: registered, and with it its pool; ``at``: since when, with a zone; ``under``: by which
    limits and facts, the only ones for which it holds (`Profile.under`); ``names``: the attributes
    of the ``model`` that would have been new, the one first without which most would look alike.
    """

    site: str
    at: Annotated[datetime, Meta(tz=True)]
    under: str
    model: str
    names: tuple[str, ...]


_STOPS = msgspec.json.Decoder(tuple[Stop, ...])


class Profile:
    """The user's facts in an open vault."""

    def __init__(self, records: Store) -> None:
        """Read the facts; DamagedVaultError if they cannot be read."""
        self._records = records
        facts = decoded(records.get(ITEM), _DECODER, "the profile") or ()
        names = [name for name in records.names() if name.startswith(TERMS)]
        closed = {name: decoded(records.get(name), _TERMS, "the profile") or {} for name in names}
        self.facts = _joined(facts, closed)
        self._values, self._cache = values_of(self.facts), Cache()
        self.stops: tuple[Stop, ...] = decoded(records.get(STOPS), _STOPS, "its stops") or ()
        """All that were made and not lifted, whether or not they hold now."""

    def __repr__(self) -> str:
        return f"Profile({len(self.facts)} facts)"

    def names(self, model: Model) -> frozenset[str]:
        """Which of a model's attributes are set, without reading a value (DESIGN.md 2.6).

        An attribute counts as set even if the model lacks the user's value of it.
        """
        kinds, stated = model.fact_kinds, self._values.keys()
        return frozenset(name for name, some in kinds.items() if not stated.isdisjoint(some))

    def set_at(self, name: str, model: Model, fact: str | None = None) -> datetime | None:
        """When an attribute, or a fact in own words by its id, was set last; None if it is not."""
        kinds = model.fact_kinds.get(name, ())
        some = [e for e in self.facts if e.id == fact or (not fact and e.value and e.kind in kinds)]
        return max((each.set_at for each in some), default=None)

    def own(self, model: Model, *, short: bool) -> OwnFacts:
        """The facts in own words for a model; ``short``: those with a short form, or a value."""
        fit = {each.id for each in self.facts if 0 < len((each.short or "").encode()) <= SHORT}
        some = (each for each in self.facts if each.id in fit or each.value or not short)
        return self._cache.get(model, (OwnFacts, short), lambda: OwnFacts.of(some, model))

    def reveal(
        self, names: Sequence[str], model: Model, facts: Mapping[int, str] | None = None
    ) -> dict[str, str]:
        """The values to disclose, in the order given. Cannot fail.

        A value that the model lacks is "unspecified", and so is one that is not set. ``facts``: the
        ids of those in own words, by attribute; of one without a value it is how rare that is.
        """
        values = self._cache.get(model, values_in, lambda: values_in(self._values, model))
        levels = {each.id: level_of(each) for each in self.facts} if facts else {}
        own = {model.attributes[at].name: levels[fact] for at, fact in (facts or {}).items()}
        return {name: values.get(name, own.get(name, UNSPECIFIED)) for name in names}

    def words(self, ids: Iterable[str], *, short: bool = False) -> dict[str, str]:
        """The user's own words, by the id of each of these facts that has some, in the order given.

        Only what is about to be sent is asked for. ``short``: the forms for searches, of those
        without a listed value.
        """
        facts = (each for each in self.facts if not (short and each.value))
        words = {each.id: each.short if short else each.words for each in facts}
        return {each: text for each in ids if (text := words.get(each))}

    def codes(self, model: Model) -> dict[str, int]:
        """The codes of what is set, for the user's eyes: no answer depends on them."""
        values = values_in(self._values, model)
        return {name: model.person_codes[name][value] for name, value in values.items()}

    def would_stand_out(self, names: Sequence[str], context: Context) -> bool:
        """Whether with these attributes too few people would look like the user to a recipient.

        Never where neither they nor their values are new to it, or the terms protect everyone: the
        one Boolean by which values that were not disclosed have a say, once the set is fixed
        (DESIGN.md 2.6).
        """
        limits = context.terms.limits
        known = context.knowledge if context.terms.memory == "remembers" else Knowledge()
        new = {} if limits.protect == "everyone" else self._new(names, known, context)
        after = known.with_facts(new)
        return bool(new) and stands_out(after, limits, context.model, context.cache)

    def _new(self, names: Iterable[str], known: Knowledge, context: Context) -> dict[str, int]:
        """The codes of those of these attributes that are new to somebody with this knowledge."""
        codes, settled = context.model.person_codes, known.names - context.terms.changed
        new = [name for name in names if name in codes and name not in settled]
        values = self.reveal(new, context.model, context.filled.facts)
        return {name: codes[name][value] for name, value in values.items()}

    def rarest(self, model: Model, limits: Limits, names: Iterable[str]) -> tuple[str, ...]:
        """Those of these attributes that alone would make the user stand out, for the user's eyes.

        No cache keeps who has these values. Where enough rows agree, so do enough people.
        """
        enough, rare = max(3, limits.k or 1, 1 / (limits.risk or 1)), list[str]()
        people = model.population
        for name, code in self.codes(model).items():
            column = people.codes[:, (at := model.index(name)) : at + 1]  # none, held by shares
            rows = (column == code).sum() if column.size else LEAST * people.people
            if name in names and code and (rows < enough or people.residents):
                alone = Knowledge().with_facts({name: code})
                rare += [name] if stands_out(alone, limits, model, Cache()) else []
        return tuple(rare)

    def under(self, limits: str) -> str:
        """A digest of all facts and a policy's limits: a stop holds until one of them changes."""
        facts = [*map(without_closed, self.facts)]
        return sha256(limits.encode() + msgspec.json.encode(facts)).hexdigest()

    def in_force(self, limits: str, by: datetime | None = None) -> tuple[Stop, ...]:
        """The stops that hold under a policy's limits; ``by``: those made by then, None for all."""
        under = self.under(limits) if self.stops else ""
        holding = (each for each in self.stops if each.under == under)
        return tuple(each for each in holding if by is None or each.at <= by)

    def stop(self, names: Sequence[str], context: Context, at: datetime, limits: str) -> None:
        """Stop a recipient that these attributes were decided for, and drop stops that do not hold.

        ``limits``: of the policy. VaultError if it was not written.
        """
        known, new = context.knowledge, self._new(names, context.knowledge, context)

        def without(name: str) -> int:
            rest = {each: code for each, code in new.items() if each != name}
            return people_left(known.with_facts(rest), context.model)

        ordered = tuple(sorted(new, key=without, reverse=True))
        site, under = site_of(context.request.recipient), self.under(limits)
        stop = Stop(site=site, at=at, under=under, model=context.model.id, names=ordered)
        self._keep(*(each for each in self.stops if each.under == under), stop)

    def lift(self, sites: Callable[[str], bool]) -> None:
        """Drop the stops of some sites; VaultError if that was not written."""
        rest = [each for each in self.stops if not sites(each.site)]
        if len(rest) < len(self.stops):
            self._keep(*rest)

    def _keep(self, *stops: Stop) -> None:
        self._records.put(STOPS, msgspec.json.encode(stops))
        self.stops = stops

    def keep(self, facts: Iterable[Fact]) -> None:
        """Replace all facts; then nothing has changed if this raises.

        UsageError where they have no room, VaultError if they were not written.
        """
        ordered = tuple(sorted(facts, key=lambda fact: (fact.kind, fact.id)))
        before, closed = _closed_terms(self.facts), _closed_terms(ordered)
        put = {
            ITEM: msgspec.json.encode([*map(without_closed, ordered)]),
            **{n: msgspec.json.encode(each) for n, each in closed.items() if before.get(n) != each},
        }
        if len(ordered) > MOST_FACTS or max(map(len, put.values())) > MAX_ITEM_BYTES:
            what = f"the profile has no room for more than {len(self.facts):,} facts"
            raise UsageError(what, "remove some first: `reticent profile unset ID`")
        self._records.replace(put, before.keys() - closed.keys())
        self.facts, self._values, self._cache = ordered, values_of(ordered), Cache()


def without_closed(fact: Fact) -> Fact:
    """The fact without its closed terms: relevance and vector."""
    if fact.terms is None:
        return fact
    terms = msgspec.structs.replace(fact.terms, relevance={}, vector=b"")
    return msgspec.structs.replace(fact, terms=terms)


def _closed_terms(facts: Iterable[Fact]) -> ClosedTerms:
    """The closed terms of facts, as items have them."""
    closed = defaultdict[str, dict[str, FactTerms]](dict)
    for each in facts:
        if each.terms is not None and (each.terms.relevance or each.terms.vector):
            terms = msgspec.structs.replace(each.terms, share=None, sensitivity=None)
            closed[TERMS + each.id[0]][each.id] = terms
    return closed


def _joined(facts: Sequence[Fact], closed: ClosedTerms) -> tuple[Fact, ...]:
    """Facts with their closed terms; DamagedVaultError for what this never writes."""
    terms_of = {key: each for terms in closed.values() for key, each in terms.items()}
    sound = all(
        each.id and each.kind and each.set_at.utcoffset() is not None and (each.value or each.words)
        for each in facts
    )
    ids, valued = {each.id for each in facts}, [each for each in facts if each.value]
    unique = len(ids) == len(facts) and len(values_of(valued)) == len(valued)
    if not (sound and unique and terms_of.keys() <= ids):
        raise damaged("the profile cannot be read")

    def joined(fact: Fact) -> Fact:
        more, terms = terms_of.get(fact.id), fact.terms or FactTerms()
        if more is None:
            return fact
        terms = msgspec.structs.replace(terms, relevance=more.relevance, vector=more.vector)
        return msgspec.structs.replace(fact, terms=terms)

    return tuple(map(joined, facts))


def values_of(facts: Iterable[Fact]) -> Values:
    """The values of those facts that have one, by kind."""
    return {each.kind: each.value for each in facts if each.value}


def values_in(values: Values, model: Model) -> dict[str, str]:
    """The values of a model's person attributes that are set, by name.

    "unspecified" where the model lacks the user's value.
    """
    values_by_name = {}
    for each in model.attributes[: model.persons]:
        own = [values[kind] for kind in model.fact_kinds[each.name] if kind in values]
        if own:
            values_by_name[each.name] = _listed(own[0], each, model)
    return values_by_name


def _listed(value: str, attribute: Attribute, model: Model) -> str:
    if value in attribute.value_concepts:
        return attribute.values[attribute.value_concepts.index(value)]
    owner, _, name = value.rpartition(":")
    return name if owner == model.id and name in attribute.values else UNSPECIFIED


def named_values(given: Iterable[tuple[str, str]], models: Sequence[Model]) -> dict[str, str]:
    """Values by kind, of pairs of a name and a value as users write them.

    Of two values of one kind, one that is "unspecified" gives way. UsageError for a name or a value
    that no model has, or two values of one kind.
    """
    concepts, values = Concepts(models), dict[str, str]()
    for name, value in given:
        kind, meaning = concepts.fact(name, value)
        before = values.get(kind, UNSPECIFIED)
        if UNSPECIFIED not in (before, meaning) and before != meaning:
            raise UsageError(f"{name} has two values", "remove one of them")
        values[kind] = meaning if before == UNSPECIFIED else before
    return values


def planned(
    facts: Sequence[Fact],
    given: Mapping[str, str],
    unset: Collection[str],
    models: Sequence[Model],
    now: datetime,
    new_id: Callable[[], str],
) -> tuple[Fact, ...]:
    """The facts after setting and unsetting some, by names as in `Concepts.called`.

    ``new_id``: returns an id that no fact has had.
    What hangs on a fact, which is all that any of its values implies, is set and unset with it,
    whatever the value, since the names of what is set are no secret (DESIGN.md 2.6); what the
    change names itself stays as stated. Its value is the one that follows, if one does; else
    "unspecified" where it was not set, or followed from the old value. Own words of another value
    go with that; facts in own words alone stay. UsageError for an unknown
    name or value, two values of one kind, a fact both set and unset, or one that the change names
    and another that cannot be with it.
    """
    before, stated = values_of(facts), named_values(given.items(), models)
    removed = {_set_kind(name, before, models) for name in unset}
    if both := sorted(removed & stated.keys()):
        raise UsageError(f"{both[0]} is both set and unset", "remove it from one of the two")
    after = {kind: value for kind, value in {**before, **stated}.items() if kind not in removed}
    touched = stated.keys() | removed
    for kind, value in stated.items():
        followed = _hanging(kind, before.get(kind), models)
        for other, follows in _hanging(kind, value, models).items():
            current = after.get(other)
            replaced = current is None or follows != UNSPECIFIED or current == followed[other]
            if other not in touched and replaced:
                after[other] = follows
    for kind in removed & before.keys():
        for other in _hanging(kind, None, models).keys() - touched:
            after.pop(other, None)
    _check_pairs(after, stated.keys(), models)
    old_facts = {each.kind: each for each in facts if each.value}

    def fact(kind: str, value: str) -> Fact:
        old = old_facts.get(kind)
        if old is None or (old.words and old.value != value):  # the words state the other value
            return Fact(id=new_id(), kind=kind, value=value, set_at=now)
        if old.value == value:
            return old
        return msgspec.structs.replace(old, value=value, set_at=now)

    rest = (each for each in facts if not each.value)
    return (*(fact(*each) for each in sorted(after.items())), *rest)


def with_own_words(
    facts: Sequence[Fact],
    own: Iterable[Fact],
    models: Sequence[Model],
    now: datetime,
    new_id: Callable[[], str],
) -> tuple[Fact, ...]:
    """The facts after adding some in own words, each with an id of its own, "" in ``own``.

    A listed value becomes that of its kind, with what follows from it, as in `planned`; in a kind
    of several facts, that of one of its attributes that is free or has the value. Another fact that
    had one keeps its own words. Where no attribute is free, or another fact puts the value in
    words, it is a fact in own words alone. UsageError as `planned`.
    """
    concepts, after = Concepts(models), [*facts]
    for each in own:
        values = values_of(after)
        holder, meaning = None, _place_for(each, values, concepts)
        if meaning is not None:
            kind, value = meaning
            if values.get(kind) != value:
                for at, old in enumerate(after):  # keeps its words alone
                    if old.words and old.kind == kind:
                        after[at] = msgspec.structs.replace(old, value=None)
                after = [*planned(after, {kind: value}, (), models, now, new_id)]
            holder = next(at for at, old in enumerate(after) if old.kind == kind and old.value)
        if holder is None or after[holder].words:
            after.append(msgspec.structs.replace(each, id=new_id(), value=None, set_at=now))
        else:
            named = msgspec.structs.replace(each, id=after[holder].id, kind=kind, set_at=now)
            after[holder] = msgspec.structs.replace(named, value=value)
    return tuple(after)


def _place_for(fact: Fact, values: Values, concepts: Concepts) -> Meaning | None:
    """The attribute that takes a fact's value, by concept, and the value; None if none does."""
    if fact.value is None:
        return None
    meaning = concepts.fact(fact.kind, fact.value)
    model, attribute = concepts.kinds[meaning.concept].attributes[0]
    same = [each.concept for each in model.attributes if each.shared == attribute.shared != ""]
    if len(same) <= 1:
        return meaning
    for wanted in ({meaning.value}, {None, UNSPECIFIED}):
        for concept in same:
            if values.get(concept) in wanted:
                return Meaning(concept, meaning.value)
    return None


def _check_pairs(values: Values, stated: KeysView[str], models: Sequence[Model]) -> None:
    """Refuse two values that cannot be together, one of them stated; UsageError, without values."""
    attributes = {kind: each for m in reversed(models) for kind, each in m.by_concept.items()}
    for kind, value in values.items():
        wrong = [*_impossible(kind, value, values, models)]
        for other, follows in _hanging(kind, value, models).items():
            current = values.get(other, UNSPECIFIED)
            if UNSPECIFIED not in (follows, current) and current != follows:
                wrong.append(other)
        for other in wrong:
            if not stated.isdisjoint({kind, other}):
                one, two = attributes[other], attributes[kind]
                what = f"the values of {one.title!r} and {two.title!r} cannot both be right"
                ways = f"`reticent profile set {one.name}` or `reticent profile set {two.name}`"
                raise UsageError(what, f"which of the two is? Change the other one: {ways}")


def _impossible(kind: str, value: str, facts: Values, models: Sequence[Model]) -> Iterator[str]:
    """The kinds of facts with a value that nobody has beside a value of another."""
    for model in [each for each in models if kind in each.by_concept]:
        own = model.by_concept[kind]
        barred = impossible(own.name, _listed(value, own, model))
        for other, its in facts.items() if barred else ():
            one = model.by_concept.get(other)
            if one is not None and _listed(its, one, model) in barred.get(one.name, ()):
                yield other


def _set_kind(name: str, facts: Values, models: Sequence[Model]) -> str:
    """The kind to unset by a name: one that is set, if the name may mean it."""
    if name in facts:
        return name
    kinds = [each.concept for each in Concepts(models).called(name)]
    return next((kind for kind in kinds if kind in facts), kinds[0])


def _hanging(kind: str, value: str | None, models: Sequence[Model]) -> dict[str, str]:
    """The kinds that hang on a fact, with the values that follow from one of its values."""
    hanging = dict[str, str]()
    for model in [each for each in models if kind in each.by_concept]:
        by = model.by_concept[kind]
        implied = by.implies.get("" if value is None else _listed(value, by, model), {})
        for name in by.decides:
            other = model.attributes[model.index(name)].concept
            if hanging.get(other, UNSPECIFIED) == UNSPECIFIED:
                follows = implied.get(name)
                hanging[other] = model.meanings[name, follows].value if follows else UNSPECIFIED
    return hanging
