"""What a policy rules arrives in the terms, all of it and unchanged."""

from dataclasses import fields, replace
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.decision.context import LIMITS, TERMS, Limits, Terms, rulebook, terms_under
from agent.decision.knowledge import Knowledge
from agent.decision.topics import topics_of
from agent.decision.values import CROWD, Fact, Request
from agent.model.model import Model
from agent.model.reading import Candidate, Interpretation
from agent.model.world import with_own_facts, world_of
from policy.families import TopicProbabilities
from policy.hosts import ASSISTANT
from policy.match import Rulebook, Ruling, known
from policy.read import preset, read
from policy.settings import SETTINGS
from tests.decision.made import NAMES, OTHER_NAMES, decide, elsewhere, made_model
from tests.model.examples import judged_model
from tests.policy.strategies import NO_PRESET, TODAY, documents, rendered, requests
from tests.worlds.people import MONDAY

MODEL = made_model(0, people=10)
OTHER = elsewhere(MODEL)
DINNER = frozenset({"dinner", "what to cook"})
OF_ATTRIBUTES = {"disclose", "sensitivity", "guard", "own", "relevance", "coarse"}
OF_PEOPLE = {"people", "anonymity_price"}  # joins k, where people are counted; times CROWD
OF_MODEL = {"carry"}  # says what can be carried, by the model's words
OF_LOCALE = {"engine"}  # says what language and country can be carried as
NOT_FOR_DECIDING = {"population", "page_requests_per_minute", "search", "assistant", "address"}
NOT_FOR_DECIDING |= {"requests_per_day"}
NOT_OF_A_POLICY = {"algorithm", "available", "changed", "metric", "metric_k", "ruling"}


def ruled(text: str, query: str = "") -> Ruling:
    return Rulebook(read(NO_PRESET + text, "test", preset), known(*NAMES)).match(
        "shop.example", query, TODAY
    )


def test_every_setting_is_for_deciding_or_said_not_to_be() -> None:
    """A new one cannot be forgotten, and none counts twice."""
    elsewhere_ruled = [*OF_PEOPLE, *OF_MODEL, *OF_LOCALE]
    parts = [[*TERMS], [*LIMITS], [*OF_ATTRIBUTES], elsewhere_ruled, [*NOT_FOR_DECIDING]]
    assert sorted(SETTINGS) == sorted(key for part in parts for key in part)
    assert {key for key, each in SETTINGS.items() if each.about == "attribute"} == OF_ATTRIBUTES
    of_attributes = {"carried", "excluded", "ask", "always", "sensitivity", "guards"}
    of_attributes |= {"by_kind", "facts", "coarse", "together"}
    ours = {*TERMS, *of_attributes, *NOT_OF_A_POLICY, "limits", "trade_off"}
    assert {each.name for each in fields(Terms)} == ours
    assert terms_under(ruled(""), MODEL) == Terms()  # the defaults of policies are those of terms


def test_people_are_for_models_that_count_them() -> None:
    """Then k holds as well, but for one in a thousand; a model of a survey's rows keeps k alone."""
    tables, population = MODEL.tables, MODEL.population
    weights = np.full(population.rows, 900.0)
    weighted = replace(tables, population=replace(population, weights=weights))
    for text, counted, estimated in (
        ("k = 20\nviolations = 0.1\npeople = 500", (20, 0.1), (500, 0.001)),
        ("k = 900\npeople = 500", (900, 0.0), (900, 0.001)),
        ("people = 500\nviolations = 0.0005", (None, 0.0005), (500, 0.0005)),
        ("people = 500", (None, 0.0), (500, 0.001)),
        ("k = 20\nviolations = 0.1", (20, 0.1), (20, 0.1)),
    ):
        for model, expected in ((MODEL, counted), (replace(MODEL, tables=weighted), estimated)):
            limits = terms_under(ruled(text), model).limits
            assert (limits.k, limits.violations) == expected
            assert limits.people == (500 if "people" in text and model is not MODEL else None)


