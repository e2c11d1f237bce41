"""A policy file that is changed whole, or not at all, whoever else changes it."""

import os
from pathlib import Path
from stat import S_IMODE

import pytest

from agent.daemon.policy_file import rewrite
from agent.errors import UnsafeError, UsageError
from policy.rules import Policy

BEFORE = 'disclose = "ask"  # é\r\n'
ADDED = "k = 3\n"


def add(text: str, _: Policy) -> str:
    """Return a policy with one more line."""
    return text + ADDED


@pytest.fixture
def policy(tmp_path: Path) -> Path:
    """Return a policy file alone in its folder."""
    path = tmp_path / "policy.toml"
    path.write_bytes(BEFORE.encode())
    return path


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o644])
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_all_but_the_change_stays(policy: Path, mode: int, mark: bytes) -> None:
    """The mode, the ends of lines, the mark of the encoding; no other file is left."""
    policy.write_bytes(mark + BEFORE.encode())
    policy.chmod(mode)
    after = rewrite(policy, add)
    assert after.text == BEFORE + ADDED
    assert policy.read_bytes() == mark + (BEFORE + ADDED).encode()
    assert S_IMODE(policy.stat().st_mode) == mode
    assert [*policy.parent.iterdir()] == [policy]


def test_what_a_killed_one_left_goes(policy: Path) -> None:
    """With the next change; nothing that is only called alike."""
    left, other = (
        policy.with_name(".policy.toml.0a1b2c3d.part"),
        policy.with_name(".policy.toml~"),
    )
    for path in (left, other):
        path.touch()
    rewrite(policy, add)
    assert {*policy.parent.iterdir()} == {policy, other}


def test_a_reader_sees_the_old_or_the_new(policy: Path) -> None:
    """The file is replaced, so who has it open reads on in the old one."""
    with policy.open("rb") as file:
        rewrite(policy, add)
        assert file.read() == BEFORE.encode()
    assert policy.read_bytes() == (BEFORE + ADDED).encode()


def test_nothing_to_change_writes_nothing(policy: Path) -> None:
    """Not even the same again."""
    before = policy.stat()
    assert rewrite(policy, lambda text, _: text).text == BEFORE
    assert policy.stat() == before


def test_a_link_stays_a_link(policy: Path) -> None:
    """To a file kept elsewhere, under version control say."""
    link, relative = policy.parent / "link.toml", policy.parent / "other.toml"
    link.symlink_to(policy)
    relative.symlink_to(link.name)
    rewrite(relative, add)
    assert relative.is_symlink()
    assert link.is_symlink()
    assert policy.read_bytes() == (BEFORE + ADDED).encode()


def test_no_file_means_no_rules(tmp_path: Path) -> None:
    """A verdict must not make a policy: with one, more may leave than without."""
    dangling = tmp_path / "link.toml"
    dangling.symlink_to(tmp_path / "nowhere.toml")
    for path in (tmp_path / "policy.toml", dangling):
        with pytest.raises(UsageError, match="no rules are in use"):
            rewrite(path, add)
    assert [*tmp_path.iterdir()] == [dangling]


@pytest.mark.parametrize(("before", "after"), [("", ADDED), ("# gone\n", ADDED), (BEFORE, "")])
def test_a_file_that_says_nothing_is_no_policy(policy: Path, before: str, after: str) -> None:
    """What it said is lost: one more rule would make it one, and an open one."""
    policy.write_bytes(before.encode())
    with pytest.raises(UsageError, match="nothing was written"):
        rewrite(policy, lambda *_: after)
    assert policy.read_bytes() == before.encode()


@pytest.mark.parametrize("content", [b"lamda = 5\n", b"k = \n", b"\xff\n", b"k = 0\n"])
def test_a_file_with_mistakes_is_left_alone(policy: Path, content: bytes) -> None:
    """It is not in use, so nobody could say what a change of it does."""
    policy.write_bytes(content)
    with pytest.raises(UsageError):
        rewrite(policy, add)
    assert policy.read_bytes() == content
    assert [*policy.parent.iterdir()] == [policy]


def test_a_change_with_a_mistake_is_not_written(policy: Path) -> None:
    """The last good rules stay in the file."""
    with pytest.raises(UsageError, match="nothing was written"):
        rewrite(policy, lambda text, _: f"{text}k = 0\n")
    assert policy.read_bytes() == BEFORE.encode()


def test_a_change_in_between_is_kept(policy: Path) -> None:
    """An editor that saves at that moment loses nothing, and neither does the verdict."""
    theirs = "lambda = 7\n"

    def race(text: str, rules: Policy) -> str:
        if theirs not in text:
            policy.write_bytes((text + theirs).encode())
        return add(text, rules)

    assert rewrite(policy, race).text == BEFORE + theirs + ADDED
    assert policy.read_bytes() == (BEFORE + theirs + ADDED).encode()


def test_who_never_stops_changing_it_is_noticed(policy: Path) -> None:
    """Then nothing is written, and what the other wrote stays."""

    def race(text: str, rules: Policy) -> str:
        policy.write_bytes(f"{text}# {len(text)}\n".encode())
        return add(text, rules)

    with pytest.raises(UsageError, match="keeps changing"):
        rewrite(policy, race)
    assert ADDED not in policy.read_text()
    assert policy.read_text().count("#") == 4
    assert [*policy.parent.iterdir()] == [policy]


def test_one_that_is_taken_away_is_not_made_again(policy: Path) -> None:
    """Whoever removes the policy means that nothing is attached."""

    def race(text: str, rules: Policy) -> str:
        policy.unlink()
        return add(text, rules)

    with pytest.raises(UsageError):
        rewrite(policy, race)
    assert [*policy.parent.iterdir()] == []


def test_a_folder_in_which_nothing_can_be_written_is_said(
    policy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In one sentence, with nothing left behind."""

    def full(number: int) -> None:
        raise OSError(28, "No space left on device", number)

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(UsageError, match="cannot be written: no space left on device"):
        rewrite(policy, add)
    assert policy.read_bytes() == BEFORE.encode()
    assert [*policy.parent.iterdir()] == [policy]


def test_what_others_can_write_is_not_written_over(policy: Path) -> None:
    """Nor kept as it is with our name under it: what stands there may be theirs."""
    before = policy.read_text()
    policy.chmod(0o666)
    with pytest.raises(UnsafeError, match="other users can write to this file"):
        rewrite(policy, lambda text, _: text + "# more\n")
    assert policy.read_text() == before
