"""What `make release` writes beside the wheel and the zips, and what it refuses to begin with."""

from pathlib import Path

from tests.house.tree import ROOT, ran
from tests.programs import needs


def test_a_release_can_be_checked_with_what_is_written_beside_it(tmp_path: Path) -> None:
    """By the system's programs; the same files and key write the same, a changed one fails."""
    needs("ssh-keygen", "sha256sum")
    folder, key = tmp_path / "dist", tmp_path / "key"
    folder.mkdir()
    for name in ("a.whl", "b.zip"):
        (folder / name).write_text(name)
    ran("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "me@home", "-f", key)
    states = []
    for keys in ((), (key,), (key,)):
        ran(ROOT / ".ci/sign", folder, *keys)
        states.append({each.name: each.read_text() for each in folder.iterdir()})
    written = states[-1]
    assert [len(each) for each in states] == [3, 7, 7]
    assert states[1] == written
    assert "me@home" not in written["allowed_signers"]
    verify = "ssh-keygen -Y verify -f allowed_signers -I reticent -n reticent -s"
    check = f"{verify} SHA256SUMS.sig <SHA256SUMS && sha256sum --check SHA256SUMS"
    for change, name in (("", "a.whl"), ("\n", "SHA256SUMS"), ("\n", "a.whl")):
        (folder / name).write_text(written[name] + change)
        assert (ran("bash", "-c", check, check=False, cwd=folder).returncode == 0) == (not change)
        (folder / name).write_text(written[name])


def test_a_key_that_is_missing_is_named_before_anything_is_built(tmp_path: Path) -> None:
    """What was built before stays."""
    refused = ran(ROOT / ".ci/release", tmp_path / "key", check=False)
    assert (refused.returncode, refused.stdout) == (1, "")
    assert refused.stderr.startswith(f"make: error: KEY={tmp_path / 'key'} cannot be read; name")
