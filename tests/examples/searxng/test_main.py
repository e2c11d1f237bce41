"""The program as a newcomer starts it."""

import signal
from pathlib import Path

import pytest

from examples.searxng import __main__
from examples.searxng.__main__ import PYTHON, SHARE, main, prepared
from tests.examples.searxng.serving import answers, free, started
from tests.house.tree import ran
from tests.waiting import PATIENCE


def test_without_the_package_it_is_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """And how to get it."""
    monkeypatch.setattr(__main__, "SHARE", tmp_path / "nothing")
    assert main([]) == 1
    error, hint = capsys.readouterr().err.splitlines()
    assert error == "searxng: error: the package searx is not installed"
    assert "apt install" in hint


@pytest.mark.parametrize("port", ["0", "65536", "x"])
def test_a_port_that_is_none_is_refused(port: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Before anything is written."""
    with pytest.raises(SystemExit, match="2"):
        main([f"--port={port}"])
    assert "--port" in capsys.readouterr().err


def test_its_settings_are_its_owners_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With a secret of their own each time, wherever the folder lies; Debian's are not touched."""
    monkeypatch.setenv("PYTHONHOME", "/nowhere")
    secrets = set()
    for name in ("a", 'b "quoted" $name: #'):
        folder = tmp_path / name
        folder.mkdir()
        environment = prepared(folder, 8711)
        assert "PYTHONHOME" not in environment
        settings = Path(environment["SEARX_SETTINGS_PATH"])
        assert settings.stat().st_mode & 0o777 == 0o600
        script = "import searx; s = searx.settings; print(s['server']['secret_key'], s['ui'])"
        said = ran(PYTHON, "-c", script, cwd=folder, env=environment).stdout
        secrets.add(said.split()[0])
        assert repr(str(folder / "static")) in said
    assert len(secrets) == 2
    assert min(map(len, secrets)) == 64
    assert not (SHARE / "static/plugins/external_plugins").exists()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_it_ends_whole(
    number: signal.Signals, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The engine too, which a terminal's Ctrl-C may not reach, and nothing of it is left."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    port = free()
    with started(port) as program:
        assert [*tmp_path.iterdir()] != []
        program.send_signal(number)
        assert program.wait(PATIENCE) == 0
    assert [*tmp_path.iterdir()] == []
    assert not answers(port)
