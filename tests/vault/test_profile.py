"""The profile, and the file that it is exported to."""

import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.decision.locale import LOCALE
from agent.decision.values import Fact, FactTerms
from agent.errors import DamagedVaultError, UsageError, VaultError, VaultVersionError
from agent.model.concepts import Concepts
from agent.model.file import decode, encode, read, shipped_models
from agent.model.model import Model
from agent.vault.profile import ITEM, Profile, planned, profile_toml, read_profile, values_of
from tests.decision.made import made_model
from tests.vault.doubles import MemoryStore
from tests.vault.histories import NOW
from tests.vault.values import change, model_of, new_id, own_values, sexes

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
    """Return a profile with these values."""
    profile = Profile(MemoryStore())
    change(profile, values, (), BOTH)
    return profile


def of_model(values: dict[str, str], model: Model) -> dict[str, str]:
    """Return the values whose attributes a model has."""
    own = {each.name for each in model.attributes}
    return {name: value for name, value in values.items() if name in own}


def stored(facts: Iterable[Fact]) -> Profile:
    """Return the profile that is read from these facts."""
    store = MemoryStore()
    store.put(ITEM, msgspec.json.encode([*facts]))
    return Profile(store)


@given(GIVEN, GIVEN, st.sets(st.sampled_from(NAMES)))
def test_a_change_changes_what_it_names(
    before: dict[str, str], given_: dict[str, str], unset: set[str]
) -> None:
    """And whoever opens the vault later finds the same; what did not change keeps its time."""
    store = MemoryStore()
    profile = Profile(store)
    change(profile, before, (), BOTH)
    old = {each.kind: each for each in profile.facts}
    gone = sorted(unset - given_.keys())
    later = NOW + timedelta(days=1)
    profile.keep(planned(profile.facts, given_, gone, BOTH, later, new_id))
    after = {name: value for name, value in before.items() if name not in unset} | given_
    assert own_values(profile) == after
    assert Profile(store).facts == profile.facts
    for fact in profile.facts:
        same = before.get(fact.kind) == fact.value
        assert fact.set_at == (NOW if same else later)
        assert fact.kind not in old or fact.id == old[fact.kind].id
    assert len({each.id for each in profile.facts}) == len(profile.facts)


@pytest.mark.parametrize(("given_", "unset", "said"), FAULTS)
def test_all_or_nothing(given_: dict[str, str], unset: tuple[str, ...], said: str) -> None:
    """One thing that does not fit, and nothing is changed."""
    profile = profile_of(age="young")
    with pytest.raises(UsageError) as caught:
        change(profile, {"job": "clerk"} | given_, unset, BOTH)
    assert said in f"{caught.value.what} {caught.value.hint}"
    assert own_values(profile) == {"age": "young"}


def test_a_full_disk_changes_nothing() -> None:
    """What is in memory is what is in the file."""
    store = MemoryStore()
    profile = Profile(store)
    change(profile, {"age": "old"}, (), BOTH)
    store.full = True
    with pytest.raises(VaultError):
        change(profile, {"age": "young"}, (), BOTH)
    assert own_values(profile) == own_values(Profile(store)) == {"age": "old"}


@given(GIVEN, GIVEN, st.permutations((*NAMES, "hours", "height")))
def test_what_is_revealed_is_what_was_asked(
    mine: dict[str, str], theirs: dict[str, str], names: list[str]
) -> None:
    """The same names in the same order for everybody, whatever is set, and a value for each."""
    found = profile_of(**mine).reveal(names, ONE)
    assert list(found) == list(profile_of(**theirs).reveal(names, ONE)) == names
    assert found == {name: of_model(mine, ONE).get(name, "unspecified") for name in names}


