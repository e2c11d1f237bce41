"""A folder of ours is closed to everybody else, or it is refused."""

import os
import stat
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.errors import UsageError
from agent.vault.folders import private_folder


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
