"""`reticent policy check`, `rules` and `attributes`: what is wrong, and what holds."""

import json
from pathlib import Path

import pytest

from agent.paths import paths
from tests.cli.conftest import Run
from tests.cli.policing import HOURS, REGION, RULES
from tests.house.tree import ROOT
from tests.wire.fake import FakeDaemon, says

NEVER = "'nevr' is not one of always, auto, ask, never (did you mean 'never'?)"
APART = (
    "a rule for some attributes cannot set it (leave out attribute, or make it a rule of its own)"
)


def test_a_good_policy_has_no_problems(asked: Run) -> None:
    """The one that is named, or the one that the daemon follows."""
    assert asked("check", "policy.toml") == (0, "policy.toml: 8 rules, no problems\n", "")
    own = {"file": str(paths().policy), "rules": 8, "problems": [], "remarks": []}
    assert asked("check", "--json").record == {"files": [own]}


def test_all_that_is_wrong_is_said(asked: Run) -> None:
    """Each on a line of its own that editors can jump to, and the other files all the same."""
    said = asked("check", "wrong.toml", "policy.toml")
    assert (said.code, said.err) == (1, "")
    found = asked("check", "wrong.toml", "--json")
    first = {"line": 1, "key": "preset", "what": "unknown preset 'balnaced'"}
    problems = json.loads(found.out)["files"][0]["problems"]
    assert (found.code, problems[0]) == (1, {**first, "hint": "did you mean 'balanced'?"})
    assert said.out.splitlines() == [
        "wrong.toml:1: preset: unknown preset 'balnaced' (did you mean 'balanced'?)",
        "wrong.toml:2: lamda: unknown key 'lamda' (did you mean 'lambda'?)",
        f"wrong.toml:7: rule[1].disclose: {NEVER}",
        f"wrong.toml:8: rule[1].k: {APART}",
        "wrong.toml: 4 problems, so it is not used",
        "policy.toml: 8 rules, no problems",
    ]


def test_what_does_nothing_is_noted_and_no_problem(asked: Run) -> None:
    """Unknown attributes, and rules that are over."""
    said = asked("check", "dead.toml")
    assert (said.code, said.err) == (0, "")
    lines = said.out.splitlines()
    assert lines[0] == (
        "dead.toml:2: note: attributes.regoin: the model has no attribute 'regoin' "
        "(did you mean 'region'? until you correct it, it is not sent)"
    )
    assert [line.split(":")[1] for line in lines] == [
        "2",
        "6",
        " 4 rules, no problems, 2 notes",
    ]
    (file,) = asked("check", "dead.toml", "--json").record["files"]
    keys = {"line", "key", "rule", "settings", "what", "hint"}
    assert [{*each} for each in file["remarks"]] == [keys] * 2
    assert [each["settings"] for each in file["remarks"]] == [["disclose"], ["lambda"]]


