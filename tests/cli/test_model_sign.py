"""`reticent model`: make a key, sign and verify."""

import stat
from pathlib import Path

from tests.cli.conftest import Run
from tests.model.examples import STRANGER


def test_who_signed_is_who_made_the_key(run: Run, village: Path, tmp_path: Path) -> None:
    """From the key to the check; the key is the owner's only."""
    key, model = tmp_path / "maker.pem", tmp_path / village.name
    model.write_bytes(village.read_bytes())
    public = run("model", "key", key).out.splitlines()[-1]
    assert stat.S_IMODE(key.stat().st_mode) == 0o600
    signed = run("model", "sign", model, "--key", key)
    assert signed.code == 0
    assert str(model.with_suffix(".sig")) in signed.out
    checked = run("model", "verify", model)
    assert (checked.code, checked.out.splitlines()[-1]) == (0, public)
    assert public.startswith("ed25519:")
    expected = run("model", "verify", model, "--key", public)
    assert (expected.code, expected.out.splitlines()[-1]) == (0, public)


def test_a_key_that_did_not_sign_fails(run: Run, village: Path, tmp_path: Path) -> None:
    """One exit code for another's signature, another for what is no key."""
    model = tmp_path / village.name
    model.write_bytes(village.read_bytes())
    run("model", "key", tmp_path / "maker.pem")
    run("model", "sign", model, "--key", tmp_path / "maker.pem")
    error, _ = run("model", "verify", model, "--key", STRANGER).refusal(code=1)
    assert "the model is signed with another key" in error
    assert "not a public key" in run("model", "verify", model, "--key", "ed25519").refusal()[0]


def test_what_does_not_verify_is_an_error(run: Run, village: Path, tmp_path: Path) -> None:
    """Not signed, or signed for another file; the exit code is that of an error."""
    assert "the model is not signed" in run("model", "verify", village).refusal(code=1)[0]
    model = tmp_path / village.name
    model.write_bytes(village.read_bytes())
    model.with_suffix(".sig").write_text("{}")
    assert "does not fit the format" in run("model", "verify", model).refusal(code=1)[0]


def test_a_key_is_never_written_over(run: Run, tmp_path: Path) -> None:
    """It may be the only one."""
    key = tmp_path / "maker.pem"
    key.write_text("precious")
    assert "the file already exists" in run("model", "key", key).refusal()[0]
    assert key.read_text() == "precious"


def test_a_model_is_no_key(run: Run, village: Path) -> None:
    """Nor the other way round."""
    assert "not a private key" in run("model", "sign", village, "--key", village).refusal()[0]


def test_each_says_the_same_as_an_object(run: Run, village: Path, tmp_path: Path) -> None:
    """For programs: the files, and whose key it is."""
    model, key = tmp_path / village.name, tmp_path / "k.pem"
    model.write_bytes(village.read_bytes())
    public = run("model", "key", key, "--json").record
    assert public["path"] == str(key)
    signed = run("model", "sign", model, "--key", key, "--json").record
    assert signed == {"path": str(model), "signature": str(model.with_suffix(".sig"))}
    assert run("model", "verify", model, "--json").record == {**public, "path": str(model)}
