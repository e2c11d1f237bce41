"""The attributes and the queries in the metadata of a model."""

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from graphlib import CycleError, TopologicalSorter
from itertools import chain, compress, count
from typing import Annotated, Literal
from unicodedata import normalize

import numpy as np
from msgspec import Meta

from agent.errors import DamagedModelError, UsageError, normalise
from agent.model.reading import spelling
from agent.tradeoff.shares import KindShares, Shares
from agent.tradeoff.utility import MOST_PRICE

Scope = Literal["person", "request"]
Text = Annotated[str, Meta(min_length=1)]

NAME = re.compile(r"[a-z][a-z0-9_]*")
# Letters and digits first, so that none is a search engine's operator: no -x, "x", x:y, (x), !x.
WORD = re.compile(r"[^\W_](?:[^\W_]|[.+#-])*(?: [^\W_](?:[^\W_]|[.+#-])*){0,3}")
OPERATORS = frozenset({"and", "or", "not", "near", "around"})
LONGEST_WORD = 32  # characters
UNSPECIFIED = "unspecified"  # values[0]: code 0 of every attribute
MAX_VALUES = 256  # a code is one byte
MIN_SHRINKAGE, MAX_SHRINKAGE = 1e-6, 1e9  # beyond, a product of many probabilities overflows
MAX_ROUNDING = 1e-4  # of shares that sum to 1
PRICES = (0.02, 0.05, 0.12, 0.3, 0.6)  # bits that a fact of sensitivity 1 to 5 must bring
SLOTS = 3  # the most facts of one kind that a person may disclose
Share = Annotated[float, Meta(ge=0, le=1)]
Count = Annotated[int, Meta(ge=1, le=2**32)]
Counted = Annotated[int, Meta(ge=0, le=2**32)]


@dataclass(frozen=True, slots=True)
class Attribute:
    """One attribute of a model; the position of a value in ``values`` is its code.

    ``name``: matches ``[a-z][a-z0-9_]*``; ``title``: for people; ``scope``: fixed per person, or
    set per request; ``values``: unique, ``"unspecified"`` first; ``refines``: the attribute of
    which this is a finer grain; ``sensitivity``: default, bits of utility it must bring;
    ``concept``: its name across models, ``name`` by default; ``value_concepts``: the name of each
    value across models, None where no other model has a counterpart; ``values`` by default;
    ``implies``: for a value, the values of other person attributes that follow from it;
    ``words``: for a value, the words that a person would add to a search for it, as `WORD` has it;
    ``shared``: the `SharedKind` that counts it by shares, "" where the population has a column.
    Raises ValueError if one of these does not hold.
    """

    name: str
    title: str
    scope: Scope
    values: tuple[str, ...]
    refines: str | None = None
    sensitivity: float = 0.0
    concept: Text = ""
    value_concepts: Annotated[tuple[str | None, ...], Meta(min_length=1)] = ()
    implies: Mapping[str, Mapping[str, str]] = field(default_factory=dict, hash=False)
    words: Mapping[str, str] = field(default_factory=dict, hash=False)
    shared: str = ""

    @property
    def further(self) -> bool:
        """Whether it is the second or third fact of a kind of which a person may hold several."""
        return self.shared not in ("", self.name)

    def __post_init__(self) -> None:
        object.__setattr__(self, "concept", self.concept or self.name)
        object.__setattr__(self, "value_concepts", self.value_concepts or self.values)
        concepts = [each for each in self.value_concepts if each is not None]
        checks = (
            (NAME.fullmatch(self.name), "has a name that does not match [a-z][a-z0-9_]*"),
            (self.title, "has no title"),
            (self.values[:1] == (UNSPECIFIED,), f"does not have {UNSPECIFIED!r} as first value"),
            (len(self.values) <= MAX_VALUES, f"has more than {MAX_VALUES} values"),
            (len(set(self.values)) == len(self.values), "has a value twice"),
            (all(self.values), "has an empty value"),
            (self.refines != self.name, "refines itself"),
            (math.isfinite(self.sensitivity), "has a sensitivity that is not finite"),
            (self.sensitivity >= 0, "has a sensitivity below 0"),
            (len(self.value_concepts) == len(self.values), "does not have a concept per value"),
            (self.value_concepts[:1] == (UNSPECIFIED,), f"gives {UNSPECIFIED!r} another concept"),
            (len(set(concepts)) == len(concepts), "has two values of one concept"),
            (all(concepts), "has a value with an empty concept"),
            ({*self.implies} <= {*self.values[1:]}, "has an implication from an unknown value"),
            (self.scope == "person" or not self.implies, "implies something for each request"),
            ({*self.words} <= {*self.values[1:]}, "has a word for an unknown value"),
            (all(map(is_plain, self.words.values())), "has a word with search syntax in it"),
        )
        for holds, problem in checks:
            if not holds:
                raise ValueError(f"attribute {self.name!r} {problem}")

    @property
    def decides(self) -> tuple[str, ...]:
        """The attributes that depend on this one: some value implies a value of theirs."""
        return tuple(dict.fromkeys(chain.from_iterable(self.implies.values())))

    def code(self, value: str) -> int:
        """The code of a value; UsageError, naming the nearest value, if it is unknown."""
        if value not in self.values:
            raise UsageError.unknown(f"value of {self.name}", value, self.values)
        return self.values.index(value)


