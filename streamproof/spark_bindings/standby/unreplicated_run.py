"""The queries that run alone, in a pipeline that `streamproof run` runs: one driver for all."""

from __future__ import annotations

from collections.abc import Callable
from threading import Event

from pyspark.sql import SparkSession

from streamproof.spark_bindings.arguments import SECONDS_MIN, require_seconds
from streamproof.spark_bindings.errors import WrongWiring
from streamproof.spark_bindings.layout.directory import PipelineDirectory
from streamproof.spark_bindings.layout.pairs import ProcessDirectory
from streamproof.spark_bindings.layout.process_lock import locked
from streamproof.spark_bindings.names import Turn
from streamproof.spark_bindings.pipelines.pipeline import Pipeline
from streamproof.spark_bindings.pipelines.preparation import SNAPSHOTS, prepare_run
from streamproof.spark_bindings.pipelines.single_run import Run
from streamproof.spark_bindings.processes.heartbeat import BEATS_PER_TIMEOUT, Heart


def run_unreplicated(
    pipeline: Pipeline,
    session: Callable[[], SparkSession],
    *,
    suspect_after_seconds: float,
    stop: Event | None = None,
) -> None:
    """Run the queries without a standby until `stop` is set, or one ends with an error.

    Parameters
    ----------
    pipeline, session : what is run, and what makes a session as `spark_session` does
    suspect_after_seconds : the suspicion timeout: this process is silent no longer
    stop : set by whoever wants it to end

    Raises
    ------
    WrongWiring : if there is no such query, or one has run as a pair
    WrongArgument : if the suspicion timeout is no number of seconds
    CopyRuns : if another process runs them
    UnverifiedProtocol, UnsuitableSession, WrongSchema, QueryFailed : as `Pipeline.start`
    """
    require_seconds("run_unreplicated", "suspect_after_seconds", suspect_after_seconds, SECONDS_MIN)
    stop = stop or Event()
    directory = PipelineDirectory.open(pipeline.path)
    queries = [query for query in pipeline.queries if not query.is_paired]
    if not queries:
        raise WrongWiring(
            f"pipeline {pipeline.path} has no query without a standby, so nothing is to be run "
            "alone. Run: streamproof run FILE.py"
        )
    place = ProcessDirectory.alone(directory)
    with locked(place, f"what has no standby in {pipeline.path}"):
        spark = prepare_run(directory, queries, session, SNAPSHOTS)
        channels = {name: pipeline.channel(name) for name in directory.wiring.channels}
        run = Run(spark, directory, channels, queries, collected=pipeline.queries)
        run.begin()
        heart = Heart(place.beat)
        try:
            while not stop.wait(suspect_after_seconds / BEATS_PER_TIMEOUT):
                run.raise_query_failure()
                heart.beat(active=True, warm=True, turn=Turn(0))
        finally:
            run.stop()
