"""`Pipeline`: streaming queries connected by channels, with consistent snapshots of all of them."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Self

from pyspark.sql import SparkSession

from streamproof.spark_bindings.certificate import Certificate, Trust
from streamproof.spark_bindings.channels.channel import Channel
from streamproof.spark_bindings.durations import Duration, seconds
from streamproof.spark_bindings.errors import (
    AbandonedSnapshot,
    NotRunning,
    StillBusy,
    TargetNotEmpty,
    WrongArgument,
    WrongWiring,
)
from streamproof.spark_bindings.layout.directory import PipelineDirectory, named_place
from streamproof.spark_bindings.layout.pairs import check_as_declared
from streamproof.spark_bindings.layout.query import Query
from streamproof.spark_bindings.layout.snapshot_files import Snapshot, SnapshotStatus
from streamproof.spark_bindings.layout.wiring import wire
from streamproof.spark_bindings.names import ChannelName, SnapshotId
from streamproof.spark_bindings.pipelines.preparation import SNAPSHOTS, prepare_run
from streamproof.spark_bindings.pipelines.single_run import PipelineStatus, Run
from streamproof.spark_bindings.processes.process_status import ProcessStatus, process_statuses
from streamproof.spark_bindings.snapshots.feeds import Feeds
from streamproof.spark_bindings.snapshots.participants import participants
from streamproof.spark_bindings.snapshots.restore import Replay, restore_snapshot
from streamproof.spark_bindings.storage.schema import ChannelSchema, stored_schema

_POLL_SECONDS = 0.02


class Pipeline:
    """Named channels and the queries between them, in a directory.

    The directory is created if it is absent or empty, and else must be this pipeline's. Source
    channels, those that no query writes, are fed with `channel(name).append(...)`.

    Parameters
    ----------
    path : the directory
    channels : per channel, its schema
    queries : what reads and writes them

    Raises
    ------
    WrongArgument, WrongWiring, WrongSchema : if the definition is not sound in itself, or the path
        is a URL
    NotAPipeline : if the directory holds something else
    WrongWiring, WrongSchema : if it holds a pipeline that is wired otherwise

    Examples
    --------
    >>> import pyarrow as pa
    >>> copy = Query("copy", inputs=["raw"], output="clean", plan=lambda rows: rows)
    >>> shop = Pipeline("shop", channels={"raw": "x long", "clean": "x long"}, queries=[copy])
    >>> with shop.start(spark_session()):
    ...     position = shop.channel("raw").append(pa.table({"x": [1, 2]}))
    ...     shop.await_idle()
    >>> shop.channel("clean").rows().to_pydict()
    {'x': [1, 2]}
    """

    def __init__(
        self,
        path: Path | str,
        *,
        channels: Mapping[str, ChannelSchema],
        queries: Iterable[Query],
    ) -> None:
        self.queries = tuple(queries) if isinstance(queries, Iterable) else ()
        are_queries = isinstance(queries, Iterable) and all(
            isinstance(query, Query) for query in self.queries
        )
        if not isinstance(channels, Mapping) or not are_queries:
            raise WrongArgument(
                f"a pipeline was given channels={channels!r} and queries={queries!r}. Channels are "
                "a mapping from names to schemas, queries a list of Query. Nothing was created. "
                'Write: Pipeline(path, channels={"a": "x long", ...}, queries=[Query(...)])'
            )
        wiring = wire(list(channels), self.queries)
        schemas = {
            ChannelName(name): stored_schema(channels[name], f"channel {name!r}")
            for name in channels
        }
        place = named_place("a pipeline", path)
        self.path = place.local
        if PipelineDirectory.is_free(place):
            with suppress(TargetNotEmpty):  # another process has made it meanwhile
                PipelineDirectory.create(place, wiring, schemas)
        self._directory = PipelineDirectory.open(place)
        if not self._directory.wiring.is_as(wiring):
            raise WrongWiring(
                f"{self.path} is a pipeline with other channels or queries: it has "
                f"{self._directory.wiring.to_json()}, declared is {wiring.to_json()}. Its "
                "checkpoints would not fit. Declare what it has, or choose another directory"
            )
        partitions = {query.output: query.partitions for query in self.queries}
        self._channels = {
            name: Channel(
                self._directory.channel_place(name),
                name,
                pipeline=self._directory.id,
                writer=wiring.writer(name),
                lanes=partitions.get(name, 1),
            )
            for name in wiring.channels
        }
        for name, schema in schemas.items():
            self._channels[name].require_schema(schema)
        self._schemas = dict(channels)
        self._feeds = Feeds(self._directory, self._channels)
        self._run: Run | None = None

    def channel(self, name: str) -> Channel:
        """Return a channel, to read it or, if it is a source channel, to append to it.

        Raises
        ------
        WrongWiring : if there is none of this name
        """
        if not isinstance(name, str) or name not in self._channels:
            raise WrongWiring(
                f"pipeline {self.path} has no channel {name!r}; it has "
                f"{', '.join(self._channels)}. Name one of these"
            )
        return self._channels[ChannelName(name)]

    def start(self, spark: SparkSession, *, certificate: Trust = Certificate.REQUIRED) -> Pipeline:
        """Start every query, and take up the snapshots that a former run left unfinished.

        Parameters
        ----------
        spark : a session as `spark_session` sets it up
        certificate : IGNORED runs a protocol that was changed after it was certified; `SignedBy`
            asks for a signature, too

        Raises
        ------
        UnverifiedProtocol : if the protocol is not the certified one
        UnsuitableSession : if the session could lose state
        NotRunning : if it is running already
        WrongSchema : if a plan's columns are not those of its output channel; nothing is started
        WrongWiring : if a query has a standby, or has run as a pair
        """
        if self._run is not None:
            raise NotRunning(
                f"pipeline {self.path} is running already. A second run would fence the first. "
                "Call stop() first"
            )
        self._require_no_pairs()
        prepare_run(
            self._directory,
            self.queries,
            lambda: spark,
            SNAPSHOTS,
            certificate=certificate,
            waivable=True,
        )
        for snapshot in self._directory.snapshots.unfinished():
            self._feeds.initiate(snapshot)
        self._run = run = Run(spark, self._directory, self._channels, self.queries)
        try:
            run.begin()
        except BaseException:
            self._run = None
            raise
        return self

    def stop(self) -> None:
        """Stop every query, after the batches under way. May be repeated.

        Raises
        ------
        QueryFailed : if one cannot be stopped. All others are
        """
        run, self._run = self._run, None
        if run is not None:
            run.stop()

    def status(self) -> PipelineStatus:
        """Return how far each query is, and whether it runs.

        Raises
        ------
        NotRunning : if the pipeline was not started
        """
        return self._running("status").status()

    def processes(self) -> list[ProcessStatus]:
        """Return the status of each process that `streamproof run` runs this pipeline in.

        It asks from outside: it may be called in any process, and needs no session. It takes as
        long as the processes take to beat; three seconds if one is silent.
        """
        return process_statuses(self.path)

    def await_idle(self, timeout: Duration = "2 minutes") -> None:
        """Wait until every commit that was appended has gone through all queries.

        A query with processing-time timers, such as a merge with a `max_delay`, or one that is
        fed without a pause, is never idle.

        Raises
        ------
        StillBusy : if that takes longer than the timeout; the message says who lags
        WrongArgument : if the timeout is no duration
        QueryFailed : if a query has ended with an error
        """
        waited = seconds("await_idle", "timeout", timeout)
        self._running("await_idle").await_idle(waited)

    def snapshot(self) -> SnapshotId:
        """Begin a snapshot and give its id, at once; the pipeline is not paused.

        It completes while the pipeline runs: see `await_snapshot`. It may be called before the
        start, and in another process than those that run the queries.

        Raises
        ------
        WrongWiring : if a query has run as something else than it is declared to be
        """
        self._check_as_declared()
        snapshot = self._feeds.request()
        self._feeds.initiate(snapshot)
        if self._run is not None:
            self._run.wake_collector()
        return snapshot

    def await_snapshot(self, snapshot: str, timeout: Duration = "2 minutes") -> Snapshot:
        """Wait until a snapshot is complete, and give it.

        Raises
        ------
        UnknownSnapshot : if there is none of this id
        AbandonedSnapshot : if it was given up
        StillBusy : if it takes longer than the timeout
        WrongArgument : if the timeout is no duration
        QueryFailed : if a query has ended with an error, so that it cannot complete
        """
        deadline = time.monotonic() + seconds("await_snapshot", "timeout", timeout)
        while True:
            found = self._directory.snapshots.read(SnapshotId(snapshot))
            if found.status is SnapshotStatus.COMPLETE:
                return found
            if found.status is SnapshotStatus.ABANDONED:
                raise AbandonedSnapshot(
                    f"snapshot {snapshot} was abandoned: {found.reason}. Take another: snapshot()"
                )
            if self._run is not None:
                self._run.raise_failure()
            if time.monotonic() > deadline:
                waiting = [
                    each.name
                    for each in participants(self.queries, self._directory)
                    if each.name not in found.states
                ]
                raise StillBusy(
                    f"snapshot {snapshot} is not complete after {timeout}; queries that "
                    f"have not recorded: {', '.join(waiting) or 'none'}. It goes on. Wait longer, "
                    "or see status(): markers pass through the queries like rows"
                )
            time.sleep(_POLL_SECONDS)

    def snapshots(self) -> list[Snapshot]:
        """List the pipeline's snapshots, oldest first, finished or not."""
        files = self._directory.snapshots
        return [files.read(name) for name in files.ids()]

    def restore(
        self, snapshot: str, *, into: Path | str, replay: Replay | str = Replay.ALL
    ) -> Pipeline:
        """Make a new pipeline from a snapshot, with the same queries; it is not started.

        Raises
        ------
        UnknownSnapshot, IncompleteSnapshot, AbandonedSnapshot, TargetNotEmpty : as
            `restore_snapshot`, and nothing is created
        """
        restore_snapshot(self.path, snapshot, into=into, replay=replay)
        return Pipeline(into, channels=self._schemas, queries=self.queries)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def _require_no_pairs(self) -> None:
        pairs = [query.name for query in self.queries if query.is_paired]
        if pairs:
            raise WrongWiring(
                f"start() was called on pipeline {self.path}, whose query {pairs[0]!r} has "
                "a standby. Its copies are processes of their own. Run: streamproof run FILE.py"
            )

    def _check_as_declared(self) -> None:
        for query in self.queries:
            check_as_declared(self._directory, query)

    def _running(self, call: str) -> Run:
        if self._run is None:
            raise NotRunning(
                f"{call} was called on pipeline {self.path}, which is not running. Call "
                "start(spark) first"
            )
        return self._run