def is_plain(word: str) -> bool:
    """Whether a search box takes a text as up to four plain words, none of them an operator.

    A model's text is not trusted, and must not steer a search engine.
    """
    short = len(word) <= LONGEST_WORD and normalize("NFC", word) == word
    return short and bool(WORD.fullmatch(word)) and not OPERATORS & {*word.casefold().split()}


def check_attributes(attributes: Sequence[Attribute]) -> None:
    """Refuse attributes that are out of order or duplicated, refine in a circle, or imply wrongly.

    Raises DamagedModelError.
    """
    names = [attribute.name for attribute in attributes]
    concepts = [attribute.concept for attribute in attributes]
    scopes = [(each.scope, bool(each.shared)) for each in attributes]
    if name := repeated(names):
        raise damaged(f"the model has two attributes named {name!r}")
    if concept := repeated(concepts):
        raise damaged(f"the model has two attributes of the concept {concept!r}")
    if scopes[0] != ("person", False) or scopes != sorted(scopes):
        raise damaged("the model does not list its person attributes first, columns before shares")
    if problem := wrong_implication(attributes):
        raise damaged(problem)
    coarser = {each.name: each.refines for each in attributes if each.refines is not None}
    for name, refined in coarser.items():
        if refined not in names:
            raise damaged(f"attribute {name!r} refines {refined!r}, which does not exist")
    try:
        TopologicalSorter({name: [refined] for name, refined in coarser.items()}).prepare()
    except CycleError as error:
        raise damaged(f"attribute {error.args[1][0]!r} refines itself in a circle") from error


def wrong_implication(attributes: Sequence[Attribute]) -> str | None:
    """Describe what is wrong with the implications between attributes; None if nothing is.

    Only values of person attributes are implied. Each depends on one attribute alone, and none
    depends on it in turn, so that one step finds everything that follows, in any order.
    """
    by_name, depends_on = {each.name: each for each in attributes}, dict[str, str]()
    for each in attributes:
        for name, value in (pair for then in each.implies.values() for pair in then.items()):
            other, by = by_name.get(name), f"attribute {each.name!r} implies"
            if other is None or other.scope != "person":
                return f"{by} a value of {name!r}, which is not a person attribute"
            if value not in other.values[1:]:
                return f"{by} that {name!r} is {value!r}, which is not one of its values"
            if other.implies:
                return f"{by} a value of {name!r}, which implies others itself"
            if depends_on.setdefault(name, each.name) != each.name:
                return f"{by} a value of {name!r}, and so does {depends_on[name]!r}"
    return None


def repeated(texts: Iterable[str]) -> str | None:
    """The first text that occurs more than once."""
    return next((text for text, count in Counter(texts).items() if count > 1), None)


def damaged(what: str) -> DamagedModelError:
    """The error for a file with wrong content; ``what`` is made printable."""
    what = "".join(each if each.isprintable() else "\ufffd" for each in what)
    return DamagedModelError(what, "get the file again from where it came, or build it anew")


@dataclass(frozen=True, slots=True)
class Block:
    """Attributes that were drawn together, for each row from one person of another survey.

    ``name``, ``source``: of that survey; ``attributes``: drawn from it; ``keys``: the attributes
    that the two agree in, the most important first.
    """

    name: Text
    source: Text
    attributes: Annotated[tuple[str, ...], Meta(min_length=1)]
    keys: Annotated[tuple[str, ...], Meta(min_length=1)]


