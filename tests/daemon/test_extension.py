"""The unpacked extension: written whole, updated unless it was edited, and taken away."""

import errno
import json
import os
import shutil
import signal
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.daemon import extension
from agent.daemon.browsers import FIREFOX_ID, KEY
from agent.daemon.checks import Machine
from agent.daemon.doctor import OUTDATED, check_browsers
from agent.daemon.extension import (
    MOST,
    SOURCE,
    SUMS,
    look_at_extension,
    remove_extension,
    unpack_extension,
)
from agent.daemon.installed_files import installed_files, remove
from agent.daemon.service import LARGEST
from agent.errors import ReticentError, UsageError, reason
from agent.paths import Paths, paths
from tests.daemon.doubles import MONDAY
from tests.house.tree import ran
from tests.wire.fake import short_folder

UNPACK = "from agent.paths import paths; from agent.daemon.extension import unpack_extension as u\n"
NAMES = sorted(str(each.relative_to(SOURCE)) for each in SOURCE.rglob("*") if each.is_file())


@pytest.fixture
def places() -> Iterator[Paths]:
    """Where what is ours lies: in a folder whose name is hard to get right."""
    with short_folder() as home:
        yield paths({"RETICENT_HOME": str(home / "Zoë's ☃ $(x)")})


@pytest.fixture
def older(places: Paths, monkeypatch: pytest.MonkeyPatch) -> Paths:
    """The same, with the extension that an earlier version unpacked there."""
    with short_folder() as home, monkeypatch.context() as patch:
        earlier = home / "earlier"
        shutil.copytree(SOURCE, earlier)
        (earlier / "background.js").write_text("// as it was\n")
        (earlier / "gone.js").write_text("// no more\n")
        patch.setattr(extension, "SOURCE", earlier)
        unpack_extension(places)
    return places


def content(folder: Path) -> dict[str, bytes]:
    """Return all that there is in a folder, but for the sums."""
    found = {str(each.relative_to(folder)): each for each in folder.rglob("*") if each.is_file()}
    return {name: path.read_bytes() for name, path in found.items() if name != SUMS}


def left(places: Paths) -> list[str]:
    """Return what lies in the data folder."""
    return sorted(each.name for each in places.data.iterdir())


def test_what_is_unpacked_is_what_the_package_has(places: Paths) -> None:
    """Byte for byte and private, with sums that sha256sum(1) confirms; again, nothing changes."""
    assert look_at_extension(places) == "absent"
    assert unpack_extension(places) == "absent"
    assert content(places.extension) == content(SOURCE)
    entries = [places.extension, *places.extension.rglob("*")]
    assert not any(stat.S_IMODE(each.stat().st_mode) & 0o077 for each in entries)
    ran("sha256sum", "--check", "--strict", SUMS, cwd=places.extension)
    before = [each.stat().st_mtime_ns for each in entries]
    assert unpack_extension(places) == look_at_extension(places) == "installed"
    assert [each.stat().st_mtime_ns for each in entries] == before
    assert left(places) == [places.extension.name]
    assert remove_extension(places) == [places.extension]
    assert remove_extension(places) == []
    assert left(places) == []


def test_the_key_and_the_id_are_those_that_the_relay_answers() -> None:
    """Whatever folder it is loaded from."""
    manifest = json.loads((SOURCE / "manifest.json").read_text())
    assert manifest["key"] == KEY
    assert manifest["browser_specific_settings"]["gecko"]["id"] == FIREFOX_ID


def test_an_older_one_is_replaced(older: Paths) -> None:
    """With what it had and this version has not; the doctor says so before."""
    assert look_at_extension(older) == "differing"
    here = Machine(older, {"HOME": str(older.data.parent)}, MONDAY, "systemd", sys.executable)
    assert any(OUTDATED in each.what for each in check_browsers(here))
    assert unpack_extension(older) == "differing"
    assert content(older.extension) == content(SOURCE)
    assert left(older) == [older.extension.name]
    assert not any(OUTDATED in each.what for each in check_browsers(here))


def edits() -> st.SearchStrategy[tuple[str, str]]:
    """Return what somebody may do to the folder, and to which of its files."""
    return st.tuples(
        st.sampled_from(["edit", "empty", "delete", "link", "add", "large", "sums", "folder"]),
        st.sampled_from(NAMES),
    )


