"""The same tables give the same model, to the last byte, whatever computes them; and Spark."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow.fs import S3FileSystem, copy_files

from agent.build import canonical, observe
from agent.build.build import build_model
from agent.build.engines import address_of, connected, partitions, reading
from agent.build.options import BuildOptions
from agent.build.tables import open_tables
from agent.cli.main import INTERRUPTED
from agent.errors import BuildError, UsageError
from agent.model.file import encode, read, write
from tests.build.worlds import ENGINES, QUIET, World, few, frame, options, worlds
from tests.examples.searxng.serving import free
from tests.waiting import until

pytestmark = QUIET
NOTHING_GIVEN = "__HIVE_DEFAULT_PARTITION__"


def built(folder: Path, spark: str | None, most: int, half: str | None) -> bytes:
    """Return the model of tables, whose queries keep ``most`` rows, or why there is none."""
    place = options(users=folder / "users", events=folder / "events", spark=spark, half=half)
    with pytest.MonkeyPatch.context() as patch:
        for module in (canonical, observe):
            patch.setattr(module, "MOST_ROWS", most)
        try:
            write(build_model(place, lambda _what, _share: None), folder / "model.safetensors")
        except BuildError as error:
            return error.what.encode()
    return (folder / "model.safetensors").read_bytes()


def scatter(rows: pa.Table, folder: Path, ends: Sequence[int], key: str | None = None) -> None:
    """Write rows into files that end before some of them, in partitions by a column ``key``."""
    folder.mkdir(parents=True, exist_ok=True)
    for place, (start, end) in enumerate(zip([0, *ends], [*ends, len(rows)], strict=True)):
        part = rows.slice(start, end - start)
        if key is None:
            pq.write_table(part, folder / f"{place}.parquet")
            continue
        values = part[key].fill_null("")
        for value in values.unique().to_pylist():
            (inner := folder / f"{key}={value or NOTHING_GIVEN}").mkdir(exist_ok=True)
            rest = part.filter(pc.equal(values, value)).drop([key])
            pq.write_table(rest, inner / f"{place}.parquet")
    (folder / "_SUCCESS").touch()


@pytest.mark.parametrize("spark", ENGINES)
@few(4)
@given(world=worlds(), data=st.data(), most=st.integers(1, 6))
def test_one_digest(spark: str | None, world: World, data: st.DataObject, most: int) -> None:
    """In whatever order rows come, in however many files and partitions, also of large queries."""
    half, last = data.draw(st.sampled_from([None, None, "A"])), world.events[0][-1]
    key = st.none() if last == "intent" else st.just(last) | st.none()
    keys = {"users": None, "events": data.draw(key)}
    with TemporaryDirectory() as made:
        plain, mixed = Path(made, "plain"), Path(made, "mixed")
        for name, rows in (("users", world.users), ("events", world.events)):
            scatter(frame(rows[0], rows[1:]), plain / name, [])
            cuts = sorted(data.draw(st.lists(st.integers(0, len(rows) - 1), max_size=3)))
            shuffled = frame(rows[0], data.draw(st.permutations(rows[1:])))
            scatter(shuffled, mixed / name, cuts, keys[name])
        assert built(mixed, spark, most, half) == built(plain, None, most, half)


def many(folder: Path, count: int, *, mixed: bool) -> BuildOptions:
    """Write so many events, in one file each, or in parts and partitions without order.

    A fifth of them ask one query.
    """
    chance = np.random.default_rng(20)
    people = np.array([f"user{each}" for each in range(count // 20)])
    facts = {f"p{each}": chance.integers(0, each + 2, len(people)) for each in range(5)}
    user, day = chance.integers(0, len(people), count), chance.integers(0, 4, count)
    query = np.where(chance.random(count) < 0.2, 0, chance.integers(0, 100, count))
    follows = chance.random(count) < 0.5
    intent = np.where(follows, facts["p3"][user] + query % 2, chance.integers(0, 20, count))
    users = pa.table({"user": people, **facts})
    texts = {"query": query.astype(str), "intent": intent.astype(str), "day": day.astype(str)}
    events = pa.table({"user": people[user], **texts})
    if mixed:
        users, events = (each.take(chance.permutation(len(each))) for each in (users, events))
    for name, table in (("users", users), ("events", events)):
        ends = [len(table) // 3, len(table) // 2] if mixed else []
        scatter(table, folder / name, ends, "day" if mixed and name == "events" else None)
    paths = {name: folder / name for name in ("users", "events")}
    return options(**paths, validation=False, shrinkage=20.0)


@contextmanager
def object_store(folder: Path) -> Iterator[str]:
    """Put the tables in a folder into a store of S3; yield the address of its bucket."""
    port, log = free(), folder / "moto.log"
    words = [sys.executable, "-m", "moto.server", "--host", HOST, "--port", f"{port}"]
    with started(words, log, folder), pytest.MonkeyPatch.context() as patch:
        until(lambda: "Running on" in log.read_text(), "a store", PATIENCE)
        patch.setenv("AWS_ENDPOINT_URL", url := f"http://{HOST}:{port}")
        patch.setenv("AWS_ACCESS_KEY_ID", "key")
        patch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
        there = S3FileSystem(endpoint_override=url, allow_bucket_creation=True)
        there.create_dir("bucket")
        copy_files(f"{folder}", "bucket", destination_filesystem=there)
        yield "s3://bucket"


@pytest.mark.parametrize("spark", ENGINES)
def test_an_address_is_a_folder(spark: str | None, tmp_path: Path) -> None:
    """Of an object store, or as Spark has it; with its partitions, and its `_SUCCESS`."""
    given = many(tmp_path, 4_000, mixed=True)
    (tmp_path / "text").write_text("user,query,intent\n" * 9)
    texts = pa.array([b"\xff\xfeabc"] * 9).view(pa.string())
    pq.write_table(pa.table(dict.fromkeys(("user", "query", "intent"), texts)), tmp_path / "latin")
    with nullcontext(tmp_path.as_uri()) if spark else object_store(tmp_path) as base:
        users, events = (Path(f"{base}/{each}") for each in ("users", "events"))
        there = replace(given, users=users, events=events, spark=spark)
        one, other = (encode(build_model(each, lambda *_: None)) for each in (given, there))
        assert one == other
        assert partitions(events, connected(spark)) == ["day"]
        wrong = {"none": "nothing is at", "text": "not a parquet file", "latin": "not in UTF-8"}
        for name, what in wrong.items():
            with pytest.raises(BuildError, match=what):
                build_model(replace(there, events=Path(f"{base}/{name}")), lambda *_: None)


def test_a_full_disk_and_an_absent_store_are_sentences(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://{HOST}:{free()}")
    with pytest.raises(BuildError, match="the store cannot be reached"):
        open_tables(Path("s3://bucket/users"), None, backend := connected())
    backend.raw_sql("SET memory_limit = '20MB'; SET max_temp_directory_size = '1MB'")
    with pytest.raises(BuildError, match="the temporary folder is full"), reading(backend):
        backend.raw_sql("CREATE TABLE t AS SELECT md5(range::VARCHAR) FROM range(2_000_000)")


def test_an_address_has_its_slashes_back(tmp_path: Path) -> None:
    """Which a path loses; what is not on S3, Spark alone reads."""
    assert address_of(tmp_path) is None
    assert address_of(Path("s3://bucket/events")) == "s3a://bucket/events"
    assert address_of(Path("file:///events")) == "file:///events"
    with pytest.raises(UsageError, match="only Spark reads addresses other than those of S3"):
        open_tables(Path("hdfs://host/users"), Path("hdfs://host/events"))


@pytest.mark.parametrize("spark", ENGINES)
def test_a_damaged_file_is_one_sentence(spark: str | None, tmp_path: Path) -> None:
    """Also where it is found late, since rows are read when something is computed."""
    ids, texts = [f"{each}" for each in range(5_000)], ["b"] * 5_000
    events = {"user": ids, "query": texts, "intent": texts}
    for name, columns in (("users", {"user": ids, "a": texts}), ("events", events)):
        pq.write_table(pa.table(columns), tmp_path / f"{name}.parquet")
    data = bytearray((tmp_path / "users.parquet").read_bytes())
    data[100:2_000] = bytes(1_900)
    (tmp_path / "cut.parquet").write_bytes(data)
    source = open_tables(tmp_path / "cut.parquet", tmp_path / "events.parquet", connected(spark))
    with pytest.raises(BuildError, match="the tables could not be computed") as caught:
        observe.observe(source, options())
    assert "\n" not in caught.value.what


@pytest.mark.parametrize("spark", ENGINES[1:])
def test_what_engines_would_write_differently_is_refused(spark: str | None, tmp_path: Path) -> None:
    """Numbers that are no weights; and v and f are no spaces, as they are to Ibis on Spark."""
    users = {"user": ["1", "2"], "a": [1e7, 1.5], "b": ["x", None]}
    events = {"user": ["1", "2"], "query": ["q", "q"], "intent": ["\N{NO-BREAK SPACE}v", "\tf "]}
    paths = tmp_path / "users.parquet", tmp_path / "events.parquet"
    for columns, path in zip((users, events), paths, strict=True):
        pq.write_table(pa.table(columns), path)
    backend = connected(spark)
    with pytest.raises(BuildError, match="column 'a' holds float64"):
        open_tables(*paths, backend)
    seen = observe.observe(open_tables(*paths, backend, ["a"]), options(weights="a"))
    assert seen.queries[0].intents == ("f", "v")
    assert seen.population.weights is not None
    assert sorted(seen.population.weights.tolist()) == [1.5, 1e7]


HOST, WORKERS, PATIENCE = "127.0.0.1", 2, 900.0
HASTY = "from agent.build import spark as s; s.BUSY = 1; from agent.cli.main import run; run()"


def command(tables: BuildOptions) -> list[str]:
    build = [sys.executable, "-m", "agent.cli", "model", "build"]
    return [*build, "--users", f"{tables.users}", "--events", f"{tables.events}"]


@contextmanager
def started(words: list[str], log: Path, local: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Run a program in a group of its own, which ends with the block; ``local``: for Spark."""
    env = {**os.environ, "SPARK_LOCAL_IP": HOST, "SPARK_LOCAL_DIRS": str(local)}
    env["SPARK_CONF_DIR"] = f"{log.parent / 'conf'}"
    with log.open("wb") as out:
        process = subprocess.Popen(words, stdout=out, stderr=out, env=env, start_new_session=True)
    try:
        yield process
    finally:
        process.terminate()
        with suppress(subprocess.TimeoutExpired):
            process.wait(30)
        with suppress(ProcessLookupError):  # what it has started, or it itself
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, int, Path]]:
    """A master's address, the process of its first worker, and the folder of their logs.

    The temporary files of the first worker are in `local-0` there.
    """
    import pyspark

    port, folder = free(), tmp_path_factory.mktemp("cluster")
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
        yield address, workers[0].pid, folder


