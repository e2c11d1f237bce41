"""What the user stated: facts by kind, and what texts mean or do not; and where they stand out."""

from collections.abc import Callable, Collection, Iterable, Iterator, KeysView, Mapping, Sequence
from datetime import datetime
from hashlib import sha256
from typing import Annotated

import msgspec
import numpy as np
from msgspec import Meta, Struct
from numpy.typing import NDArray

from agent.decision.cache import Cache
from agent.decision.context import Context, Limits, stands_out
from agent.decision.knowledge import Knowledge, people_left
from agent.decision.values import Fact
from agent.errors import UsageError, VaultVersionError
from agent.model.attributes import UNSPECIFIED, Attribute
from agent.model.model import Concepts, Model
from agent.model.reading import DIMENSIONS, ENCODER_VERSION, Interpretation, spelling
from agent.model.unwrapping import unwrapped
from agent.tradeoff.shares import LEAST
from agent.vault.database import damaged, decoded
from agent.vault.disclosure_index import site_of
from agent.vault.store import MAX_ITEM_BYTES, Items, Store
from policy.families import impossible

ITEM, STOPS = "profile", "stops"
CORRECTIONS, MOST_CORRECTIONS = "not-that", 1_000  # the item, and how many are in it
NEAR = 0.82  # the least cosine of two texts that say nearly the same (tests/model/test_near.py)
Place = NDArray[np.float32]  # of a text in the encoder of topics, shape (512,)
Values = Mapping[str, str]  # by kind: a value's name across models, or MODEL:VALUE (`Meaning`)
_DECODER = msgspec.json.Decoder(list[Fact])


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
        """Read the facts.

        DamagedVaultError if they cannot be read, VaultVersionError for facts in own words or
        several of a kind, which a newer version stores.
        """
        self._records = records
        facts = decoded(records.get(ITEM), _DECODER, "the profile")
        self.facts = tuple(facts or ())
        _check(self.facts)
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

    def reveal(self, names: Sequence[str], model: Model) -> dict[str, str]:
        """The values to disclose, in the order given. Cannot fail.

        A value that the model lacks is "unspecified", and so is one that is not set.
        """
        values = self._cache.get(model, values_in, lambda: values_in(self._values, model))
        return {name: values.get(name, UNSPECIFIED) for name in names}

    def codes(self, model: Model) -> dict[str, int]:
        """The codes of what is set, for the user's eyes: no answer depends on them."""
        codes = model.person_codes
        values = values_in(self._values, model)
        return {name: codes[name][value] for name, value in values.items()}

    def would_stand_out(self, names: Sequence[str], context: Context) -> bool:
        """Whether with these attributes too few people would look like the user to a recipient.

        Never where they are not new to it, or the terms protect everyone: the one Boolean by which
        values that were not disclosed have a say, once the set is fixed (DESIGN.md 2.6).
        """
        terms, model = context.terms, context.model
        known = context.knowledge if terms.memory == "remembers" else Knowledge()
        before = dict(known.codes)
        new = [each for each in names if each in model.person_codes and each not in before]
        if not new or terms.limits.protect == "everyone":
            return False
        values = self.reveal(new, model)
        codes = {name: model.person_codes[name][value] for name, value in values.items()}
        return stands_out(known.with_facts(codes), terms.limits, model, context.cache)

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
        return sha256(limits.encode() + msgspec.json.encode(self.facts)).hexdigest()

    def in_force(self, limits: str, by: datetime | None = None) -> tuple[Stop, ...]:
        """The stops that hold under a policy's limits; ``by``: those made by then, None for all."""
        under = self.under(limits) if self.stops else ""
        holding = (each for each in self.stops if each.under == under)
        return tuple(each for each in holding if by is None or each.at <= by)

    def stop(self, names: Sequence[str], context: Context, at: datetime, limits: str) -> None:
        """Stop a recipient that these attributes were decided for, and drop stops that do not hold.

        ``limits``: of the policy. VaultError if it was not written.
        """
        known, codes = context.knowledge, self.codes(context.model)
        new = {name: codes[name] for name in names if name in codes and name not in known.names}

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
        """Replace all facts; VaultError if that fails: then nothing has changed."""
        ordered = tuple(sorted(facts, key=lambda fact: (fact.kind, fact.id)))
        self._records.put(ITEM, msgspec.json.encode(ordered))
        self.facts, self._values, self._cache = ordered, values_of(ordered), Cache()


def _check(facts: Sequence[Fact]) -> None:
    """Raise DamagedVaultError or VaultVersionError for facts that this version never writes."""
    sound = all(each.id and each.kind and each.set_at.utcoffset() is not None for each in facts)
    if not sound or len({each.id for each in facts}) < len(facts):
        raise damaged("the profile cannot be read")
    if not all(each.value for each in facts) or len(values_of(facts)) < len(facts):
        hint = "install a newer reticent"
        raise VaultVersionError("the profile has facts that only a newer version can read", hint)


def values_of(facts: Iterable[Fact]) -> Values:
    """The values of facts, by kind."""
    return {each.kind: each.value or UNSPECIFIED for each in facts}


