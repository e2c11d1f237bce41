"""What a text means as a mixture of known queries: the laws of DESIGN.md 2.9 for decisions."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import chain, permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import structs

from agent.decision.cache import Cache
from agent.decision.choice import choice_of, planned, uses_of, utility_of
from agent.decision.context import Context, Limits, Terms, prepare
from agent.decision.decide import decide as decide_context
from agent.decision.knowledge import EPOCH, Holdings, Knowledge
from agent.decision.values import Decision, Request
from agent.model.model import Model
from agent.model.reading import LEAST, MOST, NOTHING, Candidate, Interpretation
from agent.tradeoff.objective import DisclosureObjective
from agent.tradeoff.utility import Function
from tests.decision.made import CARDS, NAMES, PERSONS, World, made_model, worlds
from tests.decision.transcripts import Person, Step, holds

CACHE = Cache()

TEXT = "what might that be"
MANY = made_model(3, queries=5)
FEW = made_model(4, queries=2)
SETS = range(1 << len(CARDS))
PLANNED = Terms(mode="planned", trade_off=0.05)


def reading(shares: dict[int, float], threshold: float = 0.0) -> Interpretation:
    """Return the reading with these probabilities by query, the surest first."""
    pairs = sorted(shares.items(), key=lambda pair: (-pair[1], pair[0]))
    candidates = tuple(Candidate(*pair) for pair in pairs)
    sure = bool(candidates) and candidates[0].probability >= threshold
    return Interpretation(candidates[0].query if sure else None, candidates, threshold)


@st.composite
def readings(draw: st.DrawFn, queries: int = len(MANY.queries)) -> Interpretation:
    """Draw a sure reading among the first queries of a model."""
    some = draw(st.lists(st.integers(0, queries - 1), min_size=1, max_size=MOST, unique=True))
    parts = draw(st.lists(st.integers(1, 6), min_size=len(some), max_size=len(some)))
    whole = sum(parts) + draw(st.integers(0, 4))
    shares = {query: part / whole for query, part in zip(some, parts, strict=True)}
    return reading({query: share for query, share in shares.items() if share >= LEAST})


def decided(text: Interpretation, terms: Terms, model: Model = MANY, **more: object) -> Decision:
    """Return the decision about a text that is read so."""
    given_ = {"knowledge": Knowledge(), **more}
    return decide_context(Context(Request(TEXT), terms, model=model, reading=text, **given_))  # type: ignore[arg-type]


@given(readings())
def test_a_text_is_worth_what_its_queries_are(text: Interpretation) -> None:
    """Against the sum over the candidates, for every set; what is none of them adds nothing."""
    found = utility_of(text, MANY, CACHE)
    parts = [(each.probability, uses_of(each.query, MANY, CACHE)) for each in text.candidates]
    for mask in SETS:
        assert found.value(mask) == pytest.approx(sum(p * u.value(mask) for p, u in parts))
        assert found.value(mask) <= found.limit + 1e-12
        others = [each for each in range(len(CARDS)) if not mask >> each & 1]
        bounds = found.potentials(mask, others)
        assert all(found.value(max(SETS)) <= bound + 1e-9 for bound in bounds)
        for each, bits in zip(others, found.extensions(mask, others), strict=True):
            assert bits == pytest.approx(found.value(mask | 1 << each), abs=1e-12)


@given(worlds())
def test_a_certain_reading_is_the_query_itself(world: World) -> None:
    """Bit for bit, and what is remembered for the one is taken for the other."""
    model, query = world.model, world.model.texts.find(world.request.query)
    if query is None:
        return
    exact = Interpretation.exact(query)
    assert utility_of(exact, model, CACHE) is uses_of(query, model, CACHE)
    told = replace(world.context(), reading=exact)
    assert decide_context(told) == world.decided()


@given(readings(), st.sampled_from(["maxprob", "log-maxprob"]), st.integers(0, 3))
def test_the_best_set_is_that_of_the_mixture(text: Interpretation, metric: str, most: int) -> None:
    """Against every set, with an objective that was made from the sum itself."""
    limits = Limits(attributes_per_request=most)
    terms = Terms(trade_off=0.3, metric=metric, algorithm="exhaustive", limits=limits)  # type: ignore[arg-type]
    case = prepare(Context(Request(TEXT), terms, Knowledge(), MANY, reading=text))
    parts = [(each.probability, uses_of(each.query, MANY, CACHE)) for each in text.candidates]
    plain = DisclosureObjective(
        Function(lambda mask: sum(p * u.value(mask) for p, u in parts)),
        case.anonymity_set,
        case.settings,
    )
    best = max(plain.value(mask) for mask in SETS if plain.feasible(mask))
    found = decided(text, terms)
    assert found.figures.objective == pytest.approx(best, abs=1e-9)
    assert plain.value(choice_of(case).result.mask) == pytest.approx(best, abs=1e-9)


@settings(max_examples=25)
@given(mode=st.sampled_from(["dynamic", "planned"]), text=readings())
def test_the_order_of_the_candidates_does_not_matter(mode: str, text: Interpretation) -> None:
    """But for the first, which is the surest, they are a set."""
    terms, first = Terms(mode=mode, trade_off=0.05), text.candidates[0]  # type: ignore[arg-type]
    asked = Knowledge(queries=((0, 1.5), (3, 4.0)))
    found = decided(text, terms, knowledge=asked)
    for others in permutations(text.candidates[1:]):
        again = decided(replace(text, candidates=(first, *others)), terms, knowledge=asked)
        assert structs.replace(again, readings=found.readings) == found


@given(readings(2))
def test_an_unsure_reading_discloses_nothing(text: Interpretation) -> None:
    """Whatever its candidates are, it is as if there were none."""
    unsure = replace(text, query=None)
    found, none = decided(unsure, Terms(), FEW), decided(NOTHING, Terms(), FEW)
    assert (found.code, found.disclosed, found.read_as) == ("unknown query", (), None)
    assert structs.replace(found, readings=()) == none


@given(readings())
def test_a_plan_is_for_what_the_text_may_mean(text: Interpretation) -> None:
    """Each candidate counts with its probability towards what the recipient was asked."""
    case = prepare(Context(Request(TEXT), PLANNED, Knowledge(), MANY, reading=text))
    shares = planned(case, 0).shares
    assert {*shares} == {each.query for each in text.candidates}
    certain = [Knowledge(queries=((each.query, each.probability),)) for each in text.candidates]
    for each, held in zip(text.candidates, certain, strict=True):
        request = Context(Request(TEXT), PLANNED, held, MANY, reading=text)
        assert planned(prepare(request), 0).shares[each.query] > shares[each.query]


@given(st.lists(readings(), max_size=9), st.randoms())
def test_what_was_asked_counts_by_probability_in_any_order(
    asked: list[Interpretation], shuffler: object
) -> None:
    """All that each text may have meant; one of 0.4 and one of 0.6 are as one that was certain."""
    other = asked[:]
    shuffler.shuffle(other)  # type: ignore[attr-defined]
    found = []
    for each in (asked, other):
        holdings: Holdings[int] = Holdings()
        for text in each:
            holdings.add_query("example.org", text)
        holdings.add_query("example.org", Interpretation(None, (Candidate(1, 0.4),)))
        found.append(holdings.knowledge(EPOCH).queries)
    assert found[0] == found[1]
    wanted = Counter[int]()
    for candidate in chain.from_iterable(text.candidates for text in asked):
        wanted[candidate.query] += candidate.probability  # type: ignore[assignment]
    assert dict(found[0]) == pytest.approx(dict(wanted))


@given(readings(), st.data())
def test_what_a_text_does_not_mean_is_no_candidate(
    text: Interpretation, data: st.DataObject
) -> None:
    """The others stay as they are; the next is meant only where it is sure enough by itself."""
    threshold = data.draw(st.floats(LEAST, 1.0))
    gone = data.draw(st.sets(st.integers(0, len(MANY.queries) - 1)))
    text = reading({each.query: each.probability for each in text.candidates}, threshold)
    left = text.without(gone)
    assert left.candidates == tuple(each for each in text.candidates if each.query not in gone)
    assert left.without(gone) == left
    assert (left.query is None) == (
        not left.candidates or left.candidates[0].probability < threshold
    )
    assert Interpretation.exact(2).without({2}) == NOTHING


STREAM: Sequence[Interpretation] = (
    reading({0: 0.7, 1: 0.2}),
    reading({1: 0.5}),
    Interpretation(None, (Candidate(1, 0.4),)),
    Interpretation.exact(0),
    reading({1: 0.45, 0: 0.35}),
)


@pytest.mark.parametrize("mode", ["dynamic", "planned", "standing"])
@pytest.mark.parametrize("seed", [1, 2])
def test_what_is_left_out_says_nothing_however_texts_are_read(mode: str, seed: int) -> None:
    """The theorem of DESIGN.md 2.6, as an equality of sets: a reading depends on the text alone."""
    model = made_model(seed, people=30)
    terms = Terms(trade_off=0.05, mode=mode, limits=Limits(k=2))  # type: ignore[arg-type]

    decisions: dict[tuple[int, Knowledge], Decision] = {}

    def transcript(person: Person) -> list[Step]:
        values = dict(zip(NAMES, (*person, 1), strict=True))
        known, asked, steps = Knowledge(), Counter[int](), list[Step]()
        for place, each in enumerate(STREAM):
            if (place, known) not in decisions:
                decisions[place, known] = decided(each, terms, model, knowledge=known)
            decision = decisions[place, known]
            codes = {name: values[name] for name in decision.disclosed}
            steps.append(Step(decision.code, decision.disclosed, tuple(codes.values())))
            known = known.with_facts(
                {name: codes[name] for name in codes if name in NAMES[:PERSONS]}
            )
            for meant in each.meant if codes else ():
                asked[meant.query] += meant.probability  # type: ignore[assignment]
            known = replace(known, queries=tuple(sorted(asked.items())))
        return steps

    people = sorted({tuple(row) for row in model.population.codes.tolist()})
    assert holds({person: transcript(person) for person in people})
