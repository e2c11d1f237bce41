"""What `reticent --version` says of the models: from the header alone, whatever the file is."""

import os
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given
from hypothesis import strategies as st

from agent.cli.main import identities, identity
from agent.model.file import encode, shipped_models
from agent.model.model import Model
from tests.model.examples import small_model
from tests.strategies import models

DATA = encode(small_model())


@given(models())
def test_it_is_the_models_own(model: Model) -> None:
    """Id and digest, as whoever opens the file reads them."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "any.safetensors"
        path.write_bytes(encode(model))
        stated = identity(path)
    assert stated is not None
    assert stated[0] == model.id
    assert stated[1].encode() in encode(model)


@given(st.one_of(st.binary(max_size=64), st.integers(0, len(DATA)).map(lambda end: DATA[:end])))
def test_a_damaged_file_states_its_own_or_nothing(data: bytes) -> None:
    """Cut anywhere, or no model at all; nothing is raised."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "any.safetensors"
        path.write_bytes(data)
        stated = identity(path)
    assert stated is None or stated[0] == small_model().id


def test_each_model_has_a_line(tmp_path: Path) -> None:
    """Those shipped, and those added; what is no model is said to be none, and a pipe not read."""
    shipped = [*identities(tmp_path / "none")]
    assert [line.split()[0] for line in shipped] == [path.stem for path in shipped_models()]
    (tmp_path / "mine.safetensors").write_bytes(DATA)
    (tmp_path / "broken.safetensors").write_bytes(DATA[:99])
    (tmp_path / "deep.safetensors").write_bytes(b"\xff\xff\0\0\0\0\0\0" + b"[" * 65535)
    os.mkfifo(tmp_path / "pipe.safetensors")
    found = [*identities(tmp_path)][len(shipped) :]
    assert [line for line in found if "not a model" not in line] == [
        f"{small_model().id} {DATA.split(b'digest')[1][5:17].decode()}"
    ]
    assert len(found) == 4
