"""A large model file is mapped and verified part by part; what is stored belongs to a query."""

from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest

from agent.errors import DamagedModelError, ModelError
from agent.model import content, file
from tests.model.examples import Tensors, reading_model, retensored, small_model

MODEL = small_model()


def test_damage_to_a_large_file_shows_at_the_latest_where_it_matters(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The rows of a query are verified when they are needed, and all of them if that is asked."""
    for module in (file, content):
        monkeypatch.setattr(module, "BLOCK", 8)
    monkeypatch.setattr(file, "WHOLE", 0)
    path, data = tmp_path / "m.safetensors", file.encode(MODEL)
    path.write_bytes(data)
    opened = file.read(path)
    assert replace(opened, digest="") == MODEL
    late = 0
    for place in range(8 + content.header_length(data), len(data)):
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
    assert [
        *map(opened.rows, range(len(opened.queries)))
    ]  # the file that was mapped is still there


@pytest.mark.parametrize(
    ("sentence", "queries"),
    [("has a query beyond the 2", [0, 2]), ("is not in ascending order", [1, 0])],
)
def test_figures_of_no_query_are_refused(sentence: str, queries: list[int]) -> None:
    """They are looked up by query, in order."""

    def edit(tensors: Tensors) -> None:
        tensors["near.queries"][:] = queries

    with pytest.raises(DamagedModelError, match=f"'near.queries' {sentence}"):
        file.decode(retensored(file.encode(reading_model()), edit))
