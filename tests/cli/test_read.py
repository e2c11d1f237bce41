"""`reticent read`: what a text means, to a person and to a program."""

import io
import json
from pathlib import Path
from unittest.mock import Mock

import pytest

from agent.cli.read import UNCORRECTED
from agent.errors import LockedError
from agent.model.file import read, shipped_model
from agent.model.lookup import spelling
from agent.paths import paths
from agent.wire.records import Correction
from tests.cli.conftest import Run
from tests.wire.fake import FakeDaemon, says

HARD = "which code editor do people use for python scripts"
KEYS = ["text", "query", "model", "probability", "candidates"]


def test_a_text_is_read_without_a_vault(run: Run, home: Path) -> None:
    """By its short name and by that in the group; the surest first, with its title."""
    page = run("read", HARD)
    assert page == run("model", "read", *HARD.split())
    assert (page.code, page.err) == (0, "")
    assert " ".join(page.out.split()).startswith(f"“{HARD}” is read as 'code editor' (")
    assert "so2017" in page.out
    assert not any(home.iterdir())


def test_an_object_has_the_runners_up(run: Run, home: Path) -> None:
    """In the order of the documentation; the probabilities are those of the model."""
    assert home.is_dir()
    ran = run("read", "--json", HARD)
    assert ran.out.count("\n") == 1
    record = ran.record
    assert [*record] == KEYS
    assert (record["text"], record["query"], record["model"]) == (HARD, "editor", "so2017")
    first = record["candidates"][0]
    assert [*first] == ["query", "title", "model", "probability"]
    assert (first["query"], first["probability"]) == ("editor", record["probability"])
    model = read(shipped_model("so2017"))
    candidates = model.read(HARD).candidates
    ours = [each for each in record["candidates"] if each["model"] == model.id]
    assert [each["probability"] for each in ours] == pytest.approx(
        [each.probability for each in candidates], abs=1e-6
    )


def test_a_name_is_read_by_the_model_that_has_it(run: Run, village: Path, home: Path) -> None:
    """One model alone, by its file: another's names mean nothing to it."""
    assert home.is_dir()
    record = run("read", "--model", village, "--json", "Weather").record
    assert (record["query"], record["model"], record["probability"]) == ("weather", "village", 1)
    unread = run("read", "--model", village, "tabs or spaces")
    assert (unread.code, unread.err) == (0, "")
    assert "not understood, so it goes as it is" in unread.out
    assert run("read", "--model", "so217", "x").refusal()[1] == "did you mean 'so2017'?"


def test_what_a_text_does_not_mean_is_left_out(run: Run, fake: FakeDaemon) -> None:
    """However it is written, by the vault where that is open; else a note says so."""
    said = Correction(text=spelling(HARD), model="so2017", query="editor")
    fake.handlers["corrections"] = says([said])
    record = run("read", "--json", f"{HARD}?").record
    assert record["query"] is None
    assert "editor" not in [each["query"] for each in record["candidates"]]
    assert run("read", "--json", "editor").record["query"] == "editor"
    paths().vault.parent.mkdir(exist_ok=True)
    paths().vault.touch()
    fake.handlers["corrections"] = Mock(side_effect=LockedError)
    ran = run("read", "--json", HARD)
    assert ran.record["query"] == "editor"
    assert ran.err == f"reticent: note: {UNCORRECTED}\n"


def test_each_line_gets_an_object(run: Run, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the order of the lines; what cannot be read is said, and does not end it."""
    assert home.is_dir()
    given = io.BytesIO(f"tabs or spaces\r\n\n{HARD}\n\xff\n".encode("latin-1") + b"hello \\u00e9")
    stdin = io.TextIOWrapper(given, encoding="utf-8", errors="surrogateescape")
    monkeypatch.setattr("sys.stdin", stdin)
    ran = run("read", "--json", "-")
    assert ran.code == 0
    assert ran.err == "reticent: note: 1 line not text in UTF-8 could not be read\n"
    records = [json.loads(line) for line in ran.out.splitlines()]
    assert [each["query"] for each in records] == ["tabs_spaces", None, "editor", None, None]
    assert [each["text"] for each in records[:4]] == ["tabs or spaces", "", HARD, "\ufffd"]
    assert records[1] == dict(zip(KEYS, ["", None, None, None, []], strict=True))


def test_no_lines_are_no_mistake(run: Run, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A filter of nothing prints nothing; a text that is empty is a mistake."""
    assert home.is_dir()
    monkeypatch.setattr("sys.stdin", io.StringIO(""))
    assert run("read", "--json", "-")[:3] == (0, "", "")
    assert run("read", " ").refusal()[0] == "the query is empty"
