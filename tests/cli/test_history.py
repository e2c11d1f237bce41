"""The reader of histories: what it takes, and every way to write a line wrongly."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.cli.policy_try import read_history
from agent.errors import UsageError
from agent.model.file import read, shipped_model
from agent.model.model import Model
from tests.cli.conftest import Try
from tests.cli.examples import cli_model
from tests.cli.history_lines import EXAMPLES, line


def test_the_example_is_a_history(tmp_path: Path) -> None:
    """Of a few requests to several recipients, most of which the model knows, in order."""
    model = read(shipped_model())
    history = read_history(EXAMPLES / "history.jsonl", model)
    assert 10 <= len(history.requests) <= 12
    assert not history.sorted
    unknown = [each.query for each in history.requests if model.match(each.query) is None]
    assert unknown == ["knee pain"]
    empty = tmp_path / "empty.jsonl"
    empty.write_bytes(b"\xef\xbb\xbf\r\n")
    assert read_history(empty, model) == ((), False)


@pytest.mark.parametrize(
    ("text", "error", "hint"),
    [
        (
            "{",
            "2: the line is not valid JSON",
            "a line is one object with at, recipient, query, asked",
        ),
        ("[" * 100_000, "2: ", "a line is one object"),
        ("[]", "2: the line is not an object", "a line is one object"),
        (line(extra=1), "2: unknown key 'extra'", "a line is one object"),
        (line(disclose={}), "2: unknown key 'disclose'", "did you mean 'disclosed'?"),
        ("{}", "2: at is missing", "a line is one object"),
        (line(at="2026-03-02T09:00:00"), "2: at is not a time with a zone", "09:14:00+01:00"),
        (line(at="yesterday"), "2: at is not a time with a zone", "write it as in"),
        (line(at=1772438400), "2: at has the wrong type", "write it as in"),
        (line(at="0001-01-01T00:00:00Z"), "2: at: 0001-01-01", "a time from 1970 on"),
        (line(recipient=3), "2: recipient is not text", "books.example"),
        (line(recipient="a b"), "2: recipient: ", ""),
        (line(recipient=""), "2: recipient: ", ""),
        (line(query=None), "2: query is not text", "write what was asked"),
        (line(asked="region"), "2: asked has the wrong type", "or null"),
        (line(asked=["region", 3]), "2: an entry of asked is not text", "or null"),
        (line(asked=["regoin"]), "2: asked: unknown attribute 'regoin'", "did you mean 'region'?"),
        (line(disclosed=["region"]), "2: disclosed is not an object", "region"),
        (line(disclosed={"region": 1}), "2: an entry of disclosed is not text", "region"),
        (line(disclosed={"hoby": "no"}), "2: disclosed: unknown attribute 'hoby'", "'hobby'?"),
        (
            line(disclosed={"region": "Coats"}),
            "2: disclosed: unknown value of region 'Coats'",
            "did you mean 'coast'?",
        ),
    ],
)
def test_a_mistake_in_a_history_names_the_line_and_the_field(
    attempt: Try, text: str, error: str, hint: str
) -> None:
    """In one sentence, with the nearest name, and nothing on the output."""
    said = attempt("", line(), text).refusal()
    assert f"history.jsonl:{error}" in said[0]
    assert hint in said[1]


@pytest.fixture(scope="module")
def model() -> Model:
    """The small model, to read histories with."""
    return cli_model()


@given(
    st.integers(0, 400),
    st.binary(max_size=4),
    st.integers(0, 4),
)
def test_a_damaged_history_is_read_or_refused(
    tmp_path_factory: pytest.TempPathFactory, model: Model, place: int, new: bytes, gone: int
) -> None:
    """Never anything else, whatever bytes have taken the place of others."""
    full = line(disclosed={"region": "coast"}, asked=["region", "hobby"], query="knö\u00df")
    data = bytearray(f"{full}\n{full}\n".encode())
    data[place : place + gone] = new
    path = tmp_path_factory.mktemp("damaged") / "history.jsonl"
    path.write_bytes(data)
    try:
        history = read_history(path, model)
    except UsageError as error:
        assert str(error).startswith(f"{path}:")  # noqa: PT017 - either way is right
    else:
        assert len(history.requests) in (1, 2, 3)
