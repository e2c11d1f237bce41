"""What `make release` writes beside the wheel and the zips, and what it refuses to begin with."""

import subprocess
from pathlib import Path

import pytest

from tests.house.tree import ROOT, ran
from tests.programs import needs


def signed(folder: Path, *key: Path) -> dict[str, bytes]:
    """Sign what lies in a folder, and return all that lies there then."""
    ran(ROOT / ".ci/sign", folder, *key)
    return {each.name: each.read_bytes() for each in folder.iterdir()}


def test_a_release_can_be_checked_with_what_is_written_beside_it(tmp_path: Path) -> None:
    """By the system's programs; the same files and key write the same, a changed one fails."""
    needs("ssh-keygen", "sha256sum")
    folder, key = tmp_path / "dist", tmp_path / "key"
    folder.mkdir()
    for name in ("a.whl", "b.zip"):
        (folder / name).write_text(name)
    assert signed(folder).keys() == {"a.whl", "b.zip", "SHA256SUMS"}
    ran("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "me@home", "-f", key)
    first = signed(folder, key)
    assert {f"{name}.sig" for name in ("a.whl", "b.zip", "SHA256SUMS")} <= first.keys()
    assert b"me@home" not in first["allowed_signers"]
    assert signed(folder, key) == first
    verify = "ssh-keygen -Y verify -f allowed_signers -I reticent -n reticent -s"
    check = f"{verify} SHA256SUMS.sig <SHA256SUMS && sha256sum --check SHA256SUMS"
    ran("bash", "-c", check, cwd=folder)
    for name in ("SHA256SUMS", "a.whl"):
        (folder / name).write_bytes(first[name] + b"\n")
        with pytest.raises(subprocess.CalledProcessError):
            ran("bash", "-c", check, cwd=folder)
        (folder / name).write_bytes(first[name])


def test_a_key_that_is_missing_is_named_before_anything_is_built(tmp_path: Path) -> None:
    """What was built before stays."""
    refused = ran(ROOT / ".ci/release", tmp_path / "key", check=False)
    assert (refused.returncode, refused.stdout) == (1, "")
    assert refused.stderr.startswith(f"make: error: KEY={tmp_path / 'key'} cannot be read; name")
