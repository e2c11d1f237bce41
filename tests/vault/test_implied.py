"""What hangs on a fact is set with it and goes with it, whatever its value is."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from agent.decision.values import Fact
from agent.model.file import decode, encode
from agent.model.model import Model
from agent.vault.profile import planned, values_of
from tests.decision.made import made_model
from tests.vault.histories import NOW
from tests.vault.values import model_of, new_id

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
BOTH = (LIFE, OTHER)
DRAWN = {name: st.sampled_from(values) for name, values in VALUES.items()}
GIVEN = st.fixed_dictionaries({}, optional=DRAWN)


STEPS = st.lists(st.dictionaries(st.sampled_from([*VALUES]), st.booleans()), max_size=5)


def after(
    facts: Sequence[Fact],
    given_: Mapping[str, str],
    unset: Sequence[str] = (),
    models: Sequence[Model] = BOTH,
) -> tuple[Fact, ...]:
    """Return the facts after a change."""
    return planned(facts, given_, unset, models, NOW, new_id)


@given(STEPS, st.sampled_from([BOTH, (LIFE,), (OTHER, LIFE)]), st.data())
def test_which_facts_are_set_depends_on_no_value(
    steps: list[Mapping[str, bool]], models: tuple[Model, ...], data: st.DataObject
) -> None:
    """Two people who set and unset the same names have set the same, at every moment.

    Also where a file has lost a value since.
    """
    people: list[tuple[Fact, ...]] = [(), ()]
    lost = model("life", VALUES | {"region": VALUES["region"][:2]})
    for names in steps:
        gone = [name for name, set_ in names.items() if not set_]
        for at, own in enumerate(people):
            given_ = {name: data.draw(DRAWN[name]) for name in names if name not in gone}
            people[at] = after(own, given_, gone, models)
        one, two = ({each.kind for each in own} for own in people)
        assert one == two
    one, two = ({each.kind for each in after(own, {}, (), [lost, OTHER])} for own in people)
    assert one == two


@given(GIVEN, GIVEN, st.sets(st.sampled_from([*VALUES])))
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


@given(GIVEN, st.randoms(use_true_random=False), st.permutations(BOTH))
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


@given(GIVEN, st.sampled_from(["work", "age"]), st.data())
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
    """And a file without it opens; one that cannot be is refused."""
    made = made_model(2, people=3, queries=1)
    one, two = made.attributes[:2]
    value, other = one.values[1], two.values[1]
    implying = replace(one, implies={value: {two.name: other}})
    read = decode(encode(replace(made, attributes=(implying, *made.attributes[1:]))))
    assert read.attributes[0].implies == {value: {two.name: other}}
    assert b"implies" not in encode(made)
    assert decode(encode(made)).attributes[0].implies == {}
