"""The profile: facts, and what texts do not mean."""

from collections.abc import Iterable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from agent.decision.context import Context, Limits, Terms
from agent.decision.knowledge import Knowledge
from agent.decision.values import Fact, FactTerms, Request
from agent.errors import DamagedVaultError, UsageError, VaultError, VaultVersionError
from agent.model.model import Model
from agent.model.reading import DIMENSIONS, NOTHING, Interpretation, normalise, spelling
from agent.vault import profile
from agent.vault.backup import restore
from agent.vault.profile import CORRECTIONS, ITEM, STOPS, Correction, Corrections, Profile, planned
from agent.vault.secrets import Secret
from agent.vault.vault import Vault, unlock
from agent.vault.vault_files import Location
from tests.decision.made import made_model
from tests.model.examples import judged_model
from tests.vault.doubles import MemoryStore
from tests.vault.histories import NOW
from tests.vault.values import change, model_of, new_id, own_values, sexes
from tests.vault.worlds import PASSPHRASE
from tests.worlds.people import Memory

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


def test_a_stop_that_is_not_written_is_none() -> None:
    """Nothing is sent in its place: whoever asked for it fails."""
    profile = Profile(store := MemoryStore())
    store.full = True
    with pytest.raises(VaultError):
        stop(profile, "shop.example")
    assert profile.stops == ()


@pytest.mark.parametrize("payload", [b"", b"{}", b"[{}]", b'[{"site":"a.example"}]', b"\xff"])
def test_damaged_stops_are_refused(payload: bytes) -> None:
    """Never read as none: then more would be told."""
    store = MemoryStore()
    store.put(STOPS, payload)
    with pytest.raises(DamagedVaultError):
        Profile(store)


def _of_model(values: dict[str, str], model: Model) -> dict[str, str]:
    own = {each.name for each in model.attributes}
    return {name: value for name, value in values.items() if name in own}


def _stored(facts: Iterable[Fact]) -> Profile:
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
    assert found == {name: _of_model(mine, ONE).get(name, "unspecified") for name in names}


@given(GIVEN, GIVEN)
def test_which_attributes_are_set_says_nothing_of_their_values(
    mine: dict[str, str], theirs: dict[str, str]
) -> None:
    """A value "unspecified" is one, and so is one that the model lacks."""
    profile = profile_of(**mine)
    names = profile.names(ONE)
    assert names == _of_model(mine, ONE).keys()
    assert profile.codes(ONE) == {n: VALUES[n].index(v) for n, v in _of_model(mine, ONE).items()}
    other = profile_of(**{name: theirs.get(name, value) for name, value in mine.items()})
    assert other.names(ONE) == names
    later = model_of({"age": ("unspecified", "new"), "region": REGION}, name="one")
    assert other.names(later) == names


def test_nothing_private_is_shown() -> None:
    """Neither a value nor a name."""
    profile = profile_of(age="old", region="uk")
    assert repr([profile]) == "[Profile(2 facts)]"
    assert "old" not in repr(profile.facts)


def test_a_profile_that_cannot_be_read_is_damage() -> None:
    """It is said at once, without a quotation."""
    no_kind, other = (msgspec.structs.replace(FACT, kind=kind) for kind in ("", "region"))
    no_zone = msgspec.structs.replace(FACT, set_at=NOW.replace(tzinfo=None))
    facts = map(msgspec.json.encode, ([no_kind], [FACT, other], [no_zone]))
    for payload in (b"", b"{", b"{}", b'[{"kind": "age"}]', b"\xff", b"[" * 99_999, *facts):
        store = MemoryStore()
        store.put(ITEM, payload)
        with pytest.raises(DamagedVaultError, match=r": the profile cannot be read$"):
            Profile(store)


def test_what_a_newer_version_stores_is_neither_lost_nor_damage() -> None:
    """Fields are kept; facts without a value, or two of a kind, are refused with a hint."""
    terms = FactTerms(share=0.01, relevance={"dinner": 0.5}, vector=b"\x00\x01")
    whole = msgspec.structs.replace(FACT, words="for ten years", short="ten years", terms=terms)
    profile = _stored([whole])
    assert profile.facts == (whole,)
    assert planned(profile.facts, {"region": "uk"}, (), BOTH, NOW, new_id)[0] == whole
    for more in (msgspec.structs.replace(whole, value=None), msgspec.structs.replace(FACT, id="2")):
        with pytest.raises(VaultVersionError, match="newer") as caught:
            _stored([whole, more] if more.value else [more])
        assert "install a newer reticent" in caught.value.hint


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
    assert _stored([fact]).reveal(["gender"], one) == {"gender": "other"}
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


TEXTS = st.sampled_from(["Jobs", "job!", "ＪＯＢＳ", "sport", "a b", "a-  B", "?!", "C#"])
NAMES_CORRECTIONS = st.sampled_from(["one", "two"])
SECRET = "divorce lawyer zqxj"  # noqa: S105  (what was searched)


