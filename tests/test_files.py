"""Files that are whole or not there, and folders that are closed to everybody else or refused."""

import errno
import grp
import os
import pwd
import stat
from contextlib import nullcontext, suppress
from pathlib import Path
from unittest.mock import Mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.errors import UnsafeError, UsageError
from agent.files import (
    check_ours,
    check_way,
    clear_unfinished,
    create_private,
    name_new,
    private_folder,
    replace_bytes,
    temporary_file,
    unfinished,
)


def mode(path: Path) -> int:
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
        with pytest.raises(UsageError, match="other users can write to this folder") as refused:
            private_folder(folder)
        assert refused.value.where == str(folder)
        assert mode(folder) == bits
    else:
        private_folder(folder)
        assert mode(folder) == 0o700


def test_what_is_not_ours_alone_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is made below a folder for everybody, and the way out is in the sentence."""
    (tmp_path / "file").touch()
    for path in (tmp_path / "file", tmp_path / "file" / "folder"):
        with pytest.raises(UsageError):
            private_folder(path)
    (tmp_path / "open").mkdir()
    (tmp_path / "open").chmod(0o777)
    with pytest.raises(UnsafeError, match="other users can write to this folder") as unsafe:
        private_folder(tmp_path / "open" / "a" / "b")
    assert (unsafe.value.where, "go-w" in unsafe.value.hint) == (str(tmp_path / "open"), True)
    assert [*(tmp_path / "open").iterdir()] == []
    monkeypatch.setattr(os, "geteuid", lambda: tmp_path.stat().st_uid + 1)
    with pytest.raises(UsageError, match="belongs to another user"):
        private_folder(tmp_path)


OURS, OTHERS = 4321, 65534
AS_ROOT = pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")


@pytest.fixture
def us(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let us be some user who is not root, with accounts and groups as many systems have them."""
    names = {0: "root", OURS: "ann", OTHERS: "bob"}
    accounts = [pwd.struct_passwd((name, "", n, n, "", "", "")) for n, name in names.items()]
    monkeypatch.setattr(os, "geteuid", lambda: OURS)
    monkeypatch.setattr(pwd, "getpwuid", lambda uid: accounts[[*names].index(uid)])
    monkeypatch.setattr(pwd, "getpwall", lambda: accounts)
    members(monkeypatch, "ann")


def members(monkeypatch: pytest.MonkeyPatch, name: str, *listed: str) -> None:
    """Let our group have a name and members; there is no other."""

    def group(gid: int) -> grp.struct_group:
        if gid != OURS:
            raise KeyError(gid)
        return grp.struct_group((name, "", OURS, [*listed]))

    monkeypatch.setattr(grp, "getgrgid", group)


def folders(base: Path, *each: tuple[int, int]) -> Path:
    """Make folders in one another, each of an owner and a mode; return the path of a file."""
    made = [base]
    for _ in each:
        made.append(made[-1] / "f")
        made[-1].mkdir()
    path = made[-1] / "file"
    path.touch()
    os.chown(path, OURS, OURS)
    for folder, (owner, bits) in zip(made[1:], each, strict=True):
        os.chown(folder, owner, owner)
        folder.chmod(bits)
    return path


def refused(path: Path) -> bool:
    """Say whether a file must not be obeyed."""
    with suppress(UnsafeError):
        check_ours(path)
        return False
    return True


@AS_ROOT
@pytest.mark.usefixtures("us")
@given(
    each=st.lists(st.tuples(st.sampled_from([0, OURS, OTHERS]), st.integers(0, 0o1777)), max_size=3)
)
def test_every_folder_on_the_way_is_checked(
    tmp_path_factory: pytest.TempPathFactory, each: list[tuple[int, int]]
) -> None:
    """Each is root's or ours and nobody else's to write to, or root's and sticky above ours."""

    def sound(owner: int, bits: int, below: int) -> bool:
        if bits & 0o1000 and owner == 0:
            return below != OTHERS
        if bits & 0o1000 and below == OTHERS:
            return False
        shared = bits & 0o002 or (bits & 0o020 and owner != OURS)
        return owner != OTHERS and not shared

    below = [*(owner for owner, _ in each), OURS][1:] if each else []
    all_sound = all(sound(*one, under) for one, under in zip(each, below, strict=True))
    assert refused(folders(tmp_path_factory.mktemp("way"), *each)) != all_sound