@given(documents(), requests(), st.randoms(use_true_random=False))
def test_a_rule_holds_for_a_fact_whatever_models_call_it(
    document: dict[str, Any], asked: tuple[Any, ...], rng: Random
) -> None:
    """Whichever of its names each rule has, and whichever of the models decides."""

    def renamed(part: Any) -> Any:  # noqa: ANN401  (of a document)
        if isinstance(part, list):
            return [renamed(each) for each in part]
        return rng.choice([OTHER_NAMES[part], part]) if part in OTHER_NAMES else part

    again = {**document}
    if "attributes" in document:
        again["attributes"] = {renamed(name): each for name, each in again["attributes"].items()}
    for key, part in (("together", "facts"), ("rule", "attribute")):
        every = again.get(key, ())
        again[key] = [{**e, part: renamed(e[part])} if part in e else e for e in every]
    found = []
    for each in (document, again):
        for one, other in ((MODEL, OTHER), (OTHER, MODEL)):
            book = rulebook(read(rendered(each), "test", preset), one, [other])
            terms = _flat(terms_under(book.match(*asked), one))
            names = dict(zip((at.name for at in one.attributes), NAMES, strict=True))
            for key in ("excluded", "ask", "always", "by_kind", "coarse"):
                terms[key] = {names[name] for name in terms[key]}
            for key in ("sensitivity", "guards"):
                terms[key] = {names[name]: weight for name, weight in terms[key]}
            pairs = (
                (sorted(map(names.__getitem__, some)), bits) for some, bits in terms["together"]
            )
            found.append(terms | {"together": sorted(pairs)})
    assert found == found[:1] * 4


def test_a_rule_on_a_kind_is_for_each_of_its_facts() -> None:
    """A guard on what is counted by shares withholds it; one on a region also its towns."""
    model = judged_model()
    text = 'traits = { disclose = "auto", guard = 1 }\ndiet = "ask"\nregion = { guard = 2 }\n'
    book = rulebook(read(f"{NO_PRESET}[attributes]\n{text}", "test", preset), model, [])
    terms = terms_under(book.match("shop.example", "", TODAY), model)
    assert terms.excluded == {"traits", "traits_2", "traits_3", "town"}
    assert terms.ask == {"diet"}
    assert terms.guards == (("region", 2.0),)


@pytest.mark.parametrize("word", ["never", "ask"])
def test_what_hangs_on_a_fact_is_ruled_no_laxer(word: str) -> None:
    """By whichever model it does, and whichever decides; a rule on it opens what only waits."""
    income, seat, *rest = MODEL.attributes
    income = replace(income, implies={income.values[1]: {seat.name: seat.values[1]}})
    added = replace(MODEL, id="added", attributes=(income, seat, *rest))
    for deciding, other in ((added, MODEL), (MODEL, added), (OTHER, added)):
        names = dict(zip(NAMES, (each.name for each in deciding.attributes), strict=True))
        for rule, ruled in (("", word), (f"{seat.name} = 'auto'", {"ask": "auto"}.get(word, word))):
            policy = read(
                f"{NO_PRESET}[attributes]\n{income.name} = '{word}'\n{rule}", "test", preset
            )
            ruling = rulebook(policy, deciding, [other]).match("shop.example", "", TODAY)
            terms = terms_under(ruling, deciding)
            assert [terms.disclose(names[e.name]) for e in (income, seat)] == [word, ruled]
            assert {terms.disclose(names[each.name]) for each in rest} == {"auto"}


def test_what_rules_a_kind_by_what_it_tells_rules_its_facts_in_own_words() -> None:
    """All of them, and the one that a rule would open by its id; so does what is to be coarse."""
    model = with_own_facts(judged_model(), {"town": 1})
    fact = Fact(id="7", kind="town", words="by the sea", set_at=MONDAY)
    policy = read(f"{NO_PRESET}attributes = {{ region = 'never', '#7' = 'auto' }}", "test", preset)
    book = rulebook(policy, model, [model], [fact])
    terms = terms_under(book.match("a.example", "", TODAY), model)
    assert terms.excluded == {"region", "town", "town_own"}
    assert terms.disclose("town_own", "7") == "never"
    book = rulebook(read(f"{NO_PRESET}attributes.town.coarse = true", "test", preset), model, [])
    assert terms_under(book.match("a.example", "", TODAY), model).excluded == {"town", "town_own"}


def test_what_costs_more_together_is_decided_and_said() -> None:
    """One of two facts pays for both where the recipient holds the other."""
    terms = terms_under(ruled('[[together]]\nfacts = ["region", "job"]\nprice = 3'), MODEL)
    assert terms.together == ((("job", "region"), 3.0),)
    held, request = Knowledge(codes=(("region", 1),)), Request("python today")
    free = replace(terms, together=())
    both, alone = (decide(request, each, held, MODEL) for each in (terms, free))
    (dear, plain) = ({e.name: e for e in each.outcomes}["job"] for each in (both, alone))
    assert (dear.cost_bits or 0.0) - (plain.cost_bits or 0.0) == pytest.approx(3)
    assert both.rules.keys() - alone.rules.keys() == {"Job with Region"}