@given(GIVEN, GIVEN)
def test_which_attributes_are_set_says_nothing_of_their_values(
    mine: dict[str, str], theirs: dict[str, str]
) -> None:
    """A value "unspecified" is one, and so is one that the model lacks."""
    profile = profile_of(**mine)
    names = profile.names(ONE)
    assert names == of_model(mine, ONE).keys()
    assert profile.codes(ONE) == {n: VALUES[n].index(v) for n, v in of_model(mine, ONE).items()}
    other = profile_of(**{name: theirs.get(name, value) for name, value in mine.items()})
    assert other.names(ONE) == names
    later = model_of({"age": ("unspecified", "new"), "region": REGION}, name="one")
    assert other.names(later) == names


def test_a_model_that_lost_a_value_is_told_nothing() -> None:
    """Its file was replaced by another of the same id: revealing still cannot fail."""
    profile = profile_of(age="old", region="uk")
    later = model_of({"age": ("unspecified", "young"), "region": REGION}, name="one")
    assert profile.reveal(["age", "region"], later) == {"age": "unspecified", "region": "uk"}
    assert profile.codes(later) == {"age": 0, "region": 1}


def test_nothing_private_is_shown() -> None:
    """Neither a value nor a name."""
    profile = profile_of(age="old", region="uk")
    assert repr([profile]) == "[Profile(2 facts)]"
    assert "old" not in repr(profile.facts)


@pytest.mark.parametrize(
    "payload",
    [
        b"",
        b"{",
        b"{}",
        b'[{"kind": "age"}]',
        b"\xff",
        b"[" * 99_999,
        msgspec.json.encode([msgspec.structs.replace(FACT, kind="")]),
        msgspec.json.encode([FACT, msgspec.structs.replace(FACT, kind="region")]),
        msgspec.json.encode([msgspec.structs.replace(FACT, set_at=NOW.replace(tzinfo=None))]),
    ],
)
def test_a_profile_that_cannot_be_read_is_damage(payload: bytes) -> None:
    """It is said at once, without a quotation."""
    store = MemoryStore()
    store.put(ITEM, payload)
    with pytest.raises(DamagedVaultError, match=r": the profile cannot be read$"):
        Profile(store)


def test_what_a_newer_version_stores_is_neither_lost_nor_damage() -> None:
    """Fields are kept; facts without a value, or two of a kind, are refused with a hint."""
    terms = FactTerms(share=0.01, relevance={"dinner": 0.5}, vector=b"\x00\x01")
    whole = msgspec.structs.replace(FACT, words="for ten years", short="ten years", terms=terms)
    profile = stored([whole])
    assert profile.facts == (whole,)
    assert planned(profile.facts, {"region": "uk"}, (), BOTH, NOW, new_id)[0] == whole
    for more in (
        msgspec.structs.replace(whole, value=None),
        msgspec.structs.replace(FACT, id="2"),
    ):
        with pytest.raises(VaultVersionError, match="newer") as caught:
            stored([whole, more] if more.value else [more])
        assert "install a newer reticent" in caught.value.hint


@given(GIVEN)
def test_what_is_exported_can_be_imported(values: dict[str, str]) -> None:
    """And it says on top what it is."""
    text = profile_toml(profile_of(**values).facts, Concepts(BOTH))
    assert text.startswith("# Your profile")
    assert tomllib.loads(text) == values
    assert read_profile(text.encode(), BOTH) == values


def test_a_table_holds_the_names_of_its_model() -> None:
    """As older versions exported; what one model lacks is unspecified there, and gives way."""
    one, two = sexes()
    text = b'\xef\xbb\xbf[one]\ngender = "other"\n[two]\nsex = "unspecified"\n'
    assert read_profile(text, (two, one)) == {"sex": "one:other"}
    with pytest.raises(UsageError, match="has two values"):
        read_profile(b'one.gender = "male"\ntwo.sex = "female"', (two, one))


