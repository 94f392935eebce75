"""One copy of a pair, from start to end: a streaming query, and a loop beside it.

The query gives outputs, turn after turn. The loop beats, looks at the other copy, chooses turns if
this copy leads, and takes over if the other copy has failed. Both step the copy's machines, under
one lock.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from threading import Event, Lock

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from streamproof.lang import StreamproofError
from streamproof.spark_bindings import _spark
from streamproof.spark_bindings.arguments import SECONDS_MIN, is_whole, require_seconds
from streamproof.spark_bindings.channels.channel import Channel
from streamproof.spark_bindings.channels.readers import reader_of
from streamproof.spark_bindings.errors import QueryFailed, WrongWiring
from streamproof.spark_bindings.layout.directory import PipelineDirectory
from streamproof.spark_bindings.layout.events import MachineLog
from streamproof.spark_bindings.layout.output_buffer import Output, OutputBuffer
from streamproof.spark_bindings.layout.pairs import Copy, CopyDirectory, Pair, PairDirectory
from streamproof.spark_bindings.layout.process_lock import locked
from streamproof.spark_bindings.names import (
    BatchId,
    ChannelName,
    ProcessName,
    SnapshotId,
    Turn,
)
from streamproof.spark_bindings.pipelines.continuation import check_goes_on
from streamproof.spark_bindings.pipelines.pipeline import Pipeline
from streamproof.spark_bindings.pipelines.planning import plan_query, start_query
from streamproof.spark_bindings.pipelines.preparation import SNAPSHOTS, prepare_run
from streamproof.spark_bindings.processes.heartbeat import (
    BEATS_PER_TIMEOUT,
    COLD_TIMEOUTS,
    SUSPECT_AFTER_SECONDS,
    Heart,
    Watch,
)
from streamproof.spark_bindings.processes.order_log import OrderLog
from streamproof.spark_bindings.snapshots.chandy_lamport import Recording
from streamproof.spark_bindings.snapshots.collector import Collector, CollectorThread
from streamproof.spark_bindings.standby.catch_up import catch_up
from streamproof.spark_bindings.standby.client import ChannelClient
from streamproof.spark_bindings.standby.continuation import DeliveredNote, check_turns
from streamproof.spark_bindings.standby.determinism import check_deterministic
from streamproof.spark_bindings.standby.digest import check_hashable, with_hash, write_rows
from streamproof.spark_bindings.standby.egress import CopyEgress
from streamproof.spark_bindings.standby.merge_order import MergeOrder
from streamproof.spark_bindings.standby.partitioning import check_key, rows_of
from streamproof.spark_bindings.standby.throttle import Throttle
from streamproof.spark_bindings.standby.turn_source import TURN_SOURCE_NAME, TurnSource
from streamproof.spark_bindings.storage.failpoints import PairFailpoint, reached
from streamproof.spark_bindings.storage.state_files import settle

PROTOCOLS = {
    "merge_order": "both copies merge alike",
    "egress": "a takeover neither loses nor repeats output",
    **SNAPSHOTS,
}
_TICK_SECONDS = 0.01
_TURNS_KEPT = 200  # behind the slower copy: Spark's checkpoint, too, can be some batches behind
_log = logging.getLogger("streamproof.standby")


@dataclass(frozen=True, slots=True)
class Surroundings:
    """Where a copy runs.

    Attributes
    ----------
    channels : of the pipeline
    own : the copy's directory in that of its pair
    """

    pipeline: PipelineDirectory
    channels: Mapping[ChannelName, Channel]
    pair: PairDirectory
    own: CopyDirectory


def run_copy(
    pipeline: Pipeline,
    query: str,
    copy: Copy,
    session: Callable[[], SparkSession],
    *,
    partition: int = 0,
    suspect_after_seconds: float = SUSPECT_AFTER_SECONDS,
    stop: Event | None = None,
) -> None:
    """Run one copy of a query until `stop` is set, or it ends with an error.

    Parameters
    ----------
    query, partition : which pair
    copy : which of its two copies
    session : makes a session as `spark_session` does, or gives one, whose settings stay as they
        are; called once no other process runs the copy
    suspect_after_seconds : the suspicion timeout, after which a silent copy has failed
    stop : set by whoever wants it to end

    Raises
    ------
    WrongWiring : if the pipeline has no such pair
    WrongArgument : if the suspicion timeout is no number of seconds
    CopyRuns : if another process runs this copy
    NotDeterministic : if the plan could give other rows at the other copy
    FencedDriver : if the other copy has taken over; started again, this copy follows
    CopiesDiffer : if the other copy has delivered other rows
    UnverifiedProtocol, UnsuitableSession, WrongSchema, QueryFailed : as `Pipeline.start`
    """
    require_seconds("run_copy", "suspect_after_seconds", suspect_after_seconds, SECONDS_MIN)
    pair = find_pair(pipeline, query, partition)
    directory = PipelineDirectory.open(pipeline.path)
    channels = {name: pipeline.channel(name) for name in directory.wiring.channels}
    own = PairDirectory.of(directory, pair)
    place = Surroundings(directory, channels, own, own.copy(copy))
    with locked(place.own, f"copy {copy.value} of {pair.name}"):
        spark = prepare_run(directory, [pair.query], session, PROTOCOLS).newSession()
        # A batch without new rows would be one that has no turn.
        spark.conf.set("spark.sql.streaming.noDataMicroBatches.enabled", "false")
        run = CopyRun(pair, copy, place, spark, suspect_after_seconds)
        collector = CollectorThread(
            Collector(directory, pipeline.queries, channels), directory.place
        )
        try:
            run.until(stop or Event())
        finally:
            run.stop()
            collector.stop()


def find_pair(pipeline: Pipeline, query: str, partition: int = 0) -> Pair:
    """Find a pair of a pipeline.

    Raises
    ------
    WrongWiring : if there is none
    """
    found = [part for part in pipeline.queries if part.name == query and part.is_paired]
    if not found or not is_whole(partition, 0, found[0].partitions - 1):
        pairs = {part.name: part.partitions for part in pipeline.queries if part.is_paired}
        raise WrongWiring(
            f"pipeline {pipeline.path} has no query {query!r} with a standby and a partition "
            f"{partition}; it has (with partitions) {pairs}. Name one of these, or give the query "
            "standby=Standby()"
        )
    return Pair(found[0], partition)


class CopyRun:
    """A copy that runs. `run_copy` makes it, and holds the copy's lock."""

    def __init__(
        self,
        pair: Pair,
        copy: Copy,
        place: Surroundings,
        spark: SparkSession,
        suspect_after_seconds: float,
    ) -> None:
        self._pair, self._copy, self._place = pair, copy, place
        self._timeout = suspect_after_seconds
        self._name = f"{pair.name}/{copy.value}"
        self._output = place.channels[ChannelName(pair.query.output)]
        self._inputs = [place.channels[ChannelName(name)] for name in pair.query.inputs]
        check_hashable(self._output.schema, self._output.name)
        self._checkpoint = place.own.checkpoint
        frame = self._plan(spark)
        begun = catch_up(place.pair, copy, self._output.place, suspect_after_seconds)
        _log.info("%s begins %s", self._name, begun)
        self._begun = begun.taken
        self._order = OrderLog(place.pair.order)
        client = ChannelClient(self._output, pair, copy, place.pipeline.id)
        (note := DeliveredNote(place.own.delivered, self._output.log)).check()
        check_goes_on(place.pipeline.place, pair.query, place.pair.place, frame, self._checkpoint)
        check_turns(client.life, self._checkpoint, self._order, self._output.log)
        settle(self._checkpoint.place)
        if begun.taken == 0:
            self._order.begin(self._inputs[0].name)
        self._log = MachineLog(place.own.steps)
        self._merge_order = self._merge_order_from(begun.taken)
        kept = OutputBuffer(place.own.kept, self._output.place)
        self._egress = CopyEgress(copy, self._output, client, kept, begun.taken, note, self._log)
        self._recording = Recording(
            ProcessName(pair.name),
            place.own.place,
            self._checkpoint,
            inputs={channel.name: channel for channel in self._inputs},
            snapshots=place.pipeline.snapshots,
        )
        self._lock = Lock()
        self._failure: StreamproofError | None = None
        self._heart = Heart(place.own.beat)
        self._running = self._start(frame)
        self._watch = self._watch_of(place.pair.copy(copy.other))
        self._next_beat = time.monotonic()
        self._throttle = Throttle()

    def _merge_order_from(self, taken: Turn) -> MergeOrder:
        return MergeOrder(
            self._pair.query,
            {channel.name: channel.log for channel in self._inputs},
            self._order,
            taken=taken,
            received=self._checkpoint.received(BatchId(taken - 1)),
            log=self._log,
        )

    def _watch_of(self, other: CopyDirectory) -> Watch:
        return Watch(other.beat, self._timeout, cold_timeouts=COLD_TIMEOUTS)

    def until(self, stop: Event) -> None:
        """Go on until this is set.

        Raises
        ------
        QueryFailed : if Spark has ended the query
        FencedDriver, CopiesDiffer : as `run_copy`
        """
        while not stop.wait(_TICK_SECONDS):
            if self._failure is not None:
                raise self._failure
            with self._lock:
                self._egress.note()
                self._choose()
            if time.monotonic() >= self._next_beat:
                self._next_beat = time.monotonic() + self._timeout / BEATS_PER_TIMEOUT
                self._look()

    def _choose(self) -> None:
        if not self._merge_order.leads or self._egress.next != self._merge_order.next:
            return
        other = self._watch.beat
        ahead = 0 if other is None or self._watch.has_failed else self._egress.next - other.turn
        if self._throttle.may_choose(ahead) and self._merge_order.choose():
            self._throttle.begin()

    def stop(self) -> None:
        """Stop the query, after the batch under way."""
        self._running.stop()

    def on_batch(self, rows: DataFrame, batch_id: BatchId) -> None:
        """Take a turn, and give its output. Spark calls it on the driver, and may repeat it."""
        try:
            turn, received = Turn(batch_id), self._recording.begin(batch_id)
            self._order.sync(turn)
            reached(PairFailpoint.TURN_BEGUN, self._copy.value)
            with self._lock:
                self._merge_order.take(turn, received)
            prefix = f"turn-{turn}-{self._copy.value}"
            files, digest = write_rows(
                with_hash(rows), self._output.place, prefix, self._output.schema
            )
            reached(PairFailpoint.OUTPUT_WRITTEN, self._copy.value)
            markers: list[SnapshotId] = []
            self._recording.on_batch(batch_id, received, markers.append)
            with self._lock:
                (marker,) = markers or (None,)
                self._egress.give(Output(turn, files, digest, marker, received))
                self._deliver()
        except StreamproofError as error:
            self._failure = error  # Spark would wrap it in three others
            raise
        finally:
            with self._lock:
                self._log.flush(batch_id)

    def _look(self) -> None:
        """Beat, and react to what the other copy does."""
        # A JVM that hangs blocks here, so that there is no beat either.
        if not self._running.isActive:
            raise self._failure or QueryFailed(
                f"copy {self._copy.value} of {self._pair.name} has ended: "
                f"{self._running.exception() or 'it was stopped'}. The other copy goes on. Fix the "
                "cause and start the copy again"
            )
        with self._lock:
            self._watch.look()
            self._watch.note_primary(self._egress.incarnation)
            # If neither is primary, the one that would deliver sooner takes over.
            is_first = not self._watch.is_ahead_of(self._egress.next, warm=self._is_warm)
            if not self._egress.active and self._watch.is_no_primary and is_first:
                self._take_over()
            if self._egress.active and self._watch.has_failed:
                self._merge_order.on_twin_failure()
            if self._egress.active and self._merge_order.take_over() and not self._watch.has_failed:
                self._merge_order.fold_in()
            self._heart.beat(active=self._egress.active, warm=self._is_warm, turn=self._egress.next)
            other = self._watch.beat
            slower = self._egress.next
            if other is not None and not self._watch.has_failed:
                slower = min(slower, other.turn)
            if self._merge_order.leads:
                self._order.remove_before(Turn(slower - _TURNS_KEPT))
            self._log.flush(self._egress.next)

    @property
    def _is_warm(self) -> bool:
        # Turn 0 takes nothing, so that Spark compiles and loads little for it.
        return self._egress.next > max(self._begun, Turn(1))

    def _take_over(self) -> None:
        self._watch.begin_again()
        begun = time.monotonic()
        if not self._egress.take_over():
            return
        self._merge_order.on_twin_failure()
        delivered = self._deliver()
        _log.info(
            "%s delivers from now on: first %d turns that it had kept (%.0f ms); it has %d to take",
            *(self._name, delivered, (time.monotonic() - begun) * 1000),
            self._order.count_from(self._egress.next),
        )

    def _deliver(self) -> int:
        newest = Turn(self._egress.next - 1)
        return self._egress.deliver() if self._merge_order.is_committed(newest) else 0

    def _plan(self, spark: SparkSession) -> DataFrame:
        _spark.register_once(spark, TurnSource)
        check_key(self._pair.query, {channel.name: channel.schema for channel in self._inputs})
        frames = [self._read(spark, channel) for channel in self._inputs]
        frame = plan_query(self._pair.query, frames, self._output.schema)
        check_deterministic(frame, self._pair.query.name)
        return frame

    def _read(self, spark: SparkSession, channel: Channel) -> DataFrame:
        query = self._pair.query
        frame = (
            reader_of(spark, channel, query.commits_per_batch_max, query.rows_per_batch_max)
            .format(TURN_SOURCE_NAME)
            .option("order", self._place.pair.order.for_spark())
            .option("checkpoint", self._checkpoint.place.for_spark())
            .load()
        )
        return rows_of(frame, channel.name, self._pair)

    def _start(self, frame: DataFrame) -> StreamingQuery:
        return start_query(
            self._pair.query,
            frame,
            name=f"{self._name}.{self._place.pipeline.id[:8]}",
            checkpoint=self._checkpoint.place,
            on_batch=self.on_batch,
        )
