"""A build on Spark that is stopped or cannot start, and a cluster that loses an executor."""

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from pathlib import Path

import pytest

from agent.cli.main import INTERRUPTED
from agent.model.file import read
from tests.build.test_engines import many
from tests.waiting import until

HOST, WORKERS, PATIENCE = "127.0.0.1", 2, 900.0


@contextmanager
def started(command: list[str], log: Path, local: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Run a program in a group of its own, which ends with the block; ``local``: for Spark."""
    environment = {**os.environ, "SPARK_LOCAL_IP": HOST, "SPARK_LOCAL_DIRS": str(local)}
    environment["SPARK_CONF_DIR"] = f"{log.parent / 'conf'}"
    with log.open("wb") as out:
        process = subprocess.Popen(
            command, stdout=out, stderr=out, env=environment, start_new_session=True
        )
    try:
        yield process
    finally:
        process.terminate()
        with suppress(subprocess.TimeoutExpired):
            process.wait(30)
        with suppress(ProcessLookupError):  # what it has started, or it itself
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


@contextmanager
def cluster(folder: Path) -> Iterator[tuple[str, int]]:
    """Start a master and its workers; yield its address, and the process of the first worker.

    The log of each is in the folder, and the temporary files of the first worker in `local-0`.
    """
    import pyspark

    with socket.socket() as free:
        free.bind((HOST, 0))
        port = free.getsockname()[1]
    address, log = f"spark://{HOST}:{port}", folder / "master.log"
    spark = f"{pyspark.__path__[0]}/bin/spark-class", "--host", HOST, "--webui-port", "0"
    deploy = "org.apache.spark.deploy"
    with ExitStack() as stack:
        master = [spark[0], f"{deploy}.master.Master", *spark[1:], "--port", f"{port}"]
        stack.enter_context(started(master, log, folder / "local"))
        until(lambda: "I have been elected leader" in log.read_text(), "a master", PATIENCE)
        worker = [spark[0], f"{deploy}.worker.Worker", *spark[1:], "--cores", "1"]
        worker += ["--memory", "1g", "--work-dir", f"{folder / 'work'}", address]
        workers = [
            stack.enter_context(started(worker, folder / f"{at}.log", folder / f"local-{at}"))
            for at in range(WORKERS)
        ]
        ready = "Registering worker"
        until(lambda: log.read_text().count(ready) == WORKERS, "a cluster", PATIENCE)
        yield address, workers[0].pid


@pytest.mark.spark
def test_ctrl_c_stops_a_build(tmp_path: Path) -> None:
    """With the words of every command, and none of Spark's own."""
    tables, out = many(tmp_path, 4_000, mixed=False), tmp_path / "m.safetensors"
    build = [sys.executable, "-m", "agent.cli", "model", "build", "--out", f"{out}"]
    build += ["--users", f"{tables.users}", "--events", f"{tables.events}", "--min-users", "1"]
    log, local = tmp_path / "build.log", tmp_path / "local"
    with started([*build, "--spark", "local"], log, local) as running:
        until(lambda: any(local.glob("**/shuffle_*")), "a first result", PATIENCE)
        running.send_signal(signal.SIGINT)
        assert running.wait(PATIENCE) == INTERRUPTED
    hint = "completed steps were kept; run it again"
    assert log.read_text() == f"reticent: error: interrupted\nreticent: hint: {hint}\n"
    assert not out.exists()


@pytest.mark.spark
def test_a_spark_that_does_not_start_says_why(tmp_path: Path) -> None:
    """In one sentence, of all that Java prints."""
    tables, log = many(tmp_path, 400, mixed=False), tmp_path / "build.log"
    (tmp_path / "conf").mkdir()
    (tmp_path / "conf/spark-defaults.conf").write_text("spark.driver.memory 1k\n")
    build = [sys.executable, "-m", "agent.cli", "model", "build", "--spark", "local"]
    build += ["--users", f"{tables.users}", "--events", f"{tables.events}"]
    with started([*build, "--out", f"{tmp_path / 'm.safetensors'}"], log, tmp_path) as running:
        assert running.wait(PATIENCE) == 1
    error, hint = log.read_text().splitlines()
    assert error == "reticent: error: Spark does not start: Too small maximum heap"
    assert "install Java 17 or newer" in hint


@pytest.mark.soak
def test_the_same_model_from_a_cluster_that_loses_an_executor(tmp_path: Path) -> None:
    """It dies once it has computed what others need, and that is computed again."""
    tables = many(tmp_path, 100_000, mixed=True)
    (tmp_path / "conf").mkdir()  # few tasks, as on this machine alone
    (tmp_path / "conf/spark-defaults.conf").write_text("spark.sql.shuffle.partitions 4\n")
    described = tmp_path / "model.toml"
    build = [sys.executable, "-m", "agent.cli", "model", "build", "--shrinkage", "20"]
    build += [
        "--users",
        f"{tables.users}",
        "--events",
        f"{tables.events}",
        "--describe",
        f"{described}",
    ]
    described.write_text('id = "m"\n')
    digests, log = [], tmp_path / "master.log"

    def newer(before: set[Path]) -> set[Path]:
        return {*tmp_path.glob("local-0/**/shuffle_*")} - before

    with cluster(tmp_path) as (address, worker):
        for name in ("duckdb", "spark", "killed"):
            out, said = tmp_path / f"{name}.safetensors", tmp_path / f"{name}.log"
            engine = ["--spark", address] if name != "duckdb" else []
            before = newer(set())
            with started([*build, *engine, "--out", f"{out}"], said, tmp_path / name) as running:
                if name == "killed":
                    until(partial(newer, before), "a first result", PATIENCE)
                    children = ["/bin/ps", "-o", "pid=", "--ppid", f"{worker}"]
                    (executor,) = map(int, subprocess.check_output(children).split())
                    os.kill(executor, signal.SIGKILL)
                assert running.wait(PATIENCE) == 0, said.read_text()
            digests.append(read(out).digest)
        launched = log.read_text().count("Launching executor")
    assert launched == 2 * WORKERS + 1  # one more, in the place of the one that was killed
    assert len({*digests}) == 1
    sys.stdout.write(f"\n{launched} executors, one killed: one digest, {digests[0][:16]}\n")
