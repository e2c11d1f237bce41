"""The profile: facts by kind and in own words, and stops."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.decision.context import Context, Limits, Terms
from agent.decision.knowledge import Knowledge
from agent.decision.values import Fact, FactTerms, Request
from agent.errors import DamagedVaultError, UsageError, VaultError
from agent.model.model import Model
from agent.vault import profile
from agent.vault.profile import ITEM, STOPS, Profile, planned, with_own_words
from agent.vault.store import MAX_ITEM_BYTES
from tests.model.examples import judged_model
from tests.vault.doubles import MemoryStore
from tests.vault.histories import NOW
from tests.vault.values import change, facts_of, model_of, new_id, own_values, sexes

AGE = ("unspecified", "young", "old")
REGION = ("unspecified", "uk", "france")
HOURS = {"hours": ("unspecified", "no", "yes")}
ONE = model_of({"age": AGE, "region": REGION}, HOURS, name="one")
TWO = model_of({"region": (*REGION, "spain"), "job": ("unspecified", "clerk")}, HOURS, name="two")
BOTH = (ONE, TWO)
NAMES = ("age", "region", "job")
VALUES = {"age": AGE, "region": REGION, "job": ("unspecified", "clerk")}
GIVEN = st.fixed_dictionaries({}, optional={n: st.sampled_from(v) for n, v in VALUES.items()})
FAULTS: tuple[tuple[dict[str, str], tuple[str, ...], str], ...] = (
    ({"region": "italy"}, (), "unknown value of region 'italy'"),
    ({"region": "UK"}, (), "did you mean 'uk'?"),
    ({"regoin": "uk"}, (), "did you mean 'region'?"),
    ({"hours": "yes"}, (), "hours changes with every request"),
    ({}, ("hours",), "hours changes with every request"),
    ({}, ("ag",), "did you mean 'age'?"),
    ({"age": "old"}, ("age",), "age is both set and unset"),
    ({"age": "old", "one.age": "young"}, (), "one.age has two values"),
)
FACT = Fact(id="1", kind="age", value="old", set_at=NOW)


def profile_of(**values: str) -> Profile:
    profile = Profile(MemoryStore())
    change(profile, values, (), BOTH)
    return profile


def stop(profile: Profile, site: str, limits: str = "k = 9") -> None:
    request = Request("q", f"www.{site}")
    profile.stop(("age", "hours"), Context(request, Terms(), Knowledge(), ONE), NOW, limits)


def stopped(profile: Profile, limits: str = "k = 9") -> list[str]:
    return [each.site for each in profile.in_force(limits)]


def test_a_stop_holds_until_the_facts_or_the_limits_change() -> None:
    """And again once they are as they were; it is in the vault, and lifted by site."""
    profile = profile_of(age="old", region="uk")
    assert stopped(profile) == []
    stop(profile, "shop.example")
    stop(profile, "ads.test")
    before, both = profile.facts, ["shop.example", "ads.test"]
    assert stopped(Profile(profile._records)) == stopped(profile) == both  # noqa: SLF001  (what a vault opens again)
    assert {(each.at, each.model, each.names) for each in profile.stops} == {(NOW, "one", ("age",))}
    assert stopped(profile, "k = 8") == []
    change(profile, {"region": "france"}, (), BOTH)
    assert stopped(profile) == []
    profile.keep(before)
    assert stopped(profile) == both
    profile.lift("ads.test".__eq__)
    assert stopped(profile) == ["shop.example"]
    change(profile, {"region": "france"}, (), BOTH)
    stop(profile, "books.example")
    profile.keep(before)
    assert stopped(profile) == []  # the older one went
    assert [each.site for each in profile.stops] == ["books.example"]


def _of_model(values: dict[str, str], model: Model) -> dict[str, str]:
    own = {each.name for each in model.attributes}
    return {name: value for name, value in values.items() if name in own}


WORK = model_of({"work": ("unspecified", "no", "yes"), "job": ("unspecified", "none", "clerk")})
WORKING = replace(
    WORK,
    attributes=(replace(WORK.attributes[0], implies={"no": {"job": "none"}}), WORK.attributes[1]),
)
STATED = st.fixed_dictionaries(
    {}, optional={each.name: st.sampled_from(each.values) for each in WORK.attributes}
)


@given(STATED, STATED)
def test_two_facts_that_cannot_be_are_refused(
    before: dict[str, str], given_: dict[str, str]
) -> None:
    """Stated together, or one against another that stands; what hangs on it gives way to it."""
    profile = Profile(MemoryStore())
    cannot_be = {"work": "no", "job": "clerk"}
    if before == cannot_be:
        return
    change(profile, before, (), [WORKING])
    stood = own_values(profile)
    wrong = given_ == cannot_be or (given_ == {"job": "clerk"} and stood.get("work") == "no")
    if not wrong:
        change(profile, given_, (), [WORKING])
        assert {**own_values(profile), **cannot_be} != own_values(profile)
        return
    with pytest.raises(UsageError, match=r"the values of '\w+' and '\w+' cannot both be") as error:
        change(profile, given_, (), [WORKING])
    assert "clerk" not in f"{error.value.what} {error.value.hint}"
    assert own_values(profile) == stood


@pytest.mark.parametrize(("given_", "unset", "said"), FAULTS)
def test_all_or_nothing(given_: dict[str, str], unset: tuple[str, ...], said: str) -> None:
    """One thing that does not fit, and nothing is changed."""
    profile = profile_of(age="young")
    with pytest.raises(UsageError) as caught:
        change(profile, {"job": "clerk"} | given_, unset, BOTH)
    assert said in f"{caught.value.what} {caught.value.hint}"
    assert own_values(profile) == {"age": "young"}


def test_a_fact_by_shares_may_be_rare() -> None:
    """Among nine people one in ten is vegan, and half are calm."""
    model, profile = judged_model(), Profile(MemoryStore())
    change(profile, {"diet": "vegan", "traits": "calm"}, (), [model])
    names = [each.name for each in model.attributes]
    assert profile.rarest(model, Limits(k=3), names) == ("diet",)
    assert profile.rarest(model, Limits(k=3), ["traits"]) == ()


def test_a_full_disk_changes_nothing() -> None:
    """What is in memory is what is in the file; nothing is sent in place of a stop, either."""
    profile = Profile(store := MemoryStore())
    change(profile, {"age": "old"}, (), BOTH)
    store.full = True
    with pytest.raises(VaultError):
        change(profile, {"age": "young"}, (), BOTH)
    with pytest.raises(VaultError):
        stop(profile, "shop.example")
    for each in (profile, Profile(store)):
        assert (own_values(each), each.stops) == ({"age": "old"}, ())


@given(GIVEN, GIVEN, st.permutations((*NAMES, "hours", "height")))
def test_what_is_revealed_is_what_was_asked(
    mine: dict[str, str], theirs: dict[str, str], names: list[str]
) -> None:
    """The same names in the same order for everybody, whatever is set, and a value for each."""
    profile, own = profile_of(**mine), _of_model(mine, ONE)
    found = profile.reveal(names, ONE)
    assert list(found) == list(profile_of(**theirs).reveal(names, ONE)) == names
    assert found == {name: own.get(name, "unspecified") for name in names}
    assert profile.codes(ONE) == {name: VALUES[name].index(value) for name, value in own.items()}
    later = model_of({"age": ("unspecified", "new"), "region": REGION}, name="one")
    assert profile.names(ONE) == profile.names(later) == own.keys()  # also of values that it lacks


def damage() -> Iterator[tuple[str, bytes]]:
    """Yield items of one fact, and payloads that this never writes there."""
    for item in (ITEM, STOPS, "terms/1"):
        yield from ((item, payload) for payload in (b"", b"{", b"\xff", b"[" * 99_999, b"[{}]"))
    yield from ((ITEM, b"{}"), (ITEM, b'[{"kind": "age"}]'))
    yield from ((STOPS, b"{}"), (STOPS, b'[{"site":"a.example"}]'))
    no_zone = NOW.replace(tzinfo=None)
    for odd in ({"kind": ""}, {"set_at": no_zone}, {"value": None}):
        yield ITEM, msgspec.json.encode([msgspec.structs.replace(FACT, **odd)])
    for other in ({"id": "2"}, {"kind": "region"}):  # two values of a kind, two of an id
        yield ITEM, msgspec.json.encode([FACT, msgspec.structs.replace(FACT, **other)])
    for closed in ({"vector": "?"}, {"relevance": {"a": 2}}, {"share": 0}):
        yield "terms/1", msgspec.json.encode({"1": closed})
    yield "terms/1", b'{"2":{}}'  # of no fact


def test_what_cannot_be_read_is_damage() -> None:
    """Never read as nothing: then more would be sent. It is said at once, without a quotation."""
    for item, payload in damage():
        store = MemoryStore()
        store.put(ITEM, msgspec.json.encode([FACT]))
        store.put(item, payload)
        with pytest.raises(DamagedVaultError, match=r": (the profile|its stops) cannot be read$"):
            Profile(store)


SHARES = st.none() | st.floats(1e-9, 1)
OWN_TERMS = st.builds(
    FactTerms,
    share=SHARES,
    sensitivity=SHARES,
    relevance=st.dictionaries(st.sampled_from(["dinner", "pets"]), st.floats(0, 1)),
    vector=st.binary(max_size=8),
)
OWN_FACTS = st.lists(
    st.builds(
        Fact,
        id=st.text(st.sampled_from("19af"), min_size=1, max_size=3),
        kind=st.sampled_from(["age", "job", "hobbies"]),
        words=st.text(min_size=1, max_size=20),
        short=st.none() | st.text(max_size=5),
        set_at=st.just(NOW),
        terms=st.none() | OWN_TERMS,
    ),
    unique_by=lambda each: each.id,
    max_size=9,
)


@given(OWN_FACTS, OWN_FACTS, GIVEN)
def test_facts_in_own_words_are_kept_as_they_are(
    first: list[Fact], second: list[Fact], given_: dict[str, str]
) -> None:
    """Several of a kind, with closed terms or none, whatever was there before; one has a value.

    Whoever opens the vault later finds the same; values and names do not depend on them.
    """
    store = MemoryStore()
    profile = Profile(store)
    profile.keep(first)
    valued = facts_of(**given_)
    second = [each for each in second if each.id not in given_]
    profile.keep([*second, *valued])
    again = Profile(store)
    assert again.facts == profile.facts
    assert {each.id: each for each in again.facts} == {each.id: each for each in (*second, *valued)}
    assert own_values(again) == given_
    assert again.names(ONE) == _of_model(given_, ONE).keys()
    words = {each.id: each.words for each in second}
    assert again.words(["gone", *words, *given_]) == words
    later = planned(again.facts, {"region": "uk"}, ["age"], BOTH, NOW, new_id)
    assert [e for e in later if e.value is None] == [e for e in again.facts if e.value is None]
    assert repr([again]) == f"[Profile({len(again.facts)} facts)]"
    private = (each for each in (*words.values(), *given_.values()) if each)
    assert not any(len(each) > 2 and each in repr(again.facts) for each in private)


def test_two_thousand_facts_have_room() -> None:
    """With the longest words and vectors of both encoders; what has none leaves all as it was."""
    store, terms = MemoryStore(), FactTerms(relevance={f"t{n:02}": 0.5 for n in range(20)})
    terms = msgspec.structs.replace(terms, vector=bytes(4 * 896), share=0.01, sensitivity=0.3)
    facts = [
        Fact(id=f"{n:016x}"[::-1], kind="hobbies", words="\u20ac" * 300, set_at=NOW, terms=terms)
        for n in range(profile.MOST_FACTS)
    ]
    mine = Profile(store)
    mine.keep(facts)
    assert len(Profile(store).facts) == profile.MOST_FACTS
    more = msgspec.structs.replace(facts[0], id="more")
    with pytest.raises(UsageError, match="no room for more than 2,000 facts"):
        mine.keep([*facts, more])
    long = msgspec.structs.replace(more, words="\u20ac" * MAX_ITEM_BYTES)
    with pytest.raises(UsageError, match="no room"):
        mine.keep([long])
    assert len(Profile(store).facts) == len(mine.facts) == profile.MOST_FACTS
    mine.keep(facts[:1])
    assert [name for name in store.names() if name.startswith("terms/")] == ["terms/0"]


def own(kind: str, words: str, value: str | None = None) -> Fact:
    return Fact(id="", kind=kind, value=value, words=words, set_at=NOW)


def test_a_listed_value_in_own_words_is_the_value_of_its_kind() -> None:
    """With what follows from it; another one keeps its words, and makes room."""
    facts = with_own_words((), [own("work", "I retired", "no")], [WORKING], NOW, new_id)
    assert {(e.kind, e.value, e.words) for e in facts} == {
        ("work", "no", "I retired"),
        ("job", "none", None),
    }
    [retired] = (each for each in facts if each.words)
    more = [own("work", "back at work", "yes"), own("work", "still at work", "yes")]
    facts = with_own_words(facts, more, [WORKING], NOW + timedelta(days=1), new_id)
    assert [(e.value, e.words) for e in facts if e.kind == "work"] == [
        ("yes", "back at work"),
        (None, "I retired"),
        (None, "still at work"),
    ]
    assert [each.id for each in facts if each.words == "I retired"] == [retired.id]
    assert len({each.id for each in facts}) == len(facts)
    facts = planned(facts, {"work": "no"}, (), [WORKING], NOW, new_id)
    assert "back at work" not in {each.words for each in facts}
    with pytest.raises(UsageError, match="unknown value of work"):
        with_own_words((), [own("work", "words", "maybe")], [WORKING], NOW, new_id)


def test_values_of_a_kind_with_several_facts_take_its_places() -> None:
    """Each its own; what is in words already is a fact in own words alone."""
    model = judged_model()
    one, two = next(each.values[1:3] for each in model.attributes if each.name == "traits")
    new = [own("traits", f"I am {n}", each) for n, each in enumerate((one, two, one))]
    facts = with_own_words((), new, [model], NOW, new_id)
    assert [(e.kind, e.value, e.words) for e in facts] == [
        ("traits", one, "I am 0"),
        ("traits_2", two, "I am 1"),
        ("traits", None, "I am 2"),
    ]


@given(
    st.sampled_from(["female", "male", "other", "unspecified"]),
    st.sampled_from(["gender", "sex", "one.gender", "two.sex"]),
    st.permutations(sexes()),
)
def test_a_fact_is_stored_once(value: str, name: str, models: list[Model]) -> None:
    """Whatever it is called, every model has it; one that lacks the value has it unspecified."""
    profile = Profile(MemoryStore())
    change(profile, {name: value}, (), models)
    one, two = sorted(models, key=lambda model: model.id)
    assert [each.kind for each in profile.facts] == ["sex"]
    assert profile.reveal(["gender"], one) == {"gender": value}
    assert profile.reveal(["sex"], two) == {"sex": "unspecified" if value == "other" else value}
    change(profile, {}, [name], models)
    assert profile.facts == ()


def test_a_fact_of_a_model_that_is_gone_can_be_unset() -> None:
    """It is not in the way, and is used again once a model knows it by any name it had."""
    fact = Fact(id="1", kind="one.gender", value="one:other", set_at=NOW)
    one, _ = sexes()
    profile = Profile(MemoryStore())
    profile.keep([fact])
    assert profile.reveal(["gender"], one) == {"gender": "other"}
    assert planned([fact], {"age": "old"}, ["one.gender"], [ONE], NOW, new_id)[0].kind == "age"


def test_one_name_never_means_two_facts() -> None:
    """The value decides, then the order of the models; MODEL.NAME means exactly one."""
    world, states = (
        model_of({"region": ("unspecified", *values)}, name=name)
        for name, values in (("world", ("asia", "west")), ("states", ("south", "west")))
    )
    states = replace(states, attributes=(replace(states.attributes[0], concept="states.region"),))
    models, profile = (world, states), Profile(MemoryStore())
    change(profile, {"region": "west"}, (), models)
    assert own_values(profile) == {"region": "west"}
    change(profile, {"region": "south"}, (), models)
    assert own_values(profile) == {"region": "west", "states.region": "south"}
    change(profile, {"states.region": "west"}, ["world.region"], models)
    assert own_values(profile) == {"states.region": "west"}
    change(profile, {}, ["region"], models)
    assert profile.facts == ()
