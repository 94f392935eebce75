"""A pipeline's run: its queries in a Spark session, from start to stop."""

from __future__ import annotations

import logging
import time
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from threading import Thread

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from streamproof.spark_bindings import _spark
from streamproof.spark_bindings.channels.channel import Channel
from streamproof.spark_bindings.channels.commits import commit
from streamproof.spark_bindings.channels.provenance import NOTES_KEPT, RERUN_KEPT
from streamproof.spark_bindings.channels.readers import reader_of
from streamproof.spark_bindings.checkpoints.rerun import (
    RERUN_FILE,
    RERUN_SOURCE_NAME,
    Rerun,
    RerunSource,
)
from streamproof.spark_bindings.checkpoints.watermarks import closes_later
from streamproof.spark_bindings.errors import NotRunning, QueryFailed, StillBusy, first_line
from streamproof.spark_bindings.layout.directory import PipelineDirectory
from streamproof.spark_bindings.layout.query import OutputMode, Query
from streamproof.spark_bindings.names import BatchId, ChannelName, Position, QueryName
from streamproof.spark_bindings.pipelines.continuation import check_goes_on
from streamproof.spark_bindings.pipelines.planning import has_watermark, plan_query, start_query
from streamproof.spark_bindings.pipelines.query_process import QueryProcess
from streamproof.spark_bindings.snapshots.collector import Collector, CollectorThread
from streamproof.spark_bindings.storage.delta_tables import open_table
from streamproof.spark_bindings.storage.failpoints import RaceFailpoint, reached
from streamproof.spark_bindings.storage.store import store_at

_log = logging.getLogger("streamproof.pipelines")
_POLL_SECONDS = 0.02
_LOOK_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class QueryStatus:
    """How far a query is.

    Attributes
    ----------
    batch : its last completed batch; None before the first
    received : per input, the position that it has completed
    behind : commits in its inputs that it has not completed
    running : whether Spark runs it
    failure : the error that ended it, else empty
    """

    batch: BatchId | None
    received: Mapping[ChannelName, Position]
    behind: int
    running: bool
    failure: str


PipelineStatus = Mapping[QueryName, QueryStatus]


