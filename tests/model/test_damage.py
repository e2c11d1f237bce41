"""A model's file that is damaged or forged is refused, or opens as something usable."""

import json
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from safetensors.numpy import load, save

from agent.decision.cache import Cache
from agent.errors import DamagedModelError, ModelError, VersionError
from agent.model import content, file
from agent.model.content import stamped
from agent.model.file import decode, encode
from agent.model.model import Model
from tests.model.examples import judged_model, own_words_model, reading_model, same, small_model

MODEL = small_model()
DATA = encode(MODEL)
RICH = encode(reading_model())  # with all that a file may have
TOPICS, OWN_WORDS = encode(judged_model()), encode(own_words_model())
FLIPS = (0x01, 0x20, 0x80, 0xFF)  # the lowest bit, the case of a letter, the highest bit, all

Edit = Callable[[dict[str, Any]], object]
Tensors = dict[str, NDArray[Any]]


def header(data: bytes) -> bytes:
    return data[8 : 8 + int.from_bytes(data[:8], "little")]


def respoken(data: bytes, edit: Edit) -> bytes:
    """A model file with edited metadata and a digest that fits again."""
    metadata = json.loads(json.loads(header(data))["__metadata__"]["reticent"])
    edit(metadata)
    return stamped(save(load(data), {"reticent": json.dumps(metadata, separators=(",", ":"))}))


def retensored(data: bytes, edit: Callable[[Tensors], object]) -> bytes:
    """A model file with edited tensors and a digest that fits again."""
    tensors = {name: tensor.copy() for name, tensor in load(data).items()}
    edit(tensors)
    metadata = json.loads(header(data))["__metadata__"]["reticent"]
    return stamped(save(tensors, {"reticent": metadata}))


def flipped(place: int, flip: int) -> bytes:
    """The file with some bits of one byte flipped."""
    return DATA[:place] + bytes([DATA[place] ^ flip]) + DATA[place + 1 :]


def refusal(data: bytes) -> ModelError | None:
    """The error with which a file is refused; any other error fails the test."""
    try:
        model = decode(data)
    except ModelError as error:
        refused = error
    else:
        use(model)
        return None
    assert refused.what
    assert refused.hint
    assert (refused.what + refused.hint).isprintable()
    return refused


def use(model: Model) -> None:
    """Touch everything in a model that a decision would."""
    assert Cache().mean_utility(model).value(1) == Cache().mean_utility(model).value(1)
    for index, query in enumerate(model.queries):
        assert model.texts.find(query.text) == index
    crowd = Cache().anonymity_set(model, [(0, 1)])
    every = (1 << len(model.attributes)) - 1
    for metric in ("maxprob", "log-maxprob", "entropy"):
        assert np.isfinite(crowd.identifiability(every, metric, 2))


def test_every_flipped_byte_is_refused() -> None:
    """Wherever it is, also within the digest and the filling of the header; itself it opens."""
    assert refusal(DATA) is refusal(RICH) is None
    opened = [(p, f) for p in range(len(DATA)) for f in FLIPS if refusal(flipped(p, f)) is None]
    assert opened == []


def test_only_a_part_of_the_file_can_be_verified() -> None:
    """Its place says which bytes it has, and a copy lies elsewhere."""
    opened = content.Content(DATA, {"near", "pairs", "prices", "weights"})
    for tensor in opened.tensors.values():
        opened.verify(tensor)
        with pytest.raises(ValueError, match="not a copy"):
            opened.verify(tensor.copy())


def test_every_truncation_is_refused() -> None:
    """After any number of bytes, also none; and so is whatever follows the whole."""
    assert [end for end in range(len(DATA)) if refusal(DATA[:end]) is None] == []
    for more in (b"\0", b" ", b"\n", DATA):
        assert isinstance(refusal(DATA + more), DamagedModelError)
        assert isinstance(refusal(stamped(DATA + more)), DamagedModelError)


