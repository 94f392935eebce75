"""`Channel`: a durable FIFO between queries, held in a Delta table.

One commit is one position. A batch of a query is appended once, a marker is a commit without rows,
and a reader follows the positions in order. Two things keep a frozen driver that wakes up
harmless: every append reads the table, checks, and writes on one handle, and the write names a
Delta application transaction. A second writer of the same query is refused by Delta itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from threading import Lock
from typing import Any

import pyarrow as pa
from deltalake import Transaction
from deltalake.exceptions import CommitFailedError
from pyspark.sql import DataFrame, SparkSession

from streamproof.spark_bindings import _spark
from streamproof.spark_bindings.arguments import require_text, require_whole
from streamproof.spark_bindings.channels.channel_log import (
    MARKER_KEY,
    PIPELINE_KEY,
    ChannelLog,
    Entry,
)
from streamproof.spark_bindings.channels.commits import ATTEMPTS_MAX, commit, fenced, not_appended
from streamproof.spark_bindings.channels.following import Commit, follow
from streamproof.spark_bindings.channels.log_checks import made_by, newest, require_unbroken
from streamproof.spark_bindings.channels.producers import APPLICATION, Producers, require_number
from streamproof.spark_bindings.channels.provenance import Made
from streamproof.spark_bindings.channels.readers import outside_stream
from streamproof.spark_bindings.channels.writers import writing
from streamproof.spark_bindings.durations import Duration
from streamproof.spark_bindings.errors import (
    FencedDriver,
    NotAppended,
    WrongArgument,
    WrongSchema,
    WrongWiring,
)
from streamproof.spark_bindings.names import (
    BatchId,
    ChannelName,
    LaneName,
    Position,
    QueryName,
    SnapshotId,
    lanes_of,
    number_of,
)
from streamproof.spark_bindings.session.session import check_classic
from streamproof.spark_bindings.storage.delta_tables import new_table, open_table, refresh
from streamproof.spark_bindings.storage.failpoints import Failpoint, reached
from streamproof.spark_bindings.storage.forks import note_opened, require_no_fork
from streamproof.spark_bindings.storage.parquet_files import Written, write_file
from streamproof.spark_bindings.storage.place import AnyPlace, Place
from streamproof.spark_bindings.storage.schema import describe, fit
from streamproof.spark_bindings.storage.store import store_at

TABLE_PROPERTIES = {
    # Old commits are positions: a checkpoint, or a restored pipeline, may still start there.
    "delta.enableExpiredLogCleanup": "false",
    # Delta itself refuses to remove rows that a reader may not have seen yet.
    "delta.appendOnly": "true",
}


class Channel:
    """One channel of a pipeline. Get it from `Pipeline.channel`; it may be used from any thread.

    Attributes
    ----------
    place : where its table is
    name : its name in the pipeline
    schema : Arrow schema of its rows
    writer : the query that writes it; None for a source channel, which `append` feeds
    lanes : the processes that write it: one, or the pairs that share its writer's work
    pipeline : id of the pipeline that it belongs to
    log : its commits, for reading

    Examples
    --------
    >>> query = Query("copy", inputs=["raw"], output="clean", plan=lambda rows: rows)
    >>> shop = Pipeline("shop", channels={"raw": "x long", "clean": "x long"}, queries=[query])
    >>> import pyarrow as pa
    >>> raw = shop.channel("raw")
    >>> raw.append(pa.table({"x": [1, 2]}), producer="feed", sequence=1)
    1
    >>> raw.append(pa.table({"x": [1, 2]}), producer="feed", sequence=1)  # it is there
    >>> [commit.rows.to_pydict() for commit in raw.follow(after=0, idle=0)]
    [{'x': [1, 2]}]
    """

    def __init__(
        self,
        place: AnyPlace,
        name: ChannelName,
        *,
        pipeline: str,
        writer: QueryName | None = None,
        lanes: int = 1,
    ) -> None:
        self.place, self.name, self.writer, self.lanes = Place.of(place), name, writer, lanes
        self.log = ChannelLog(self.place, pipeline)
        self.pipeline = pipeline
        self._table = open_table(self.place)
        # Of a power cut, it is the newest commit that has lost some of its lines.
        require_unbroken(self.log, newest(self.log))
        self._producers = Producers(self.log)
        self._lock = Lock()  # guards the handle: a feeder and a snapshot may write at once
        self.schema: pa.Schema = pa.schema(self._table.schema().to_arrow()).remove_metadata()

    @staticmethod
    def create(place: Place, schema: pa.Schema) -> None:
        """Make an empty channel. Called once, when its pipeline is created."""
        require_no_fork()
        note_opened()
        new_table(place, schema, configuration=TABLE_PROPERTIES)

    @property
    def lane_names(self) -> tuple[LaneName, ...]:
        """The names of its lanes, in the order of their numbers."""
        return tuple(lane.name for lane in lanes_of(self.name, self.lanes))

    def require_schema(self, declared: pa.Schema) -> None:
        """Check that a declared schema is the stored one.

        Raises
        ------
        WrongSchema : if it differs
        """
        if not self.schema.equals(declared):
            raise WrongSchema(
                f"channel {self.name!r} stores ({describe(self.schema)}), but is declared as "
                f"({describe(declared)}). Rows would be misread. Declare the stored schema, or "
                "choose another directory for a pipeline with a new one"
            )

    def append(
        self, rows: Any, *, producer: str | None = None, sequence: int | None = None
    ) -> Position | None:
        """Append rows to a source channel as one commit.

        Called by the producer, on any thread, in any process. Without an identity it
        must not be repeated. With one it may: rows that were appended with this sequence number
        are not appended again, and the call gives None. So a producer that begins to count anew
        needs a new name.

        Parameters
        ----------
        rows : a `pyarrow.Table`, a `RecordBatch` or a pandas frame; columns are found by name
        producer, sequence : identity of this append; numbers rise, gaps are allowed

        Raises
        ------
        WrongWiring : if a query writes this channel
        WrongRows : if they do not fit the schema
        WrongArgument : if the identity is none
        NotAppended : if other processes were faster each time that it was tried
        DiskFailed : if the disk did not take them; the message tells whether they are there
        ReusedSequence : if other rows were appended with this number, or it was left out
        """
        if self.writer is not None:
            raise WrongWiring(
                f"channel {self.name!r} is written by query {self.writer!r}. Rows from elsewhere "
                "would be in no snapshot's state. Append to a source channel instead"
            )
        if (producer is None) != (sequence is None):
            raise WrongArgument(
                f"append was given producer={producer!r} and sequence={sequence!r}. One without "
                "the other identifies nothing. Give both, or neither"
            )
        table = fit(rows, self.schema, self.name)
        if producer is not None and sequence is not None:
            require_text("append", "producer", producer, "bridge-1")
            require_number(sequence)
            return self._append_as(table, producer, sequence)
        with self._lock, writing(self.place):
            return self._append(table, None)

    def _append_as(self, table: pa.Table, producer: str, sequence: int) -> Position | None:
        """Append rows with an identity, unless they are there."""
        identity = Transaction(f"{APPLICATION}{producer}", sequence)
        with self._lock, writing(self.place):
            position = None if self._is_done(identity) else self._append(table, identity)
            if position is None:  # they are there, maybe by another process meanwhile
                self._sync()
                newest = self._newest(identity.app_id)
                assert newest is not None
                self._producers.require_repetition(producer, sequence, newest, table)
            return position

    def _append(self, table: pa.Table, identity: Transaction | None) -> Position | None:
        file = write_file(self.place, "feed", self.schema, iter(table.to_batches()))
        try:
            entry = self._commit_once([] if file is None else [file], identity, {})
        except NotAppended:
            self._drop(file)
            raise
        # After another error the commit may be there: what nobody needs, vacuum finds.
        if entry is None:
            self._drop(file)
        return None if entry is None else entry.position

    def append_once(
        self,
        rows: DataFrame,
        identity: str,
        batch_id: BatchId,
        received: Mapping[ChannelName, Position] | None = None,
    ) -> Entry | None:
        """Append a micro-batch's rows, unless this query's batch was appended before.

        Called by the query's batch function, on the driver; the rows are written by the executors.
        May be repeated with the same batch. A batch without rows appends nothing, and gives None:
        in a cycle, empty commits would go round forever.

        Parameters
        ----------
        rows : the batch's result, not executed yet
        identity : of the query's life: its checkpoint's id, which a restored query does not share
        batch_id : the number of the batch in that life
        received : per input, the position up to which the batch has read

        Raises
        ------
        FencedDriver : if a later batch of the query is in the channel already, or this one, made
            from something else
        """
        made = Made(identity, batch_id, received or {})
        with self._lock, writing(self.place):
            newest = self._newest(made.life)
        if newest is not None and newest > batch_id:
            raise self._fenced(batch_id, newest)
        if newest == batch_id:
            with self._lock:
                self._sync()
            found = self._require_agreed(made)
            # The rows are there, but the state's changes are not: the plan has to run to its end.
            _spark.run_to_end(rows)
            return found
        write = partial(write_file, self.place, f"rows-{batch_id}", self.schema)
        files = [Written(*file) for file in _spark.write_partitions(rows, write)]
        reached(Failpoint.FILES_WRITTEN, self.name)
        if not files:
            return None
        with self._lock, writing(self.place):
            # Checked again on the handle that commits: whatever another driver did before this
            # read is seen here, and what it does after it makes Delta refuse our commit.
            newest = self._newest(made.life)
            if newest is None or newest < batch_id:
                reached(Failpoint.APPEND_CHECKED, self.name)
                try:
                    return self._commit(files, Transaction(made.life, batch_id), made.metadata())
                except CommitFailedError as error:
                    raise self._fenced(batch_id, batch_id) from error
            elif newest > batch_id:
                raise self._fenced(batch_id, newest)
            else:
                self._sync()
        return self._require_agreed(made)

    def _require_agreed(self, made: Made) -> Entry | None:
        """Find the commit of a batch, and check that it was made from the same.

        Raises
        ------
        FencedDriver : if it was made from something else
        """
        found = made_by(self.log, made.life, made.batch)
        if found is not None and found.made is not None and found.made != made:
            where = f"commit {found.position} of channel {self.name!r}"
            raise made.disagrees(found.made, str(self.writer), where)
        return found

    def append_marker_once(self, snapshot: SnapshotId) -> None:
        """Append a snapshot's marker, unless it is in the channel. May be repeated."""
        metadata, identity = self.marker(snapshot)
        with self._lock, writing(self.place):
            self._commit_once([], identity, metadata)

    def marker(self, snapshot: SnapshotId, lane: int = 0) -> tuple[dict[str, str], Transaction]:
        """Return what makes a commit a snapshot's marker in a lane: metadata and a transaction."""
        metadata: dict[str, str] = {MARKER_KEY: snapshot}
        number = number_of(lane, self.lanes)
        name = f"marker:{self.pipeline}:{snapshot}{'' if number is None else f'.{number}'}"
        return metadata, Transaction(name, 0)

    def has_marker(self, snapshot: SnapshotId, lane: int = 0) -> bool:
        """Return whether a snapshot's marker is in a lane."""
        _, identity = self.marker(snapshot, lane)
        with self._lock, writing(self.place):
            return self._is_done(identity)

    def rows(self, after: int = 0, until: int | None = None) -> pa.Table:
        """Read the rows of the commits in (after, until] into memory; by default all.

        Raises
        ------
        WrongArgument : if these are no positions
        ChannelDamaged : if there is no such commit
        VacuumedRows : if some of the rows were removed
        """
        for name, number in (("after", after), ("until", 0 if until is None else until)):
            said = f"rows was given {name}={number!r} for channel {self.name!r}"
            require_whole(said, number, 0, done="Positions count commits. Nothing was read")
        last = self.log.last() if until is None else Position(until)
        entries = self.log.entries(Position(after), last)
        return pa.Table.from_batches(
            self.log.batches(entries, self.schema.names), schema=self.schema
        )

    @property
    def last_position(self) -> Position:
        """The position of the newest commit; 0 if nothing was appended."""
        return self.log.last()

    def follow(self, after: int = 0, *, idle: Duration | None = None) -> Iterator[Commit]:
        """Iterate over the commits with rows behind a position, and over new ones as they come.

        A follower is no part of the pipeline: `vacuum` keeps nothing for it.

        Parameters
        ----------
        after : the last position that the caller has; 0 begins at the first commit
        idle : the iteration ends after so long without a new commit; by default it does
            not end, and 0 ends it at the newest commit

        Raises
        ------
        WrongArgument : if `after` is no position of this channel, or `idle` no duration
        ChannelDamaged : if a commit is missing
        VacuumedRows : if rows of a commit were removed
        """
        return follow(self.log, self.name, self.schema, after, idle)

    def stream(self, spark: SparkSession) -> DataFrame:
        """Read the channel as a stream from its start, for a sink outside of the pipeline.

        `reconcile` keeps a table at what a merge in a pipeline has said; the columns' metadata
        tells it whose channel it is. Such a reader is no part of the pipeline's snapshots, and
        nothing is kept from `vacuum` for it.

        Parameters
        ----------
        spark : a session as `spark_session` sets it up
        """
        check_classic(spark)
        return outside_stream(spark, self)

    def _newest(self, application: str) -> int | None:
        refresh(self._table, self.place)
        return self._table.transaction_version(application)

    def _is_done(self, identity: Transaction) -> bool:
        newest = self._newest(identity.app_id)
        return newest is not None and newest >= identity.version

    def _sync(self) -> None:
        """See to it that all that the handle has read outlives the power."""
        self.log.sync(Position(self._table.version()))

    def _drop(self, file: Written | None) -> None:
        if file is not None:
            store_at(self.place).delete(file.path)

    def _commit_once(
        self, files: list[Written], identity: Transaction | None, metadata: Mapping[str, str]
    ) -> Entry | None:
        """Commit files or a marker, unless it was done before; None if it was."""
        for _ in range(ATTEMPTS_MAX):
            if identity is not None and self._is_done(identity):
                self._sync()  # whoever did it may have died before
                return None
            try:
                return self._commit(files, identity, metadata)
            except CommitFailedError:
                continue  # another process has committed meanwhile: the same, or less
        raise not_appended(f"channel {self.name!r}")

    def _commit(
        self, files: list[Written], identity: Transaction | None, metadata: Mapping[str, str]
    ) -> Entry:
        """Commit files or a marker on the handle as it was read last, and find the commit."""
        if identity is None:
            refresh(self._table, self.place)
        transactions = [] if identity is None else [identity]
        told = {PIPELINE_KEY: self.pipeline, **metadata}
        position = commit(self._table, self.place, files, told, transactions)
        self.log.sync(position)
        return self.log.entry(position)

    def _fenced(self, batch_id: BatchId, newest: int) -> FencedDriver:
        return fenced(f"query {self.writer!r}", batch_id, f"channel {self.name!r}", newest=newest)
