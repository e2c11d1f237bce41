"""`reticent model`: add, list, remove; sign, and say who signed; compare."""

import stat
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from shutil import copyfile

import pytest

from agent.model.file import SHIPPED, write
from agent.paths import paths
from agent.wire.base import Done
from tests.cli.conftest import Run
from tests.cli.daemon import VILLAGE
from tests.cli.examples import cli_model
from tests.wire.fake import FakeDaemon


@pytest.fixture
def answered(home: Path) -> Iterator[FakeDaemon]:
    """A daemon that has models."""
    assert home.is_dir()
    handlers: dict[str, Callable[..., object]] = {
        "models": lambda: [VILLAGE],
        "add_model": lambda body: VILLAGE if body else None,
        "remove_model": lambda name: Done(done=bool(name)),
    }
    with FakeDaemon(paths().control, handlers) as fake:
        yield fake


def test_the_daemon_is_asked_where_one_runs(
    run: Run, answered: FakeDaemon, village: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the absolute path: it is somewhere else."""
    monkeypatch.chdir(village.parent)
    assert run("model", "add", village.name, "--json").record["name"] == "village"
    assert run("model", "list", "--json").record["models"][0]["digest"] == "00"
    assert run("model", "remove", "village").out == "Removed village.\n"
    named, bodies = zip(*answered.calls, strict=True)
    assert named == ("add_model", "models", "remove_model")
    assert bodies[0]["body"].path == str(village)
    assert not paths().models.exists()


@pytest.mark.usefixtures("home")
def test_without_a_daemon_it_is_done_here(run: Run, village: Path) -> None:
    """Added, listed, removed; the shipped one is always there."""
    added = run("model", "add", village)
    assert 'model = "village"' in added.out
    assert (paths().models / village.name).read_bytes() == village.read_bytes()
    names = [each["name"] for each in run("model", "list", "--json").record["models"]]
    assert names == [*SHIPPED, "village"]
    assert "comes with reticent" in run("model", "list").out
    assert run("model", "remove", "village", "--json").record == {"done": True}
    assert [*paths().models.iterdir()] == []


@pytest.fixture
def mine(village: Path, tmp_path: Path) -> Path:
    """A copy of a model, to sign."""
    return copyfile(village, tmp_path / village.name)


def test_who_signed_is_who_made_the_key(run: Run, mine: Path, tmp_path: Path) -> None:
    """The key is made where there is none, for its owner only, and the description names it."""
    key = tmp_path / "maker.pem"
    assert run("model", "info", mine, "--json").record["signed_with"] is None
    signed = run("model", "sign", mine, "--key", key)
    public = signed.out.splitlines()[-1]
    assert signed.code == 0
    assert public.startswith("ed25519:")
    assert "Wrote a new private key to" in signed.out
    assert stat.S_IMODE(key.stat().st_mode) == 0o600
    again = run("model", "sign", mine, "--key", key, "--json").record
    place = mine.with_suffix(".sig")
    assert again == {"path": str(mine), "signature": str(place), "key": public}
    assert run("model", "info", mine, "--json").record["signed_with"] == public


def test_a_signature_that_does_not_verify_is_said(run: Run, mine: Path) -> None:
    """With the exit code of an error, above the description."""
    mine.with_suffix(".sig").write_text("{}")
    ran = run("model", "info", mine)
    assert ran.code == 1
    assert "signed with  the signature does not fit the format" in ran.out


def test_a_key_is_never_written_over(run: Run, mine: Path, tmp_path: Path) -> None:
    """It may be the only one; and none is made for a model that is not there."""
    key = tmp_path / "maker.pem"
    key.write_text("precious")
    assert "not a private key" in run("model", "sign", mine, "--key", key).refusal()[0]
    assert key.read_text() == "precious"
    new, missing = tmp_path / "new.pem", tmp_path / "none.safetensors"
    assert "no such file" in run("model", "sign", missing, "--key", new).refusal()[0]
    assert not new.exists()


def test_the_page_says_whether_promises_were_kept(run: Run, village: Path, tmp_path: Path) -> None:
    """By people who want something else now."""
    model, new = cli_model(), tmp_path / "town.safetensors"
    first, *others = model.queries
    mixed = replace(first, intents=first.intents[::-1])
    write(replace(model, id="town", queries=(mixed, *others)), new)
    page = run("model", "compare", village, new, "--lambda", "0.1").page
    assert "promises The old model overestimated: it predicted 0." in page
    record = run("model", "compare", village, new, "--lambda", "0.1", "--json").record
    assert record["kept_bits"] < record["promised_bits"]
