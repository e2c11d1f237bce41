"""The profile: the user's own values by model, and their TOML file."""

import tomllib
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet

import msgspec

from agent.errors import UsageError
from agent.model.attributes import UNSPECIFIED
from agent.model.concepts import Concepts, by_concept, meaning_of
from agent.model.model import Model, checked, person_codes
from agent.vault.connection import decoded
from agent.vault.store import Store

ITEM = "profile"
WHOLE = "profile-whole"  # the ids of models for which all that hangs on a fact was set once
Values = dict[str, dict[str, str]]  # by the id of a model, then by attribute
_DECODER = msgspec.json.Decoder(Values)
_IDS = msgspec.json.Decoder(set[str])
LARGEST = 1 << 20  # bytes
COMMENT = """\
Your profile, written by `reticent profile export`. It is plain text: whoever can read this file
knows what it says. Delete it once it has served its purpose.
`reticent profile import` reads it, and so does `reticent model decide --profile`."""


class Profile:
    """The user's values of person attributes; "unspecified" is one that may be set."""

    def __init__(self, records: Store) -> None:
        """Read the values; DamagedVaultError if they cannot be read."""
        self._records = records
        self._values = decoded(records.get(ITEM), _DECODER, "the profile") or {}

    def __repr__(self) -> str:
        return f"Profile({len(self._values)} models)"

    def values(self) -> Values:
        """Return a copy of everything, for the user's own eyes only."""
        return {model: dict(sorted(own.items())) for model, own in sorted(self._values.items())}

    def names(self, model: Model) -> frozenset[str]:
        """Return which of a model's attributes are set; no value is looked at (DESIGN.md 2.6).

        One whose value the model does not have is set too: it is "unspecified" there.
        """
        return frozenset(self._values.get(model.id, ())).intersection(person_codes(model))

    def reveal(self, names: Sequence[str], model: Model) -> dict[str, str]:
        """Return the values to be disclosed, in the order given. Cannot fail.

        A value that the model as it is now does not have is "unspecified", and so is one that is
        not set, which is never disclosed.
        """
        own = self._fitting(model)
        return {name: own.get(name, UNSPECIFIED) for name in names}

    def codes(self, model: Model) -> dict[str, int]:
        """Return the codes of what is set, for a policy with protect = "me" only."""
        codes = person_codes(model)
        return {name: codes[name][value] for name, value in self._fitting(model).items()}

    def misfits(self, model: Model) -> tuple[str, ...]:
        """Return the attributes whose values a model does not have any more."""
        return tuple(sorted(self._values.get(model.id, {}).keys() - self._fitting(model).keys()))

    def follow(self, models: Sequence[Model]) -> tuple[str, ...]:
        """Have each fact once for all these models; return the titles of what contradicted.

        As older profiles may, and one from before a model was installed: there, what hangs on a
        fact is set too, once for each model, so that what the user unsets later stays unset.
        VaultError.
        """
        whole = decoded(self._records.get(WHOLE), _IDS, "the profile") or set()
        new = {model.id for model in models} - whole
        after, differ = followed(self._values, models)
        after = with_implied(self._values, after, frozenset(), models, new)
        if after != self._values:
            self.keep(after)
        if new:
            self._records.put(WHOLE, msgspec.json.encode(sorted(whole | new)))
        return differ

    def keep(self, values: Values) -> None:
        """Replace all values; VaultError if that fails: then nothing has changed."""
        kept = {model: own for model, own in values.items() if own}
        self._records.put(ITEM, msgspec.json.encode(kept, order="deterministic"))
        self._values = kept

    def _fitting(self, model: Model) -> dict[str, str]:
        codes = person_codes(model)
        own = self._values.get(model.id, {})
        return {name: value for name, value in own.items() if value in codes.get(name, ())}