def shuffled(folder: Path) -> set[str]:
    """The results that tasks of Spark have written; it may remove their folders meanwhile."""
    return {name for _, _, names in os.walk(folder) for name in names if name[:8] == "shuffle_"}


@pytest.mark.spark
@pytest.mark.parametrize("started_up", [False, True])
def test_ctrl_c_stops_a_build(tmp_path: Path, *, started_up: bool) -> None:
    """With the words of every command, and none of Spark's own; Java ends too, even if starting."""
    tables, out = many(tmp_path, 4_000, mixed=False), tmp_path / "m.safetensors"
    build = [*command(tables), "--out", f"{out}", "--min-users", "1"]
    log, local = tmp_path / "build.log", tmp_path / "local"
    with started([*build, "--spark", "local"], log, local) as running:
        ended = partial(subprocess.call, ["/usr/bin/pgrep", "-g", f"{running.pid}", "java"])
        until(partial(shuffled, local) if started_up else lambda: not ended(), "it", PATIENCE)
        running.send_signal(signal.SIGINT)
        assert running.wait(PATIENCE) == INTERRUPTED
        until(ended, "the end of Java", PATIENCE)
    hint = "no file is half-written; run it again"
    assert log.read_text() == f"reticent: error: interrupted\nreticent: hint: {hint}\n"
    assert not out.exists()