def test_the_shipped_policies_are_without_notes(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """For the shipped model, as long as the examples last."""
    monkeypatch.chdir(ROOT / "examples/policies")
    names = sorted(path.name for path in Path().glob("*.toml"))
    said = run("policy", "check", *names)
    assert (said.code, said.err) == (0, "")
    assert [line.split(": ")[0] for line in said.out.splitlines()] == names


@pytest.mark.parametrize(
    "command",
    [
        ["show", "--policy"],
        ["show", "--recipient", "a.test", "--query", "x", "--policy"],
        ["try", "--history", "wrong.toml"],
    ],
)
def test_a_wrong_policy_is_shown_with_all_its_problems(
    run: Run, folder: Path, command: list[str]
) -> None:
    """Each with its place and its hint."""
    assert folder.is_dir()
    said = run("policy", *command, "wrong.toml")
    assert (said.code, said.out) == (1, "")
    lines = said.err.splitlines()
    assert lines[:2] == [
        "reticent: error: wrong.toml:1: preset: unknown preset 'balnaced'",
        "reticent: hint: did you mean 'balanced'?",
    ]
    assert [line.split(":")[1] for line in lines] == [" error", " hint"] * 4


UNREAD = {
    "none.toml": (None, "none.toml cannot be read: no such file or directory"),
    "binary.toml": (bytes(range(256)), "binary.toml is not UTF-8 text, line 2"),
    "folder": ("", "folder cannot be read: is a directory"),
}


@pytest.mark.parametrize("name", UNREAD)
def test_what_is_no_text_is_refused(run: Run, folder: Path, name: str) -> None:
    """A file that is not there, one of bytes, and a folder; the others are checked all the same."""
    data, error = UNREAD[name]
    if isinstance(data, bytes):
        (folder / name).write_bytes(data)
    elif data is not None:
        (folder / name).mkdir()
    assert run("policy", "show", "--policy", name).refusal()[0] == error
    ran = run("policy", "check", name, "wrong.toml")
    assert ran.code == 2
    first, second, *_ = ran.out.splitlines()
    assert first.startswith(f"{error} (")
    assert second.startswith("wrong.toml:1: preset: ")


def test_an_empty_file_is_a_policy(asked: Run, folder: Path) -> None:
    """That of the defaults; but the daemon takes it for what is left of another."""
    (folder / "empty.toml").write_text("")
    said = asked("check", "empty.toml")
    assert (said.code, said.err) == (0, "")
    note, last = said.out.splitlines()
    assert note.startswith("empty.toml:1: note: the file sets nothing, so the daemon does not use")
    assert note.endswith('(write preset = "balanced" into it)')
    assert last == "empty.toml: 0 rules, no problems, 1 note"


def test_nothing_in_a_file_steers_the_terminal(asked: Run, folder: Path) -> None:
    """Neither a key nor a comment."""
    (folder / "odd.toml").write_text('"\\u001b[2Jx\\u0007" = 3\n')
    for said in (asked("check", "odd.toml"), asked("show", "--policy", "odd.toml")):
        assert said.code == 1
        assert "\a" not in said.out + said.err
        assert "unknown key" in said.out + said.err


@pytest.mark.parametrize(
    ("options", "error"),
    [
        (["show", "--query", "x"], "--query needs --recipient"),
        (["show", "--recipient", "a b", "--query", "x"], "'a b' is not a host name"),
        (["show", "--recipient", ""], "'' is not a host name"),
        (["check", "--model", "none.safetensors"], "none.safetensors: no such file"),
    ],
)
def test_a_wrong_call_is_refused(run: Run, folder: Path, options: list[str], error: str) -> None:
    """In a sentence, with how to mend it."""
    assert folder.is_dir()
    assert error in run("policy", *options).refusal()[0]


def test_a_policy_that_others_can_write_is_as_bad_as_for_the_daemon(asked: Run) -> None:
    """One's own; what is named may be anybody's."""
    paths().policy.chmod(0o666)
    for command in (("check",), ("show", "--policy", paths().policy)):
        said = asked(*command)
        assert said.code == 2
        assert f"{paths().policy}: other users can write to this file" in said.out + said.err
    Path("named.toml").write_text("lambda = 1\n")
    Path("named.toml").chmod(0o666)
    assert asked("check", "named.toml").code == 0


@pytest.fixture
def ruled(fake: FakeDaemon) -> FakeDaemon:
    """A daemon that has rules, and knows two attributes."""
    fake.handlers |= {"rules": says(RULES), "attributes": says([REGION, HOURS])}
    return fake


@pytest.mark.usefixtures("ruled")
def test_the_table_says_what_each_may_do(run: Run, ruled: FakeDaemon) -> None:
    """For one recipient, or for whoever no rule names."""
    ran = run("policy", "facts", "--recipient", "@adverts")
    assert (ran.code, ran.err) == (0, "")
    assert ruled.calls == [("attributes", {"recipient": "@adverts"})]
    said = " ".join(ran.out.split())
    assert said.startswith("What your policy lets out of the 2 facts of village, to @adverts.")
    assert "region guarded (2) 0.250 attributes.region, line 4" in said
    assert "hours auto 0.000 preset strict" in said
    assert max(map(len, ran.out.splitlines())) <= 80
    said = " ".join(run("policy", "facts").out.split())
    assert "of village, to recipients without rules of their own." in said
    ruled.handlers["attributes"] = says([])
    assert run("policy", "facts").out == "The model in use has no attributes.\n"