def test_every_flipped_byte_under_a_forged_digest_is_refused_or_usable() -> None:
    """Somebody who means harm recomputes the digest; what opens can still be computed with."""
    places = range(0, len(DATA), 3)
    refused = [p for p in places for f in FLIPS[:2] if refusal(stamped(flipped(p, f)))]
    assert len(refused) > len(places) // 2


def test_a_header_cannot_claim_any_length() -> None:
    """Nothing is allocated on the word of the file; nesting ends in a sentence."""
    for length in (0, 1, len(DATA), 2**32, 2**63, 2**64 - 1):
        assert refusal(stamped(length.to_bytes(8, "little") + DATA[8:])) is not None
    deep = header(DATA).replace(b'"format\\":4,', b'"format\\":4,\\"x\\":' + b"[" * 100_000)
    data = stamped(len(deep).to_bytes(8, "little") + deep)
    assert "metadata" in str(refusal(data))
    for shape in (b"0" + b",1099511627776" * 2, b"2" + b",1" * 99, b"3"):
        wrong = header(DATA).replace(b'"shape":[2]', b'"shape":[' + shape + b"]")
        data = stamped(len(wrong).to_bytes(8, "little") + wrong + DATA[8 + len(header(DATA)) :])
        assert "do not fit their shapes" in str(refusal(data))


def test_another_version_and_another_kind_of_file() -> None:
    """The version is told before the digest is tested, which may be another one there."""
    for version in (3, 5, 999_999_999):
        error = refusal(DATA.replace(b'format\\":4,', f'format\\":{version},'.encode()))
        assert isinstance(error, VersionError)
        assert f"format {version}," in error.what
    for data in (b"", b"user,region\n", b"PK\x03\x04" * 99, b"\0" * 9999):
        assert isinstance(refusal(data), DamagedModelError)


def test_a_section_of_a_later_version_is_named() -> None:
    """Whatever else that version has put into the file."""

    def later(metadata: dict[str, Any]) -> None:
        metadata.update(sections=["near", "unit"], more=1)
        metadata["queries"][0].update(bits=0.5)

    error = refusal(respoken(DATA, later))
    assert isinstance(error, VersionError)
    assert "this version does not read: 'unit'" in error.what
    assert error.hint == "install a newer reticent"


def entry(part: str, place: int, **changes: object) -> Edit:
    return lambda metadata: metadata[part][place].update(changes)


attribute, query, kind = (partial(entry, part) for part in ("attributes", "queries", "kinds"))


def values(place: int, edit: Callable[[list[str]], object]) -> Edit:
    """An edit of the values of an attribute, and of their concepts."""
    names = ("values", "value_concepts")
    return lambda metadata: [edit(metadata["attributes"][place][each]) for each in names]


def without(*sections: str) -> Edit:
    return lambda metadata: metadata.update(sections=[*{*metadata["sections"]} - {*sections}])


def second_block(metadata: dict[str, Any]) -> None:
    metadata["donors"].append(metadata["donors"][0] | {"attributes": ["region"]})


def unjudged(metadata: dict[str, Any]) -> None:
    metadata.update(estimator="plugin", sections=["kinds", "weights"])
    for each in metadata["queries"]:
        del each["bits"]