def planned(
    before: Values,
    given: Mapping[str, str],
    unset: Sequence[str],
    models: Sequence[Model],
    *,
    replace: bool = False,
    everywhere: bool = False,
    others: Sequence[Model] = (),
) -> Values:
    """Return all values after setting and unsetting facts, each by its name or MODEL.NAME. Pure.

    ``models``: whose names these are; ``others``: the rest of those installed, whose values of the
    same facts follow (`followed`); ``replace``: remove all other values of ``models``;
    ``everywhere``: remove values from models that are not given, too. What hangs on these facts
    changes with them (`with_implied`). Raises UsageError for a fact that no model has, that two
    have by one name, or that is set for every request, and for a value that no model with the fact
    has, or that contradicts another.
    """
    concepts, installed = Concepts(models), {model.id: model for model in (*models, *others)}
    facts = Concepts([*installed.values()]).facts()
    own: dict[str, dict[str, str]] = {model: {} for model in installed}
    for name, value in given.items():
        fact = facts[concepts.named(name)]
        first = sorted(fact.attributes, key=lambda pair: name != f"{pair[0].id}.{pair[1].name}")
        fits = [(model, each) for model, each in first if value in each.values]
        if not fits:
            raise UsageError.unknown(f"value of {name}", value, fact.values)
        own[fits[0][0].id][fits[0][1].name] = value
    gone = {model.id for model in models} | (before.keys() if everywhere else set())
    stored = {name for model in gone for name in before.get(model, {})}
    dropped = {concepts.named(name) for name in given}
    for name in unset:
        if name in given:
            raise UsageError(f"{name} is both set and unset", "remove it from one of the two")
        if name not in stored or any(name in person_codes(model) for model in models):
            dropped.add(concepts.named(name))
    asked = frozenset(dropped)
    if replace:
        dropped |= concepts.facts().keys()
    values = {model: dict(kept) for model, kept in before.items()}
    for model in gone:
        rest = {} if replace else values.get(model, {})
        values[model] = {name: value for name, value in rest.items() if name not in unset}
    for each in installed.values():
        names = {by_concept(each)[one].name for one in dropped & by_concept(each).keys()}
        kept = values.get(each.id, {})
        values[each.id] = {name: value for name, value in kept.items() if name not in names}
        values[each.id] |= own.get(each.id, {})
    followed_, _ = followed(values, [*installed.values()])
    after = with_implied(before, followed_, asked, [*installed.values()])
    return {model: kept for model, kept in after.items() if kept}


def with_implied(
    before: Values,
    after: Values,
    named: AbstractSet[str],
    models: Sequence[Model],
    partial: AbstractSet[str] = frozenset(),
) -> Values:
    """Return the values after a change with those of the facts that hang on it. Pure.

    ``after``: with every fact in all ``models`` that know it; ``named``: the concepts that the
    change names, which stay as it states them; ``partial``: the ids of models for which an older
    version may have left unset what hangs on a fact. What hangs on a fact is all that any of its
    values implies: it is set with the fact, and unset with it, whatever the value is, since the
    names of what is set are no secret (DESIGN.md 2.6). Its value is the one that follows, if one
    does; else "unspecified", where it was not set or followed from the old value. Where a fact only
    became known to one more model, what was set stays.
    """
    values, gone = dict(after), set[str]()
    found: dict[str, tuple[str, str, str]] = {}  # a model, its attribute and value, by concept
    for model in models:
        old, new = before.get(model.id, {}), after.get(model.id, {})
        spoken = {each.name: each.concept for each in model.attributes}
        for by in model.attributes:
            stated = by.concept in named
            then, now = (by.implies.get(own.get(by.name, ""), {}) for own in (old, new))
            for name in by.decides:
                concept, held = spoken[name], new.get(name)
                if concept in named or not (stated or by.name not in old or model.id in partial):
                    continue
                if by.name not in new:
                    gone |= {concept} if by.name in old else set()
                elif held is None or (stated and (name in now or held == then.get(name))):
                    found.setdefault(concept, (model.id, name, now.get(name, UNSPECIFIED)))
    for model in models:
        names = {each.name for one, each in by_concept(model).items() if one in gone | found.keys()}
        own = after.get(model.id, {})
        values[model.id] = {name: value for name, value in own.items() if name not in names}
    for owner, name, value in found.values():
        values[owner][name] = value
    return followed(values, models)[0]


