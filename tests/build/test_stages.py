"""A build that is stopped goes on from its last finished stage, and gives the same bytes."""

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given

from agent.build import stages
from agent.build.build import build_model
from agent.build.options import BuildOptions
from agent.build.stages import IN_ENGINE, Stages, stages_beside
from agent.errors import BuildError, UsageError
from agent.model.file import write
from tests.build.logs import SmallLog, logs, write_log
from tests.build.worlds import ENGINES, QUIET, few, options, write_parquet

pytestmark = QUIET
PEOPLE = [(f"u{at}", "ab"[at % 2], "xy"[at % 3 % 2]) for at in range(12)]
ASKED = [(user, query, one, "") for user, one, _ in PEOPLE for query in ("tea", "Tee", "été ")]
FEW = few(1)


class Killed(BaseException):
    """What stops a build, as Ctrl-C does; a process that is killed leaves no less than this."""


@pytest.fixture
def given_tables(tmp_path: Path) -> BuildOptions:
    """Two tables of parquet, with a text that has to be cleaned."""
    users = write_parquet(tmp_path / "users.parquet", ("user", "p0", "p1"), PEOPLE)
    header = ("user", "query", "intent", "r0")
    return options(users=users, events=write_parquet(tmp_path / "events.parquet", header, ASKED))


def built(given: BuildOptions, out: Path, *, resume: bool = False) -> bytes:
    """Build a model with its stages beside it."""
    with stages_beside(out, given, resume=resume) as stages_:
        write(build_model(given, lambda _what, _share: None, stages_), out)
    return out.read_bytes()


def plain(given: BuildOptions, out: Path) -> bytes:
    """Build the same model without stages."""
    write(build_model(given, lambda _what, _share: None, IN_ENGINE), out)
    return out.read_bytes()


def killing(patch: pytest.MonkeyPatch, *, halfway: bool) -> Callable[[], int]:
    """Kill each build at its next stage: after it, or halfway through its file.

    Returns what says how many were killed.
    """
    whole, killed = Stages.file, list[str]()

    def file(self: Stages, name: str, make: Callable[[Path], object]) -> Path:
        assert self.folder is not None
        if (self.folder / f"{name}.parquet").exists():
            return whole(self, name, make)
        if halfway and name not in killed:
            (self.folder / f"{name}.part").write_bytes(b"PAR1 and no more")
        else:
            whole(self, name, make)
            if halfway:
                return self.folder / f"{name}.parquet"
        killed.append(name)
        raise Killed

    patch.setattr(Stages, "file", file)
    return lambda: len(killed)