METADATA: list[tuple[str, Edit]] = [
    ("it has an unknown member", lambda m: m.update(more=1)),
    ("licence is missing", lambda m: m.pop("licence")),
    ("id is not text", lambda m: m.update(id=1)),
    ("id is empty", lambda m: m.update(id="")),
    ("estimator is not one of the allowed values", lambda m: m.update(estimator="x")),
    ("control character", lambda m: m.update({"\x1b[2J\n": 1})),
    ("queries is empty", lambda m: m.update(queries=[])),
    ("attributes is empty", lambda m: m.update(attributes=[])),
    ("has an unknown member, or not every one", query(0, more=1)),
    ("has an unknown member, or not every one", lambda m: m["queries"][0].pop("title")),
    ("has an unknown member, or not every one", attribute(0, more=1)),
    ("control character", lambda m: m.update(source="\x1b[2J")),
    ("control character", query(1, text="c\n")),
    ("control character", lambda m: m["options"].update({"\x7f": 1})),
    ("control character", lambda m: m["validation"].update(a="\x85")),
    ("control character", attribute(0, concept="\n")),
    ("control character", attribute(0, value_concepts=["unspecified", None, "\n"])),
    ("control character", query(0, title="\n")),
    ("control character", lambda m: m.update(stands_for="\n")),
    ("does not match [a-z]", attribute(0, name="Region", refines=None)),
    ("has a value twice", attribute(0, values=["unspecified", "a", "a"])),
    ("two attributes named 'town'", attribute(0, name="town")),
    ("person attributes first", lambda m: m["attributes"].reverse()),
    ("person attributes first", lambda m: m.update(attributes=m["attributes"][2:])),
    ("which does not exist", attribute(1, refines="regio")),
    ("in a circle", attribute(0, refines="town")),
    ("concept 'town'", attribute(0, concept="town")),
    ("concept is empty", attribute(0, concept="")),
    ("a concept per value", attribute(0, value_concepts=["unspecified"])),
    ("'unspecified' another", attribute(0, value_concepts=["x", "y", "z"])),
    ("two values of one concept", attribute(0, value_concepts=["unspecified", "y", "y"])),
    ("an empty concept", attribute(0, value_concepts=["unspecified", None, ""])),
    ("title is empty", query(0, title="")),
    ("stands_for is empty", lambda m: m.update(stands_for="")),
    ("'python' twice", query(1, text=" PYTHON ")),
    ("without text", query(1, text="\u200b")),
    ("intent 'note' twice", query(1, intents=["note", "note", "x"])),
    ("shrinkage of 0", query(1, shrinkage=0)),
    ("shrinkage of 1e+10", query(1, shrinkage=1e10)),
    ("a shrinkage of -1", lambda m: m.update(estimator="plugin") or query(1, shrinkage=-1)(m)),
    ("query 'c' has no row, user or intent", query(1, rows=0)),
    ("query 'c' has no row, user or intent", query(1, users=0)),
    ("query 'c' has no row, user or intent", query(1, intents=[])),
    ("has an unknown member, or not every one", query(0, bits=1.0)),
    ("has an unknown member, or not every one", attribute(0, shared="")),
    ("the estimator of the model does not fit", lambda m: m.update(estimator="judged")),
    ("is over 4,294,967,296", query(1, rows=2**62)),
    ("of shape [6] instead of U8 or U16 or U32 of shape [7]", query(1, rows=3)),
    ("of shape [5] instead of", query(1, users=3)),
    ("'requests.counts' has 12 numbers, not 16", values(2, lambda each: each.append("x"))),
    ("'rows.intent' has 2 for query 'c', where the highest is 1", query(1, intents=["a", "b"])),
    ("'population.pairs' is F64 of shape [12] instead", values(1, list.pop)),
    ("spelling per phrasing", query(0, spellings=["a"])),
    ("the encoders of the model", lambda m: m["encoders"].update(more=m["encoders"]["topics"])),
    ("'attributes.prices' is unknown", lambda m: m["sections"].remove("prices")),
    ("with telepathy 0.2, and this", lambda m: m["encoders"]["topics"].update(name="telepathy")),
    ("encoder 0.1, and this", lambda m: m["encoders"]["topics"].update(version="0.1")),
    ("version is missing", lambda m: m["encoders"]["topics"].pop("version")),
    ("section 'head' without", lambda m: m["sections"].remove("reading")),
    ("section 'mixture' without", without("head", "reading")),
    (
        "'head.weights' is",
        lambda m: m.update(encoders={}) or without("head", "mixture", "reading")(m),
    ),
    ("with reticent-minilm 2, and this", lambda m: m["encoders"]["relevance"].update(version="2")),
    ("the encoders of the model are not", lambda m: m["encoders"].pop("topics")),
    ("control character", query(1, phrasings=["a\x1b"])),
    ("phrasings is empty", query(0, phrasings=["a", ""])),
    ("the donors of the model do not fit", lambda m: m.pop("donors")),
    ("'population.donors' is unknown", lambda m: m["sections"].remove("donors") or m.pop("donors")),
    ("donors is empty", lambda m: m.update(donors=[])),
    ("names 'twon', which is not a column", lambda m: m["donors"][0].update(attributes=["twon"])),
    ("names 'working_hours', which", lambda m: m["donors"][0].update(keys=["working_hours"])),
    ("'town' was drawn twice", lambda m: m["donors"][0].update(attributes=["town", "town"])),
    ("keys is empty", lambda m: m["donors"][0].update(keys=[])),
    ("of shape [1, 4] instead of U8 or U16 or U32 of shape [2, 4]", second_block),
]

