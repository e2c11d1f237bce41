"""What follows from a fact is set with it, and goes with it."""

from collections.abc import Mapping
from dataclasses import replace

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from agent.errors import UsageError
from agent.model.file import decode, encode
from agent.model.model import Model
from agent.vault.profile import Values, implied_by, planned
from tests.decision.made import made_model
from tests.vault.values import model_of

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
GIVEN = st.fixed_dictionaries({}, optional={n: st.sampled_from(v) for n, v in VALUES.items()})


def following(given_: Mapping[str, str]) -> dict[str, str]:
    """Return what follows from values, by the table above."""
    found: dict[str, str] = {}
    for name, by in HANGS_ON.items():
        then = IMPLIES[by].get(given_.get(by, ""), {})
        found |= {name: then[name]} if name in then else {}
    return found


def agree(before: Mapping[str, str], given_: Mapping[str, str]) -> bool:
    """Say whether what is given contradicts nothing that will be set."""
    then = following({**before, **given_})
    return all(given_.get(n, v) in (v, "unspecified") for n, v in then.items())


def life(*changes: Mapping[str, str], unset: tuple[str, ...] = ()) -> dict[str, str]:
    """Return the values of the first model after changes, and then unsetting."""
    values: Values = {}
    for each in changes:
        values = planned(values, each, (), BOTH)
    return planned(values, {}, unset, BOTH).get("life", {}) if unset else values.get("life", {})


@given(GIVEN)
def test_what_follows_is_set_and_nothing_else_is(given_: dict[str, str]) -> None:
    """Values that were given stay; a contradiction is refused by names, without a value."""
    if agree({}, given_):
        assert life(given_) == {**following(given_), **given_}
        return
    with pytest.raises(UsageError) as caught:
        life(given_)
    this, _, by = caught.value.what.split()
    assert HANGS_ON[this] == by
    hint = f"leave out {this}, which follows from {by}, or change {by} too"
    assert (caught.value.what, caught.value.hint) == (f"{this} contradicts {by}", hint)


@given(GIVEN, GIVEN)
def test_a_change_changes_what_it_names_and_what_hangs_on_that(
    before: dict[str, str], given_: dict[str, str]
) -> None:
    """Against a computation by the table: what followed goes, what follows comes."""
    assume(agree({}, before))
    then = life(before)
    assume(agree(then, given_))
    expected = dict(then)
    for name, by in HANGS_ON.items():
        if by in given_ and then.get(name) == following(then).get(name, ""):
            expected.pop(name, None)
    new = following(given_)
    expected |= new | given_
    assert life(before, given_) == expected


@given(GIVEN, GIVEN)
def test_the_same_change_again_changes_nothing(
    before: dict[str, str], given_: dict[str, str]
) -> None:
    """Idempotent."""
    assume(agree({}, before) and agree(life(before), given_))
    assert life(before, given_, given_) == life(before, given_)


@given(GIVEN, st.randoms(use_true_random=False), st.permutations(BOTH))
def test_no_order_matters(given_: dict[str, str], random: object, models: list[Model]) -> None:
    """Neither of the facts nor of the models; one by one they come to the same."""
    assume(agree({}, given_))
    names = sorted(given_)
    random.shuffle(names)  # type: ignore[attr-defined]  # Hypothesis draws a Random
    whole = planned({}, given_, (), BOTH)
    assert planned({}, {name: given_[name] for name in names}, (), models) == whole
    if "unspecified" not in given_.values():
        ordered = sorted(names, key=lambda name: name in HANGS_ON)
        assert life(*({name: given_[name]} for name in ordered)) == whole.get("life", {})


@given(GIVEN, st.sampled_from(["work", "age"]), st.data())
def test_unsetting_undoes(before: dict[str, str], name: str, data: st.DataObject) -> None:
    """Where what hangs on it was not set before; and so does a value that implies nothing."""
    kept = {n: v for n, v in before.items() if n != name and HANGS_ON.get(n) != name}
    assume(agree({}, kept))
    value = data.draw(st.sampled_from(VALUES[name]))
    assert life(kept, {name: value}, unset=(name,)) == life(kept)
    plain = VALUES[name][1]
    assert life(kept, {name: value}, {name: plain}) == life(kept, {name: plain})


@given(GIVEN, GIVEN)
def test_what_is_replaced_is_as_if_it_were_the_first(
    before: dict[str, str], given_: dict[str, str]
) -> None:
    """With `replace` nothing of what was set before plays a part."""
    assume(agree({}, before) and agree({}, given_))
    values = planned({}, before, (), BOTH)
    assert planned(values, given_, (), BOTH, replace=True) == planned({}, given_, (), BOTH)


def test_models_that_know_the_fact_follow() -> None:
    """One that lacks the value has it unspecified, and is set."""
    values = planned({}, {"age": "old"}, (), BOTH)
    assert values["other"] == {"student": "unspecified"}
    assert planned(values, {"age": "young"}, (), BOTH) == {"life": {"age": "young"}}
    told = planned({}, {"work": "unemployed"}, (), [OTHER], others=[LIFE])
    assert told == {"life": {"work": "unemployed", **NO_JOB}, "other": {"work": "unemployed"}}


def test_what_is_set_already_is_contradicted_by_no_later_change() -> None:
    """Whoever finds a job says so first, or both at once."""
    with pytest.raises(UsageError, match="hours contradicts work"):
        life({"work": "unemployed"}, {"hours": "full_time"})
    both = {"work": "employed", "hours": "full_time"}
    assert life({"work": "unemployed"}, both) == both
    assert life({"hours": "full_time"}, {"work": "unemployed"}) == {
        "work": "unemployed",
        **NO_JOB,
    }


def test_what_a_model_does_not_know_any_more_stays() -> None:
    """A value, or an attribute, of an older file of that name."""
    stale = {"life": {"gone": "x", "region": "atlantis"}}
    after = planned(stale, {"work": "unemployed"}, (), BOTH)
    assert after["life"] == stale["life"] | {"work": "unemployed"} | NO_JOB
    assert implied_by({"work": "retired"}, LIFE) == {}


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