def resumed(given: BuildOptions, out: Path, *, halfway: bool) -> bytes:
    """Build a model in runs that are killed at every stage, one after the other."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(stages, "BLOCK", 1)
        count = killing(patch, halfway=halfway)
        while True:
            before = count()
            try:
                model = built(given, out, resume=True)
            except Killed:
                assert not out.exists()
                assert count() == before + 1
                continue
            assert count() >= 8  # people, texts, rows, traffic, crowds, kept, intents, coded, ...
            return model


@pytest.mark.parametrize("halfway", [False, True])
@pytest.mark.parametrize("spark", ENGINES)
def test_killed_at_every_stage_it_gives_the_same_bytes(
    spark: str | None, given_tables: BuildOptions, tmp_path: Path, *, halfway: bool
) -> None:
    """Whatever computes it; and nothing else is left."""
    given = replace(given_tables, spark=spark)
    found = resumed(given, tmp_path / "model.safetensors", halfway=halfway)
    assert found == plain(given, tmp_path / "plain.safetensors")
    names = {"users.parquet", "events.parquet", "model.safetensors", "plain.safetensors"}
    assert {each.name for each in tmp_path.iterdir()} == names


@FEW
@given(log=logs())
def test_so_does_one_of_a_log(log: SmallLog, tmp_path_factory: pytest.TempPathFactory) -> None:
    """The tables made of it are stages too."""
    folder = tmp_path_factory.mktemp("log")
    given = BuildOptions(**write_log(log, folder)._asdict(), min_users=1)
    try:
        expected = plain(given, folder / "plain.safetensors")
    except BuildError as error:
        with pytest.raises(BuildError, match=error.what):
            built(given, folder / "model.safetensors")
        assert not (folder / "model.stages").exists()
        return
    assert resumed(given, folder / "model.safetensors", halfway=False) == expected


def test_stages_are_of_the_same_tables_and_options(
    given_tables: BuildOptions, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of others nothing is taken, and it is said."""
    out = tmp_path / "model.safetensors"

    def stopped() -> None:
        with pytest.MonkeyPatch.context() as patch:
            killing(patch, halfway=False)
            with pytest.raises(Killed):
                built(given_tables, out)

    stopped()
    others = replace(given_tables, shrinkage=20.0)
    changes = "the tables, the options or the version have changed since the build stopped"
    with pytest.raises(UsageError, match=changes):
        built(others, out, resume=True)
    assert (tmp_path / "model.stages").is_dir()
    monkeypatch.setattr(stages, "__version__", "another")
    with pytest.raises(UsageError, match=changes):
        built(given_tables, out, resume=True)
    monkeypatch.undo()
    assert given_tables.users is not None
    write_parquet(given_tables.users, ("user", "p0", "p1"), PEOPLE[1:])
    with pytest.raises(UsageError, match=changes):
        built(given_tables, out, resume=True)
    assert built(given_tables, out) == plain(given_tables, tmp_path / "plain.safetensors")
    assert not (tmp_path / "model.stages").exists()


def test_a_folder_of_somebody_is_left_alone(given_tables: BuildOptions, tmp_path: Path) -> None:
    """And an empty one is taken."""
    folder = tmp_path / "model.stages"
    folder.mkdir()
    (folder / "letter.txt").write_text("mine")
    for resume in (False, True):
        with pytest.raises(UsageError, match="this is where stages would go"):
            built(given_tables, tmp_path / "model.safetensors", resume=resume)
    assert (folder / "letter.txt").read_text() == "mine"
    (folder / "letter.txt").unlink()
    assert built(given_tables, tmp_path / "model.safetensors", resume=True)


def test_two_builds_of_one_model_do_not_meet(given_tables: BuildOptions, tmp_path: Path) -> None:
    """The second is refused, and the first ends as if alone."""
    out = tmp_path / "model.safetensors"
    with stages_beside(out, given_tables, resume=False) as found:
        for resume in (False, True):
            with pytest.raises(UsageError, match="another build is writing this model"):
                built(given_tables, out, resume=resume)
        write(build_model(given_tables, lambda _what, _share: None, found), out)
    assert out.read_bytes() == plain(given_tables, tmp_path / "plain.safetensors")


def test_nobody_else_can_look_into_them(given_tables: BuildOptions, tmp_path: Path) -> None:
    """User ids are in them, so they are gone where nothing can come of the tables."""
    out, before = tmp_path / "model.safetensors", os.umask(0)
    try:
        with stages_beside(out, given_tables, resume=False) as found:
            assert found.folder is not None
            assert found.folder.stat().st_mode & 0o077 == 0
    finally:
        os.umask(before)
    few = replace(given_tables, min_users=99)
    with pytest.raises(BuildError, match="no query has events from at least 99 users"):
        built(few, out)
    assert not found.folder.exists()


def test_in_a_folder_that_reads_as_a_pattern_there_are_none(
    given_tables: BuildOptions, tmp_path: Path
) -> None:
    """Engines would take the names of their files for patterns; the model is built all the same."""
    odd = tmp_path / "a[b]"
    odd.mkdir()
    assert built(given_tables, odd / "model.safetensors")
    assert [each.name for each in odd.iterdir()] == ["model.safetensors"]
    with pytest.raises(UsageError, match="no build goes on where a path contains one of"):
        built(given_tables, odd / "model.safetensors", resume=True)
