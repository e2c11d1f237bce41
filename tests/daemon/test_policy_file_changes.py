"""The policy file rewritten, and one that others could have written."""

import os
import subprocess
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from stat import S_IMODE

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.daemon.policy_file import (
    SETTLING,
    Fingerprint,
    fingerprint_of,
    rewrite,
    settling,
)
from agent.errors import UnsafeError, UsageError
from policy.rules import Policy
from tests.daemon.test_policy_file import GOOD, OTHER, Edited
from tests.wire.fake import short_folder

NOW = datetime(2027, 3, 1, 9, tzinfo=UTC)
SPANS = st.integers(-2_000, 2_000).map(lambda number: timedelta(milliseconds=number))
INTRUDER = 65534
AS_ROOT = pytest.mark.skipif(os.geteuid() != 0, reason="only root can act as another user")
BEFORE = 'disclose = "ask"  # é\r\n'
ADDED = "k = 3\n"


def stamp(written: timedelta, changed: timedelta) -> Fingerprint:
    """Return the stamp of a file that was written to and changed so long before now."""
    first, second = (round((NOW - each).timestamp() * 1e9) for each in (written, changed))
    return first, second, 1, 2, 3


def test_an_edit_that_hides_is_noticed(tmp_path: Path) -> None:
    """As long as before, in place, and with the time set back: as a careful copy does it."""
    path = tmp_path / "policy.toml"
    path.write_text("nothing = true\n")
    os.utime(path, ns=(1, 1))
    before = fingerprint_of(path)
    for _ in range(10_000):  # the clock of a file system has steps
        path.write_text("nothing =false\n")
        os.utime(path, ns=(1, 1))
        if fingerprint_of(path) != before:
            break
    after = fingerprint_of(path)
    assert before is not None
    assert after is not None
    assert (after[0], after[2:]) == (before[0], before[2:])
    assert after != before


@given(SPANS, SPANS)
def test_a_file_settles_by_both_of_its_times(written: timedelta, changed: timedelta) -> None:
    """A time that was set, to the past or the future, does not make it any older."""
    fresh = [timedelta(0) <= each < SETTLING for each in (written, changed)]
    assert settling(stamp(written, changed), NOW) == any(fresh)


def by_another(script: str, *arguments: Path) -> None:
    """Let another user of the machine run a shell script."""
    subprocess.run(
        ["/bin/sh", "-ec", script, "sh", *arguments],
        check=True,
        user=INTRUDER,
        group=INTRUDER,
        extra_groups=[],
        timeout=60,
    )


@AS_ROOT
def test_a_policy_that_another_user_put_there_is_not_obeyed() -> None:
    """They rename our folder, where they can, and supply one of theirs; not even old rules stay."""
    with short_folder() as home:
        (home / "config").mkdir(0o700)
        edited = Edited(home / "config")
        home.chmod(0o777)
        edited.save(GOOD)
        edited.look()
        assert (edited.text,) == (None,), "others can replace the folder"
        home.chmod(0o711)
        edited.save(OTHER)
        edited.look()
        assert (edited.text,) == (OTHER,)
        home.chmod(0o777)
        script = 'mv "$1/config" "$1/old" && mkdir "$1/config" && echo "lambda = 0.0" >"$2"'
        by_another(script, home, edited.path)
        assert edited.look()
        status = edited.rules.status()
        assert (edited.text, status.in_use, status.loaded_at) == (None, False, None)
        assert "other users can write to this folder" in status.problems[0]
        home.chmod(0o755)
        edited.rules.reload(edited.now)
        assert (edited.text,) == (None,), "it is theirs"
        assert "belongs to another user" in edited.rules.status().problems[0]


@AS_ROOT
def test_a_link_is_obeyed_where_it_leads_to_a_file_of_ours(tmp_path: Path) -> None:
    """As programs that manage such files make them; never to one that others can write."""
    (tmp_path / "config").mkdir(0o700)
    edited = Edited(tmp_path / "config")
    dotfiles, shared = tmp_path / "dotfiles.toml", tmp_path / "shared.toml"
    dotfiles.write_text(GOOD)
    edited.path.symlink_to(dotfiles)
    edited.look()
    assert (edited.text,) == (GOOD,)
    shared.write_text(OTHER)
    shared.chmod(0o666)
    os.chown(shared, INTRUDER, INTRUDER)
    for owner, bits in ((INTRUDER, 0o666), (INTRUDER, 0o644), (0, 0o666), (0, 0o646)):
        os.chown(shared, owner, owner)
        shared.chmod(bits)
        edited.path.unlink()
        edited.path.symlink_to(shared)
        edited.rules.reload(edited.now)
        assert (edited.text,) == (None,)
        assert str(edited.path) in edited.rules.status().problems[0]
    shared.chmod(0o644)
    edited.rules.reload(edited.now)
    assert (edited.text,) == (OTHER,)


@AS_ROOT
def test_a_folder_that_is_mended_needs_no_edit() -> None:
    """The rules are in force again, for who looks and for who asks; meanwhile it is said once."""
    with short_folder() as home:
        (home / "config").mkdir(0o700)
        edited = Edited(home / "config")
        edited.save(GOOD)
        home.chmod(0o777)
        assert edited.look()
        assert not edited.look()
        home.chmod(0o711)
        assert edited.look()
        assert (edited.text,) == (GOOD,)


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
def test_all_but_the_change_stays(policy: Path, mode: int) -> None:
    """The mode, and the ends of lines; no other file is left."""
    policy.chmod(mode)
    made = rewrite(policy, add)
    assert made.after.text == BEFORE + ADDED
    assert policy.read_bytes() == (BEFORE + ADDED).encode()
    assert S_IMODE(policy.stat().st_mode) == mode
    assert [*policy.parent.iterdir()] == [policy]
    before = policy.stat()
    assert rewrite(policy, lambda text, _: text).after.text == BEFORE + ADDED
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


@pytest.mark.parametrize(
    ("before", "change", "what"),
    [
        (b"", add, "nothing was written"),  # one more rule would make it a policy, and an open one
        (b"# gone\n", add, "nothing was written"),
        (BEFORE.encode(), lambda *_: "", "nothing was written"),
        (BEFORE.encode(), lambda text, _: f"{text}k = 0\n", "nothing was written"),
        *((text, add, "mistakes") for text in (b"lamda = 5\n", b"k = \n", b"k = 0\n")),
        (b"\xff\n", add, "not UTF-8"),
    ],
)
def test_what_is_no_policy_before_or_after_is_left_as_it_is(
    policy: Path, before: bytes, change: Callable[[str, Policy], str], what: str
) -> None:
    """One with mistakes is not in use, so nobody could say what a change of it does."""
    policy.write_bytes(before)
    with pytest.raises(UsageError, match=what):
        rewrite(policy, change)
    assert policy.read_bytes() == before
    assert [*policy.parent.iterdir()] == [policy]


def test_a_change_in_between_is_kept(policy: Path) -> None:
    """An editor that saves at that moment loses nothing, and neither does the verdict."""
    theirs = "lambda = 7\n"

    def race(text: str, rules: Policy) -> str:
        if theirs not in text:
            policy.write_bytes((text + theirs).encode())
        return add(text, rules)

    assert rewrite(policy, race).after.text == BEFORE + theirs + ADDED
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
