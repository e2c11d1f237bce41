"""The policy file, live."""

import os
import subprocess
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from stat import S_IMODE
from typing import Any
from unittest.mock import Mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

import agent.daemon.policy_file
from agent.daemon.policy_file import CUT, SETTLING, PolicyFile, check_rules, fingerprint_of, rewrite
from agent.decision.engine import load_model
from agent.errors import PolicyError, UnsafeError, UsageError
from agent.model.model import Model
from policy.read import is_empty_policy, preset, read
from policy.rules import Policy
from tests.model.examples import judged_model
from tests.wire.fake import short_folder
from tests.worlds.people import MONDAY

SECOND = timedelta(seconds=1)
GOOD = "anonymity_price = 0.001\n"
OTHER = "nothing = true\n[[rule]]\nrecipient = 'shop.example'\nanonymity_price = 0.002\n"
BROKEN = "lamda = 1.0\nk = -1\n"
NOTHING = ("", "# nothing\n", "format = 1\n\n[attributes]\n")


class Edited:
    """A policy file in an editor, and the rules that follow it; each look is a second later."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "policy.toml"
        self.rules, self.now = PolicyFile(self.path), MONDAY
        self.changes = 0

    def save(self, text: str | None, ago: timedelta = timedelta(days=1)) -> None:
        """Write the file, so long before the next look, or remove it."""
        self.changes += 1
        if text is None:
            self.path.unlink(missing_ok=True)
            return
        self.path.write_text(text)
        written = self.now + SECOND - ago + timedelta(microseconds=self.changes)
        os.utime(self.path, (written.timestamp(), written.timestamp()))

    def look(self) -> bool:
        """Look at the file, a second after the last time."""
        self.now += SECOND
        return self.rules.check(self.now)

    @property
    def text(self) -> str | None:
        return None if self.rules.policy is None else self.rules.policy.text


@pytest.fixture
def edited(tmp_path: Path) -> Edited:
    return Edited(tmp_path)


@given(st.lists(st.sampled_from([GOOD, OTHER, BROKEN, "\x00", *NOTHING, None]), max_size=6))
def test_the_last_good_rules_are_in_force(
    tmp_path_factory: pytest.TempPathFactory, texts: list[str | None]
) -> None:
    """However often it is edited; removed, there are none, and what is wrong is said."""
    file = Edited(tmp_path_factory.mktemp("policy"))
    good: str | None = None
    for text in texts:
        file.save(text)
        file.look()
        good = text if text in (GOOD, OTHER, None) else good
        status = file.rules.status(MONDAY.date())
        assert file.text == good
        assert status.in_use == (good is not None)
        assert bool(status.problems) == (text in (BROKEN, "\x00", *NOTHING))
        assert (status.loaded_at is None) == (good is None)


def test_what_we_wrote_is_read_and_nothing_else(
    edited: Edited, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Though it was written this moment; a file that is as it was is not read again."""
    edited.save(OTHER)
    assert edited.look()
    with monkeypatch.context() as unread:
        unread.setattr(agent.daemon.policy_file, "load", None)
        assert [edited.look() for _ in range(100)] == [False] * 100
    assert not edited.rules.reload(edited.now)
    edited.save(GOOD, ago=timedelta(0))
    assert edited.rules.reload(edited.now)
    assert edited.text == GOOD
    assert not edited.rules.reload(edited.now)
    edited.save(OTHER, ago=timedelta(0))
    edited.rules.reload(edited.now)
    assert edited.text == OTHER
    edited.save(GOOD, ago=timedelta(days=-9))  # the clock was set back since
    assert edited.look()
    assert edited.text == GOOD


