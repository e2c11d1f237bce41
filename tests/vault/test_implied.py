"""What hangs on a fact is set with it and goes with it, whatever its value is."""

from collections.abc import Mapping
from dataclasses import replace

from hypothesis import assume, given
from hypothesis import strategies as st

from agent.model.file import decode, encode
from agent.model.model import Model
from agent.vault.profile import Profile, Values, planned
from tests.decision.made import made_model
from tests.vault.doubles import MemoryStore
from tests.vault.values import change, model_of

VALUES = {
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


LIFE = model("life", VALUES)
OTHER = model(
    "other",
    {"student": VALUES["student"][:-1], "work": VALUES["work"], "region": VALUES["region"]},
    implying=False,
)
AGES = model("ages", {"age": VALUES["age"]}, implying=False)
BOTH = (LIFE, OTHER)
DRAWN = {name: st.sampled_from(values) for name, values in VALUES.items()}
GIVEN = st.fixed_dictionaries({}, optional=DRAWN)


Step = tuple[Mapping[str, bool], bool]  # which names are set or unset; whether that replaces all
STEPS = st.lists(
    st.tuples(st.dictionaries(st.sampled_from([*VALUES]), st.booleans()), st.booleans()),
    max_size=5,
)


def life(*changes: Mapping[str, str], unset: tuple[str, ...] = ()) -> dict[str, str]:
    """Return the values of the first model after changes, and then unsetting."""
    values: Values = {}
    for each in changes:
        values = planned(values, each, (), BOTH)
    return planned(values, {}, unset, BOTH).get("life", {}) if unset else values.get("life", {})


@given(STEPS, st.sampled_from([BOTH, (LIFE,), (OTHER,)]), st.data())
def test_which_facts_are_set_depends_on_no_value(
    steps: list[Step], models: tuple[Model, ...], data: st.DataObject
) -> None:
    """Two people who set and unset the same names have set the same, at every moment.

    Also where a model is installed in the end, and where a file has lost a value since.
    """
    people = [Profile(MemoryStore()), Profile(MemoryStore())]
    lost = model("life", VALUES | {"region": VALUES["region"][:2]})
    for names, replacing in steps:
        gone = [name for name, set_ in names.items() if not set_]
        for own in people:
            given_ = {name: data.draw(DRAWN[name]) for name in names if name not in gone}
            change(
                own, given_, gone, BOTH if models == BOTH else (LIFE,), models, replace=replacing
            )
        assert people[0].names(LIFE) == people[1].names(LIFE)
        assert people[0].names(OTHER) == people[1].names(OTHER)
    for own in people:
        own.follow([lost, OTHER])
    assert people[0].names(LIFE) == people[1].names(LIFE)
    assert people[0].names(OTHER) == people[1].names(OTHER)


@given(GIVEN, GIVEN, st.sets(st.sampled_from([*HANGS_ON])))
def test_what_an_older_version_left_unset_is_set_once(
    one: dict[str, str], two: dict[str, str], unset: set[str]
) -> None:
    """It set what hangs on a fact by its value: then too no name tells the value.

    What the user unsets afterwards stays unset, at every unlocking.
    """
    assume({HANGS_ON.get(name, name) for name in one} == {HANGS_ON.get(name, name) for name in two})
    found = []
    for own in (one, two):
        facts = {HANGS_ON.get(name, name): name for name in own}
        old = {name: own.get(name, VALUES[name][1]) for name in facts}
        for by in facts:
            old |= IMPLIES.get(by, {}).get(old[by], {})
        profile = Profile(MemoryStore())
        profile.keep({"life": old})
        profile.follow(BOTH)
        assert profile.values()["life"].items() >= old.items() if old else True
        found.append(profile.names(LIFE))
        change(profile, {}, sorted(unset & profile.names(LIFE)), BOTH)
        profile.follow(BOTH)
        assert profile.names(LIFE) == found[-1] - unset
    assert found == found[:1] * 2


@given(GIVEN, GIVEN, st.sets(st.sampled_from([*VALUES])))
def test_a_change_changes_what_it_names_and_what_hangs_on_that(
    before: dict[str, str], given_: dict[str, str], unset: set[str]
) -> None:
    """Against a computation by the table; what is named stays as it is stated."""
    gone = sorted(unset - given_.keys())
    values = planned({}, before, (), BOTH)
    then = values.get("life", {})
    expected = {n: v for n, v in then.items() if n not in gone} | given_
    for name, by in HANGS_ON.items():
        past, now = (IMPLIES[by].get(own.get(by, ""), {}) for own in (then, given_))
        if name in given_ or name in gone:
            continue
        if by in gone and by in then:
            expected.pop(name, None)
        elif by in given_ and (name in now or then.get(name) in (None, past.get(name))):
            expected[name] = now.get(name, "unspecified")
    after = planned(values, given_, gone, BOTH)
    assert after.get("life", {}) == expected
    assert planned(after, given_, gone, BOTH) == after
    assert planned(values, given_, (), BOTH, replace=True) == planned({}, given_, (), BOTH)


@given(GIVEN, st.randoms(use_true_random=False), st.permutations(BOTH))
def test_no_order_matters(given_: dict[str, str], random: object, models: list[Model]) -> None:
    """Neither of the facts nor of the models; one by one they come to the same."""
    names = sorted(given_)
    random.shuffle(names)  # type: ignore[attr-defined]  # Hypothesis draws a Random
    whole = planned({}, given_, (), BOTH)
    assert planned({}, {name: given_[name] for name in names}, (), models) == whole
    ordered = sorted(names, key=lambda name: name in HANGS_ON)
    assert life(*({name: given_[name]} for name in ordered)) == whole.get("life", {})


@given(GIVEN, st.sampled_from(["work", "age"]), st.data())
def test_unsetting_undoes(before: dict[str, str], name: str, data: st.DataObject) -> None:
    """Where what hangs on it was not set before."""
    kept = {n: v for n, v in before.items() if n != name and HANGS_ON.get(n) != name}
    assert life(kept, {name: data.draw(DRAWN[name])}, unset=(name,)) == life(kept)


def test_what_the_user_states_stands() -> None:
    """Afterwards or at once, whatever follows, and in every model; until what follows changes."""
    for changes in ([{"age": "old"}, {"student": "yes"}], [{"student": "yes", "age": "old"}]):
        values: Values = {}
        for each in changes:
            values = planned(values, each, (), BOTH)
        assert values == {"life": {"age": "old", "student": "yes"}, "other": {"student": "yes"}}
    values = planned(values, {"age": "young"}, (), BOTH)
    assert values["life"] == {"age": "young", "student": "yes"}
    assert planned(values, {"age": "old"}, (), BOTH)["life"]["student"] == "not_asked"
    profile = Profile(MemoryStore())
    change(profile, {"student": "yes", "age": "old"}, (), [OTHER, AGES])
    profile.follow([LIFE, AGES, OTHER])
    assert profile.values()["life"] == {"age": "old", "student": "yes"}


def test_models_that_know_the_fact_follow() -> None:
    """One that lacks the value has it unspecified, and is set; so is what hangs on it there."""
    values = planned({}, {"age": "old"}, (), BOTH)
    assert values["other"] == {"student": "unspecified"}
    told = planned({}, {"work": "unemployed"}, (), [OTHER], others=[LIFE])
    assert told == {"life": {"work": "unemployed", **NO_JOB}, "other": {"work": "unemployed"}}
    profile = Profile(MemoryStore())
    change(profile, {"work": "unemployed"}, (), [OTHER])
    profile.follow(BOTH)
    assert profile.values() == told


def test_what_a_model_does_not_know_any_more_stays() -> None:
    """A value, or an attribute, of an older file of that name."""
    stale = {"life": {"gone": "x", "region": "atlantis"}}
    after = planned(stale, {"work": "unemployed"}, (), BOTH)
    assert after["life"] == stale["life"] | {"work": "unemployed"} | NO_JOB
    assert after["other"] == {"region": "unspecified", "work": "unemployed"}


def test_a_file_keeps_what_follows() -> None:
    """And a file without it opens; one that cannot be is refused."""
    made = made_model(2, people=3, queries=1)
    one, two = made.attributes[:2]
    value, other = one.values[1], two.values[1]
    implying = replace(one, implies={value: {two.name: other}})
    read = decode(encode(replace(made, attributes=(implying, *made.attributes[1:]))))
    assert read.attributes[0].implies == {value: {two.name: other}}
    assert b"implies" not in encode(made)
    assert decode(encode(made)).attributes[0].implies == {}
