"""The driver process of the flights example, as a job of one's own would be: a session, a pipeline.

    python examples/flights/driver.py DIRECTORY...

It runs the pipelines in these directories until its standard input ends; then it waits until
everything that was fed has gone through, and stops. Meanwhile it prints how far they are. Feeding
and asking for snapshots is left to another process: here, to the one that will kill this one.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from threading import Event, Thread

from queries import flights_pipeline

from streamproof.spark_bindings import Pipeline, spark_session

_STATUS_SECONDS = 0.25
_IDLE_SECONDS_MAX = 600.0


def drive(paths: list[Path]) -> None:
    """Run pipelines until standard input ends."""
    # The first compiler alone, and the plain collector: a session that lives for a minute would
    # spend much of it on optimizing code in the background. And a driver that is killed leaves
    # temporary files, which its parent removes: Java is told where, Python has it from TMPDIR.
    java = f"-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Djava.io.tmpdir={tempfile.gettempdir()}"
    settings = {"spark.driver.extraJavaOptions": java}
    spark = spark_session("flights", memory="1g", settings=settings)
    started: list[Pipeline] = []
    # The telling ends before the pipelines are stopped: a stopped one has no status.
    with ExitStack() as running, telling(started):
        for path in paths:
            pipeline = running.enter_context(flights_pipeline(path).start(spark))
            started.append(pipeline)
        sys.stdin.read()
        for pipeline in started:
            pipeline.await_idle(_IDLE_SECONDS_MAX)
    spark.stop()


@contextmanager
def telling(pipelines: list[Pipeline]) -> Iterator[None]:
    """Print the status again and again, and a last time at the end."""
    ended = Event()

    def tell() -> None:
        while not ended.wait(_STATUS_SECONDS):
            print_status(pipelines)

    teller = Thread(target=tell, daemon=True)
    teller.start()
    try:
        yield
    finally:
        ended.set()
        teller.join()
        print_status(pipelines)


def print_status(pipelines: list[Pipeline]) -> None:
    """Print where every query is, a line for each pipeline."""
    for pipeline in tuple(pipelines):  # another may be started meanwhile
        queries = {
            name: {
                "batch": now.batch,
                "received": dict(now.received),
                "behind": now.behind,
                "failure": now.failure,
            }
            for name, now in pipeline.status().items()
        }
        print(json.dumps({"directory": pipeline.path.name, "queries": queries}), flush=True)


if __name__ == "__main__":
    drive([Path(path) for path in sys.argv[1:]])