@pytest.mark.parametrize(
    ("text", "what", "hint"),
    [
        (b"region = ", "not valid TOML", "write lines such as"),
        (b"\xff", "not valid TOML", "write lines such as"),
        (b"a = " + b"[" * 50_000, "not valid TOML", "write lines such as"),
        (b".".join([b"a"] * 5_000) + b' = "b"', "unknown attribute", "known: "),
        (b'regoin = "uk"', "unknown attribute 'regoin'", "'region'?"),
        (b'region = "UK"', "unknown value of region 'UK'", "'uk'?"),
        (b'region = "italy"', "unknown value of region 'italy'", "known: "),
        (b"region = true", "the value of region is not text", "quotes"),
        (b'[region]\nx = "uk"', "unknown attribute 'region.x'", "'region'?"),
        (b'hours = "yes"', "hours changes with every request", "leave it out"),
        (b'[one]\nregoin = "uk"', "unknown attribute 'one.regoin'", "'region'?"),
    ],
)
def test_a_mistake_is_named(text: bytes, what: str, hint: str) -> None:
    """Before anything of the file counts."""
    with pytest.raises(UsageError) as caught:
        read_profile(text, BOTH)
    assert what in caught.value.what
    assert hint in caught.value.hint


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
    assert stored([fact]).reveal(["gender"], one) == {"gender": "other"}
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


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        (b'region = "western_europe"', "so2017.region"),
        (b'region = "midwest"', "atus.region"),
        (b'atus.region = "midwest"', "atus.region"),
        (b'gender = "female"', "sex"),
        (b'country = "de"', "country"),
    ],
)
def test_the_shipped_models_share_names(line: bytes, kind: str) -> None:
    """A file with a name of both is read by its values."""
    models = [*map(read, shipped_models()), LOCALE]
    region = models[1].attributes[models[1].index("region")].values[-1]
    values = read_profile(line.replace(b"western_europe", region.encode()), models)
    assert [*values] == [kind]
    assert [*values_of(planned((), values, (), models, NOW, new_id))] == [kind]


IMPLYING = {
    "work": ("unspecified", "employed", "unemployed", "not_working"),
    "hours": ("unspecified", "full_time", "part_time", "no_job"),
    "employer": ("unspecified", "private", "no_job"),
    "age": ("unspecified", "young", "old"),
    "student": ("unspecified", "no", "yes", "not_asked"),
    "region": ("unspecified", "south", "west"),
}
NO_JOB = {"hours": "no_job", "employer": "no_job"}
IMPLIES: Mapping[str, Mapping[str, Mapping[str, str]]] = {
    "work": {"unemployed": NO_JOB, "not_working": NO_JOB},
    "age": {"old": {"student": "not_asked"}},
}
HANGS_ON = {"hours": "work", "employer": "work", "student": "age"}


def model(name: str, values: Mapping[str, tuple[str, ...]], *, implying: bool = True) -> Model:
    """Return a model whose attributes are one fact with those of its name elsewhere."""
    made = model_of(values, name=name)
    attributes = (
        replace(each, implies=IMPLIES.get(each.name, {}) if implying else {})
        for each in made.attributes
    )
    return replace(made, attributes=tuple(attributes))


LIFE = model("life", IMPLYING)
OTHER = model(
    "other",
    {"student": IMPLYING["student"][:-1], "work": IMPLYING["work"], "region": IMPLYING["region"]},
    implying=False,
)
LIVES = (LIFE, OTHER)
DRAWN = {name: st.sampled_from(values) for name, values in IMPLYING.items()}
LIFE_VALUES = st.fixed_dictionaries({}, optional=DRAWN)


STEPS = st.lists(st.dictionaries(st.sampled_from([*IMPLYING]), st.booleans()), max_size=5)


def after(
    facts: Sequence[Fact],
    given_: Mapping[str, str],
    unset: Sequence[str] = (),
    models: Sequence[Model] = LIVES,
) -> tuple[Fact, ...]:
    """Return the facts after a change."""
    return planned(facts, given_, unset, models, NOW, new_id)


