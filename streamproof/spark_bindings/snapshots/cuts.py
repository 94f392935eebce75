"""Whether a query goes on from the cut: with what its snapshot has, and from nothing else.

The output of a restored query has what it gave ahead of the cut, by a life of which it knows
nothing. If its checkpoint were lost or older, it would give the same rows again, and nobody would
notice. So a restore demands what was recorded, and notes it in the ``pipeline.json`` it makes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from streamproof.spark_bindings.checkpoints.checkpoint import Checkpoint
from streamproof.spark_bindings.errors import LostFiles, WrongCheckpoint
from streamproof.spark_bindings.layout.directory import PipelineDirectory
from streamproof.spark_bindings.layout.snapshot_files import RecordedState, Snapshot
from streamproof.spark_bindings.names import PairId, ProcessName
from streamproof.spark_bindings.storage.json_files import as_written, read_json
from streamproof.spark_bindings.storage.place import AnyPlace, Place
from streamproof.spark_bindings.storage.state_files import require_as_of

_CUT = "cut"  # in the origin that pipeline.json tells; 0.1.0 did not


def require_recorded(source: PipelineDirectory, found: Snapshot) -> None:
    """Check that a complete snapshot has what each query has recorded.

    Raises
    ------
    LostFiles : if some of it is gone, or is of another batch
    DamagedFile : if some of it is not what was written there
    """
    recorded = {PairId.of(process).query for process in found.states}
    for query in source.wiring.queries:
        if query not in recorded:
            raise _lost(source, found, f"no file in states says what query {query!r} has recorded")
    for process, state in found.states.items():
        copy = source.snapshots.checkpoint(found.id, process)
        checkpoint = Checkpoint(copy)
        ends = checkpoint.last_planned(), checkpoint.last_committed()
        if ends != (state.batch, state.batch):
            has = f"{copy} ends at the batches {ends} (offsets, commits)"
            raise _lost(source, found, f"{has}, but {process!r} has recorded {state.batch}")
        received = checkpoint.received(state.batch)
        if received != state.received:
            has = f"{copy} has read up to {dict(received)}"
            raise _lost(source, found, f"{has}, but {process!r} recorded {dict(state.received)}")
        checkpoint.identity()
        require_as_of(copy, state.batch)


def _lost(source: PipelineDirectory, found: Snapshot, what: str) -> LostFiles:
    return LostFiles(
        f"snapshot {found.id} of {source.place} has lost files since it was complete: {what}. A "
        "query would begin elsewhere than at the cut, and lose or double rows. Nothing was "
        f"restored. Put {source.snapshots.place / found.id} back from a backup, or restore another "
        "snapshot"
    )


def cut_of(states: Mapping[ProcessName, RecordedState]) -> dict[str, Any]:
    """Return what a restored pipeline's origin says of where its queries begin."""
    return {_CUT: {process: state.batch for process, state in states.items()}}


def cut_at(pipeline: AnyPlace, process: str) -> int | None:
    """Return the batch behind which a process of a restored pipeline began; None if at none."""
    file = Place.of(pipeline) / "pipeline.json"
    said = read_json(file) or {}
    with as_written(file):
        begun = ((said.get("origin") or {}).get(_CUT) or {}).get(process)
        return None if begun is None else int(begun)


def require_behind_cut(pipeline: AnyPlace, process: str, checkpoint: Checkpoint) -> None:
    """Check that a query of a restored pipeline has not lost the checkpoint that it began with.

    Parameters
    ----------
    pipeline, process : the directory of the pipeline, and the query or pair

    Raises
    ------
    WrongCheckpoint : if it has
    """
    at, last = cut_at(pipeline, process), checkpoint.last_committed()
    if at is not None and (last is None or last < at):
        raise WrongCheckpoint(
            f"{process!r} of the restored pipeline {pipeline} began with a checkpoint that had "
            f"completed batch {at}, but {checkpoint.place} "
            f"{'has completed none' if last is None else f'ends with {last}'}. It would give rows "
            "again that its output has from before. Nothing was written. Put the checkpoint back "
            "from a backup, or restore the snapshot again, into a new directory"
        )
