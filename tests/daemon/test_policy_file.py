"""The policy file, live."""

import os
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from logging import INFO, Handler
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import agent.daemon.policy_file
from agent.daemon.events import LOG
from agent.daemon.policy_file import SETTLING, PolicyFile, fingerprint_of
from policy.read import Check, load
from policy.rules import Policy
from tests.worlds.people import MONDAY

SECOND = timedelta(seconds=1)
GOOD = "lambda = 1.0\n"
OTHER = "nothing = true\n[[rule]]\nrecipient = 'shop.example'\nlambda = 2.0\n"
BROKEN = "lamda = 1.0\nk = -1\n"
NOTHING = ("", "# nothing\n", "format = 1\n\n[attributes]\n")


class Edited:
    """A policy file in an editor, and the rules that follow it; each look is a second later."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "policy.toml"
        self.rules = PolicyFile(self.path)
        self.now = MONDAY
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
        """The text of the policy in force."""
        return None if self.rules.policy is None else self.rules.policy.text


@pytest.fixture
def edited(tmp_path: Path) -> Edited:
    """Return a policy file that is not there yet."""
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
        status = file.rules.status()
        assert file.text == good
        assert status.in_use == (good is not None)
        assert bool(status.problems) == (text in (BROKEN, "\x00", *NOTHING))
        assert (status.loaded_at is None) == (good is None)


def test_what_becomes_of_the_file_is_logged(edited: Edited) -> None:
    """By its name and the number of problems: what stands in it is nobody else's business."""
    lines: list[str] = []
    listening = Handler()
    listening.emit = lambda record: lines.append(record.getMessage())  # type: ignore[method-assign]  # the plainest listener
    LOG.addHandler(listening)
    LOG.setLevel(INFO)
    for text in (GOOD, BROKEN, "", OTHER, OTHER, None):
        edited.save(text)
        edited.look()
    LOG.removeHandler(listening)
    assert lines == [
        "policy.toml: in use",
        "policy.toml: not used, problems: 2",
        "policy.toml: not used, problems: 1",
        "policy.toml: in use",
        "policy.toml: there is none now",
    ]


def test_half_a_policy_is_not_believed(edited: Edited) -> None:
    """An editor that empties the file before it writes would open everything for a moment."""
    edited.save(OTHER)
    edited.look()
    edited.save(GOOD, ago=timedelta(milliseconds=10))
    assert not edited.look()
    assert edited.text == OTHER
    assert edited.look()
    assert edited.text == GOOD


@pytest.mark.parametrize("text", NOTHING)
def test_an_emptied_file_is_no_policy(edited: Edited, text: str) -> None:
    """However long it stays so: a disk that was full leaves it, and by its letter all is open."""
    edited.save(text)
    edited.look()
    assert not edited.rules.status().in_use
    edited.save(OTHER)
    edited.look()
    edited.save(text)
    assert edited.look()
    edited.rules.reload(edited.now)
    assert (edited.text,) == (OTHER,)
    (problem,) = edited.rules.status().problems
    assert "sets nothing" in problem
    assert 'preset = "balanced"' in problem


def test_what_we_wrote_is_read_and_nothing_else(edited: Edited) -> None:
    """Though it was written this moment; a file that is as it was is not read again."""
    edited.save(OTHER)
    assert [edited.look() for _ in range(2)] == [True, False]
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


def test_a_file_that_cannot_be_read_leaves_the_rules(edited: Edited) -> None:
    """A folder in its place, say."""
    edited.save(GOOD)
    edited.look()
    edited.save(None)
    edited.path.mkdir()
    assert edited.look()
    assert edited.text == GOOD
    assert len(edited.rules.status().problems) == 1


def in_place(path: Path, text: str) -> None:
    """Write over a file, as `cat >` does, with the times it had."""
    status = path.stat()
    path.write_text(text)
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))


def replaced(path: Path, text: str) -> None:
    """Put another file in its place, as most editors do."""
    other = path.with_suffix(".new")
    other.write_text(text)
    other.replace(path)


def removed(path: Path, text: str) -> None:
    """Take it away, then write it."""
    path.unlink()
    path.write_text(text)


@pytest.mark.parametrize("edit", [in_place, replaced, removed])
@pytest.mark.parametrize("text", ["k = 3\n", BROKEN])
def test_a_changed_file_is_read_once_it_has_settled(
    tmp_path: Path, edit: Callable[[Path, str], None], text: str
) -> None:
    """However it is written: until then the last good rules hold, half of it can be a policy."""
    path, start = tmp_path / "policy.toml", datetime.now(UTC)
    path.write_text("k = 2\n")
    rules = PolicyFile(path)
    rules.check(start)
    edit(path, text)
    changed = datetime.now(UTC)
    assert not rules.check(changed)
    assert (rules.policy is not None and rules.policy.text, rules.stale) == ("k = 2\n", False)
    rules.check(changed + 2 * SETTLING)
    good = "k = 2\n" if text == BROKEN else text
    assert (rules.policy is not None and rules.policy.text) == good
    assert rules.stale == (text == BROKEN)


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


def test_an_unchanged_file_is_not_read_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A call costs one look at what the file is."""
    path, reads = tmp_path / "policy.toml", list[Path]()
    path.write_text("k = 3\n")

    def counted(at: Path, check: Check) -> Policy:
        reads.append(at)
        return load(at, check)

    monkeypatch.setattr(agent.daemon.policy_file, "load", counted)
    rules, later = PolicyFile(path), datetime.now(UTC) + 2 * SETTLING
    assert [rules.check(later) for _ in range(100)].count(True) == len(reads) == 1
