"""Whether a query may go on: what its checkpoint, its notes and its channels say is compared.

All of it is asked before Spark starts the query. So nothing is written if the answer is no, and the
query can be started again once the cause is gone.
"""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import DataFrame

from streamproof.spark_bindings.channels.channel_log import ChannelLog
from streamproof.spark_bindings.channels.log_checks import is_commit, newest
from streamproof.spark_bindings.channels.provenance import BatchNotes, Made, Note
from streamproof.spark_bindings.checkpoints.checkpoint import Checkpoint, has_begun
from streamproof.spark_bindings.checkpoints.input_sources import INPUTS_FILE, InputsNote
from streamproof.spark_bindings.checkpoints.planned_sources import check_inputs, planned_sources
from streamproof.spark_bindings.checkpoints.state_plan import check_state_plan
from streamproof.spark_bindings.checkpoints.stateful import fixed_plan_of
from streamproof.spark_bindings.errors import ChannelDamaged, WrongCheckpoint
from streamproof.spark_bindings.layout.query import Query
from streamproof.spark_bindings.names import Position
from streamproof.spark_bindings.snapshots.cuts import require_behind_cut
from streamproof.spark_bindings.storage.place import AnyPlace, Place


def check_goes_on(
    pipeline: AnyPlace, query: Query, place: Place, frame: DataFrame, checkpoint: Checkpoint
) -> None:
    """Check that a plan goes on with what its checkpoint has: the cut, the inputs, the state.

    Parameters
    ----------
    pipeline : the pipeline's directory
    query, place : whose plan it is, and the directory of the query, or the pair
    frame, checkpoint : its plan, and what Spark will go on with

    Raises
    ------
    WrongCheckpoint : if it was written with another plan, another output mode or other settings, or
        is older than the cut of a restore
    WrongArgument : if it was written with other settings of a merge
    ChannelDamaged, DamagedFile, LostFiles : see `check_inputs`
    """
    process = place.name
    require_behind_cut(pipeline, process, checkpoint)
    check_inputs(planned_sources(frame), checkpoint)
    fixed = fixed_plan_of(frame, query.spark_mode)
    note = InputsNote(place / INPUTS_FILE, f"query {process!r}")
    note.check(fixed, checkpoint)
    check_state_plan(process, place, fixed, checkpoint)
    note.write(fixed)


class OutputCheck:
    """Compares what a query has written with what its checkpoint says that it has run.

    Parameters
    ----------
    query : its name
    notes : of its batches
    output : its output channel
    """

    def __init__(
        self, query: str, checkpoint: Checkpoint, notes: BatchNotes, output: ChannelLog
    ) -> None:
        self._query, self._checkpoint = query, checkpoint
        self._notes, self._output = notes, output

    def check(self) -> None:
        """Compare.

        Raises
        ------
        WrongCheckpoint : if the checkpoint is gone, of another life, or older than the channel
        ChannelDamaged : if rows are missing that were written to the channel
        FencedDriver : if a batch was made from something else than the checkpoint says
        """
        notes, made = self._notes.newest(), self._newest_made()
        written = [*(note.made for note in notes), *([made] if made is not None else [])]
        begun = has_begun(self._checkpoint.place)
        life = self._checkpoint.identity() if begun else None
        for each in written:
            if each.life != life:
                raise self._wrong(
                    f"batch {each.batch} was written by a life {each.life} of it, and the "
                    f"checkpoint is {'of the life ' + life if life else 'gone'}"
                )
        planned = self._checkpoint.last_planned()
        last = max((each.batch for each in written), default=None)
        if last is not None and (planned is None or last > planned):
            raise self._wrong(f"it has written batch {last}, and the checkpoint knows {planned}")
        for each in written:
            if self._checkpoint.is_planned(each.batch):
                found = Made(each.life, each.batch, self._checkpoint.received(each.batch))
                if found != each:
                    where = f"what it has written to {self._output.place}"
                    raise found.disagrees(each, self._query, where)
        self._require_written(notes)

    def _newest_made(self) -> Made | None:
        """Find what the newest commit that a query of this pipeline has made was made from."""
        for number in range(newest(self._output), self._output.floor(), -1):
            entry = self._output.entry(Position(number))
            if entry.is_of_0_1_0 and entry.is_message:
                return None  # so are all before it
            if entry.made is not None and entry.pipeline == self._output.pipeline:
                return entry.made
        return None

    def _require_written(self, notes: Sequence[Note]) -> None:
        if not notes or notes[0].position is None:
            return
        # What came before the newest rows is there, since commits follow each other.
        note, position = notes[0], notes[0].position
        if not is_commit(self._output, position, note.commit):
            there = self._output.has(position)
            what = "has another commit" if there else f"ends at {newest(self._output)}"
            raise ChannelDamaged(
                f"query {self._query!r} has written up to batch {note.made.batch} to "
                f"{self._output.place}, its newest rows as commit {position}, but the channel "
                f"{what}. It has lost rows, which the query does not make again. Nothing was "
                "written. Put the commits back from a backup, or restore a snapshot"
            )

    def _wrong(self, what: str) -> WrongCheckpoint:
        return WrongCheckpoint(
            f"the checkpoint {self._checkpoint.place} of query {self._query!r} does not belong to "
            f"the rows in {self._output.place}: {what}. It would write rows again, or leave some "
            "out. Nothing was written. Put the checkpoint back, or restore a snapshot"
        )