@dataclass(frozen=True, slots=True)
class SharedKind:
    """A kind of facts that no column of the population holds, by the shares of its values.

    ``name``, ``title``, ``source``: for people; ``sensitivity``: 1 (would tell anybody) to 5
    (nobody); ``several``: whether a person may hold several values; ``shares``: of the people who
    hold each value, which sum to 1 unless they may hold several; ``parent``: the column or kind on
    which they depend, or, without ``given``, the kind of whose holders alone they are; ``given``:
    by its value, the shares where they differ; ``excludes``: by value, others that nobody holds
    with it.
    """

    name: Text
    title: Text
    source: Text
    sensitivity: Annotated[int, Meta(ge=1, le=5)]
    several: bool
    values: Annotated[tuple[Text, ...], Meta(min_length=2)]
    shares: tuple[Share, ...]
    parent: Text | None = None
    given: Mapping[str, tuple[Share, ...]] = field(default_factory=dict, hash=False)
    excludes: Mapping[str, tuple[str, ...]] = field(default_factory=dict, hash=False)

    def __post_init__(self) -> None:
        own = chain(self.excludes, chain.from_iterable(self.excludes.values()))
        for shares in (self.shares, *self.given.values()):
            if len(shares) != len(self.values):
                raise ValueError(f"kind {self.name!r} does not have a share per value")
            if not self.several and abs(math.fsum(shares) - 1) > MAX_ROUNDING:
                raise ValueError(f"kind {self.name!r} has shares that do not sum to 1")
        if len({*self.values}) < len(self.values) or {*own} - {*self.values}:
            raise ValueError(f"kind {self.name!r} has a value twice, or names an unknown one")

    @property
    def slots(self) -> tuple[str, ...]:
        """The names of its attributes: of the first, second, third fact that a person holds."""
        more = range(2, SLOTS + 1) if self.several else ()
        return (self.name, *(f"{self.name}_{number}" for number in more))


def check_kinds(kinds: Sequence[SharedKind], attributes: Sequence[Attribute]) -> None:
    """Refuse kinds twice, of other attributes or unknown parents, in a circle; DamagedModelError.

    The attributes of the kinds are one for each of their slots, in order, with their values.
    """
    shared = [(each.shared, each.name, each.values[1:]) for each in attributes if each.shared]
    if shared != [(each.name, name, each.values) for each in kinds for name in each.slots]:
        raise damaged("the attributes of the model are not those of its kinds")
    values = {each.name: each.values[1:] for each in columns_of(attributes)}
    values |= {each.name: each.values for each in kinds}
    for each in (kind for kind in kinds if kind.parent is not None):
        if each.parent not in values or {*each.given} - {*values[each.parent]}:
            raise damaged(f"kind {each.name!r} depends on what {each.parent!r} does not have")
    try:
        TopologicalSorter({each.name: [each.parent] for each in kinds if each.parent}).prepare()
    except CycleError as error:
        raise damaged(f"kind {error.args[1][0]!r} depends on itself in a circle") from error


def columns_of(attributes: Sequence[Attribute]) -> list[Attribute]:
    """The attributes of persons that are columns of the population, which are the first."""
    return [each for each in attributes if each.scope == "person" and not each.shared]


def kind_names(attributes: Sequence[Attribute]) -> tuple[str, ...]:
    """The name of each kind of fact, in the order of its first attribute of persons."""
    persons = (each for each in attributes if each.scope == "person")
    return tuple(dict.fromkeys(each.shared or each.name for each in persons))


def check_blocks(blocks: Sequence[Block], attributes: Sequence[Attribute]) -> None:
    """Refuse blocks of unknown attributes, or of one that another has; DamagedModelError."""
    columns = {each.name for each in columns_of(attributes)}
    names = list(chain.from_iterable(each.attributes for each in blocks))
    for name in (*names, *chain.from_iterable(each.keys for each in blocks)):
        if name not in columns:
            raise damaged(f"a block of donors names {name!r}, which is not a column of people")
    if len(set(names)) < len(names):
        raise damaged(f"attribute {repeated(names)!r} was drawn twice")


