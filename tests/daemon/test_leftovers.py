"""Whatever is made on a machine, and wherever its maker is killed: a purge leaves nothing.

Run as `python -m tests.daemon.test_leftovers MAKER`: a process that forks must have no threads.
"""

import os
import signal
import subprocess
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from agent.daemon import log
from agent.daemon.consent import Consent
from agent.daemon.installed_files import installed_files, remove
from agent.daemon.model_registry import ModelRegistry
from agent.daemon.policy_file import ActivePolicy
from agent.daemon.sockets import TOKEN, alone, doors, token_of
from agent.files import private_folder
from agent.model.file import write as write_model
from agent.model.signature import generate_key, sign
from agent.paths import Paths
from agent.vault.backup import restore
from agent.vault.vault import unlock
from agent.vault.vault_files import Location
from tests.daemon.doubles import MONDAY
from tests.daemon.fakes import short_home
from tests.daemon.people import MODEL
from tests.house.tree import ROOT
from tests.vault.worlds import FAST, PASSPHRASE, TYPED, create

RENAMING = ("link", "rename", "replace", "unlink", "rmdir")  # of os: what tells a crash's instants
MOST = 60  # instants of one maker
PATIENCE = 60  # seconds, for what takes a fraction of one
ENDED, DEFECT = 0, 3

Maker = Callable[[Paths], object]


def make_vault(home: Paths) -> None:
    """Make a vault."""
    vault, _ = create(Location.of(home), PASSPHRASE, FAST)
    vault.close()


def restore_twice(home: Paths) -> None:
    """Make a vault and a backup, restore it, and once more over rubbish with a log beside it."""
    make_vault(home)
    backup = home.config.parent / "backup.db"
    with unlock(Location.of(home), TYPED) as vault:
        vault.backup(backup)
    restore(Location.of(home), backup, TYPED)
    home.vault.write_bytes(b"rubbish")
    home.vault.with_name("vault.db-wal").write_bytes(b"rubbish")
    restore(Location.of(home), backup, TYPED)


def rotate(home: Paths) -> None:
    """Make a vault and give it another key."""
    make_vault(home)
    with unlock(Location.of(home), TYPED) as vault:
        vault.rotate(PASSPHRASE)


def refuse(home: Paths) -> None:
    """Write into a policy that somebody gets nothing."""
    home.policy.write_text('preset = "balanced"\n')
    Consent(home.policy, lambda: ActivePolicy(None)).refuse("a.example", MONDAY)


def add_model(home: Paths) -> None:
    """Add a model with its signature."""
    elsewhere, key = home.config.parent / "mine.safetensors", home.config.parent / "key"
    write_model(replace(MODEL, id="mine"), elsewhere)
    generate_key(key)
    sign(elsewhere, key)
    ModelRegistry(home.models).add(elsewhere, (), MONDAY)


def run_daemon(home: Paths) -> None:
    """Take the lock, the log and the sockets of a daemon, and its token."""
    with alone(home.daemon_lock), log.logging_to(home.log), doors(home, {}):
        token_of(home.state / TOKEN)
        for _ in range(3):
            log.LOG.info("x" * log.MOST_BYTES)


MAKERS: dict[str, Maker] = {
    each.__name__: each
    for each in (make_vault, restore_twice, rotate, refuse, add_model, run_daemon)
}


@contextmanager
def made_folders() -> Iterator[Paths]:
    """Return our folders, made and empty."""
    with short_home() as home:
        for each in (home.config, home.data, home.state, home.runtime):
            private_folder(each)
        yield home


def killed(make: Maker, home: Paths, instant: int) -> bool:
    """Let a process make something, kill it before it renames for the n-th time; say if it was."""
    child = os.fork()
    if child == 0:
        code = DEFECT
        signal.alarm(PATIENCE)
        try:
            with open(os.devnull, "w") as nothing:  # noqa: PTH123  (a device)
                sys.stderr = nothing
                kill_at(instant)
                make(home)
            code = ENDED
        finally:  # whatever it was: a child must not go on as its parent
            if code:
                sys.stderr = sys.__stderr__
                traceback.print_exc()
            os._exit(code)
    _, status = os.waitpid(child, 0)
    code = os.waitstatus_to_exitcode(status)
    assert code in (ENDED, -signal.SIGKILL)
    return code != ENDED


def kill_at(instant: int) -> None:
    """Have this process killed when it renames or removes something for the n-th time."""
    numbers = count()

    def patched(whole: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any, **named: Any) -> Any:  # noqa: ANN401  (any function of os)
            if next(numbers) == instant:
                os.kill(os.getpid(), signal.SIGKILL)
            return whole(*arguments, **named)

        return call

    for name in RENAMING:
        setattr(os, name, patched(getattr(os, name)))


def find_leftovers(make: Maker) -> None:
    """Kill a maker at each instant, one after the other; fail where something is left."""
    for instant in range(MOST):
        with made_folders() as home:
            ended = not killed(make, home, instant)
            found = installed_files(home)
            assert found.others == ()
            assert found.ours or not ended
            remove(found)
            left = [home.config, home.data, home.state, home.runtime]
            assert not any(each.exists() for each in left), instant
        if ended:
            assert instant, "nothing was renamed: is it still by os?"
            return
    pytest.fail(f"more than {MOST} instants")


@pytest.mark.parametrize("maker", MAKERS)
def test_nothing_is_left_wherever_its_maker_is_killed(maker: str) -> None:
    """Each file that is made is known by the name that its maker gives it."""
    command = [sys.executable, "-m", "tests.daemon.test_leftovers", maker]
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run(
        command,
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=4 * PATIENCE,
    )
    assert done.returncode == 0, done.stderr


if __name__ == "__main__":
    assert not Path("/proc/self/task").exists() or len([*Path("/proc/self/task").iterdir()]) == 1
    find_leftovers(MAKERS[sys.argv[1]])
