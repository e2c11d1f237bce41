"""The policy file, live."""

import asyncio
import os
from datetime import UTC, datetime, timedelta
from logging import INFO, Handler
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import agent.daemon.policy_file
from agent.daemon.log import LOG
from agent.daemon.policy_file import SETTLING, PolicyFile, fingerprint_of
from policy.read import Check, load
from policy.rules import Policy
from tests.daemon.doubles import MONDAY

SECOND = timedelta(seconds=1)
GOOD = "lambda = 1.0\n"
OTHER = "nothing = true\n[[rule]]\nrecipient = 'shop.example'\nlambda = 2.0\n"
BROKEN = "lamda = 1.0\nk = -1\n"
pytestmark = pytest.mark.usefixtures("patient")
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


def test_all_that_is_wrong_is_said_with_its_line(edited: Edited) -> None:
    """And nothing is in force before the first good rules."""
    edited.save(BROKEN)
    assert edited.look()
    status = edited.rules.status()
    assert (status.in_use, status.rules, status.path) == (False, 0, str(edited.path))
    assert [problem.split(":")[0] for problem in status.problems] == ["line 1", "line 2"]


def test_the_rules_of_the_file_count(edited: Edited) -> None:
    """Those of a preset and of the defaults do not, as where the file is checked."""
    edited.save(OTHER)
    edited.look()
    assert edited.rules.status().rules == 2
    edited.save('preset = "balanced"\nlambda = 3\n')
    edited.look()
    assert edited.rules.status().rules == 1


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
    assert not edited.rules.renew(edited.now)
    edited.save(GOOD, ago=timedelta(0))
    assert edited.rules.renew(edited.now)
    assert edited.text == GOOD
    assert not edited.rules.renew(edited.now)
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


class Live:
    """A policy file that is followed, by the system's own clock; ``told``: of how many changes."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "policy.toml"
        self.rules = PolicyFile(self.path)
        self.told = 0

    def clock(self) -> datetime:
        """Return the time."""
        return datetime.now(UTC)

    def tell(self) -> None:
        """Count a change."""
        self.told += 1

    async def follow(self) -> str | None:
        """Return the text of the policy by which a call is answered now."""
        await self.rules.follow(self.clock, self.tell)
        return None if self.rules.policy is None else self.rules.policy.text


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


EDITS = st.tuples(
    st.sampled_from([in_place, replaced, removed]), st.sampled_from(["k = 3\n", "k = 4\n", BROKEN])
)


@settings(max_examples=10, deadline=None)
@given(st.lists(EDITS, min_size=1, max_size=4), st.booleans())
def test_an_edit_is_in_force_when_the_next_call_is_answered(
    tmp_path_factory: pytest.TempPathFactory, edits: list[Any], ours: bool
) -> None:
    """However it is written, as long as before and at the same time; also after one of ours."""
    file = Live(tmp_path_factory.mktemp("policy"))
    file.path.write_text(good := "k = 2\n")

    async def run() -> None:
        nonlocal good
        if ours:
            file.rules.renew(file.clock())
        assert await file.follow() == good
        for edit, text in edits:
            edit(file.path, text)
            good = good if text == BROKEN else text
            assert await file.follow() == good
            assert file.rules.stale == (text == BROKEN)

    asyncio.run(run())


def test_an_edit_after_one_of_ours_in_the_same_moment_is_seen(tmp_path: Path) -> None:
    """The clock of a file system has steps: of both edits the file has the same times."""
    file = Live(tmp_path)
    file.path.write_text("k = 3\n")
    file.rules.renew(file.clock())
    seen = fingerprint_of(file.path)
    file.path.write_text("k = 4\n")

    async def run() -> None:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(agent.daemon.policy_file, "fingerprint_of", lambda _: seen)
            await asyncio.sleep(SETTLING.total_seconds())
            assert await file.follow() == "k = 4\n"

    asyncio.run(run())


def test_an_unchanged_file_is_not_read_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A call costs one look at what the file is."""
    file = Live(tmp_path)
    file.path.write_text("k = 3\n")
    reads: list[Path] = []

    def counted(path: Path, check: Check) -> Policy:
        reads.append(path)
        return load(path, check)

    monkeypatch.setattr(agent.daemon.policy_file, "load", counted)

    async def run() -> None:
        for _ in range(100):
            await asyncio.gather(*[file.follow() for _ in range(3)])

    asyncio.run(run())
    assert (len(reads), file.told) == (1, 1)


@pytest.mark.parametrize("slow", ["reading", "writing"])
def test_nobody_waits_longer_than_a_second(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, slow: str
) -> None:
    """The last good rules stay meanwhile, and that is said; what is read at last is in force."""
    file, end = Live(tmp_path), Event()
    file.path.write_text("k = 2\n")

    def waiting(path: Path, check: Check) -> Policy:
        assert end.wait(30)
        return load(path, check)

    async def run() -> None:
        assert await file.follow() == "k = 2\n"
        monkeypatch.setattr(agent.daemon.policy_file, "PATIENCE", 0.5)
        if slow == "reading":
            monkeypatch.setattr(agent.daemon.policy_file, "load", waiting)
        replaced(file.path, "k = 3\n")
        touching = asyncio.create_task(touched())
        assert await file.follow() == "k = 2\n"
        assert (file.rules.stale, file.told) == (True, 2)
        monkeypatch.setattr(agent.daemon.policy_file, "PATIENCE", 60)
        async with asyncio.timeout(30):  # whoever calls next does not wait once more
            assert await file.follow() == "k = 2\n"
        assert "over a second" in file.rules.status().problems[0]
        end.set()
        await touching
        for _ in range(500):
            if file.rules.stale:
                await asyncio.sleep(0.02)
        assert await file.follow() == "k = 3\n"
        assert not file.rules.stale

    async def touched() -> None:
        while not end.is_set():
            if slow == "writing":
                os.utime(file.path)
            await asyncio.sleep(0.05)

    asyncio.run(run())


def test_half_a_policy_is_never_followed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """However often it is emptied and written: what half of it would open stays closed."""
    monkeypatch.setattr(agent.daemon.policy_file, "SETTLING", timedelta(seconds=1.5))
    file = Live(tmp_path)
    whole = OTHER + "# the end\n"
    file.path.write_text(whole)

    async def write() -> None:
        for _ in range(4):
            with file.path.open("w") as opened:
                await asyncio.sleep(0.05)
                opened.write("lambda = 3\n")
                opened.flush()
                await asyncio.sleep(0.05)
                opened.seek(0)
                opened.write(whole)

    async def run() -> None:
        assert await file.follow() == whole
        writing = asyncio.create_task(write())
        while not writing.done():
            assert await file.follow() == whole
            await asyncio.sleep(0.01)
        assert await file.follow() == whole

    asyncio.run(run())
