"""A Delta table that belongs to one query: each of its batches is one commit, once.

What the table holds and what the query's checkpoint says must fit together. A table without the
batches that the checkpoint has counted would miss their rows for good, and one that another query
filled would have them twice; so both are refused.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from collections.abc import Set as AbstractSet

import pyarrow as pa
from deltalake import CommitProperties, Transaction
from deltalake.exceptions import CommitFailedError
from deltalake.transaction import AddAction, RemoveAction

from streamproof.disk import explained
from streamproof.spark_bindings.channels.commits import add_action, fenced, not_appended, pauses
from streamproof.spark_bindings.channels.provenance import Made
from streamproof.spark_bindings.checkpoints.checkpoint import Checkpoint, has_begun
from streamproof.spark_bindings.errors import FencedDriver, ForeignTable, WrongSchema
from streamproof.spark_bindings.names import BatchId
from streamproof.spark_bindings.storage.commit_lines import commit_actions, require_whole, told_of
from streamproof.spark_bindings.storage.delta_tables import create_table, is_table, open_table
from streamproof.spark_bindings.storage.failpoints import RaceFailpoint, reached
from streamproof.spark_bindings.storage.formats import FORMAT, FORMAT_KEY, format_of
from streamproof.spark_bindings.storage.json_files import as_written, read_json, write_json
from streamproof.spark_bindings.storage.place import Place
from streamproof.spark_bindings.storage.schema import describe
from streamproof.spark_bindings.storage.store import store_at
from streamproof.spark_bindings.storage.synced_commits import SyncedCommits, commit_file
from streamproof.spark_bindings.storage.trees import sync_names
from streamproof.spark_bindings.sunion.foreign_commits import ForeignCommits
from streamproof.spark_bindings.sunion.table_files import TableFile
from streamproof.spark_bindings.sunion.tuple_type import SERIALIZER, TUPLE_TYPE, TupleType

_KIND = f"partition.{TUPLE_TYPE}"
_OF_NO_QUERY = {"CREATE TABLE", "SET TBLPROPERTIES"}


class OwnedTable:
    """A table of rows of merged streams, partitioned by type, and by serializer if there are some.

    Parameters
    ----------
    place : directory of the table; it is created if it is absent and the query has never run
    schema : of its rows
    checkpoint : of the query that it belongs to
    kinds : of the rows that it may have

    Raises
    ------
    WrongSchema : if it exists with other columns
    ForeignTable : if it is absent though the query has run, is ahead of the query or behind it, or
        another one has written it
    DamagedFile : if its log, or the checkpoint's identity, cannot be read
    UnknownFormat : if a later version wrote it
    """

    def __init__(
        self, place: Place, schema: pa.Schema, checkpoint: Checkpoint, kinds: AbstractSet[TupleType]
    ) -> None:
        self.place, self._checkpoint, self._synced = place, checkpoint, SyncedCommits(place)
        note = "late_table" if TupleType.LATE in kinds else "table"
        self._note = checkpoint.place / f"streamproof_{note}.json"
        self._partition_by = [name for name in (TUPLE_TYPE, SERIALIZER) if name in schema.names]
        if not is_table(place):
            self._refuse_if_run("does not exist")
            create_table(place, schema, self._partition_by)
        self._table = open_table(place)
        self._foreign = ForeignCommits(place)
        # Deleted by whoever wants the table as it is; or never written.
        if not store_at(self._note).has():
            self._foreign.accept(self._table.version())
        self._require_newest_whole()
        self._require_schema(schema)
        started = has_begun(checkpoint.place) or checkpoint.last_committed() is not None
        newest = self._newest(checkpoint.identity() if started else "")
        self._refuse_if_ahead(newest)
        self._refuse_if_behind(newest)
        self._refuse_if_swapped(kinds)

    @property
    def file_schema(self) -> pa.Schema:
        """The Arrow schema of its files, which lack the columns that it is partitioned by."""
        stored = pa.schema(self._table.schema().to_arrow()).remove_metadata()
        return pa.schema([field for field in stored if field.name not in self._partition_by])

    def is_applied(self, batch: int) -> bool:
        """Return whether it has a batch of the query.

        Raises
        ------
        FencedDriver : if it has a later one
        """
        newest = self._newest(self._checkpoint.identity())
        if newest is not None and newest > batch:
            raise self._fenced(batch, newest)
        self._synced.sync(self._table.version())  # before the batch counts as done
        return newest == batch

    def tentative_serializers(self) -> set[int]:
        """Return the serializers of which it has tentative rows; 0, if there is only one.

        It is as of the last call of `is_applied`.
        """
        files = self._files()
        kinds = files[_KIND].to_pylist()
        serializers = [0] * len(kinds)
        if SERIALIZER in self._partition_by:
            serializers = files[f"partition.{SERIALIZER}"].to_pylist()
        return {
            serializer
            for kind, serializer in zip(kinds, serializers, strict=True)
            if kind == TupleType.TENTATIVE.value
        }

    def _files(self) -> pa.Table:
        return pa.table(self._table.get_add_actions(flatten=True))

    def require_agreed(self, made: Made) -> None:
        """Check that a batch, if it was applied, was made from the same.

        Raises
        ------
        FencedDriver : if it was made from something else
        """
        found = self._made_in(made)
        if found is not None and found != made:
            raise made.disagrees(found, str(self.place), f"its commit in the table {self.place}")

    def _made_in(self, made: Made) -> Made | None:
        """Read what the commit of a batch says; None if there is none, or 0.1.0 wrote it."""
        for version in range(self._table.version(), 0, -1):
            actions = list(commit_actions(self.place, version))
            for action in actions:
                if action.get("txn", {}).get("appId") == made.life:
                    if int(action["txn"]["version"]) != made.batch:
                        return None
                    said = [each["commitInfo"] for each in actions if "commitInfo" in each]
                    return Made.of(said[0]) if said else None
        return None

    def apply(self, made: Made, files: Sequence[TableFile], undone: Sequence[int] = ()) -> None:
        """Add files, and remove those of tentative rows that were revoked, in one commit.

        A batch that changes nothing is no commit, unless it is the first: that one tells whose the
        table is.

        Parameters
        ----------
        made : what the batch is, and what it was made from
        files : what its tasks have written
        undone : the serializers whose tentative rows are revoked

        Raises
        ------
        FencedDriver : if another driver has applied the batch meanwhile
        NotAppended : if others were faster each time that it was tried
        """
        owner, batch = made.life, made.batch
        for pause_seconds in pauses():
            newest = self._newest(owner)
            if newest is not None and newest >= batch:
                raise self._fenced(batch, newest)
            if newest is not None and not files and not undone:
                return
            try:
                self._commit(made, files, undone)
            except CommitFailedError:
                # Somebody else has committed, such as OPTIMIZE: look again.
                time.sleep(pause_seconds)
            else:
                write_json(self._note, {"batch": batch})
                return
        raise not_appended(f"the table {self.place}")

    def _commit(self, made: Made, files: Sequence[TableFile], undone: Sequence[int]) -> None:
        """Commit right behind the version that was read last, or not at all.

        Delta would commit behind a later version too, and leave revoked rows in the files that it
        has there in place of those which were read.
        """
        revoked: list[tuple[str, str, str | list[str]]] = [
            (TUPLE_TYPE, "=", TupleType.TENTATIVE.value)
        ]
        if SERIALIZER in self._partition_by:
            revoked.append((SERIALIZER, "in", [str(number) for number in undone]))
        added: list[AddAction | RemoveAction] = [self._action(file) for file in files]
        properties = CommitProperties(
            custom_metadata={
                FORMAT_KEY: str(FORMAT),
                **told_of([file.rows for file in files], 1),
                **made.metadata(),
            },
            app_transactions=[Transaction(made.life, made.batch)],
            max_commit_retries=0,
        )
        if added:
            sync_names(self.place)
        with explained(self.place, "Nothing was committed"):
            reached(RaceFailpoint.COMMIT_TRIED, self.place.name)
            self._table.create_write_transaction(
                added,
                "overwrite" if undone else "append",
                self._table.schema(),
                partition_by=self._partition_by,
                partition_filters=revoked if undone else None,
                commit_properties=properties,
            )
        self._table.update_incremental()
        self._synced.sync(self._table.version())

    def _newest(self, owner: str) -> int | None:
        """Read the table anew; give the newest batch of the query in it.

        Raises
        ------
        ForeignTable : if there is none though the query has run, or though others were here; or if
            others have changed its rows
        """
        replaced = self._foreign.is_replaced()
        if replaced:
            if not is_table(self.place):
                self._refuse_if_run("does not exist any more")
            self._table = open_table(self.place)
        else:
            self._table.update_incremental()
        newest = self._table.transaction_version(owner)
        if replaced and newest is not None:
            self._refuse_if_behind(newest)
        if newest is None:
            self._refuse_if_run("has no batch of this query")
            self._refuse_if_written()
        else:
            self._refuse_if_changed(owner)
        return newest

    def _refuse_if_changed(self, owner: str) -> None:
        change = self._foreign.find_change(self._table.version(), owner)
        if change is None:
            return
        back = ""
        if change.right is not None:
            call = f"DeltaTable({str(self.place)!r}).restore({change.right})"
            back = f"To take the change back, run {call}. "
        raise ForeignTable(
            f"the table {self.place} was changed behind the back of the query with the checkpoint "
            f"{self._checkpoint.place}: its version {change.version} is a {change.operation} that "
            "somebody else committed. Rows of the query may be gone or altered, and it does not "
            f"write them again. Nothing was written. {back}If the change is to stay, delete "
            f"{self._note} and start the query again"
        )

    def _refuse_if_written(self) -> None:
        has_files = bool(self._table.file_uris())
        if self._table.version() == 0 and not has_files:
            return
        made_by = {entry["operation"] for entry in self._table.history()} - _OF_NO_QUERY
        if made_by or has_files:
            raise ForeignTable(
                f"the table {self.place} has been written ({', '.join(sorted(made_by))}), but "
                f"never by the query with the checkpoint {self._checkpoint.place}. Its rows would "
                "be in the table twice, or be revoked by another's UNDO. Give each query a table "
                "of its own; to begin anew, delete table, late table and checkpoint"
            )

    def _refuse_if_run(self, what: str) -> None:
        last = self._checkpoint.last_committed()
        if last is not None:
            raise ForeignTable(
                f"the table {self.place} {what}, though the checkpoint {self._checkpoint.place} "
                f"has been through batch {last}. The rows of those batches would never be there. "
                "Put the table back, or the checkpoint's own file metadata, if that is another "
                "one; or begin anew, without checkpoint, table and late table"
            )

    def _refuse_if_ahead(self, newest: int | None) -> None:
        if newest is not None and not self._checkpoint.is_planned(BatchId(newest)):
            raise ForeignTable(
                f"the table {self.place} has batch {newest} of the query with the checkpoint "
                f"{self._checkpoint.place}, which knows nothing of that batch: files of it are "
                "gone, or an older copy is in its place. The query would begin at an earlier "
                "batch, and write rows again. Put the checkpoint back; or begin anew, without "
                "checkpoint, table and late table"
            )

    def _refuse_if_behind(self, newest: int | None) -> None:
        note = read_json(self._note, batch=int)  # absent where an older version wrote the table
        if note is not None and (newest is None or newest < note["batch"]):
            raise ForeignTable(
                f"the table {self.place} has lost batch {note['batch']} of the query with the "
                f"checkpoint {self._checkpoint.place}: its newest is {newest}. An older copy is in "
                "its place, and the rows behind would be lacking for good. Put the newer one back; "
                "or begin anew, without checkpoint, table and late table"
            )

    def _refuse_if_swapped(self, kinds: AbstractSet[TupleType]) -> None:
        strange = {*self._files()[_KIND].to_pylist()} - {kind.value for kind in kinds}
        if strange:
            raise ForeignTable(
                f"the table {self.place} has rows of the type {', '.join(sorted(strange))}, which "
                "belong to the query's other table: one of stable rows, the other of late ones. "
                "Have they been swapped? Put each in its place"
            )

    def _require_newest_whole(self) -> None:
        version = self._table.version()
        actions = list(commit_actions(self.place, version))
        with as_written(commit_file(self.place, version)):
            for action in actions:
                if "commitInfo" in action:
                    format_of(action["commitInfo"], f"the table {self.place}")
                    require_whole(action["commitInfo"], actions)

    def _require_schema(self, schema: pa.Schema) -> None:
        found = pa.schema(self._table.schema().to_arrow()).remove_metadata()
        by = self._table.metadata().partition_columns
        if not found.equals(schema) or by != self._partition_by:
            raise WrongSchema(
                f"the table {self.place} stores ({describe(found)}) by {by}, but the merged stream "
                f"has ({describe(schema)}) by {self._partition_by}. Its rows would be misread. "
                "Choose another directory, or select the stored columns"
            )

    def _action(self, file: TableFile) -> AddAction:
        values: dict[str, str | None] = {
            TUPLE_TYPE: file.kind.value,
            SERIALIZER: str(file.serializer),
        }
        partition = {name: values[name] for name in self._partition_by}
        return add_action(file.path, file.size, file.rows, partition)

    def _fenced(self, batch: int, newest: int) -> FencedDriver:
        query = f"the query with the checkpoint {self._checkpoint.place}"
        return fenced(query, batch, f"the table {self.place}", newest=newest)