JUDGED_METADATA: list[tuple[str, Edit]] = [
    ("the kinds of the model do not fit", lambda m: m.pop("kinds")),
    ("kinds is empty", lambda m: m.update(kinds=[])),
    ("are not those of its kinds", lambda m: m["kinds"].pop()),
    ("are not those of its kinds", kind(1, name="traits")),
    ("are not those of its kinds", kind(0, several=False, shares=[0.5, 0.5], given={})),
    ("are not those of its kinds", attribute(3, name="more", concept="more")),
    ("are not those of its kinds", values(5, list.pop)),
    ("columns before shares", attribute(5, shared="")),
    ("two attributes named 'region'", attribute(5, name="region")),
    (
        "'traits' depends on what 'towns' does not have",
        kind(0, parent="towns", given={"n1": [0, 0]}),
    ),
    ("'diet' depends on what 'towns' does not have", kind(1, parent="towns", given={})),
    ("'traits' depends on what 'town' does not have", kind(0, given={"unspecified": [0, 0]})),
    ("'diet' depends on what 'traits' does not have", kind(1, given={"big": [0.3, 0.7]})),
    ("depends on itself in a circle", kind(0, parent="diet", given={})),
    ("names an unknown one", kind(1, excludes={"vegan": ["tall"]})),
    ("has a value twice", kind(0, values=["tall", "tall"])),
    ("does not have a share per value", kind(0, shares=[0.1])),
    ("does not have a share per value", kind(1, given={"tall": [1.0]})),
    ("shares that do not sum to 1", kind(1, shares=[0.1, 0.8])),
    ("shares that do not sum to 1", kind(1, given={"tall": [0.1, 0.8]})),
    ("is over 1", kind(0, shares=[0.1, 1.1])),
    ("is over 5", kind(0, sensitivity=6)),
    ("control character", kind(0, title="\n")),
    ("query 'sums' has rows or intents, and is judged", query(1, rows=1)),
    ("query 'sums' has rows or intents, and is judged", query(1, intents=["a"])),
    ("a shrinkage of -1", query(1, shrinkage=-1)),
    ("is below 0", query(1, bits=-1)),
    ("is over 64", query(0, bits=65)),
    ("has an unknown member, or not every one", lambda m: m["queries"][0].pop("bits")),
    ("has an unknown member, or not every one", lambda m: m["attributes"][0].pop("shared")),
    ("the estimator of the model does not fit", lambda m: m.update(estimator="louo")),
    ("dinner' has no row, user or intent", unjudged),
]


def put(name: str, place: tuple[int, ...], number: float) -> Callable[[Tensors], None]:
    def edit(tensors: Tensors) -> None:
        tensors[name][place] = number

    return edit


def cast(name: str, dtype: type) -> Callable[[Tensors], None]:
    return lambda tensors: tensors.update({name: tensors[name].astype(dtype)})


def shaped(name: str, *shape: int) -> Callable[[Tensors], None]:
    """An edit that gives a tensor another shape, and ones as its numbers."""
    return lambda tensors: tensors.update({name: np.ones(shape, tensors[name].dtype)})


