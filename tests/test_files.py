"""Files that are whole or not there, and folders that are closed to everybody else or refused."""

import errno
import os
import stat
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.errors import UsageError
from agent.files import (
    beside,
    clear_unfinished,
    create_private,
    name_new,
    private_folder,
    replace_bytes,
    unfinished,
)


def mode(path: Path) -> int:
    """Return the permissions of a file."""
    return stat.S_IMODE(path.stat().st_mode)


def test_all_that_is_missing_is_made_private(tmp_path: Path) -> None:
    """Whatever the umask; and making it again changes nothing."""
    before = os.umask(0)
    try:
        made = private_folder(tmp_path / "a" / "b" / "c")
        assert private_folder(made) == made == tmp_path / "a" / "b" / "c"
    finally:
        os.umask(before)
    assert [mode(each) for each in (made, made.parent, made.parent.parent)] == [0o700] * 3


@given(bits=st.integers(0, 0o777))
def test_what_others_could_write_to_is_refused_the_rest_is_closed(
    tmp_path_factory: pytest.TempPathFactory, bits: int
) -> None:
    """For every set of permissions that a folder may have."""
    folder = tmp_path_factory.mktemp("folder")
    folder.chmod(bits)
    if bits & 0o022:
        with pytest.raises(UsageError, match="others can write to this folder") as refused:
            private_folder(folder)
        assert refused.value.where == str(folder)
        assert mode(folder) == bits
    else:
        private_folder(folder)
        assert mode(folder) == 0o700


def test_another_users_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It may hold what they put there."""
    monkeypatch.setattr(os, "geteuid", lambda: tmp_path.stat().st_uid + 1)
    with pytest.raises(UsageError, match="belongs to another user"):
        private_folder(tmp_path)


def test_a_file_in_its_place_is_said(tmp_path: Path) -> None:
    """In its own place, and above it."""
    (tmp_path / "file").touch()
    for path in (tmp_path / "file", tmp_path / "file" / "folder"):
        with pytest.raises(UsageError):
            private_folder(path)


def test_a_link_to_a_folder_of_ours_will_do(tmp_path: Path) -> None:
    """Configuration is often kept elsewhere, and linked to."""
    (tmp_path / "kept").mkdir(0o755)
    (tmp_path / "link").symlink_to("kept")
    private_folder(tmp_path / "link")
    assert mode(tmp_path / "kept") == 0o700


@given(mode=st.sampled_from([0o600, 0o640, 0o644, 0o666]), old=st.none() | st.binary())
def test_a_file_is_replaced_whole_and_is_for_nobody_else(
    tmp_path_factory: pytest.TempPathFactory, mode: int, old: bytes | None
) -> None:
    """Whatever was there, and by the mode that is asked for; nothing else stays in the folder."""
    path = tmp_path_factory.mktemp("folder") / "file"
    if old is not None:
        path.write_bytes(old)
    before = os.umask(0)
    try:
        replace_bytes(b"new", path, mode)
    finally:
        os.umask(before)
    assert path.read_bytes() == b"new"
    assert stat.S_IMODE(path.stat().st_mode) == mode
    assert [*path.parent.iterdir()] == [path]


def test_what_is_beside_goes_unless_it_was_moved(tmp_path: Path) -> None:
    """Also where something fails meanwhile; it is its owner's alone."""
    path = tmp_path / "file"
    with suppress(ZeroDivisionError), beside(b"new", path) as new:
        assert new.parent == tmp_path
        assert (new.read_bytes(), mode(new)) == (b"new", 0o600)
        raise ZeroDivisionError
    assert [*tmp_path.iterdir()] == []
    with beside(b"new", path) as new:
        new.replace(path)
    assert [*tmp_path.iterdir()] == [path]


def test_a_private_file_is_the_owners_and_never_replaced(tmp_path: Path) -> None:
    """A key is not lost to a second command."""
    path = tmp_path / "key.pem"
    create_private(b"secret", path)
    assert mode(path) == 0o600
    with pytest.raises(UsageError, match="there is such a file already"):
        create_private(b"other", path)
    assert path.read_bytes() == b"secret"


@pytest.mark.parametrize("refusal", [None, errno.EPERM, errno.ENOSYS, errno.EOPNOTSUPP])
def test_a_name_is_given_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, refusal: int | None
) -> None:
    """Also where the file system has no links, as on many a USB stick."""
    if refusal is not None:
        monkeypatch.setattr(os, "link", refusing(refusal))
    path, to, taken = tmp_path / "path", tmp_path / "to", tmp_path / "taken"
    path.write_bytes(b"mine")
    taken.write_bytes(b"theirs")
    with pytest.raises(FileExistsError):
        name_new(path, taken)
    assert (path.read_bytes(), taken.read_bytes()) == (b"mine", b"theirs")
    name_new(path, to)
    assert to.read_bytes() == b"mine"
    assert {*tmp_path.iterdir()} == {taken, to}


@pytest.mark.parametrize("refusal", [errno.ENOSPC, errno.EPERM])
def test_a_name_that_cannot_be_given_is_not_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, refusal: int
) -> None:
    """Neither at once, nor half-way."""
    path = tmp_path / "path"
    path.write_bytes(b"mine")
    monkeypatch.setattr(os, "link", refusing(refusal))
    monkeypatch.setattr(Path, "replace", refusing(errno.EIO))
    with pytest.raises(OSError):  # noqa: PT011  (either of the two)
        name_new(path, tmp_path / "to")
    assert [*tmp_path.iterdir()] == [path]


def refusing(number: int) -> Callable[..., None]:
    """Return what fails as the system says by a number."""

    def refuse(*_given: object) -> None:
        raise OSError(number, os.strerror(number))

    return refuse


def test_what_was_left_unfinished_goes(tmp_path: Path) -> None:
    """What lies beside it too; and nothing that is only called alike, or unfinished of another."""
    path = tmp_path / "a[b].c"
    ours = [unfinished(path), unfinished(path)]
    ours += [unfinished(ours[0]), ours[1].with_name(f"{ours[1].name}-wal")]
    others = [path, unfinished(tmp_path / "ab.c"), tmp_path / f".{path.name}.swp"]
    others += [tmp_path / f"{path.name}.01234567.part", tmp_path / f".{path.name}.0123456g.part"]
    for each in (*ours, *others):
        each.touch()
    clear_unfinished(path)
    assert {*tmp_path.iterdir()} == {*others}
    clear_unfinished(tmp_path / "none" / "file")
