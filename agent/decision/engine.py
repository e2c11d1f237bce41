"""The engine: opened models and all that was computed from them, in one object to throw away."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import date, datetime
from pathlib import Path
from threading import RLock
from typing import Any, TypedDict, Unpack

from agent.decision.cache import Cache
from agent.decision.context import Context, Terms, is_from, rulebook, terms_under
from agent.decision.decide import decide
from agent.decision.knowledge import Knowledge
from agent.decision.own_facts import NONE, OwnFacts, extended, meaning_of, placed
from agent.decision.rerank import rerank
from agent.decision.topics import topics_of
from agent.decision.values import CROWD, Decision, Fact, Request, Result, Topics
from agent.errors import UsageError
from agent.model.file import SHIPPED, read, shipped_model
from agent.model.model import Concepts, Model
from agent.model.world import in_country, world_of
from agent.tradeoff.measures import Metric
from agent.tradeoff.search import Algorithm
from policy.hosts import ANYBODY
from policy.match import Rulebook
from policy.read import load
from policy.rules import Policy
from policy.settings import Memory, Mode


def load_model(name: str | Path = SHIPPED[0]) -> Model:
    """A model by the name of one that ships with Reticent, or by the path of its file.

    UsageError where there is no such file; DamagedModelError or VersionError where it must not be
    used.
    """
    return read(shipped_model(str(name)) if str(name) in SHIPPED else Path(name))


class DecideOptions(TypedDict, total=False):
    """What a caller may say of a decision.

    ``anonymity_price``: bits that an answer must help by to leave only 1,000 people alike, from 0;
    ``at_least``: how many people must still look alike; ``never``, ``ask``: names of facts that are
    never shared, or that wait for the user; the rest as in `agent.decision.context.Terms`.
    """

    anonymity_price: float
    at_least: int
    never: Iterable[str]
    ask: Iterable[str]
    mode: Mode
    algorithm: Algorithm
    metric: Metric
    metric_k: int
    memory: Memory


class Engine:
    """Decides about requests by one model or several; the surest reading of a text chooses.

    It owns all that it computes, which shows what was asked: to drop the engine drops that.
    Threads may share one: a decision is made after the other.
    """

    def __init__(self, models: Sequence[Model], country: str = "") -> None:
        """Take at least one model, and where the user lives, as `in_country`.

        UsageError for no model, or no country.
        """
        if not models:
            raise UsageError("no model to decide with", "name one, or open the shipped ones")
        self.models = tuple(in_country(each, country) for each in models)
        self._world = world_of(self.models)
        self._concepts, self._cache = Concepts((self._world,)), Cache()
        self._lock = RLock()

    def __repr__(self) -> str:
        return f"<Engine: {', '.join(model.id for model in self.models)}>"

    def decide(
        self,
        query: str,
        to: str = "",
        *,
        knows: Mapping[str, str] | None = None,
        offers: Collection[str] | None = None,
        facts: tuple[Fact, ...] = (),
        policy: Policy | str | Path | None = None,
        today: date | None = None,
        **options: Unpack[DecideOptions],
    ) -> Decision:
        """Choose which facts to share with a request: their names, never values.

        ``query``: the text; ``to``: the recipient, a host; ``knows``: facts that it has, values by
        name; ``offers``: names of the facts that it can use, by default the first of each kind.
        ``facts``: of one person, the only ones to choose from where there are any; those in own
        words are in ``share`` by their ids, and may be so in ``knows``, of whatever value.
        ``policy``: sets the terms, where the ``options`` say nothing else; ``today``: for its rules
        that expire. The model that it names as the population decides alone. UsageError for a name,
        value or number that cannot be; PolicyError for a policy with mistakes. Source: DESIGN.md 2.
        """
        with self._lock:
            base, terms_of = self._matched(query, to, policy, today)
            own, values = self._own(facts, base), dict(knows or {})
            held = [each for each in own.facts if values.pop(each.id, None) is not None]
            disclosed = [meaning_of(each) for each in held if not each.value]
            values |= {each.kind: each.value for each in held if each.value}
            model = extended(base, own, [each.concept for each in disclosed], self._cache)
            terms = self._with(terms_of(model, facts), options, model)
            asked = self._named(offers or (), model)
            request = Request(query, to, None if offers is None else tuple(sorted(asked)))
            firsts = {each.name for each in model.attributes if not (facts or each.further)}
            for kind in {each.kind for each in facts if each.value}:
                firsts |= {e.name for e in model.attributes if kind in (e.name, e.concept)}
            terms = replace(terms, available=asked | firsts)
            named = [self._concepts.fact(name, value) for name, value in values.items()]
            codes, places = placed(disclosed, model)
            codes |= {each: self._concepts.code(each, model) for each in named}
            knowledge = Knowledge().with_facts(dict(filter(None, codes.values())), places)
            return decide(Context(request, terms, knowledge, model, cache=self._cache, own=own))

    def rerank(
        self,
        query: str,
        results: Sequence[Result],
        *,
        person: Mapping[str, str] | None = None,
        facts: tuple[Fact, ...] = (),
    ) -> tuple[int, ...]:
        """The order of a search's results for one person, so that nothing need be sent.

        Their indexes, best first. ``results``: titles and snippets, in the engine's order;
        ``person``: the person's own values by name; ``facts``: as of `decide`, beside these. As
        `agent.decision.rerank`, and UsageError for a name or value that cannot be.
        """
        with self._lock:
            own, values = self._own(facts, self._world), dict(person or {})
            values |= {each.kind: each.value for each in facts if each.value}
            named = [self._concepts.fact(name, value) for name, value in values.items()]
            about = Request(query), Terms(), Knowledge(), self._world

            def codes(model: Model) -> dict[str, int]:
                return dict(filter(None, (self._concepts.code(each, model) for each in named)))

            return rerank(results, Context(*about, cache=self._cache, own=own), codes)

    def read(self, text: str) -> Topics:
        """What a text means, by the model that reads it the surest.

        VersionError if another version of the encoder is installed than the model's.
        """
        with self._lock:
            reading = self._cache.read(self._world, text)
        queries = self._world.queries
        return Topics(
            model=self._world.id,
            topics=tuple((queries[e.query].text, e.probability) for e in reading.candidates),
            chance=reading.chance,
            understood=reading.query is not None,
        )

    def _matched(
        self, query: str, to: str, policy: Policy | str | Path | None, today: date | None
    ) -> tuple[Model, Callable[[Model, Iterable[Fact]], Terms]]:
        """The model that decides a request, and its terms by the policy, once places are known."""
        if policy is None:
            return self._world, lambda *_: Terms()
        rules = policy if isinstance(policy, Policy) else load(Path(policy))
        topics = topics_of(rules, self.models, self._cache.read, query)
        asked = to or ANYBODY, query, today or datetime.now().astimezone(), topics
        population = Rulebook(rules, {}).match(*asked).settings.get("population")

        def terms(model: Model, facts: Iterable[Fact]) -> Terms:
            return terms_under(rulebook(rules, model, (self._world,), facts).match(*asked), model)

        models = {each.id: each for each in self.models}
        if population is not None and population.value not in models:
            raise UsageError.unknown("model", str(population.value), models)
        return self._world if population is None else models[str(population.value)], terms

    def _own(self, facts: tuple[Fact, ...], model: Model) -> OwnFacts:
        """Those of these facts that are in own words; for the same tuple the same object again."""
        key, make = (OwnFacts, id(facts)), lambda: (facts, OwnFacts.of(facts, model))
        return self._cache.get(model, key, make)[1] if facts else NONE

    def _with(self, terms: Terms, options: DecideOptions, model: Model) -> Terms:
        """The terms with what the caller says in their place."""
        fields: dict[str, Any] = {**options}
        for name in fields.keys() - DecideOptions.__annotations__.keys():
            raise UsageError.unknown("option", name, DecideOptions.__annotations__)
        if "anonymity_price" in fields:
            price = fields.pop("anonymity_price")
            if not is_from(0, price):
                raise UsageError(f"a price cannot be {price!r}", "write bits, from 0")
            fields["trade_off"] = CROWD * price
        if "at_least" in fields:
            fields["limits"] = replace(terms.limits, k=fields.pop("at_least"))
        never, ask = (self._named(fields.pop(each, ()), model) for each in ("never", "ask"))
        return replace(terms, excluded=terms.excluded | never, ask=terms.ask | ask, **fields)

    def _named(self, names: Iterable[str], model: Model) -> frozenset[str]:
        """What a model calls these facts of the world; UsageError for one that is not there."""
        wanted = frozenset(names)
        every = {each.name: (each.scope, each.concept) for each in self._world.attributes}
        for name in sorted(wanted - every.keys()):
            raise UsageError.unknown("fact", name, every)
        facts = {every[name] for name in wanted}
        kinds = (model.attributes[model.own.get(at, at)] for at in range(len(model.attributes)))
        every_kind = zip(model.attributes, kinds, strict=True)
        return frozenset(e.name for e, kind in every_kind if (kind.scope, kind.concept) in facts)
