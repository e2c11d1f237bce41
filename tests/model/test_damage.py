"""A file that is not exactly what was written is refused, with one sentence."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from agent.errors import DamagedModelError, ModelError, VersionError
from agent.model.file import decode, encode, header, stamped
from agent.model.model import Model
from tests.model.examples import Tensors, respoken, retensored, small_model

DATA = encode(small_model())
FLIPS = (0x01, 0x20, 0x80, 0xFF)  # the lowest bit, the case of a letter, the highest bit, all

Edit = Callable[[dict[str, Any]], object]


def flipped(place: int, flip: int) -> bytes:
    """Return the file with some bits of one byte flipped."""
    return DATA[:place] + bytes([DATA[place] ^ flip]) + DATA[place + 1 :]


def refusal(data: bytes) -> ModelError | None:
    """Return the error with which a file is refused; any other error fails the test."""
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
    assert model.mean_utility().value(1) == model.mean_utility().value(1)
    for index, query in enumerate(model.queries):
        assert model.match(query.text) == index
    crowd = model.anonymity_set([(0, 1)])
    every = (1 << len(model.attributes)) - 1
    for metric in ("maxprob", "log-maxprob", "entropy"):
        assert np.isfinite(crowd.identifiability(every, metric, 2))


def test_the_file_itself_opens() -> None:
    """Otherwise nothing below says anything."""
    assert refusal(DATA) is None


def test_every_flipped_byte_is_refused() -> None:
    """Wherever it is, also within the digest and the filling of the header."""
    opened = [(p, f) for p in range(len(DATA)) for f in FLIPS if refusal(flipped(p, f)) is None]
    assert opened == []


def test_every_truncation_is_refused() -> None:
    """After any number of bytes, also none."""
    assert [end for end in range(len(DATA)) if refusal(DATA[:end]) is None] == []


@pytest.mark.parametrize("more", [b"\0", b" ", b"\n", DATA])
def test_appended_bytes_are_refused(more: bytes) -> None:
    """Also the file itself once more."""
    assert isinstance(refusal(DATA + more), DamagedModelError)
    assert isinstance(refusal(stamped(DATA + more)), DamagedModelError)


def test_every_flipped_byte_under_a_forged_digest_is_refused_or_usable() -> None:
    """Somebody who means harm recomputes the digest; what opens can still be computed with."""
    refused = [p for p in range(len(DATA)) for f in FLIPS if refusal(stamped(flipped(p, f)))]
    assert len(refused) > len(DATA)


@pytest.mark.parametrize(
    "length", [0, 1, len(DATA), 2**32, 2**63, 2**64 - 1], ids=lambda length: f"{length:x}"
)
def test_a_header_cannot_claim_any_length(length: int) -> None:
    """Nothing is allocated on the word of the file."""
    assert refusal(stamped(length.to_bytes(8, "little") + DATA[8:])) is not None


def test_a_deep_header_is_refused() -> None:
    """Nesting ends in a sentence, not in the interpreter's stack."""
    deep = header(DATA).replace(b'"format\\":1,', b'"format\\":1,\\"x\\":' + b"[" * 100_000)
    data = stamped(len(deep).to_bytes(8, "little") + deep)
    assert "metadata" in str(refusal(data))


@pytest.mark.parametrize("version", [0, 2, 999_999_999])
def test_another_version_says_which(version: int) -> None:
    """Before the digest is tested, which may be another one there."""
    data = DATA.replace(b'format\\":1,', f'format\\":{version},'.encode())
    error = refusal(data)
    assert isinstance(error, VersionError)
    assert f"format {version}," in error.what


@pytest.mark.parametrize("data", [b"", b"user,region\n", b"PK\x03\x04" * 99, b"\0" * 9999])
def test_another_kind_of_file_is_refused(data: bytes) -> None:
    """A table, an archive, nothing at all."""
    assert isinstance(refusal(data), DamagedModelError)


