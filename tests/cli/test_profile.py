"""`reticent profile`: the user's values, masked, set, unset, and in files."""

import io
import stat
import tomllib
from pathlib import Path
from typing import NamedTuple

import msgspec
import pytest

from agent.errors import UsageError
from agent.model.file import write
from agent.paths import paths
from agent.wire.records import Changed, Profile, ProfileChange, Stale, ValueChange
from tests.cli.conftest import Run
from tests.cli.daemon import CHANGED, HOSTILE, PROFILE, VILLAGE, changed
from tests.cli.examples import cli_model
from tests.wire.fake import FakeDaemon, says

TEXT = 'region = "coast"\nhobby = "yes"\n'
VALUES = "agent.cli.profile"
BACK = "`reticent requests undo` reverts this until the vault is locked."
OLDER = Changed(
    changes=[
        ValueChange(model="village", name="region", was_set=True, is_set=True),
        ValueChange(model="village", name="hobby", was_set=False, is_set=True),
    ],
    stale=[Stale(name="region", pools=["a.example", "@shops"]), Stale(name="hobby", pools=["b"])],
)


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


def given(patch: pytest.MonkeyPatch, text: str) -> None:
    """Pipe a text."""
    patch.setattr("sys.stdin", Piped(io.BytesIO(text.encode())))


def done(fake: FakeDaemon) -> list[ProfileChange]:
    """Return the changes that were not only shown."""
    return [each for each in changes(fake) if not each.dry_run]


def changes(fake: FakeDaemon) -> list[ProfileChange]:
    """Return what the daemon was told to change."""
    return [given["body"] for name, given in fake.calls if name == "change_profile"]


def test_values_are_masked_unless_they_are_asked_for(run: Run, fake: FakeDaemon) -> None:
    """On the page and in the object."""
    masked = run("profile", "show")
    assert "coast" not in masked.out
    assert "region" in masked.out
    assert "You have set 2 facts for the model village." in masked.out
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
    assert "reticent profile edit" in run("profile", "show").out


def test_values_are_set_and_unset(
    run: Run, fake: FakeDaemon, monkeypatch: pytest.MonkeyPatch
) -> None:
    """For all models or one; what is said names no value."""
    given(monkeypatch, "region=coast\n\n shoe_size = s 1 \r\n")
    ran = run("profile", "set", "--stdin", "--model", "village")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out == f"Set: region and shoe_size.\n{BACK}\n"
    assert run("profile", "unset", "region", "hobby").out == f"Unset: region and hobby.\n{BACK}\n"
    given(monkeypatch, "\ufeffregion=coast")
    record = run("profile", "set", "--stdin", "--json").record
    assert record == msgspec.to_builtins(CHANGED)
    assert changes(fake) == [
        ProfileChange(model="village", set={"region": "coast", "shoe_size": "s 1"}),
        ProfileChange(unset=["region", "hobby"]),
        ProfileChange(set={"region": "coast"}),
    ]


@pytest.mark.parametrize(
    ("arguments", "error", "hint"),
    [
        (["set"], "no attribute is named", "`reticent policy attributes` lists them"),
        (["set", "region"], "there is no terminal", "--stdin"),
        (["set", "region", "--stdin"], "reads the names with the values", "leave out NAME"),
        (["set", "--stdin"], "the standard input: no input", "write NAME=VALUE"),
        (["unset"], "missing argument", "--help"),
        (["shw"], "unknown command 'shw'", "did you mean 'show'?"),
        (["export"], "missing argument 'FILE'", "--help"),
        (["import", "nothing.toml"], "no such file", "wrong.toml"),
    ],
)
@pytest.mark.usefixtures("village_only")
def test_a_mistake_is_one_sentence(
    run: Run,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    arguments: list[str],
    error: str,
    hint: str,
) -> None:
    """With what can be written instead."""
    assert folder.is_dir()
    monkeypatch.setattr("sys.stdin", None)
    said = run("profile", *arguments).refusal()
    assert error in said[0]
    assert hint in said[1]


