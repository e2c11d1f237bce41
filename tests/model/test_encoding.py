"""Writing a model and reading it is the identity, byte for byte."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from safetensors.numpy import load

from agent.model.file import decode, encode
from agent.model.model import Model
from tests.model.examples import small_model
from tests.strategies import models


@given(models())
def test_reading_what_was_written_is_the_identity(model: Model) -> None:
    """Everything survives, and the digest is new."""
    opened = decode(encode(model))
    assert replace(opened, digest=model.digest) == model
    assert len(opened.digest) == 64


@given(models())
def test_the_same_input_gives_the_same_bytes(model: Model) -> None:
    """Whether the model was built or read, and whatever digest it carries."""
    data = encode(model)
    assert encode(model) == data
    assert encode(decode(data)) == data


@given(models(), models())
def test_another_content_has_another_digest(one: Model, other: Model) -> None:
    """A digest names one content, and it is not the content of the field itself."""
    digests = {decode(encode(each)).digest for each in (one, other, replace(one, digest="x"))}
    assert len(digests) == len({encode(one), encode(other)})
    assert len(digests) == 2 or one == other


@given(models())
def test_a_model_is_a_plain_safetensors_file(model: Model) -> None:
    """The library alone finds the same tensors, each of the smallest type."""
    found = load(encode(model))
    expected = model.tables.tensors()
    assert found.keys() == expected.keys()
    for name, tensor in found.items():
        assert np.array_equal(tensor, expected[name])
        if tensor.dtype != np.float64:
            assert tensor.dtype == np.min_scalar_type(tensor.max(initial=0))


@given(models())
def test_no_tensor_of_an_opened_model_can_be_changed(model: Model) -> None:
    """A value does not change under those who share it."""
    opened = decode(encode(model))
    people, rows, singles = opened.population, opened.tables.rows, opened.tables.singles
    arrays = [people.codes, *people.request_counts, opened.tables.query_weights]
    arrays += [rows.user, rows.intent, rows.request, rows.person, singles.utilities, singles.costs]
    arrays += [] if people.weights is None else [people.weights]
    for part in map(opened.rows, range(len(opened.queries))):
        arrays += [part.user, part.intent, part.person, part.request]
    assert [array for array in arrays if array.flags.writeable] == []


def test_strides_do_not_matter() -> None:
    """A tensor that is a view of another is written as the numbers it shows."""
    model = small_model()
    tables = model.tables
    wide = np.repeat(tables.query_weights, 2)[::2]
    people = replace(tables.population, codes=np.asfortranarray(tables.population.codes))
    strided = replace(model, tables=replace(tables, query_weights=wide, population=people))
    assert encode(strided) == encode(model)


def test_integers_among_figures_become_what_the_format_says() -> None:
    """A shrinkage of 20 is 20.0, so that what was built and what was read are written alike."""
    model = small_model()
    first = replace(model.queries[0], shrinkage=20)
    assert encode(replace(model, queries=(first, *model.queries[1:]))) == encode(model)


@pytest.mark.parametrize("number", [float("nan"), float("inf")])
def test_a_number_that_json_does_not_have_is_refused(number: float) -> None:
    """It would be written as null, and read as "none"."""
    with pytest.raises(ValueError, match="not finite"):
        encode(replace(small_model(), validation={"bits": number}))