def edit(folder: Path, how: str, name: str) -> None:
    """Do it."""
    path = folder / name
    match how:
        case "edit":
            path.write_bytes(path.read_bytes() + b" ")
        case "empty":
            path.write_bytes(b"")
        case "delete":
            path.unlink()
        case "link":
            path.rename(folder / "elsewhere")
            path.symlink_to(folder / "elsewhere")
        case "add":
            (folder / "mine.js").touch()
        case "large":
            path.write_bytes(b"x" * (LARGEST + 1))
        case "sums":
            path.write_bytes(b"mine")
            (folder / SUMS).write_bytes(b"\xff\n  \n")
        case "folder":
            path.unlink()
            path.mkdir()


@settings(max_examples=25)
@given(done=edits(), earlier=st.booleans())
def test_what_was_edited_stays(done: tuple[str, str], *, earlier: bool) -> None:
    """Of this version and of another, every byte; nothing takes it away, not even a purge."""
    with short_folder() as home:
        places = paths({"RETICENT_HOME": str(home / "r")})
        unpack_extension(places)
        if earlier:
            sums = (places.extension / SUMS).read_text().replace(" icons/16", " icons/15")
            (places.extension / SUMS).write_text(sums)
            (places.extension / "icons/16.png").rename(places.extension / "icons/15.png")
            assert look_at_extension(places) == "differing"
        how, name = done
        edit(places.extension, how, name.replace("16", "15") if earlier else name)
        before = content(places.extension)
        assert unpack_extension(places) == look_at_extension(places) == "foreign"
        assert remove_extension(places) == []
        found = installed_files(places)
        assert found.others == (places.extension,)
        remove(found)
        assert content(places.extension) == before


@pytest.mark.parametrize("kind", ["file", "link", "dead link", "pipe", "crowd"])
def test_what_is_in_its_place_stays(places: Paths, tmp_path: Path, kind: str) -> None:
    """And is not read to its end."""
    places.data.mkdir(parents=True, mode=0o700)
    match kind:
        case "file":
            places.extension.write_text("mine")
        case "link":
            shutil.copytree(SOURCE, tmp_path / "checkout")
            places.extension.symlink_to(tmp_path / "checkout")
        case "dead link":
            places.extension.symlink_to(tmp_path / "gone")
        case "pipe":
            os.mkfifo(places.extension)
        case "crowd":
            places.extension.mkdir()
            for number in range(MOST + 1):
                (places.extension / f"{number}").touch()
    assert unpack_extension(places) == "foreign"
    assert remove_extension(places) == []
    assert installed_files(places).others == (places.extension,)
    assert left(places) == [places.extension.name]


def test_what_a_desktop_leaves_in_it_is_no_edit(older: Paths) -> None:
    """Who has only looked at the folder gets the new version."""
    (older.extension / ".DS_Store").touch()
    assert look_at_extension(older) == "differing"


def test_a_purge_takes_it_and_what_was_being_written(older: Paths) -> None:
    """Everything of ours."""
    unfinished = older.data / ".browser-extension.0a1b2c3d.part"
    shutil.copytree(older.extension, unfinished)
    found = installed_files(older)
    assert (found.others, {*found.ours}) == ((), {older.extension, unfinished})
    remove(found)
    assert not older.data.exists()


@pytest.mark.parametrize("name", ["data", "config/../data", "."])
def test_a_file_where_the_folder_should_be_is_said(places: Paths, name: str) -> None:
    """It stays."""
    place = Path(os.path.normpath(places.data.parent / name))
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text("mine")
    with pytest.raises(UsageError) as caught:
        unpack_extension(places)
    assert str(place) in str(caught.value)
    assert place.read_text() == "mine"