@dataclass(frozen=True, slots=True)
class Query:
    """One known query, or a topic, whose utility is judged: that has no intents and no rows.

    ``intents``: what people turned out to want; ``shrinkage``: beta, in rows; ``rows`` and
    ``users``: how many there are; ``prior_entropy_bits``: the bits that no utility exceeds;
    ``predicted_bits``, ``heldout_bits``: utility of the sets picked in validation, as the model
    predicted it and as held-out users had it; ``events``: of how many rows those are
    a sample; ``error_bits``: the standard error of a utility that comes of that; ``title``: for
    people, by default the text; ``phrasings``: texts that mean this query; ``spellings``: of each
    phrasing, `lookup.spelling`, by default computed; ``bits``: of a topic, between the best answers
    for different people.
    """

    text: str
    intents: tuple[Text, ...] = ()
    shrinkage: float = 0.0
    rows: Counted = 0
    users: Counted = 0
    prior_entropy_bits: float = 0.0
    predicted_bits: float | None = None
    heldout_bits: float | None = None
    events: Count | None = None
    error_bits: float | None = None
    title: Text = ""
    phrasings: tuple[Text, ...] = ()
    spellings: tuple[str, ...] = ()
    bits: Annotated[float, Meta(ge=0, le=MOST_PRICE)] = 0.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "title", self.title or self.text.replace("_", " "))
        object.__setattr__(self, "spellings", self.spellings or (*map(spelling, self.phrasings),))
        if len(self.spellings) != len(self.phrasings):
            raise ValueError(f"query {self.text!r} does not have a spelling per phrasing")


def check_queries(queries: Sequence[Query], estimator: str, *, whole: bool) -> None:
    """Refuse queries that look alike, and a shrinkage that cannot be computed with.

    ``whole``: whether to compute the spellings of phrasings too. Raises DamagedModelError.
    """
    texts = [normalise(query.text) for query in queries]
    if not all(texts):
        raise damaged("the model has a query without text")
    if text := repeated(texts):
        raise damaged(f"the model has the query {text!r} twice")
    for query in queries:
        if intent := repeated(query.intents):
            raise damaged(f"query {query.text!r} has the intent {intent!r} twice")
        counts, judged = (len(query.intents), query.rows, query.users), estimator == "judged"
        if any(counts) if judged else not all(counts):
            wrong = "has rows or intents, and is judged" if judged else "has no row, user or intent"
            raise damaged(f"query {query.text!r} {wrong}")
        plain = estimator != "louo" and query.shrinkage == 0
        if not (plain or MIN_SHRINKAGE <= query.shrinkage <= MAX_SHRINKAGE):
            raise damaged(f"query {query.text!r} has a shrinkage of {query.shrinkage:g}")
        if whole and query.spellings != tuple(map(spelling, query.phrasings)):
            raise damaged(f"query {query.text!r} has a phrasing with another's spelling")


def hanging_of(attributes: Sequence[Attribute]) -> dict[int, tuple[int, frozenset[int]]]:
    """The ``hanging`` of a population, from what the values of columns imply for others."""
    columns, hanging = columns_of(attributes), dict[int, tuple[int, frozenset[int]]]()
    place = {each.name: at for at, each in enumerate(columns)}
    for at, each in enumerate(columns):
        for name in filter(place.__contains__, each.decides):
            silent = (name not in each.implies.get(value, {}) for value in each.values)
            hanging[place[name]] = at, frozenset(compress(count(), silent))
    return hanging


def shares_of(attributes: Sequence[Attribute], kinds: Sequence[SharedKind]) -> Shares | None:
    """The ``shares`` of a population, from the kinds that count its attributes."""
    columns: dict[str | None, int] = {e.name: at for at, e in enumerate(columns_of(attributes))}
    place: dict[str | None, int] = {each.name: at for at, each in enumerate(kinds)}
    values = {each.name: each.values for each in attributes if each.scope == "person"}
    of_kinds = tuple(
        KindShares(
            shares=np.array(each.shares),
            several=each.several,
            parent=place.get(each.parent) if each.given else None,
            column=columns.get(each.parent) if each.given else None,
            given=np.array([each.given.get(value, each.shares) for value in values[each.parent]])
            if each.parent and each.given
            else None,
            holders=None if each.given else place.get(each.parent),
            vague=np.array([value.startswith(("other", "another")) for value in each.values]),
        )
        for each in kinds
    )
    of = (place[each.shared] for each in attributes if each.shared)
    return Shares(of_kinds, (*of,)) if kinds else None
