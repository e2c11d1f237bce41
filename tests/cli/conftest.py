"""A model file, and a way to run a command and see all that it does."""

import io
import json
import logging
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from shutil import copyfile
from typing import Any, NamedTuple

import pytest

from agent.cli.main import outcome
from agent.model.file import write
from agent.paths import HOME, paths
from tests.cli.daemon import ANSWERS, HELD, RECIPIENTS
from tests.cli.examples import DEAD, FAST, PASSPHRASE, RIGHT, WRONG, cli_model, made, no_constant
from tests.vault.doubles import Memory
from tests.waiting import living
from tests.wire.fake import FakeDaemon, says, short_folder

# Ibis 12 calls what DuckDB 2 has renamed.
builds = pytest.mark.filterwarnings("ignore:fetch_arrow_table:DeprecationWarning")


class Ran(NamedTuple):
    """What a command did: its exit code, and what it printed."""

    code: int
    out: str
    err: str

    @property
    def record(self) -> dict[str, Any]:
        """The one object that was printed, which must be strict JSON."""
        assert self.code == 0, self.err
        found = json.loads(self.out, parse_constant=no_constant)
        assert isinstance(found, dict)
        return found

    @property
    def page(self) -> str:
        """What a person reads, with one space between words, after checking that all went well."""
        assert (self.code, self.err) == (0, "")
        return " ".join(self.out.split())

    def refusal(self, code: int = 2) -> tuple[str, str]:
        """Return the error and the hint, after checking that they are all that was shown."""
        assert (self.code, self.out) == (code, "")
        error, hint = self.err.splitlines()
        assert error.startswith("reticent: error: ")
        assert hint.startswith("reticent: hint: ")
        assert not error.endswith(".")
        assert not hint.endswith(".")
        return error.removeprefix("reticent: error: "), hint.removeprefix("reticent: hint: ")


@contextmanager
def process(*command: str) -> Iterator[subprocess.Popen[str]]:
    """Run a program until the `with` ends, or for a minute: whoever reads from it is not stuck."""
    pipe = subprocess.PIPE
    with (
        subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, text=True) as started,
        living(started),
    ):
        yield started


Run = Callable[..., Ran]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    """Run one command of the command line in this process."""

    def reticent(*arguments: str | Path) -> Ran:
        capsys.readouterr()
        code = outcome([str(argument) for argument in arguments])
        logging.disable(logging.NOTSET)  # an assistant's server turns it off for its process
        return Ran(code, *capsys.readouterr())

    return reticent


@pytest.fixture
def piped(run: Run, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run one command with a text as its standard input, by default the passphrase."""

    def command(*arguments: str | Path, given: str = f"{PASSPHRASE}\n") -> Ran:
        monkeypatch.setattr("sys.stdin", io.StringIO(given))
        return run(*arguments)

    return command


@pytest.fixture
def home(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder of its own for all that is ours, where the paths of sockets are short."""
    with short_folder() as folder:
        monkeypatch.setenv(HOME, str(folder))
        yield folder


@pytest.fixture
def memory(monkeypatch: pytest.MonkeyPatch, ring: Memory) -> Memory:
    """A keyring in place of the desktop's; key slots are made fast, however slow that should be."""
    monkeypatch.setattr("agent.vault.seal.calibrate", lambda _clock: FAST)
    return ring


@pytest.fixture
def code(memory: Memory, home: Path) -> str:
    """The recovery code of an empty vault, which nobody has open."""
    assert memory.kept == {}
    return made(home)


@pytest.fixture
def fake(home: Path) -> Iterator[FakeDaemon]:
    """A daemon that says what tests/cli/daemon.py has; its handlers can be changed."""
    assert home.is_dir()
    answers = {name: says(what) for name, what in ANSWERS.items()}
    answers["recipients"] = lambda recipient=None: [HELD] if recipient else RECIPIENTS
    with FakeDaemon(paths().control, answers) as fake:
        yield fake


@pytest.fixture(scope="session")
def village(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small model's file."""
    path = tmp_path_factory.mktemp("model") / "village.safetensors"
    write(cli_model(), path)
    return path


@pytest.fixture
def folder(tmp_path: Path, home: Path, village: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of its own to be in, with a policy, which is that of the daemon as well.

    The small model was added.
    """
    assert home.is_dir()
    monkeypatch.chdir(tmp_path)
    paths().policy.parent.mkdir(parents=True)
    paths().policy.write_text(RIGHT)
    paths().models.mkdir(parents=True, exist_ok=True)
    copyfile(village, paths().models / village.name)
    for name, text in {"policy": RIGHT, "wrong": WRONG, "dead": DEAD}.items():
        (tmp_path / f"{name}.toml").write_text(text)
    return tmp_path
