"""`reticent profile`: the user's values, masked, set, unset, and in files."""

import io
import stat
import tomllib
from pathlib import Path
from typing import NamedTuple

import pytest

from agent.errors import UsageError
from agent.model.file import write
from agent.paths import paths
from agent.wire.keeping import Changed, Profile, ProfileChange, Stale
from tests.cli.conftest import Run
from tests.cli.daemon import HOSTILE, PROFILE, VILLAGE, changed
from tests.cli.examples import cli_model
from tests.wire.fake import FakeDaemon, says

TEXT = 'region = "coast"\nhobby = "yes"\n'


class Piped(NamedTuple):
    """A standard input that is a pipe."""

    buffer: io.BytesIO

    def isatty(self) -> bool:
        """Say that nobody is there."""
        return False


@pytest.fixture
def village_only(fake: FakeDaemon) -> FakeDaemon:
    """A daemon whose one model is the small one, which was added."""
    models = [
        changed(VILLAGE, shipped=False),
        changed(VILLAGE, shipped=False, name="broken", problem="altered"),
    ]
    fake.handlers["models"] = lambda: models
    paths().models.mkdir(parents=True)
    write(cli_model(), paths().models / "village.safetensors")
    return fake


def changes(fake: FakeDaemon) -> list[ProfileChange]:
    """Return what the daemon was told to change."""
    return [given["body"] for name, given in fake.calls if name == "change_profile"]


def test_values_are_masked_unless_they_are_asked_for(run: Run, fake: FakeDaemon) -> None:
    """On the page and in the object."""
    masked = run("profile", "show")
    assert "coast" not in masked.out
    assert "region" in masked.out
    assert "village: 2 values" in masked.out
    assert "town" not in masked.out
    assert run("profile", "show", "--json").record == {
        "values": {"village": {"region": "***", "hobby": "***"}, "town": {}}
    }
    assert "coast" in run("profile", "show", "--reveal").out
    record = run("profile", "show", "--reveal", "--json").record
    assert record == {"values": PROFILE.values}
    fake.handlers["profile"] = lambda: Profile(values={HOSTILE: {"region": HOSTILE}})
    assert "\x1b" not in run("profile", "show", "--reveal").out
    fake.handlers["profile"] = lambda: Profile(values={})
    assert "reticent profile set" in run("profile", "show").out


def test_values_are_set_and_unset(run: Run, fake: FakeDaemon) -> None:
    """For all models or one; what is said names no value."""
    ran = run("profile", "set", "region=coast", "shoe_size=s 1", "--model", "village")
    assert (ran.code, ran.out) == (0, "Set region and shoe_size.\n")
    assert run("profile", "unset", "region", "hobby").out == "Unset region and hobby.\n"
    record = run("profile", "set", "region=coast", "--json").record
    assert record == {"done": True, "stale": []}
    assert changes(fake) == [
        ProfileChange(model="village", set={"region": "coast", "shoe_size": "s 1"}),
        ProfileChange(unset=["region", "hobby"]),
        ProfileChange(set={"region": "coast"}),
    ]


@pytest.mark.parametrize(
    ("arguments", "error", "hint"),
    [
        (["set"], "missing argument", "--help"),
        (["set", "region"], "'region' is not a pair", "write NAME=VALUE"),
        (["set", "a=b", "a=c"], "gives a two values", "give a once"),
        (["unset"], "missing argument", "--help"),
        (["shw"], "unknown command 'shw'", "did you mean 'show'?"),
        (["export"], "missing argument 'FILE'", "--help"),
        (["import", "nothing.toml"], "there is no such file", "wrong.toml"),
    ],
)
@pytest.mark.usefixtures("village_only")
def test_a_mistake_is_one_sentence(
    run: Run, folder: Path, arguments: list[str], error: str, hint: str
) -> None:
    """With what can be written instead."""
    assert folder.is_dir()
    said = run("profile", *arguments).refusal()
    assert error in said[0]
    assert hint in said[1]


def test_who_holds_an_older_value_is_said(run: Run, village_only: FakeDaemon) -> None:
    """They will be told the new one; the user may want to know before that."""
    pools = ["a.example", "@shops"]
    older = Changed(stale=[Stale(name="region", pools=pools), Stale(name="hobby", pools=["b"])])
    village_only.handlers["change_profile"] = says(older)
    said = " ".join(run("profile", "set", "region=coast").out.split())
    assert "a.example and @shops hold an older value of region" in said
    assert "b holds an older value of hobby" in said
    file = paths().data / "own.toml"
    file.write_text(TEXT)
    assert "b holds an older value of hobby" in " ".join(run("profile", "import", file).out.split())


def test_what_does_not_fit_is_said_by_the_daemon(run: Run, fake: FakeDaemon) -> None:
    """Which alone knows the models."""

    def refuse(body: ProfileChange) -> None:
        raise UsageError.unknown("attribute", next(iter(body.set)), ["region"])

    fake.handlers["change_profile"] = refuse
    said = run("profile", "set", "regoin=coast").refusal()
    assert said == ("unknown attribute 'regoin'", "did you mean 'region'?")