METADATA: list[tuple[str, Edit]] = [
    ("it has an unknown member", lambda m: m.update(more=1)),
    ("licence is missing", lambda m: m.pop("licence")),
    ("id is not text", lambda m: m.update(id=1)),
    ("id is empty", lambda m: m.update(id="")),
    ("estimator is not one of the allowed values", lambda m: m.update(estimator="x")),
    ("estimator is not one of the allowed values", lambda m: m.update(estimator="\x1b[2J")),
    ("it has an unknown member", lambda m: m.update({"\x1b[2J\n": 1})),
    ("queries is empty", lambda m: m.update(queries=[])),
    ("attributes is empty", lambda m: m.update(attributes=[])),
    ("an entry of queries has an unknown member", lambda m: m["queries"][0].update(more=1)),
    ("an entry of attributes has an unknown member", lambda m: m["attributes"][0].update(more=1)),
    ("control character", lambda m: m.update(source="\x1b[2J")),
    ("control character", lambda m: m["queries"][1].update(text="c\n")),
    ("control character", lambda m: m["options"].update({"\x7f": 1})),
    ("control character", lambda m: m["validation"].update(a="\x85")),
    ("does not match [a-z]", lambda m: m["attributes"][0].update(name="Region", refines=None)),
    ("has a value twice", lambda m: m["attributes"][0].update(values=["unspecified", "a", "a"])),
    ("two attributes named 'town'", lambda m: m["attributes"][0].update(name="town")),
    ("person attributes first", lambda m: m["attributes"].reverse()),
    ("person attributes first", lambda m: m.update(attributes=m["attributes"][2:])),
    ("which does not exist", lambda m: m["attributes"][1].update(refines="regio")),
    ("in a circle", lambda m: m["attributes"][0].update(refines="town")),
    ("'python' twice", lambda m: m["queries"][1].update(text=" PYTHON ")),
    ("without text", lambda m: m["queries"][1].update(text="\u200b")),
    ("intent 'note' twice", lambda m: m["queries"][1].update(intents=["note", "note", "x"])),
    ("shrinkage of 0", lambda m: m["queries"][1].update(shrinkage=0)),
    ("shrinkage of 1e+10", lambda m: m["queries"][1].update(shrinkage=1e10)),
    (
        "shrinkage of -1",
        lambda m: m.update(estimator="plugin") or m["queries"][1].update(shrinkage=-1),
    ),
    ("is below 1", lambda m: m["queries"][1].update(rows=0)),
    ("is over 4,294,967,296", lambda m: m["queries"][1].update(rows=2**62)),
    ("of shape [6] instead of", lambda m: m["queries"][1].update(rows=3)),
    ("of shape [5, 2] instead of", lambda m: m["queries"][1].update(users=3)),
    ("of shape [4, 3] instead of", lambda m: m["attributes"][2]["values"].append("x")),
    ("'rows.intent' has 2", lambda m: m["queries"][1].update(intents=["a", "b"])),
    ("code 3 of attribute 'town'", lambda m: m["attributes"][1]["values"].pop()),
]


@pytest.mark.parametrize(("sentence", "edit"), METADATA)
def test_wrong_metadata_is_refused(sentence: str, edit: Edit) -> None:
    """Made wrong, or to do harm: the digest fits."""
    error = refusal(respoken(DATA, edit))
    assert isinstance(error, DamagedModelError)
    assert sentence in error.what


def put(name: str, place: tuple[int, ...], number: float) -> Callable[[Tensors], None]:
    """Return an edit that puts a number into a tensor."""

    def edit(tensors: Tensors) -> None:
        tensors[name][place] = number

    return edit


def cast(name: str, dtype: type) -> Callable[[Tensors], None]:
    """Return an edit that gives a tensor another type."""
    return lambda tensors: tensors.update({name: tensors[name].astype(dtype)})


TENSORS: list[tuple[str, Callable[[Tensors], object]]] = [
    ("'rows.user' is missing", lambda t: t.pop("rows.user")),
    ("'population.codes' is missing", lambda t: t.pop("population.codes")),
    ("'more' is unknown", lambda t: t.update(more=np.zeros(1))),
    ("is unknown", lambda t: t.update({"\x1b[2J\n": np.zeros(1)})),
    ("is I64 of shape", cast("rows.user", np.int64)),
    ("is U16 of shape", cast("population.codes", np.uint16)),
    ("is F32 of shape", cast("attributes.costs", np.float32)),
    (
        "'population.codes' is U8 of shape []",
        lambda t: t.update({"population.codes": np.zeros((), np.uint8)}),
    ),
    (
        "'population.codes' is U8 of shape [0, 2]",
        lambda t: t.update({"population.codes": np.zeros((0, 2), np.uint8)}),
    ),
    (
        "'population.weights' is F64 of shape [3]",
        lambda t: t.update({"population.weights": np.ones(3)}),
    ),
    ("code 3 of attribute 'region'", put("population.codes", (0, 0), 3)),
    ("code 4 of attribute 'town'", put("users.person", (4, 1), 4)),
    ("code 255 of attribute 'working_hours'", put("rows.request", (5, 0), 255)),
    ("no row for 'working_hours'", lambda t: t["population.request_counts"].fill(0)),
    ("'rows.user' has 3 where query 'python' has 3", put("rows.user", (0,), 3)),
    ("'rows.user' has 2 where query 'c' has 2", put("rows.user", (5,), 2)),
    ("'rows.intent' has 2 where query 'python' has 2", put("rows.intent", (3,), 2)),
    (
        "'attributes.utilities' has a number that is not finite",
        put("attributes.utilities", (0, 0), np.nan),
    ),
    ("'attributes.costs' has a number that is not finite", put("attributes.costs", (2, 2), np.inf)),
    ("'queries.weights' has a weight outside", put("queries.weights", (1,), 0)),
    ("'queries.weights' has a weight outside", put("queries.weights", (1,), np.nan)),
    ("'population.weights' has a weight outside", put("population.weights", (1,), -1)),
    ("'population.weights' has a weight outside", put("population.weights", (1,), np.inf)),
]


@pytest.mark.parametrize(("sentence", "edit"), TENSORS)
def test_wrong_tensors_are_refused(sentence: str, edit: Callable[[Tensors], object]) -> None:
    """Made wrong, or to do harm: the digest fits."""
    error = refusal(retensored(DATA, edit))
    assert isinstance(error, DamagedModelError)
    assert sentence in error.what