@pytest.mark.parametrize("edit", ["in place", "replaced", "removed"])
@pytest.mark.parametrize("text", ["k = 3\n", BROKEN])
def test_a_changed_file_is_read_once_it_has_settled(tmp_path: Path, edit: str, text: str) -> None:
    """However it is written: until then the last good rules hold, half of it can be a policy."""
    path, start = tmp_path / "policy.toml", datetime.now(UTC)
    path.write_text("k = 2\n")
    rules = PolicyFile(path)
    rules.check(start)
    status = path.stat()
    if edit == "removed":
        path.unlink()
    written = path.with_suffix(".new") if edit == "replaced" else path  # as most editors do
    written.write_text(text)
    written.replace(path)
    if edit == "in place":  # as `cat >` does, with the times that it had
        os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    changed = datetime.now(UTC)
    assert not rules.check(changed)
    assert rules.pending
    assert (rules.policy is not None and rules.policy.text, rules.stale) == ("k = 2\n", False)
    rules.check(changed + 2 * SETTLING)
    good = "k = 2\n" if text == BROKEN else text
    assert (rules.policy is not None and rules.policy.text) == good
    assert rules.stale == (text == BROKEN)


@given(st.data())
def test_half_a_policy_is_never_followed(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    """However it is cut, and however slowly it is written: meanwhile nothing may leave.

    A file that only lacks its end is taken after ten seconds.
    """
    file, whole = Edited(tmp_path_factory.mktemp("policy")), OTHER + "nothing = true\n"
    file.save(whole)
    file.look()
    half = whole[: data.draw(st.integers(1, len(whole) - 1))]
    pause = timedelta(milliseconds=data.draw(st.integers(1, 9_990)))
    file.save(half, ago=pause)
    file.look()
    with suppress(PolicyError):
        is_policy = False
        is_policy = not is_empty_policy(read(half, "half", preset).text)
    assert (file.text, file.rules.pending) == (whole, is_policy or pause < SETTLING)
    assert file.rules.stale == (not is_policy and pause >= SETTLING)
    file.now += CUT
    file.look()
    assert (file.text, file.rules.pending) == (half if is_policy else whole, False)


def test_an_edit_after_one_of_ours_in_the_same_moment_is_seen(tmp_path: Path) -> None:
    """The clock of a file system has steps: of both edits the file has the same times."""
    path = tmp_path / "policy.toml"
    path.write_text("k = 3\n")
    rules, now = PolicyFile(path), datetime.now(UTC)
    rules.reload(now)
    seen = fingerprint_of(path)
    path.write_text("k = 4\n")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(agent.daemon.policy_file, "fingerprint_of", lambda _: seen)
        rules.check(now + 2 * SETTLING)
    assert rules.policy is not None
    assert rules.policy.text == "k = 4\n"


INTRUDER = 65534
AS_ROOT = pytest.mark.skipif(os.geteuid() != 0, reason="only root can act as another user")
BEFORE = 'disclose = "ask"  # é\r\n'
ADDED = "k = 3\n"


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


@AS_ROOT
def test_a_policy_that_another_user_put_there_is_not_obeyed() -> None:
    """They rename our folder, where they can, and supply one of theirs; not even old rules stay."""
    with short_folder() as home:
        (home / "config").mkdir(0o700)
        edited = Edited(home / "config")
        home.chmod(0o777)
        edited.save(GOOD)
        assert [edited.look() for _ in range(2)] == [True, False], "meanwhile it is said once"
        assert (edited.text,) == (None,), "others can replace the folder"
        home.chmod(0o711)  # one that is mended needs no edit
        assert edited.look()
        assert (edited.text,) == (GOOD,)
        home.chmod(0o777)
        script = 'mv "$1/config" "$1/old" && mkdir "$1/config" && echo "k = 1" >"$2"'
        command = ["/bin/sh", "-ec", script, "sh", str(home), str(edited.path)]
        other: dict[str, Any] = {"user": INTRUDER, "group": INTRUDER, "extra_groups": []}
        subprocess.run(command, check=True, timeout=60, **other)
        assert edited.look()
        status = edited.rules.status(MONDAY.date())
        assert (edited.text, status.in_use, status.loaded_at) == (None, False, None)
        assert "other users can write to this folder" in status.problems[0]
        home.chmod(0o755)
        edited.rules.reload(edited.now)
        assert (edited.text,) == (None,), "it is theirs"
        assert "belongs to another user" in edited.rules.status(MONDAY.date()).problems[0]


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
        assert str(edited.path) in edited.rules.status(MONDAY.date()).problems[0]
    shared.chmod(0o644)
    edited.rules.reload(edited.now)
    assert (edited.text,) == (OTHER,)


def add(text: str, _: Policy) -> str:
    return text + ADDED


@pytest.fixture
def policy(tmp_path: Path) -> Path:
    path = tmp_path / "policy.toml"
    path.write_bytes(BEFORE.encode())
    return path


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o644])
def test_all_but_the_change_stays(policy: Path, mode: int) -> None:
    """The mode, and the ends of lines; no other file is left."""
    policy.chmod(mode)
    assert rewrite(policy, add).after.text == BEFORE + ADDED
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


