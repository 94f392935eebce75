"""Whether driver and executors see the same files: a pipeline's channels and checkpoints.

Where they do not, an executor writes state that the driver never finds. Nothing fails before the
query is started again, or a snapshot is restored.
"""

from __future__ import annotations

import re
import uuid
from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import partial

from pyspark.sql import SparkSession

from streamproof.spark_bindings.errors import UnsuitableSession
from streamproof.spark_bindings.storage.place import Place
from streamproof.spark_bindings.storage.store import store_at
from streamproof.spark_bindings.storage.trees import make_unsynced, write_unsynced

# On one machine in one process; local-cluster[...] has executors of its own.
_IN_DRIVER = re.compile(r"local(\[.*\])?")
_TASKS_PER_CORE = 2  # so that hardly an executor is left out


def check_shared(spark: SparkSession, directories: Iterable[Place]) -> None:
    """Refuse a session whose executors do not see the driver's files, or the other way round.

    It costs a job of a second, and nothing where the executor is the driver.

    Parameters
    ----------
    spark : the session
    directories : where both write

    Raises
    ------
    UnsuitableSession : if a file that one has written is not there for the other
    """
    if _IN_DRIVER.fullmatch(spark.sparkContext.master or ""):
        return
    for directory in directories:
        make_unsynced(directory)
        _probe(spark, directory)


def _probe(spark: SparkSession, directory: Place) -> None:
    name = f".streamproof-probe-{uuid.uuid4().hex}"
    try:
        write_unsynced(directory / name, name)
        tasks = _TASKS_PER_CORE * spark.sparkContext.defaultParallelism
        look = partial(_look, directory, name)
        seen = spark.sparkContext.parallelize(range(tasks), tasks).mapPartitions(look).collect()
        blind = sorted({host for host, is_there, _ in seen if not is_there})
        hidden = sorted({host for host, _, file in seen if not store_at(directory).has(file)})
    finally:
        for file in store_at(directory).list():
            if file.startswith(name):
                with suppress(OSError):
                    store_at(directory).delete(file)
    if blind or hidden:
        raise UnsuitableSession(
            f"executors on {', '.join(blind or hidden)} do not see what the driver writes to "
            f"{directory}"
            + ("" if blind else ", or the driver does not see what they write")
            + ". Their state files would be lost without an error. Put the pipeline on a file "
            "system that the driver and all executors have mounted at the same path, or run it "
            "with a local master"
        )


def _look(directory: Place, name: str, parts: Iterator[int]) -> Iterator[tuple[str, bool, str]]:
    """Look for the driver's file, and write one, on an executor."""
    import socket

    for part in parts:
        file = f"{name}-{part}"
        with suppress(OSError):
            write_unsynced(directory / file, file)
        is_there = False
        with suppress(OSError):
            is_there = store_at(directory).get(name).decode() == name
        yield socket.gethostname(), is_there, file