@pytest.mark.spark
@pytest.mark.parametrize(
    ("setting", "what"),
    [("driver.memory 1k", "Too small maximum heap"), ("executor.memory 8g", "no free worker")],
)
def test_a_spark_that_does_not_start_says_why(
    setting: str, what: str, tmp_path: Path, cluster: tuple[str, int, Path]
) -> None:
    """In one sentence, of all that Java prints; without the wait for a worker, which never fits."""
    tables, log = many(tmp_path, 400, mixed=False), tmp_path / "build.log"
    (tmp_path / "conf").mkdir()
    (tmp_path / "conf/spark-defaults.conf").write_text(f"spark.{setting}\n")
    build = [sys.executable, "-c", HASTY, *command(tables)[3:], "--spark", cluster[0]]
    with started([*build, "--out", f"{tmp_path / 'm.safetensors'}"], log, tmp_path) as running:
        assert running.wait(PATIENCE) == 1
    error, _hint = log.read_text().splitlines()
    assert error.endswith(what)


@pytest.mark.spark
def test_a_master_that_does_not_answer_is_one_sentence() -> None:
    """Soon, whether something listens and says nothing, or nothing listens."""
    silent = socket.create_server((HOST, 0))
    port = silent.getsockname()[1]
    for _ in range(2):
        since = time.monotonic()
        with pytest.raises(BuildError, match="no Spark master answers"):
            connected(f"spark://{HOST}:{port}")
        assert time.monotonic() - since < 10
        silent.close()


