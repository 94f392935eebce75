"""The Spark session: the one place that sets it up, and why each setting is as it is."""

from __future__ import annotations

import logging
import os
import re
import signal
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from threading import current_thread, main_thread

from pyspark.sql import SparkSession
from pyspark.sql.utils import is_remote

from streamproof.spark_bindings.arguments import member_of, require_text, require_whole
from streamproof.spark_bindings.errors import UnsuitableSession, WrongArgument, first_line
from streamproof.spark_bindings.session.java import JavaChoice, java_home
from streamproof.spark_bindings.session.spark_home import spark_home

_ROCKSDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
_STATE_STORE = "spark.sql.streaming.stateStore"
_SHUFFLE_CHECKSUM = "spark.sql.shuffle.orderIndependentChecksum"
_SOCKET_DIRECTORY_MAX = 60
_CORES_MAX = 10_000
_MEMORY = re.compile("[1-9][0-9]{0,8}[kmgt]b?", re.IGNORECASE)

_NO_CONNECT = (
    "Its driver is another process, which a pipeline has to be in: it looks at plans and runs "
    "batches there. Nothing was started. Make a session in this process, without SPARK_REMOTE: "
    "streamproof.spark_bindings.spark_session()"
)

REQUIRED_SETTINGS: Mapping[str, str] = {
    # Custom stateful operators (transformWithState) run on the RocksDB provider alone.
    f"{_STATE_STORE}.providerClass": _ROCKSDB,
    # State files carry unique names. In format 1 a query that continues from a copy can load a
    # file which a later batch of another life left behind: wrong state, and no error.
    f"{_STATE_STORE}.checkpointFormatVersion": "2",
}
"""What a session must have before a pipeline starts in it."""

RECOMMENDED_SETTINGS: Mapping[str, str] = {
    **REQUIRED_SETTINGS,
    # A batch writes what it changed, and not the whole state: 0-4 ms instead of 20-110 ms.
    f"{_STATE_STORE}.rocksdb.changelogCheckpointing.enabled": "true",
    # Python workers and JVM talk over a socket file; over TCP each stateful task waits 40 ms.
    "spark.python.unix.domain.socket.enabled": "true",
    # Renames checkpoint files without forking `readlink` and `chmod` for each of them.
    "spark.hadoop.fs.AbstractFileSystem.file.impl": "org.apache.hadoop.fs.local.RawLocalFs",
    # Spark hashes what it shuffles, byte by byte, to notice that a repeated task gave other rows: a
    # fifth of the JVM's work where rows travel in blobs. A task is repeated for that when an
    # executor is lost with its files, and here the only one is the session itself. Spark hashes
    # unless both are off.
    f"{_SHUFFLE_CHECKSUM}.enabled": "false",
    f"{_SHUFFLE_CHECKSUM}.enableFullRetryOnMismatch": "false",
    # The number of state partitions; it is fixed for the life of a checkpoint.
    "spark.sql.shuffle.partitions": "1",
    # A channel stores instants. A session in another zone would show them shifted.
    "spark.sql.session.timeZone": "UTC",
    # A query that is stopped while Python works for it searches the error's text by an expression
    # that takes some frames a character: with the usual stack, a StackOverflowError is printed.
    "spark.driver.extraJavaOptions": "-Xss16m",
    # Nothing listens on the network for a pipeline on one machine.
    "spark.ui.enabled": "false",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    # Progress bars would be drawn over the caller's own output.
    "spark.ui.showConsoleProgress": "false",
}
"""What `spark_session` sets."""