TENSORS: list[tuple[str, Callable[[Tensors], object]]] = [
    ("'rows.users' is missing", lambda t: t.pop("rows.users")),
    ("'population.codes' is missing", lambda t: t.pop("population.codes")),
    ("'attributes.pair_costs' is missing", lambda t: t.pop("attributes.pair_costs")),
    ("'more' is unknown", lambda t: t.update(more=np.zeros(1))),
    ("is unknown", lambda t: t.update({"\x1b[2J\n": np.zeros(1)})),
    ("'rows.users' is I64, and not one of U8,", cast("rows.users", np.int64)),
    ("is U16 of shape", cast("population.codes", np.uint16)),
    ("is F32 of shape", cast("attributes.costs", np.float32)),
    ("'population.codes' is U8 of shape []", shaped("population.codes")),
    ("'population.codes' is U8 of shape [0]", shaped("population.codes", 0)),
    ("'population.weights' is F64 of shape [3]", shaped("population.weights", 3)),
    ("'population.codes' has 3 for attribute 'region'", put("population.codes", (0, 1), 3)),
    ("'rows.request' has 3 for query 'python', where", put("rows.request", (0, 1), 3)),
    ("requests' has 4 for attribute 'working_hours'", put("population.requests", (0, 1), 4)),
    ("'requests.counts' has 12 numbers, not 6", put("requests.kinds", (0,), 2)),
    ("no row for 'working_hours'", lambda t: t["requests.counts"].fill(0)),
    ("'rows.users' has a user without rows", put("rows.users", (0,), 0)),
    ("'rows.users' has 5 rows where query 'python' has 4", put("rows.users", (1,), 2)),
    ("'rows.users' has 3 rows where query 'c' has 2", put("rows.users", (4,), 2)),
    ("'rows.intent' has 3 for query 'c', where the", put("rows.intent", (5,), 3)),
    ("utilities' has a number that is not", put("attributes.utilities", (0, 0), np.nan)),
    ("'attributes.costs' has a number that is not finite", put("attributes.costs", (2, 2), np.inf)),
    ("'attributes.prices' has a number outside 0 to 64", put("attributes.prices", (1, 0), -0.1)),
    ("'attributes.prices' has a number outside", put("attributes.prices", (1, 0), 64.1)),
    ("'population.pairs' has a number outside 0 to inf", put("population.pairs", (1,), -1)),
    ("'population.pairs' does not sum up to the people", put("population.pairs", (1,), 1e5)),
    ("'queries.weights' has a number outside 1e-09 to", put("queries.weights", (1,), 0)),
    ("'population.weights' has a number outside 1 to", put("population.weights", (1,), 0.99)),
    ("weights' has a number that is not finite", put("population.weights", (1,), np.inf)),
    ("'reading.weights' is missing", lambda t: t.pop("reading.weights")),
    ("'reading.weights' is F64 of", cast("reading.weights", np.float64)),
    ("'reading.weights' is F32 of shape [2, 512]", shaped("reading.weights", 2, 512)),
    ("'reading.weights' has a number that is not", put("reading.weights", (1, 7), np.nan)),
    ("'reading.biases' has a number that is not", put("reading.biases", (2,), np.inf)),
    ("'reading.calibration' has a number outside 1e-09", put("reading.calibration", (0,), 0)),
    ("'reading.calibration' has a number outside 0.02", put("reading.calibration", (1,), 0.01)),
    ("'reading.calibration' has a number outside 0.02", put("reading.calibration", (1,), 1.01)),
    ("'near.queries' has a query beyond the 2 of the model", put("near.queries", (1,), 2)),
    ("4 for attribute 'town', where the highest is 3", put("population.codes", (1, 0), 4)),
    ("'population.donors' is missing", lambda t: t.pop("population.donors")),
    (
        "'near.queries' is not in ascending",
        lambda t: t.update({"near.queries": np.array([1, 0], np.uint8)}),
    ),
]