@pytest.mark.parametrize("refusal", [errno.ENOSPC, errno.EROFS, errno.EACCES])
@pytest.mark.parametrize("call", ["open", "fsync", "mkdir", "rename"])
def test_a_disk_that_takes_no_more_leaves_what_there_was(
    older: Paths, monkeypatch: pytest.MonkeyPatch, refusal: int, call: str
) -> None:
    """The earlier version, whole, and nothing beside it; then it works as if nothing had been."""
    before = content(older.extension)
    real = getattr(os, call)

    def refused(path: Any, *given: Any, **named: Any) -> Any:  # noqa: ANN401  (of os)
        new = isinstance(path, int) or ".browser-extension." in f"{path} {given}"
        if new and (call != "open" or given[0] & os.O_CREAT):
            raise OSError(refusal, os.strerror(refusal))
        return real(path, *given, **named)

    with monkeypatch.context() as patch:
        patch.setattr(os, call, refused)
        with pytest.raises(UsageError, match=reason(OSError(refusal, os.strerror(refusal)))):
            unpack_extension(older)
    assert content(older.extension) == before
    assert left(older) == [older.extension.name]
    assert unpack_extension(older) == "differing"
    assert unpack_extension(older) == "installed"


def test_a_process_that_may_write_no_more_leaves_nothing(places: Paths) -> None:
    """The system's own refusal, in the middle of a file."""
    limited = "import resource as r; r.setrlimit(r.RLIMIT_FSIZE, (3000, 3000))\n"
    ignored = "import signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
    home = {**os.environ, "RETICENT_HOME": str(places.data.parent)}
    done = ran(sys.executable, "-c", f"{limited}{ignored}{UNPACK}u(paths())", check=False, env=home)
    assert "UsageError: " in done.stderr
    assert "ile too large" in done.stderr
    assert left(places) == []


def test_several_at_once_leave_one_whole(older: Paths) -> None:
    """Each says that it went well."""
    home = {**os.environ, "RETICENT_HOME": str(older.data.parent)}
    many = [
        subprocess.Popen([sys.executable, "-c", f"{UNPACK}u(paths())"], env=home) for _ in range(4)
    ]
    assert [each.wait(60) for each in many] == [0] * 4
    assert content(older.extension) == content(SOURCE)
    assert left(older) == [older.extension.name]


def killed(call: str, events: str, instant: int, places: Paths) -> None:
    """Call something of the extension in a process that ends at such an event, or before."""
    count = f"""
import os, sys
from agent.daemon.extension import {call}
seen = 0
def hook(event, given):
    global seen
    writes = event == "open" and isinstance(given[2], int) and given[2] & os.O_CREAT
    if writes or event in {events.split()!r}:
        seen += 1
        if seen == {instant}:
            os.kill(os.getpid(), {int(signal.SIGKILL)})
sys.dont_write_bytecode = True
sys.addaudithook(hook)
{call}(paths())
"""
    home = {**os.environ, "RETICENT_HOME": str(places.data.parent)}
    done = ran(sys.executable, "-c", f"{UNPACK}{count}", check=False, env=home)
    assert done.returncode in {0, -signal.SIGKILL}, done.stderr


@pytest.mark.parametrize("instant", [1, 2, 3, 10, 30, 50])
def test_a_kill_while_it_is_removed_leaves_it_whole_or_none(places: Paths, instant: int) -> None:
    """At the instant of a call that takes something away; the next run ends it, or begins anew."""
    unpack_extension(places)
    killed("remove_extension", "os.rename os.remove os.rmdir shutil.rmtree", instant, places)
    assert look_at_extension(places) in {"absent", "installed"}
    remove_extension(places)
    assert left(places) == []
    assert unpack_extension(places) == "absent"


@pytest.mark.parametrize("instant", [1, 5, 20, 29, 30, 31])
def test_a_kill_leaves_an_extension_that_is_whole_or_none(older: Paths, instant: int) -> None:
    """At the instant of a call that changes names or creates a file; the next run mends it."""
    before = content(older.extension)
    killed("unpack_extension", "os.rename os.mkdir", instant, older)
    found = look_at_extension(older)
    assert found in {"absent", "differing", "installed"}
    assert found != "differing" or content(older.extension) == before
    unpack_extension(older)
    assert content(older.extension) == content(SOURCE)
    assert left(older) == [older.extension.name]


def test_a_package_without_it_is_said(places: Paths, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is unpacked then."""
    monkeypatch.setattr(extension, "SOURCE", SOURCE / "gone")
    with pytest.raises(ReticentError):
        unpack_extension(places)
    assert left(places) == []