def test_who_holds_an_older_value_is_said(
    run: Run, village_only: FakeDaemon, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They will be told the new one; the user may want to know before that."""
    village_only.handlers["change_profile"] = says(OLDER)
    given(monkeypatch, "region=coast")
    said = " ".join(run("profile", "set", "--stdin").out.split())
    assert "a.example and @shops have your older value of region" in said
    assert "b has your older value of hobby" in said


def test_what_does_not_fit_is_said_by_the_daemon(
    run: Run, fake: FakeDaemon, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Which alone knows the models."""

    def refuse(body: ProfileChange) -> None:
        raise UsageError.unknown("attribute", next(iter(body.set)), ["region"])

    fake.handlers["change_profile"] = refuse
    given(monkeypatch, "regoin=coast")
    said = run("profile", "set", "--stdin").refusal()
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
    ran = run("profile", "import", file, "--yes")
    assert (ran.code, ran.out) == (0, f"Set 1 fact of village.\n{BACK}\n")
    assert done(village_only) == [ProfileChange(models={"village": {"region": "coast"}})]
    before = file.read_bytes()
    for arguments in (["--yes"], []):
        error, _ = run("profile", "export", file, *arguments).refusal()
        assert error.endswith("the file already exists")
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
    monkeypatch.setattr("agent.cli.profile.agree", says(None))
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
    given(monkeypatch, TEXT)
    ran = run("profile", "import", "-", "--json", "--yes", *(["--replace"] if replace else []))
    assert ran.err == ""
    removed = {"village": ["salary"]} if replace else {}
    assert ran.record == {
        "set": {"village": ["region", "hobby"]},
        "removed": removed,
        "stale": [],
    }
    values = {"region": "coast", "hobby": "yes"}
    assert done(village_only) == [ProfileChange(models={"village": values}, replace=replace)]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("region = coast", ("the standard input: this is not valid TOML", "region")),
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
    given(monkeypatch, text)
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
    ran = run("profile", "import", file, "--replace", "--yes")
    assert ran.out == f"Set 1 fact of village. Unset hobby of village.\n{BACK}\n"


def test_an_import_shows_what_it_changes_and_asks(
    run: Run, village_only: FakeDaemon, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Names, masked values, and who holds the old ones: before anything is changed."""
    file = tmp_path / "own.toml"
    file.write_text(TEXT)
    village_only.handlers["change_profile"] = says(OLDER)
    ran = run("profile", "import", file)
    assert (ran.code, ran.out) == (2, "")
    assert "this asks for confirmation, and there is no terminal" in ran.err
    lines = [line.split() for line in ran.err.splitlines()]
    assert ["region", "***", "***", "a.example", "and", "@shops"] in lines
    assert ["hobby", "not", "set", "***", "b"] in lines
    assert "coast" not in ran.err
    assert done(village_only) == []
    asked: list[str] = []
    monkeypatch.setattr(f"{VALUES}.agree", lambda question, **_: asked.append(question))
    assert "`reticent requests undo`" in run("profile", "import", file).out
    assert asked == ["Make these changes?"]
    assert len(done(village_only)) == 1
    village_only.handlers["change_profile"] = says(Changed())
    ran = run("profile", "import", file)
    assert (ran.code, ran.err) == (0, "")
    assert ran.out == "Your profile already has all of this: nothing changed.\n"
    assert len(asked) == 1


def answering(patch: pytest.MonkeyPatch, *answers: str) -> None:
    """Put somebody at a terminal who types these lines."""
    patch.setattr(f"{VALUES}.at_terminal", lambda: True)
    patch.setattr("sys.stdin", io.StringIO("".join(f"{each}\n" for each in answers)))


def test_values_are_asked_for_with_the_choices_numbered(
    run: Run, village_only: FakeDaemon, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is typed is not repeated; Enter leaves one as it is, and - leaves the rest."""
    answering(monkeypatch, "sesame", "9", "2", "")
    ran = run("profile", "set", "region", "hobby")
    assert ran.code == 0
    assert ran.out == f"Set: region.\n{BACK}\n"
    assert "  1  coast\n  2  hills\n" in ran.err
    assert "  0  prefer not to say\n" in ran.err
    assert "That is not one of the answers: type a number from 0 to" in ran.err
    assert "sesame" not in ran.out + ran.err
    answering(monkeypatch, "1", "-")
    assert run("profile", "set", "region", "hobby", "shoe_size").code == 0
    assert done(village_only) == [
        ProfileChange(set={"region": "hills"}),
        ProfileChange(set={"region": "coast"}),
    ]
    answering(monkeypatch, "0", "Unspecified", "unspecified")
    assert run("profile", "set", "region", "hobby").code == 0
    silent = ProfileChange(set={"region": "unspecified", "hobby": "unspecified"})
    assert done(village_only)[2:] == [silent]
    answering(monkeypatch, "")
    assert run("profile", "set", "region").out == "Nothing changed.\n"
    answering(monkeypatch)
    assert "did you mean 'region'?" in run("profile", "set", "regoin").refusal()[1]
    answering(monkeypatch)
    assert "unknown model 'town'" in run("profile", "set", "region", "--model", "town").refusal()[0]
    assert len(done(village_only)) == 3


@pytest.mark.parametrize(
    "arguments", [["region=coast"], ["hobby", "region=coast"], ["=coast"], ["region=", "coast"]]
)
def test_a_value_is_no_argument(run: Run, fake: FakeDaemon, arguments: list[str]) -> None:
    """Every user of the machine could read it there; it is not repeated."""
    error, hint = run("profile", "set", *arguments).refusal()
    assert "every user of this machine" in error
    assert "coast" not in error + hint
    assert "`reticent profile set NAME...`" in hint
    assert "--stdin" in hint
    assert fake.calls == []


@pytest.mark.usefixtures("village_only")
def test_a_value_beside_its_name_is_no_argument_either(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is not taken for a name, and not repeated."""
    answering(monkeypatch)
    error, hint = run("profile", "set", "region", "coast").refusal()
    assert "every user of this machine" in error
    assert "coast" not in error + hint


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("region coast", "line 1: not of the form NAME=VALUE"),
        ("hobby=yes\n=coast", "line 2: not of the form NAME=VALUE"),
        ("region=coast\nregion=hills", "region has two values"),
        ("\n \n", "no input"),
        ("region=coast\n" * 100_000, "too large"),
    ],
)
def test_lines_that_are_no_values_set_nothing(
    run: Run, fake: FakeDaemon, monkeypatch: pytest.MonkeyPatch, text: str, problem: str
) -> None:
    """In one sentence, without what was given."""
    given(monkeypatch, text)
    error, hint = run("profile", "set", "--stdin").refusal()
    assert problem in error
    assert "coast" not in error + hint
    assert changes(fake) == []
    monkeypatch.setattr("sys.stdin", Piped(io.BytesIO(b"region=\xff")))
    assert "not UTF-8 text" in run("profile", "set", "--stdin").refusal()[0]


def test_all_facts_can_be_gone_through(
    run: Run, village_only: FakeDaemon, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One question each, back and forth; what was skipped or left out is kept."""
    answering(monkeypatch, "1", "<", "", "2", "-")
    ran = run("profile", "edit", "--json")
    assert ran.code == 0
    [change] = done(village_only)
    assert len(change.set or {}) == 1
    assert "2 of 3: " in ran.err
    monkeypatch.setattr(f"{VALUES}.at_terminal", lambda: False)
    assert "there is no terminal" in run("profile", "edit").refusal()[0]