class Run:
    """The queries of one pipeline in one session. `Pipeline.start` makes it, and begins it.

    Parameters
    ----------
    queries : what is run
    collected : all queries of the pipeline, if other processes run some of them
    """

    def __init__(
        self,
        spark: SparkSession,
        directory: PipelineDirectory,
        channels: Mapping[ChannelName, Channel],
        queries: Sequence[Query],
        *,
        collected: Sequence[Query] | None = None,
    ) -> None:
        self._spark, self._directory, self._channels = spark, directory, channels
        self._queries, self._collected = queries, collected or queries
        self._processes = {QueryName(query.name): self._process(query) for query in queries}
        self._running: dict[QueryName, StreamingQuery] = {}
        self._collector: CollectorThread | None = None
        self._is_stopped = False

    def begin(self) -> None:
        """Start the queries. It takes a while, in which other threads may look and stop.

        Raises
        ------
        WrongSchema : if a plan's columns are not those of its output channel; nothing is started
        WrongWiring : if a plan does not read each of its inputs once
        NotRunning : if it was stopped meanwhile
        WrongCheckpoint, ChannelDamaged, FencedDriver, DamagedFile, LostFiles : if a query cannot go
            on with what is on the disk; nothing is started
        """
        count, planned = len(self._queries), []
        for number, query in enumerate(self._queries, start=1):
            _log.info("planning query %d of %d: %s", number, count, query.name)
            planned.append((query, self._plan(self._spark, query)))
        # A restored query has to end its batches where this one does, and so those before it.
        is_timed = any(has_watermark(frame) for _, frame in planned)
        for query, frame in planned:
            process = self._processes[QueryName(query.name)]
            place = self._directory.query_place(QueryName(query.name))
            check_goes_on(self._directory.place, query, place, frame, process.checkpoint)
            process.check_output(RERUN_KEPT if is_timed else NOTES_KEPT)
        try:
            for number, (query, frame) in enumerate(planned, start=1):
                self._require_not_stopped()
                running = self._start(query, frame, (number, count))
                self._running[QueryName(query.name)] = running
            self._require_not_stopped()
            collector = Collector(self._directory, self._collected, self._channels)
            self._collector = CollectorThread(collector, self._directory.place)
        except BaseException:
            self._stop_queries()
            raise

    def _require_not_stopped(self) -> None:
        if self._is_stopped:
            raise NotRunning(
                f"pipeline {self._directory.place} was stopped while it started. None of its "
                "queries runs. Call start(spark) again"
            )

    def wake_collector(self) -> None:
        """Wake the collector: a snapshot was requested."""
        if self._collector is not None:
            self._collector.wake()

    def stop(self) -> None:
        """Stop the queries, then the collector, which takes a last look. May be repeated.

        Raises
        ------
        QueryFailed : if a query cannot be stopped. All else is
        """
        self._is_stopped = True
        try:
            self._stop_queries()
        finally:
            if self._collector is not None:
                self._collector.stop()

    def status(self) -> PipelineStatus:
        """Return how far each query is; while it starts, some do not run yet."""
        return {name: self._query_status(name) for name in self._processes}

    def raise_failure(self) -> None:
        """Raise what ended a query, or why snapshots cannot be collected.

        Raises
        ------
        QueryFailed : if there is something
        """
        self.raise_query_failure()
        if self._collector is not None:
            self._collector.raise_failure()

    def raise_query_failure(self) -> None:
        """Raise what ended a query.

        Raises
        ------
        QueryFailed : if one has ended
        """
        for name, query in list(self._running.items()):
            is_active, error = self._look(query)
            if isinstance(error, QueryFailed):
                raise error
            if not is_active:
                raise QueryFailed(
                    f"query {name!r} of pipeline {self._directory.place} has ended: "
                    f"{error or 'it was stopped'}. Rows wait in its input channels; none is lost. "
                    "Fix the cause, call stop(), then start(spark)"
                ) from error

    def _look(self, query: StreamingQuery) -> tuple[bool, Exception | None]:
        """Return whether a query runs, and what has ended it: itself, or its session's end.

        Without a session, Spark may say that a query runs, or not answer.
        """
        gone = self._gone()
        if gone is None:
            try:
                is_active = query.isActive
                return is_active, None if is_active else query.exception()
            except Exception:
                gone = self._gone()
                if gone is None:
                    raise
        return False, gone

    def _gone(self) -> QueryFailed | None:
        """Return the error to raise if the session has ended."""
        why = _spark.why_gone(self._spark)
        return (
            QueryFailed(
                f"no query of pipeline {self._directory.place} runs any more. Rows wait in its "
                f"channels; none is lost. The cause: {why}"
            )
            if why
            else None
        )

    def await_idle(self, timeout_seconds: float) -> None:
        """Wait until nothing is left to do; see `Pipeline.await_idle`."""
        deadline = time.monotonic() + timeout_seconds
        while True:
            self.raise_failure()
            ends = self._ends()
            settled = self._caught_up() and self._settle(deadline) and self._caught_up()
            self.raise_failure()  # first: a query that has ended is not idle, it is deaf
            if settled and self._ends() == ends:  # settling appended nothing: none is under way
                return
            if time.monotonic() > deadline:
                late = {name: state.behind for name, state in self.status().items()}
                raise StillBusy(
                    f"pipeline {self._directory.place} is not idle after {timeout_seconds} s; "
                    f"commits left per query: {late}. A query that is always fed, or has "
                    "processing-time timers, as a merge with a max_delay has, never is. Wait "
                    "longer, pause the feed, or wait for the rows that you expect in its channel"
                )
            time.sleep(_POLL_SECONDS)

    def _settle(self, deadline: float) -> bool:
        """Let every query find out that it has nothing to do, watermarks included.

        Spark may run a batch without new rows, to close windows that a watermark has passed.
        """
        for query in list(self._running.values()):
            waiting = Thread(target=_process_all, args=(query,), daemon=True)
            waiting.start()
            while waiting.is_alive():
                left = deadline - time.monotonic()
                if left <= 0 or self._gone() is not None:  # then Spark may never answer
                    return False
                waiting.join(min(left, _LOOK_SECONDS))
        return True

    def _caught_up(self) -> bool:
        begun = len(self._running) == len(self._processes)
        return begun and all(state.behind == 0 for state in self.status().values())

    def _ends(self) -> dict[ChannelName, Position]:
        return {name: channel.log.last() for name, channel in self._channels.items()}

    def _query_status(self, name: QueryName) -> QueryStatus:
        query, checkpoint = self._running.get(name), self._directory.checkpoint(name)
        batch = checkpoint.last_committed()
        received = {} if batch is None else checkpoint.received(batch)
        inputs = self._directory.wiring.inputs[name]
        is_active, failure = (False, None) if query is None else self._look(query)
        # One that has lost commits has none left, and must not hide what others have.
        left = (max(0, self._channels[c].log.last() - received.get(c, 0)) for c in inputs)
        return QueryStatus(
            batch=batch,
            received=received,
            behind=sum(left),
            running=is_active,
            failure="" if failure is None else str(failure),
        )

    def _plan(self, spark: SparkSession, query: Query) -> DataFrame:
        _spark.register_once(spark, RerunSource)
        run = uuid.uuid4().hex
        channels = [self._channels[ChannelName(name)] for name in query.inputs]
        limits = (query.commits_per_batch_max, query.rows_per_batch_max)
        place, readers = self._directory.query_place(QueryName(query.name)), []
        for channel in channels:
            reader = reader_of(spark, channel, *limits)
            if store_at(place).has(RERUN_FILE):
                reader = reader.format(RERUN_SOURCE_NAME).option("rerun", place.for_spark())
            readers.append(reader.option("run", run))
        frames = [reader.load() for reader in readers]
        return plan_query(query, frames, self._channels[ChannelName(query.output)].schema)

    def _process(self, query: Query) -> QueryProcess:
        name, wiring = QueryName(query.name), self._directory.wiring
        return QueryProcess(
            name,
            self._directory.query_place(name),
            inputs={channel: self._channels[channel] for channel in wiring.inputs[name]},
            output=self._channels[wiring.outputs[name]],
            snapshots=self._directory.snapshots,
        )

    def _start(self, query: Query, frame: DataFrame, number: tuple[int, int]) -> StreamingQuery:
        process = self._processes[QueryName(query.name)]
        self._wake(query, frame)
        return start_query(
            query,
            frame,
            name=f"{query.name}.{self._directory.id[:8]}",
            checkpoint=process.checkpoint.place,
            on_batch=process.on_batch,
            number=number,
        )

    def _wake(self, query: Query, frame: DataFrame) -> None:
        """Let a query run a batch, if there is nothing to read and something may be due.

        Spark looks at timers, and at what a watermark closes, in a batch alone. So in a new run it
        would not before an input has something new, however long that takes.
        """
        status = self._query_status(QueryName(query.name))
        if status.batch is None or status.behind > 0:
            return
        if _spark.uses_clock(frame) or self._closes_later(query, frame, status.batch):
            # A commit without rows is no message, but whoever reads it runs a batch.
            read = self._channels[ChannelName(query.inputs[0])].place
            commit(open_table(read), read, [], {}, [])

    def _closes_later(self, query: Query, frame: DataFrame, batch: BatchId) -> bool:
        place, pipeline = self._directory.query_place(QueryName(query.name)), self._directory.id
        if not has_watermark(frame) or query.output_mode is OutputMode.COMPLETE:  # closes nothing
            return False
        if store_at(place).has(RERUN_FILE) and not Rerun(place, pipeline).is_over():
            return False  # it runs a batch without rows where the original did
        return closes_later(self._processes[QueryName(query.name)].checkpoint, batch)

    def _stop_queries(self) -> None:
        """Stop each query, whatever becomes of the others. Without a session, none runs."""
        failed: dict[QueryName, Exception] = {}
        for name, query in list(self._running.items()):
            try:
                reached(RaceFailpoint.QUERY_STOPPING, name)
                query.stop()
            except Exception as error:  # noqa: BLE001 - raised below
                failed[name] = error
        if failed and self._gone() is None:
            name, cause = next(iter(failed.items()))
            raise QueryFailed(
                f"{', '.join(map(repr, failed))} of pipeline {self._directory.place} could not be "
                f"stopped ({name}: {first_line(cause)}), and may still run. All else is stopped. "
                "No row is lost. End this process, and start the pipeline in a new one"
            ) from cause


def _process_all(query: StreamingQuery) -> None:
    try:
        query.processAllAvailable()
    except Exception:  # noqa: BLE001 - the query has failed; `raise_failure` reports it with its name
        return
