"""A model's file: the identity byte for byte, written whole or not at all."""

import errno
import os
import stat
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from safetensors.numpy import load

from agent.errors import BuildError, DamagedModelError, UsageError
from agent.model import file
from agent.model.file import decode, encode
from agent.model.model import Model
from tests.model.examples import small_model
from tests.strategies import models

MODEL = small_model()


def test_a_model_replaces_the_one_before(tmp_path: Path) -> None:
    """What `write` returns is what is read; nothing else stays in the folder."""
    path = tmp_path / "m.safetensors"
    path.write_text("the one before")
    written = file.write(MODEL, path)
    assert file.read(path) == written
    assert path.read_bytes() == encode(MODEL)
    assert [*tmp_path.iterdir()] == [path]


def test_only_its_owner_can_read_a_model(tmp_path: Path) -> None:
    """Whatever the umask allows: it holds the rows of single people."""
    path = tmp_path / "m.safetensors"
    umask = os.umask(0o000)
    try:
        file.write(MODEL, path)
    finally:
        os.umask(umask)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


@pytest.mark.parametrize(("owner", "function"), [(os, "fsync"), (Path, "replace")])
def test_a_full_disk_leaves_the_model_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, owner: object, function: str
) -> None:
    """One sentence, and no trace in the folder."""

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    path = tmp_path / "m.safetensors"
    path.write_text("the one before")
    monkeypatch.setattr(owner, function, full)
    with pytest.raises(UsageError) as caught:
        file.write(MODEL, path)
    assert str(caught.value) == f"{path}: no space left on device"
    assert [*tmp_path.iterdir()] == [path]
    assert path.read_text() == "the one before"


@pytest.mark.parametrize("name", ["no/m.safetensors", "file/m.safetensors", "folder", "x" * 256])
def test_a_place_that_cannot_be_written(tmp_path: Path, name: str) -> None:
    """A folder that is not there, is a file; a folder in place of the file; too long a name."""
    (tmp_path / "file").write_text("")
    (tmp_path / "folder").mkdir()
    with pytest.raises(UsageError) as caught:
        file.write(MODEL, tmp_path / name)
    assert caught.value.where == str(tmp_path / name)
    assert {each.name for each in tmp_path.iterdir()} == {"file", "folder"}


def test_a_model_that_does_not_fit_is_not_written(tmp_path: Path) -> None:
    """What is written can be read: it is tried before."""
    for wrong in (replace(MODEL, id=""), replace(MODEL, queries=MODEL.queries[:1])):
        with pytest.raises(BuildError):
            file.write(wrong, tmp_path / "m.safetensors")
    assert [*tmp_path.iterdir()] == []


def test_a_missing_file_names_the_nearest(tmp_path: Path) -> None:
    """So that a slip of the pen is one edit away from being right."""
    (tmp_path / "so2017.safetensors").write_text("")
    with pytest.raises(UsageError) as caught:
        file.read(tmp_path / "so2071.safetensors")
    assert caught.value.what == "no such file"
    assert caught.value.hint == f"did you mean '{tmp_path / 'so2017.safetensors'}'?"
    with pytest.raises(UsageError, match="no such file"):
        file.read(tmp_path / "no" / "so2017.safetensors")


def test_what_is_not_a_file_is_refused(tmp_path: Path) -> None:
    """A folder, and a pipe that nobody writes to."""
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path, tmp_path / "pipe", Path("/dev/zero")):
        with pytest.raises(UsageError, match=r"not a file|is a directory"):
            file.read(path)


def test_a_file_of_any_size_is_refused_unread(tmp_path: Path) -> None:
    """A file with a hole costs nothing to make."""
    path = tmp_path / "m.safetensors"
    path.touch()
    os.truncate(path, file.MAX_BYTES + 1)
    with pytest.raises(UsageError, match="the limit is 1073741824"):
        file.read(path)


def test_a_damaged_file_is_named(tmp_path: Path) -> None:
    """The sentence says which file it is about."""
    path = tmp_path / "m.safetensors"
    file.write(MODEL, path)
    os.truncate(path, 2000)
    with pytest.raises(DamagedModelError) as caught:
        file.read(path)
    assert caught.value.where == str(path)


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
    arrays = [people.codes, opened.tables.query_weights]
    arrays += [each for kinds in people.requests for each in kinds]
    arrays += [rows.users, rows.intent, rows.request, rows.step]
    arrays += [singles.utilities, singles.costs]
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