def test_no_file_means_no_rules(policy: Path) -> None:
    """A verdict must not make a policy, nor one anew that is taken away meanwhile."""

    def race(text: str, rules: Policy) -> str:
        policy.unlink()
        return add(text, rules)

    with pytest.raises(UsageError):
        rewrite(policy, race)
    dangling = policy.with_name("link.toml")
    dangling.symlink_to("nowhere.toml")
    for path in (policy, dangling):
        with pytest.raises(UsageError, match="no rules are in use"):
            rewrite(path, add)
    assert [*policy.parent.iterdir()] == [dangling]


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
    """An editor that saves at that moment loses nothing, and whoever said it is told."""
    theirs = f"{BEFORE}anonymity_price = 0.007\n".encode()

    def race(text: str, rules: Policy) -> str:
        policy.write_bytes(theirs)
        return add(text, rules)

    with pytest.raises(UsageError, match="meanwhile"):
        rewrite(policy, race)
    assert policy.read_bytes() == theirs
    assert [*policy.parent.iterdir()] == [policy]


def test_a_folder_in_which_nothing_can_be_written_is_said(
    policy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In one sentence, with nothing left behind."""
    full = OSError(28, "No space left on device", 3)
    monkeypatch.setattr(os, "fsync", Mock(side_effect=full))
    with pytest.raises(UsageError, match="the disk is full"):
        rewrite(policy, add)
    assert policy.read_bytes() == BEFORE.encode()
    assert [*policy.parent.iterdir()] == [policy]


def test_what_others_can_write_is_not_written_over(policy: Path) -> None:
    """Nor kept as it is with our name under it: what stands there may be theirs."""
    policy.chmod(0o666)
    with pytest.raises(UnsafeError, match="other users can write to this file"):
        rewrite(policy, add)
    assert policy.read_bytes() == BEFORE.encode()


def test_a_guard_on_what_is_counted_by_shares_is_refused() -> None:
    """No table says how often it comes with another fact."""
    models, text = [judged_model(), load_model("everyday")], 'preset = "strict"\n[attributes]\n'
    for rule, fact in (("traits", "traits"), ('"@health"', "allergies")):
        rules = read(f"{text}{rule} = {{ guard = 1 }}\n", "mine", preset)
        with pytest.raises(UsageError, match=f"{fact!r} beside others"):
            check_rules(rules, models, MONDAY.date())
    other = "'*' = { guard = 1 }\ndiet = { guard = 0 }\nregion = { guard = 1 }\ntraits = 'never'\n"
    check_rules(read(text + other, "mine", preset), models, MONDAY.date())


def test_a_file_with_an_idle_rule_is_not_used(edited: Edited) -> None:
    """Once it is known what models have, though it was in force before; not where one had it."""
    idle, models = "[attributes]\nkids = 'never'\n", [judged_model()]
    edited.save(idle)
    for some, ever, text in (([], (), idle), (models, (), None), (models, ("kids",), idle)):
        edited.rules.ever = frozenset(ever)
        edited.rules.use(some, Model.read)
        assert edited.look()
        assert edited.text == text
        assert [each.key for each in edited.rules.problems] == ["attributes.kids"] * (text is None)