def spark_session(
    application: str = "streamproof",
    *,
    cores: int = 2,
    memory: str = "1g",
    java: JavaChoice | str = JavaChoice.AUTO,
    settings: Mapping[str, str] | None = None,
) -> SparkSession:
    """Start a local Spark session, or give the running one, suitable for pipelines.

    Called by a job once, on the driver. May be repeated.

    Parameters
    ----------
    application : name shown in logs
    cores : worker threads
    memory : of the driver's JVM, as Spark writes it
    java : which Java runs it: ``"auto"``, ``"system"`` or ``"bundled"``
    settings : further Spark settings; they win over the recommended ones

    Raises
    ------
    WrongArgument : if an argument is not what Spark can be started with
    NoSuitableJava : if there is no Java to run it
    UnsuitableSession : if the process is a client of Spark Connect

    Examples
    --------
    >>> spark = spark_session("shop", cores=2, memory="1g")
    >>> spark.conf.get("spark.sql.session.timeZone")
    'UTC'
    """
    _check_arguments(application, cores, memory, settings)
    choice = member_of("spark_session", "java", java, JavaChoice)
    if "SPARK_REMOTE" in os.environ or is_remote():
        raise UnsuitableSession(f"this process is a client of Spark Connect. {_NO_CONNECT}")
    # Workers would run the `python3` of PATH, which need not have pyarrow or this package.
    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["JAVA_HOME"] = str(java_home(choice))
    # A home of the user's own is left alone; its workers start as Spark's do.
    os.environ.setdefault("SPARK_HOME", str(spark_home()))
    # Else Spark looks for an address of this machine, and warns of the one that it takes.
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    # "[cores,4]" allows a task four attempts. Plain "[cores]" means one: a single lost Python
    # worker would end the query.
    builder = SparkSession.builder.master(f"local[{cores},4]").appName(application)
    builder = builder.config("spark.driver.memory", memory)
    for key, value in {**RECOMMENDED_SETTINGS, **transport(), **(settings or {})}.items():
        builder = builder.config(key, value)
    with _keeping_interrupts():
        spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    # py4j logs every callback's error itself, before we can report it in our own words.
    logging.getLogger("py4j").setLevel(logging.CRITICAL)
    return spark


@contextmanager
def _keeping_interrupts() -> Iterator[None]:
    """Leave Ctrl-C as it is: PySpark would cancel all jobs, and so let a batch fail that may end.

    `pipeline.stop()` lets it end, and `streamproof run` calls it.
    """
    before = signal.getsignal(signal.SIGINT)
    try:
        yield
    finally:
        if before is not None and current_thread() is main_thread():
            signal.signal(signal.SIGINT, before)


def _check_arguments(application: object, cores: object, memory: object, settings: object) -> None:
    require_text("spark_session", "application", application, "orders")
    require_whole(
        f"spark_session was given cores={cores!r}",
        cores,
        1,
        _CORES_MAX,
        done="No session was started. Write for example cores=2",
    )
    if not isinstance(memory, str) or not _MEMORY.fullmatch(memory):
        raise WrongArgument(
            f"spark_session was given memory={memory!r}. It is a text: a whole number with a unit, "
            'of k, m, g or t. No session was started. Write for example memory="2g"'
        )
    kinds = (str, bool, int, float)
    if settings is not None and not (
        isinstance(settings, Mapping)
        and all(isinstance(k, str) and isinstance(v, kinds) for k, v in settings.items())
    ):
        raise WrongArgument(
            f"spark_session was given settings={settings!r}. They are a mapping from names of "
            "Spark's settings to values. No session was started. Write for example "
            'settings={"spark.ui.enabled": "true"}'
        )


def transport() -> dict[str, str]:
    """Choose how workers and JVM talk: over socket files, unless their paths would be too long.

    The system takes 107 characters, of which Spark's own part is up to 45; beyond that a session
    would fail with "AF_UNIX path too long".
    """
    fits = len(tempfile.gettempdir()) <= _SOCKET_DIRECTORY_MAX
    return {"spark.python.unix.domain.socket.enabled": str(fits).lower()}


def check_classic(spark: object) -> None:
    """Refuse what is no session, and one of Spark Connect.

    Raises
    ------
    WrongArgument, UnsuitableSession : in this order
    """
    if type(spark).__module__.startswith("pyspark.sql.connect"):
        raise UnsuitableSession(f"this session is one of Spark Connect. {_NO_CONNECT}")
    if not isinstance(spark, SparkSession):
        raise WrongArgument(
            f"{spark!r} was given as the Spark session. Nothing was started. Give what "
            "streamproof.spark_bindings.spark_session() returns"
        )


def check_session(spark: SparkSession) -> None:
    """Refuse a session in which a pipeline could silently lose state.

    Raises
    ------
    WrongArgument : if it is no session
    UnsuitableSession : if it is one of Spark Connect, or was stopped, or a required setting has
        another value; the message names them all
    """
    check_classic(spark)
    try:
        there = {key: spark.conf.get(key, None) for key in REQUIRED_SETTINGS}
    except Exception as error:
        raise UnsuitableSession(
            f"this Spark session cannot be used: {first_line(error)}. Has it been stopped? Nothing "
            "was started. Make another: streamproof.spark_bindings.spark_session()"
        ) from error
    wrong = [
        f"{key} is {there[key]!r} and must be {value!r}"
        for key, value in REQUIRED_SETTINGS.items()
        if there[key] != value
    ]
    if wrong:
        raise UnsuitableSession(
            f"this Spark session cannot run a pipeline or a merge: {'; '.join(wrong)}. State could "
            "be lost without an error. Use streamproof.spark_bindings.spark_session(), or set them"
        )