def test_what_was_not_asked_about_never_leaves() -> None:
    """As where the rules were made ready for another model."""
    book = rulebook(read(f'{NO_PRESET}attributes.region = "ask"', "test", preset), MODEL, [])
    terms = terms_under(book.match("shop.example", "", TODAY), judged_model())
    assert terms.excluded == {e.name for e in judged_model().attributes} - {*NAMES}
    assert terms.ask == {"region"}


@pytest.mark.parametrize(
    ("text", "topics"),
    [
        ('topic = "what to cook?"', {DINNER: 1.0}),
        ('topic = "dinner"', {DINNER: 1.0}),
        ("mode = 'planned'", {}),
    ],
)
def test_a_query_is_read_where_a_rule_names_a_topic(text: str, topics: TopicProbabilities) -> None:
    """By the surest of several models, and else by none."""
    model, texts = judged_model(), list[str]()

    def reading(model: Model, query: str) -> Interpretation:
        texts.append(query)
        chance = 1.0 if len(texts) > 1 else 0.25
        return replace(model.read(query), candidates=(Candidate(0, chance),))

    policy = read(f"[[rule]]\n{text}\nk = 2\n", "test", preset)
    assert topics_of(policy, [model, model, model], reading, "quick dinner") == topics
    assert len(texts) == 3 * len(topics)
    assert topics_of(None, [model], reading, "quick dinner") == {}


def test_a_query_is_read_by_each_model_of_a_world() -> None:
    """Not by the surest alone, which knows nothing of the topics of the others."""
    policy = read('[[rule]]\ntopic = "dinner"\nk = 2\n', "test", preset)

    def reading(model: Model, query: str) -> Interpretation:
        if model.members:
            return model.surest([reading(each.model, query) for each in model.members])
        return Interpretation((Candidate(0, 0.5 if model.id == "judged" else 0.9),), 0.3)

    topics = topics_of(policy, [world_of([judged_model(), MODEL])], reading, "a text")
    assert topics[DINNER] == 0.5
    assert len(topics) == 2


def _flat(terms: Terms) -> dict[str, Any]:
    found = {each.name: getattr(terms, each.name) for each in fields(Terms)}
    limits = found.pop("limits")
    del found["ruling"]
    return found | {each.name: getattr(limits, each.name) for each in fields(Limits)}


@given(documents(), requests())
def test_what_is_ruled_arrives(document: dict[str, Any], asked: tuple[Any, ...]) -> None:
    """Every verdict, as it is; what nothing rules stays as it is without a policy."""
    ruling = Rulebook(read(rendered(document), "test", preset), known(*NAMES)).match(*asked)
    terms = terms_under(ruling, MODEL)
    found, default = _flat(terms), _flat(Terms())
    assert terms.trade_off == CROWD * float(ruling.settings["anonymity_price"].value)
    ruled = {name: verdict.value for name, verdict in ruling.settings.items()}
    ruled |= {"results": "send"} if ruled["nothing"] or ruling.kind == ASSISTANT else {}
    ruled["nothing"] = ruled["nothing"] or ruled["results"] == "rerank"
    for name in (*TERMS, *LIMITS):
        assert found[name] == ruled.get(name, default[name])
    assert terms.ruling is ruling
    values: dict[str, dict[str, Any]] = {
        name: {key: verdict.value for key, verdict in each.items()}
        for name, each in ruling.attributes.items()
    }
    guarded = {name: each["guard"] for name, each in values.items() if each.get("guard", 0) > 0}
    never = {name for name, each in values.items() if each["disclose"] == "never"}
    assert dict(terms.guards) == {name: w for name, w in guarded.items() if name != "hours"}
    assert terms.excluded == never | (guarded.keys() & {"hours"})
    assert terms.ask == {name for name, each in values.items() if each["disclose"] == "ask"}
    assert terms.always == {name for name, each in values.items() if each["disclose"] == "always"}
    assert dict(terms.sensitivity) == {
        name: each["sensitivity"] for name, each in values.items() if "sensitivity" in each
    }