def values_in(values: Values, model: Model) -> dict[str, str]:
    """The values of a model's person attributes that are set, by name.

    "unspecified" where the model lacks the user's value.
    """
    values_by_name = {}
    for each in model.attributes[: model.persons]:
        kinds = model.fact_kinds[each.name]
        value = next((values[kind] for kind in kinds if kind in values), None)
        if value is not None:
            values_by_name[each.name] = _listed(value, each, model)
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
    "unspecified" where it was not set, or followed from the old value. UsageError for an unknown
    name or value, two values of one kind, a fact both set and unset, or one that the change names
    and another that cannot be with it.
    """
    before = values_of(facts)
    stated = named_values(given.items(), models)
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
    old_facts = {each.kind: each for each in facts}

    def fact(kind: str, value: str) -> Fact:
        old = old_facts.get(kind) or Fact(id=new_id(), kind=kind, value=value, set_at=now)
        return old if old.value == value else msgspec.structs.replace(old, value=value, set_at=now)

    return tuple(fact(*each) for each in sorted(after.items()))


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
    for model in models:
        by = model.by_concept.get(kind)
        if by is None:
            continue
        implied = by.implies.get("" if value is None else _listed(value, by, model), {})
        for name in by.decides:
            other = model.attributes[model.index(name)].concept
            if hanging.get(other, UNSPECIFIED) == UNSPECIFIED:
                follows = implied.get(name)
                meaning = None if follows is None else model.meanings[name, follows].value
                hanging[other] = meaning or UNSPECIFIED
    return hanging


class Correction(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, order=True):
    """What the user said of a text: that it does not mean a known query of a model, or does.

    ``text``: in the spelling of all that are alike; ``query``: by its name, which holds for every
    model that has it; ``model``: the id of one; none of these is empty. ``means``: whether it does;
    ``vector``: little-endian float16 place of the text in the encoder of topics of version
    ``encoder``, empty where that could not be loaded. ``repr`` masks all of it.
    """

    text: Annotated[str, Meta(min_length=1)]
    model: Annotated[str, Meta(min_length=1)]
    query: Annotated[str, Meta(min_length=1)]
    means: bool = False
    vector: bytes = b""
    encoder: str = ENCODER_VERSION

    def __repr__(self) -> str:
        return "Correction(***)"


_CORRECTIONS = msgspec.json.Decoder(list[Correction])


class Corrections:
    """The corrections in a vault; every change is in the file once it returns.

    ``kept``: all of them.
    """

    def __init__(self, items: Items, models: Sequence[Model] = ()) -> None:
        """Read them, and apply them to these models; DamagedVaultError if they cannot be read."""
        self._items = items
        stored = decoded(items.get(CORRECTIONS), _CORRECTIONS, "what texts mean") or ()
        # An older vault has the texts in a spelling that told more of them apart.
        self._hold(msgspec.structs.replace(each, text=spelling(each.text)) for each in stored)
        self.use(models)

    def use(self, models: Sequence[Model]) -> None:
        """Apply them to these models; what names a topic of no model counts for nothing."""
        self._names = {each.text for model in models for each in model.queries}

    def of(self, text: str) -> list[Correction]:
        """List those of a text, however it is written, with its wrapping or without."""
        spelled = {spelling(text), spelling(unwrapped(text))}
        return sorted(each for each in self.kept if each.text in spelled)

    def apply(
        self, reading: Interpretation, text: str, model: Model, place: Place | None
    ) -> Interpretation:
        """Correct a model's reading of a text; what was said of the nearest text counts most.

        ``place``: of the text; None where only what was said of this very text counts, as for a
        name or a phrasing of a model.
        """
        weights = dict.fromkeys(self.of(text), 2.0)
        if place is not None:
            near = zip(self._placed, (self._vectors @ place).tolist(), strict=True)
            weights = {each: cosine for each, cosine in near if cosine >= NEAR} | weights
        for each in sorted(weights, key=lambda each: (weights[each], each)):
            query = model.texts.named(each.query)
            if not each.means:
                reading = reading.without({query})
            elif query is not None or each.query in self._names:
                reading = reading.drawn(query, min(weights[each], 1.0))
        return reading

    def add(
        self, text: str, model: str, query: str, *, means: bool = False, place: Place | None = None
    ) -> bool:
        """Keep a correction; return whether it is new. Raises VaultError if it was not written.

        It replaces what was said of this text and this query; a text means one query at most.
        UsageError for a text without a word, and where there is no room.
        """
        before = self.of(text)
        same = {each for each in before if each.query == query}
        if any(each.means == means for each in same):
            return False
        vector = b"" if place is None else place.astype("<f2").tobytes()
        if not (text := spelling(unwrapped(text))):
            raise UsageError("the text is empty", "name a text with a word in it")
        new = Correction(text=text, model=model, query=query, means=means, vector=vector)
        self._keep({*self.kept, new} - same - {each for each in before if each.means and means})
        return True

    def replace(self, text: str, by: Iterable[Correction]) -> None:
        """Keep these corrections of a text and no other. Raises as `add`."""
        self._keep(self.kept.difference(self.of(text)).union(by))

    def _keep(self, corrections: Iterable[Correction]) -> None:
        changed = frozenset(corrections)
        payload = msgspec.json.encode(sorted(changed))
        if len(changed) > MOST_CORRECTIONS or len(payload) > MAX_ITEM_BYTES:
            what = f"there is no room for more than {len(self.kept):,} corrected texts"
            raise UsageError(what, "take some back: `reticent requests not-that TEXT --undo`")
        if changed:
            self._items.put(CORRECTIONS, payload)
        else:
            self._items.delete(CORRECTIONS)
        self._hold(changed)

    def _hold(self, corrections: Iterable[Correction]) -> None:
        self.kept = frozenset(corrections)
        is_placed = (2 * DIMENSIONS, ENCODER_VERSION)  # another version places texts elsewhere
        self._placed = sorted(e for e in self.kept if (len(e.vector), e.encoder) == is_placed)
        places = np.frombuffer(b"".join(each.vector for each in self._placed), "<f2")
        self._vectors = places.reshape(-1, DIMENSIONS).astype(np.float32)