JUDGED_TENSORS: list[tuple[str, Callable[[Tensors], object]]] = [
    ("'judged.totals' is missing", lambda t: t.pop("judged.totals")),
    ("'judged.weights' is F32 of shape [2, 5]", shaped("judged.weights", 2, 5)),
    ("'judged.likely' is F64 of", cast("judged.likely", np.float64)),
    ("'judged.likely' has a number outside 0 to 1", put("judged.likely", (0, 0), 1.5)),
    ("'judged.weights' has a number outside 0 to", put("judged.weights", (1, 0), -1)),
    ("'judged.totals' has a number that is not finite", put("judged.totals", (1,), np.inf)),
    ("'population.codes' is U8 of shape [6, 4]", shaped("population.codes", 6, 4)),
    ("'attributes.utilities' is F64 of shape [2, 6]", shaped("attributes.utilities", 2, 6)),
]

OWN_TENSORS: list[tuple[str, Callable[[Tensors], object]]] = [
    ("'relevance.pair' is missing", lambda t: t.pop("relevance.pair")),
    ("'relevance.helps_topics' is U8 of shape [30, 3]", shaped("relevance.helps_topics", 30, 3)),
    ("'relevance.kind_weights' is F32 of shape [3, ", shaped("relevance.kind_weights", 3, 897)),
    ("'relevance.common' has a number outside 0 to 1", put("relevance.common", (0,), -0.5)),
    ("'relevance.request' has a number that is not", put("relevance.request", (9,), np.nan)),
]


def test_wrong_metadata_and_tensors_are_refused() -> None:
    """Made wrong, or to do harm: the digest fits."""
    spoilt = [(sentence, respoken(RICH, edit)) for sentence, edit in METADATA]
    spoilt += [(sentence, retensored(RICH, edit)) for sentence, edit in TENSORS]
    spoilt += [(sentence, respoken(TOPICS, edit)) for sentence, edit in JUDGED_METADATA]
    spoilt += [(sentence, retensored(TOPICS, edit)) for sentence, edit in JUDGED_TENSORS]
    spoilt += [(sentence, retensored(OWN_WORDS, edit)) for sentence, edit in OWN_TENSORS]
    for sentence, data in spoilt:
        error = refusal(data)
        kind = VersionError if sentence.endswith("and this") else DamagedModelError
        assert isinstance(error, kind), sentence
        assert sentence in error.what


def test_a_phrasing_under_the_spelling_of_another_is_not_taken_in() -> None:
    """Nobody computes it when a model is opened, but when it is added, signed or written."""
    data = respoken(RICH, query(0, spellings=["elephant", "c"]))
    assert decode(data).texts.find("elephant") == 0
    with pytest.raises(DamagedModelError, match="another's spelling"):
        decode(data, whole=True)


def test_damage_to_a_large_file_shows_at_the_latest_where_it_matters(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The rows of a query are verified when they are needed, and all of them if that is asked."""
    monkeypatch.setattr(content, "BLOCK", 8)
    monkeypatch.setattr(file, "WHOLE", 0)
    path, data = tmp_path / "m.safetensors", encode(MODEL)
    path.write_bytes(data)
    opened = file.read(path)
    assert same(opened, MODEL)
    late = 0
    for place in range(8 + len(header(data)), len(data)):
        path.unlink()  # what is mapped must not change
        path.write_bytes(data[:place] + bytes([data[place] ^ 4]) + data[place + 1 :])
        with pytest.raises(ModelError):
            file.read(path, whole=True)
        with suppress(ModelError):
            model, wrong = file.read(path), 0
            for query in range(len(model.queries)):
                try:
                    model.rows(query)
                except DamagedModelError:
                    wrong += 1
            late += wrong > 0
            assert wrong
    assert late
    assert [*map(opened.rows, range(len(opened.queries)))]  # what was mapped is still there
