"""Spark as an engine (extra `spark`): a session, and tables to and from it in Arrow."""

import os
import re
from collections.abc import Sequence
from contextlib import suppress
from importlib.resources import files
from signal import SIGINT, getsignal, raise_signal, signal
from socket import create_connection
from struct import pack
from tempfile import TemporaryFile
from threading import Event, current_thread, main_thread
from time import monotonic, sleep
from typing import Any
from warnings import catch_warnings, simplefilter

import ibis
import msgspec
from ibis.formats.pyarrow import PyArrowData

from agent.errors import BuildError, UsageError

with catch_warnings():
    simplefilter("ignore")  # pandas 3 has deprecated what both of these import
    from ibis.backends.pyspark import Backend
    from py4j.protocol import Py4JError
    from pyspark import SparkConf, SparkContext
    from pyspark.errors import PySparkException
    from pyspark.java_gateway import launch_gateway
    from pyspark.sql import SparkSession

PATIENCE = 4.0  # seconds, for a master to answer; Spark would try for over a minute
BUSY = 25.0  # seconds, for its workers to start; Spark would wait for ever
# A StreamRequest of Spark's network protocol: the length of all, its type, that of a name, a name.
_ASKS = pack(">qbi8s", 21, 6, 8, b"/files/-")
_MASTER = re.compile(r"local|yarn|k8s://.+|spark://([^/]+:[0-9]{1,5})")
SETTINGS = msgspec.toml.decode((files("agent.build") / "spark.toml").read_bytes())


class Spark(Backend):  # type: ignore[misc]  # Ibis ships no types
    """Tables go by way of Arrow: in pandas, integers with NULL would be floating-point."""

    failures = PySparkException, Py4JError

    @staticmethod
    def cause(error: Exception) -> str:
        """What Java says went wrong first, without the names of its classes."""
        text, java = "", getattr(error, "java_exception", getattr(error, "_origin", None))
        while java is not None:
            message = java.getMessage() or ""
            text, java = message if " " in message else text, java.getCause()
        return re.sub(r"^([\w$]+(\.[\w$]+)+: )+", "", text or str(error))

    def _register_in_memory_table(self, op: Any) -> None:  # noqa: ANN401  (of Ibis)
        frame = self._session.createDataFrame(op.data.to_pyarrow(op.schema))
        frame.createOrReplaceTempView(op.name)

    def _create_cached_table(self, name: str, expr: ibis.Table) -> ibis.Table:
        self._run_pre_execute_hooks(expr)  # which registers the tables in memory that it joins
        return super()._create_cached_table(name, expr)

    def to_pyarrow(self, expr: Any, /, **_options: Any) -> Any:  # noqa: ANN401  (of Ibis)
        """Compute an expression, and return the result in Arrow."""
        table = expr.as_table()
        self._run_pre_execute_hooks(table)
        rows = self._session.sql(self.compile(table)).toArrow()
        return expr.__pyarrow_result__(PyArrowData.convert_table(rows, table.schema()))

    def files_at(self, address: str) -> list[str]:
        """The addresses of the files in parquet below an address."""
        return list(self._session.read.parquet(address).inputFiles())

    def scanned(self, base: str | None, names: Sequence[str]) -> ibis.Table:
        """The table in parquet files; ``base``: the folder below which partitions lie."""
        read = self._session.read  # Ibis takes one path only
        frame = (read if base is None else read.option("basePath", base)).parquet(*names)
        frame.createOrReplaceTempView(name := ibis.util.gen_name("parquet"))
        return self.table(name)


def connected(master: str) -> ibis.BaseBackend:
    """Spark on this machine, for "local", or on a cluster; BuildError if it does not start.

    ``master``: "local", or the address of a cluster's master; UsageError for any other text. Spark
    takes its own settings from where it looks for them, such as `SPARK_CONF_DIR`.
    """
    address = _MASTER.fullmatch(master)
    if not address:
        hint = "give --spark local or --spark spark://HOST:7077"
        raise UsageError("not the address of a Spark master", hint, master)
    if address[1] and not any(map(_answers, address[1].split(","))):
        raise BuildError("no Spark master answers", "start it, or check the address", master)
    local = master == "local"
    conf = SparkConf().setAppName("reticent").setMaster("local[*]" if local else master)
    conf.setAll((SETTINGS["anywhere"] | (SETTINGS["local"] if local else {})).items())
    os.environ.setdefault("SPARK_DRIVER_MEMORY", "2g")  # spark.driver.memory goes first
    backend = Spark()
    backend.register_options()
    ibis.options.sql.fuse_selects = False  # else `cases` would repeat all that it tests
    with TemporaryFile() as log:  # of what Java prints as long as it runs
        try:
            if SparkSession.getActiveSession() is None:
                handle = signal if current_thread() is main_thread() else lambda *_: None
                came, handler = Event(), getsignal(SIGINT)
                handle(SIGINT, lambda *_: came.set())  # left halfway, Java would hang
                try:
                    java = launch_gateway(conf, {"stdout": log, "stderr": log})
                finally:
                    handle(SIGINT, handler)
                if came.is_set():
                    raise_signal(SIGINT)
                SparkContext(conf=conf, gateway=java)
                handle(SIGINT, handler)  # ours again: Java ends with this process
            session = SparkSession.builder.config(conf=conf).getOrCreate()
            backend.do_connect(session)
            dynamic = session.conf.get("spark.dynamicAllocation.enabled", "false") == "true"
            # Only Java counts who executes, and tells nobody when: one is this process itself.
            end, spark = monotonic() + BUSY, session.sparkContext._jsc.sc()  # noqa: SLF001
            while address[1] and not dynamic and spark.getExecutorMemoryStatus().size() <= 1:
                if monotonic() > end:
                    hint = "start one, or ask for less memory or fewer cores"
                    raise BuildError("the master has no free worker", hint, master)
                sleep(0.2)
        except (PySparkException, Py4JError) as error:
            log.seek(0)
            ended = "JAVA_GATEWAY_EXITED" in str(error)  # Java has printed why, before a trace
            said = log.read().decode(errors="replace") if ended else ""
            lines = [line for line in said.splitlines() if line[:1].strip()]
            cause = [Spark.cause(error).partition("\n")[0], *lines][-1][:200]
            hint = "install Java 17 or newer, or check your settings of Spark"
            raise BuildError(f"Spark does not start: {cause}", hint) from error
    return backend


def _answers(address: str) -> bool:
    """Whether the server at HOST:PORT, asked for a file, replies as Spark does, or TLS."""
    host, _, port = address.rpartition(":")
    place = host.strip("[]"), int(port)
    with suppress(OSError, OverflowError), create_connection(place, PATIENCE) as master:
        master.sendall(_ASKS)
        return master.recv(1) in (b"\0", b"\x15")
    return False