def followed(values: Values, models: Sequence[Model]) -> tuple[Values, tuple[str, ...]]:
    """Return the values with every fact in all models that know it; and what contradicted.

    The first value that says something counts, in the order of the models; where a model lacks it,
    the fact is "unspecified" there. What contradicted are the titles of facts that two models had
    different values of.
    """
    concepts, after = Concepts(models), {model: dict(own) for model, own in values.items()}
    differ = []
    for fact in concepts.facts().values():
        own = [(m, each, values.get(m.id, {}).get(each.name)) for m, each in fact.attributes]
        told = [meaning_of(each.name, v, m) for m, each, v in own if v in each.values]
        if all(value is None for _, _, value in own):
            continue
        best = min(told, key=lambda each: each.value.endswith(f":{UNSPECIFIED}"), default=None)
        for model, attribute, old in own:
            code = None if best is None else concepts.code(best, model)
            value = UNSPECIFIED if code is None else attribute.values[code[1]]
            if old in attribute.values and old != value:
                differ.append(fact.title)
            if old in (None, *attribute.values) or value != UNSPECIFIED:  # else of an older file
                after.setdefault(model.id, {})[attribute.name] = value
    return after, tuple(dict.fromkeys(differ))


def by_full_name(values: Mapping[str, Mapping[str, str]]) -> dict[str, str]:
    """Return values by MODEL.NAME, as `planned` takes them."""
    return {f"{model}.{name}": each for model, own in values.items() for name, each in own.items()}


def differing(before: Values, after: Values) -> list[tuple[str, str]]:
    """Return the models and attributes whose values are not the same."""
    old, new = (
        {(model, *pair) for model, own in values.items() for pair in own.items()}
        for values in (before, after)
    )
    return sorted({(model, name) for model, name, _ in old ^ new})


def profile_toml(values: Mapping[str, Mapping[str, str]]) -> str:
    """Return values, by model and attribute, as a file that says what it is."""
    import tomlkit

    document = tomlkit.document()
    for line in COMMENT.splitlines():
        document.add(tomlkit.comment(line))
    for model, own in sorted(values.items()):
        table = tomlkit.table()
        table.update(sorted(own.items()))
        document.add(tomlkit.nl())
        document.add(model, table)
    return tomlkit.dumps(document)


def read_profile(
    text: bytes, models: Sequence[Model], *, others: bool = False
) -> dict[str, dict[str, str]]:
    """Return the values in a file by model and attribute, of all these models.

    ``others``: tables of other models are passed over, unless the file has nothing for these.
    UsageError where it names a model or an attribute that is not there, or a value that does not
    fit every model it is for.
    """
    try:
        document = tomllib.loads(text.decode("utf-8-sig"))
    except (ValueError, RecursionError):  # ValueError also where it is not UTF-8
        hint = 'write lines such as region = "west_europe"'
        raise UsageError("this is not valid TOML", hint) from None
    tables = {name: each for name, each in document.items() if isinstance(each, dict)}
    pairs = {name: document[name] for name in document if name not in tables}
    codes = {model.id: person_codes(model) for model in models}
    names = {name for own in codes.values() for name in own}
    others = others and bool(pairs or tables.keys() & codes.keys())
    for name, table in tables.items():
        if name not in codes and (name in names or not others):
            for model in models:  # it may have been meant as a value
                if name in codes[model.id]:
                    checked(name, table, model)
            raise UsageError.unknown("model", name, codes)
    concepts = Concepts(models)
    for name in pairs:
        concepts.named(name)
    every = {name: [each for own in codes.values() for each in own.get(name, ())] for name in pairs}
    values: dict[str, dict[str, str]] = {}
    for model in models:
        own = {
            name: value
            for name, value in pairs.items()
            if name in codes[model.id]
            if value not in every[name] or value in codes[model.id][name]
        }
        own |= tables.get(model.id, {})
        values[model.id] = {name: checked(name, value, model) for name, value in own.items()}
    return values