@given(st.lists(st.tuples(TEXTS, *[NAMES_CORRECTIONS] * 2, st.booleans() | st.none()), max_size=12))
def test_what_is_kept_is_what_was_said_last(said: list[tuple[str, str, str, bool | None]]) -> None:
    """Against a plain dict by spelling and query; None takes back. Read afresh it is the same.

    A text means one query at most, and whether it does is said of it once, whatever the model.
    """
    items = Memory()
    kept, wanted = Corrections(items), dict[tuple[str, str], bool]()
    vector = np.linspace(-0.1, 0.1, DIMENSIONS, dtype=np.float32)
    for text, model, query, means in said:
        spelt = spelling(text)
        if means is None:
            kept.replace(text, ())
            wanted = {key: each for key, each in wanted.items() if key[0] != spelt}
            continue
        new = wanted.get((spelt, query)) is not means
        assert kept.add(text, model, query, means=means, place=vector) == new
        if new and means:
            wanted = {key: each for key, each in wanted.items() if not each or key[0] != spelt}
        wanted[spelt, query] = means
    for one in (kept, Corrections(items)):
        assert {(e.text, e.query): e.means for e in one.kept} == wanted
        for each in ("JOBS", "sport", "A B", "?!", "c"):
            found = {q: means for (t, q), means in wanted.items() if t == spelling(each)}
            assert {e.query: e.means for e in one.of(each)} == found
    for correction in kept.kept:
        assert np.abs(np.frombuffer(correction.vector, "<f2") - vector).max() < 1e-4
    assert (items.get(CORRECTIONS) is None) == (not wanted)


def test_the_nearest_text_counts_most() -> None:
    """A place of another encoder, or of another size, is near to none."""
    items, model = Memory(), made_model(1, queries=2)
    queries = [each.text for each in model.queries]

    def place(angle: float) -> NDArray[np.float32]:
        return np.array([np.cos(angle), np.sin(angle), *[0] * (DIMENSIONS - 2)], np.float32)

    kept = Corrections(items, [model])
    for text, query, means, angle in (
        ("a", 0, True, 0.0),
        ("b", 1, True, 0.5),
        ("c", 0, False, 0.9),
    ):
        kept.add(text, model.id, queries[query], means=means, place=place(angle))

    def read(angle: float, text: str = "zqxj") -> Interpretation:
        return Corrections(items, [model]).apply(NOTHING, text, model, place(angle))

    assert [read(angle).query for angle in (0.1, 0.4, 0.6, 1.4, 2.0)] == [0, 1, 1, None, None]
    assert read(0.2).candidates[0].probability == pytest.approx(np.cos(0.2), abs=2e-3)
    assert [read(angle, "A").certain for angle in (0.1, 0.5, 2.0)] == [0, 0, 0]
    stored = msgspec.json.decode(items.get(CORRECTIONS) or b"")
    for change_ in ({"encoder": "0.1"}, {"vector": "AAAA"}, {"vector": ""}):
        items.put(CORRECTIONS, msgspec.json.encode([each | change_ for each in stored]))
        assert (read(0.1), read(0.1, "A").certain) == (NOTHING, 0)


def test_what_an_older_vault_holds_counts() -> None:
    """It kept texts as they are normalised, and was told that one is not read so."""
    items = Memory()
    old = [
        Correction(text=normalise(text), model="one", query="work")
        for text in ("Photo editors", "photo editor")
    ]
    items.put(CORRECTIONS, msgspec.json.encode(old))
    kept = Corrections(items)
    assert [each.query for each in kept.of("photo editors")] == ["work"]
    assert not kept.add("PHOTO EDITOR", "one", "work")
    kept.replace("Photo editors", ())
    assert kept.kept == frozenset()


@pytest.mark.parametrize("limit", ["MOST_CORRECTIONS", "MAX_ITEM_BYTES"])
def test_a_full_list_takes_no_more(monkeypatch: pytest.MonkeyPatch, limit: str) -> None:
    """One sentence says so, and what was kept stays."""
    items = Memory()
    kept = Corrections(items)
    kept.add("jobs", "one", "work")
    monkeypatch.setattr(profile, limit, 1 if limit == "MOST_CORRECTIONS" else 70)
    with pytest.raises(UsageError, match="no room for more than 1 corrected texts"):
        kept.add("sport", "one", "sport")
    assert Corrections(items).of("jobs") == kept.of("jobs") != []
    assert Corrections(items).of("sport") == kept.of("sport") == []


def test_it_is_sealed_and_part_of_a_backup(vault: Vault, at: Location, tmp_path: Path) -> None:
    """No file has the text; a copy of the vault has the correction."""
    kept = Corrections(vault.items)
    kept.add(SECRET, "one", "law")
    assert SECRET not in repr(kept.of(SECRET))
    copy = tmp_path / "copy.db"
    vault.backup(copy)
    vault.close()
    for path in filter(Path.is_file, tmp_path.rglob("*")):
        for text in (SECRET, "zqxj"):
            assert text.encode() not in path.read_bytes(), path
    with unlock(at, Secret("passphrase", PASSPHRASE)) as again:
        assert [each.query for each in Corrections(again.items).of(SECRET.upper())] == ["law"]
    at.vault.unlink()
    at.witness.unlink(missing_ok=True)
    restore(at, copy, Secret("passphrase", PASSPHRASE))
    with unlock(at, Secret("passphrase", PASSPHRASE)) as back:
        assert [each.query for each in Corrections(back.items).of(SECRET)] == ["law"]