@pytest.mark.spark
def test_the_same_million_events_from_a_cluster_that_loses_an_executor(
    tmp_path: Path, cluster: tuple[str, int, Path]
) -> None:
    """It dies once it has computed what others need, and that is computed again."""
    tables = many(tmp_path, 1_000_000, mixed=True)
    (tmp_path / "conf").mkdir()  # few tasks, as on this machine alone
    (tmp_path / "conf/spark-defaults.conf").write_text("spark.sql.shuffle.partitions 4\n")
    described = tmp_path / "model.toml"
    build = [*command(tables), "--shrinkage", "20", "--describe", f"{described}"]
    described.write_text('id = "m"\n')
    address, worker, folder = cluster
    digests, log, local = set(), folder / "master.log", folder / "local-0"
    for name, spark in (("0", ""), ("1", "local"), ("killed", address)):
        out, said = tmp_path / f"{name}.safetensors", tmp_path / f"{name}.log"
        engine = ["--spark", spark] if spark else []
        with started([*build, *engine, "--out", f"{out}"], said, tmp_path / name) as running:
            if name == "killed":
                until(partial(shuffled, local), "a first result", PATIENCE)
                newest = log.read_text().split(" with ID ")[-1].split()[0]
                executor = ["/usr/bin/pgrep", "--parent", f"{worker}", "--full", newest]
                os.kill(int(subprocess.check_output(executor)), signal.SIGKILL)
            assert running.wait(PATIENCE) == 0, said.read_text()
        digests.add(read(out).digest)
    # One more, in the place of the one that was killed.
    assert log.read_text().count("Launching executor") == WORKERS + 1
    assert len(digests) == 1