@AS_ROOT
@pytest.mark.usefixtures("us")
@pytest.mark.parametrize("owner", [OURS, 0, OTHERS])
@pytest.mark.parametrize("bits", [0o600, 0o644, 0o664, 0o666])
def test_the_file_that_was_opened_is_the_one_that_counts(
    tmp_path: Path, owner: int, bits: int
) -> None:
    """Its owner and mode, whatever lies at the path by then; our group has nobody else."""
    fits = bits <= {OURS: 0o664, 0: 0o644, OTHERS: 0}[owner]
    path = folders(tmp_path)
    os.chown(path, owner, owner)
    path.chmod(bits)
    assert refused(path) is not fits
    status = path.stat()
    path.unlink()
    path.touch(0o600)
    with nullcontext() if fits else pytest.raises(UnsafeError):
        check_ours(path, status)


@AS_ROOT
@pytest.mark.usefixtures("us")
def test_both_sides_of_a_link_are_checked(tmp_path: Path) -> None:
    """A link of ours to a file of ours is fine, however it is written."""
    for name in ("ours", "theirs", "open"):
        (tmp_path / name).mkdir()
    ours = folders(tmp_path / "ours", (OURS, 0o700))
    theirs = folders(tmp_path / "theirs", (OTHERS, 0o755))
    (tmp_path / "open").chmod(0o777)
    own = ("ours/f/file", "ours/../ours/f/./file", "open/../ours/f/file", "link-0")
    for number, target in enumerate((ours, *map(Path, own), theirs)):
        link = tmp_path / f"link-{number}"
        link.symlink_to(target)
        assert refused(link) is (target == theirs), target
    (tmp_path / "open/link").symlink_to(ours)
    assert refused(tmp_path / "open/link")
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(OSError, match="symbolic links"):
        check_way(tmp_path / "loop")


@AS_ROOT
@pytest.mark.usefixtures("us")
def test_a_group_counts_as_ours_where_it_has_nobody_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By its name, its members, and the accounts that begin in it."""
    path = folders(tmp_path, (OURS, 0o770))
    assert not refused(path)
    members(monkeypatch, "ann", "ann", "root")
    assert not refused(path)
    for name, *listed in (("staff",), ("ann", "bob"), ("ann", "ann", "bob")):
        members(monkeypatch, name, *listed)
        assert refused(path)
    members(monkeypatch, "ann")
    accounts = [*pwd.getpwall(), pwd.struct_passwd(("eve", "", 7, OURS, "", "", ""))]
    monkeypatch.setattr(pwd, "getpwall", lambda: accounts)
    assert refused(path)


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
    with suppress(ZeroDivisionError), temporary_file(b"new", path) as new:
        assert new.parent == tmp_path
        assert (new.read_bytes(), mode(new)) == (b"new", 0o600)
        raise ZeroDivisionError
    assert [*tmp_path.iterdir()] == []
    with temporary_file(b"new", path) as new:
        new.replace(path)
    assert [*tmp_path.iterdir()] == [path]


def test_a_private_file_is_the_owners_and_never_replaced(tmp_path: Path) -> None:
    """A key is not lost to a second command."""
    path = tmp_path / "key.pem"
    create_private(b"secret", path)
    assert mode(path) == 0o600
    with pytest.raises(UsageError, match="the file already exists"):
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


def refusing(number: int) -> Mock:
    """Return what fails as the system says by a number."""
    return Mock(side_effect=OSError(number, os.strerror(number)))


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