@given(STEPS, st.sampled_from([LIVES, (LIFE,), (OTHER, LIFE)]), st.data())
def test_which_facts_are_set_depends_on_no_value(
    steps: list[Mapping[str, bool]], models: tuple[Model, ...], data: st.DataObject
) -> None:
    """Two people who set and unset the same names have set the same, at every moment.

    Also where a file has lost a value since.
    """
    people: list[tuple[Fact, ...]] = [(), ()]
    lost = model("life", IMPLYING | {"region": IMPLYING["region"][:2]})
    for names in steps:
        gone = [name for name, set_ in names.items() if not set_]
        for at, own in enumerate(people):
            given_ = {name: data.draw(DRAWN[name]) for name in names if name not in gone}
            people[at] = after(own, given_, gone, models)
        one, two = ({each.kind for each in own} for own in people)
        assert one == two
    one, two = ({each.kind for each in after(own, {}, (), [lost, OTHER])} for own in people)
    assert one == two


@given(LIFE_VALUES, LIFE_VALUES, st.sets(st.sampled_from([*IMPLYING])))
def test_a_change_changes_what_it_names_and_what_hangs_on_that(
    before: dict[str, str], given_: dict[str, str], unset: set[str]
) -> None:
    """Against a computation by the table; what is named stays as it is stated."""
    gone = sorted(unset - given_.keys())
    facts = after((), before)
    then = values_of(facts)
    expected = {n: v for n, v in then.items() if n not in gone} | given_
    for name, by in HANGS_ON.items():
        past, now = (IMPLIES[by].get(own.get(by, ""), {}) for own in (then, given_))
        if name in given_ or name in gone:
            continue
        if by in gone and by in then:
            expected.pop(name, None)
        elif by in given_ and (name in now or then.get(name) in (None, past.get(name))):
            expected[name] = now.get(name, "unspecified")
    changed = after(facts, given_, gone)
    assert values_of(changed) == expected
    assert after(changed, given_, gone) == changed


@given(LIFE_VALUES, st.randoms(use_true_random=False), st.permutations(LIVES))
def test_no_order_matters(given_: dict[str, str], random: object, models: list[Model]) -> None:
    """Neither of the facts nor of the models; one by one they come to the same."""
    names = sorted(given_)
    random.shuffle(names)  # type: ignore[attr-defined]  # Hypothesis draws a Random
    whole = values_of(after((), given_))
    assert values_of(after((), {name: given_[name] for name in names}, (), models)) == whole
    facts: tuple[Fact, ...] = ()
    for name in sorted(names, key=lambda name: name in HANGS_ON):
        facts = after(facts, {name: given_[name]})
    assert values_of(facts) == whole


@given(LIFE_VALUES, st.sampled_from(["work", "age"]), st.data())
def test_unsetting_undoes(before: dict[str, str], name: str, data: st.DataObject) -> None:
    """Where what hangs on it was not set before."""
    kept = after((), {n: v for n, v in before.items() if n != name and HANGS_ON.get(n) != name})
    assert after(after(kept, {name: data.draw(DRAWN[name])}), {}, [name]) == kept


def test_what_the_user_states_stands() -> None:
    """Afterwards or at once, whatever follows, until what follows changes."""
    for changes in ([{"age": "old"}, {"student": "yes"}], [{"student": "yes", "age": "old"}]):
        facts: tuple[Fact, ...] = ()
        for each in changes:
            facts = after(facts, each)
        assert values_of(facts) == {"age": "old", "student": "yes"}
    facts = after(facts, {"age": "young"})
    assert values_of(facts) == {"age": "young", "student": "yes"}
    assert values_of(after(facts, {"age": "old"}))["student"] == "not_asked"


def test_a_file_keeps_what_follows() -> None:
    """And an attribute that implies nothing implies nothing when read."""
    made = made_model(2, people=3, queries=1)
    one, two = made.attributes[:2]
    value, other = one.values[1], two.values[1]
    implying = replace(one, implies={value: {two.name: other}})
    read = decode(encode(replace(made, attributes=(implying, *made.attributes[1:]))))
    assert read.attributes[0].implies == {value: {two.name: other}}
    assert decode(encode(made)).attributes[0].implies == {}
