"""FORMAT.md and the code say the same."""

import re
from dataclasses import fields
from pathlib import Path

from agent.model import attributes, file, model, signature
from agent.model.attributes import Attribute
from agent.model.content import BLANK, FORMAT, Metadata
from agent.model.file import encode, shipped_model, shipped_models
from agent.model.model import Query
from tests.model.examples import reading_model

PAGE = Path(file.__file__).with_name("FORMAT.md").read_text(encoding="utf-8")


def keys(heading: str) -> list[str]:
    """Return the names in the first column of the first table after a heading, in order."""
    table = PAGE.split(heading, 1)[1].split("\n\n|", 1)[1].split("\n\n", 1)[0]
    cells = [line.split("|")[1] for line in f"|{table}".splitlines()[2:]]
    return [name for cell in cells for name in re.findall(r"`([^`]+)`", cell)]


def test_the_page_names_every_key_in_order() -> None:
    """Of the metadata, an attribute and a query."""
    assert keys("\n## Metadata") == [*Metadata.__struct_fields__]
    assert keys("\nAn attribute:") == [field.name for field in fields(Attribute)]
    assert keys("\nA query:") == [field.name for field in fields(Query)]


def test_the_page_names_every_tensor() -> None:
    """The example has all of them, weights and request attributes included."""
    assert keys("\n## Tensors") == sorted(reading_model().tables.tensors())


def test_a_file_opens_with_the_bytes_of_the_page() -> None:
    """Version and digest stand where the page says."""
    block = PAGE.split("opens with these bytes", 1)[1].split("```")[1]
    (start, opening), (at, _), (after, version) = (
        line.split(maxsplit=1) for line in block.strip().splitlines()
    )
    data = encode(reading_model())
    assert data[int(start) : int(at)] == opening.encode()
    assert int(after) - int(at) == len(BLANK)
    assert data[int(after) :].startswith(version.encode())
    assert version == rf"\",\"format\":{FORMAT},"


def test_the_page_states_the_limits() -> None:
    """Every number in it that is a constant in the code."""
    for limit in (
        f"1 to {attributes.MAX_VALUES} different texts",
        f"{model.MIN_SHRINKAGE:.0e} to {model.MAX_SHRINKAGE:.0e}".replace("e-0", "e-").replace(
            "e+0", "e"
        ),
        f"{file.MIN_PEOPLE} to {file.MAX_WEIGHT:.0e}".replace("e+0", "e"),
        f"{file.MIN_WEIGHT:.0e} to {file.MAX_WEIGHT:.0e}".replace("e-0", "e-").replace("e+0", "e"),
        f"at most {file.MAX_BYTES >> 30} GiB",
        f"at most {signature.MAX_SIGNATURE_BYTES >> 10} KiB",
    ):
        assert limit in PAGE


def test_the_shipped_model_lies_in_the_package() -> None:
    """Where the wheel takes it along."""
    folder = Path(file.__file__).parent / "shipped"
    assert {*shipped_models()} == {*folder.glob("*.safetensors")}
    assert shipped_model() == shipped_models()[0]