def test_an_export_is_private_and_can_be_read_again(
    run: Run, village_only: FakeDaemon, tmp_path: Path
) -> None:
    """By `profile import`, which sets the same."""
    village_only.handlers["profile"] = lambda: Profile(values={"village": {"region": "coast"}})
    file = tmp_path / "own.toml"
    ran = run("profile", "export", file, "--yes")
    assert (ran.code, ran.err) == (0, "")
    assert "readable by you alone" in " ".join(ran.out.split())
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert tomllib.loads(file.read_text()) == {"village": {"region": "coast"}}
    ran = run("profile", "import", file)
    assert (ran.code, ran.out, ran.err) == (0, "Set 1 value of village.\n", "")
    assert changes(village_only) == [ProfileChange(model="village", set={"region": "coast"})]
    before = file.read_bytes()
    for arguments in (["--yes"], []):
        error, _ = run("profile", "export", file, *arguments).refusal()
        assert error.endswith("there is such a file already")
    assert file.read_bytes() == before
    other = tmp_path / "other.toml"
    assert run("profile", "export", other, "--yes", "--json").record == {"file": str(other)}


def test_an_export_asks_and_warns(
    run: Run, fake: FakeDaemon, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before the values leave the vault."""
    file = tmp_path / "own.toml"
    ran = run("profile", "export", file)
    assert (ran.code, ran.out) == (2, "")
    assert "plain text" in ran.err
    assert not file.exists()
    assert fake.calls == []
    monkeypatch.setattr("agent.cli.profile_export.agree", says(None))
    assert run("profile", "export", file).code == 0
    assert file.exists()


@pytest.mark.usefixtures("fake")
def test_an_export_to_the_output(run: Run) -> None:
    """As a file, or as an object."""
    ran = run("profile", "export", "-", "--yes")
    assert (ran.code, ran.err) == (0, "")
    assert tomllib.loads(ran.out)["village"] == PROFILE.values["village"]
    record = run("profile", "export", "-", "--yes", "--json").record
    assert record == {"values": PROFILE.values}


@pytest.mark.parametrize("replace", [False, True])
def test_values_come_from_a_pipe(
    run: Run, village_only: FakeDaemon, monkeypatch: pytest.MonkeyPatch, replace: bool
) -> None:
    """So that no shell keeps them; and what is not in the file may go, and is named then."""
    own = {"village": {"region": "hills", "salary": "low"}, "town": {"region": "hills"}}
    village_only.handlers["profile"] = says(Profile(values=own))
    monkeypatch.setattr("sys.stdin", Piped(io.BytesIO(TEXT.encode())))
    ran = run("profile", "import", "-", "--json", *(["--replace"] if replace else []))
    removed = {"village": ["salary"]} if replace else {}
    assert ran.record == {
        "set": {"village": ["region", "hobby"]},
        "removed": removed,
        "stale": [],
    }
    values = {"region": "coast", "hobby": "yes"}
    assert changes(village_only) == [ProfileChange(model="village", set=values, replace=replace)]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("region = coast", ("the standard input: this is no TOML", "region")),
        (TEXT + 'regoin = "coast"', ("unknown attribute 'regoin'", "'region'")),
        ('region = "coats"', ("unknown value", "'coast'")),
        ("region = 1", ("text", "quotes")),
        ("[vilage]\n", ("unknown model 'vilage'", "'village'")),
        (TEXT + "#" * (1 << 20), ("too large", "1,048,576")),
    ],
)
def test_where_anything_does_not_fit_nothing_is_set(
    run: Run,
    village_only: FakeDaemon,
    monkeypatch: pytest.MonkeyPatch,
    text: str,
    problem: tuple[str, str],
) -> None:
    """In one sentence, with the nearest name."""
    monkeypatch.setattr("sys.stdin", Piped(io.BytesIO(text.encode())))
    error, hint = run("profile", "import", "-").refusal()
    assert problem[0] in error
    assert problem[1] in hint
    assert changes(village_only) == []


def test_an_empty_file_sets_nothing(
    run: Run, village_only: FakeDaemon, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And is no mistake; with --replace it is one, for it would take everything away."""
    monkeypatch.setattr("sys.stdin", None)
    assert run("profile", "import", "-").out == "The file sets nothing.\n"
    error, hint = run("profile", "import", "-", "--replace").refusal()
    assert error.startswith("the standard input: nothing is set in it")
    assert "`reticent profile unset NAME...`" in hint
    assert changes(village_only) == []


@pytest.mark.usefixtures("village_only")
def test_what_a_file_takes_away_is_said(run: Run, tmp_path: Path) -> None:
    """By name, not by value."""
    file = tmp_path / "own.toml"
    file.write_text('region = "coast"')
    ran = run("profile", "import", file, "--replace")
    assert ran.out == "Set 1 value of village. Unset hobby of village.\n"
