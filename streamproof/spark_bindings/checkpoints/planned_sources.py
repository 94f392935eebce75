"""Whether a query may go on: what its checkpoint, its notes and its channels say is compared.

All of it is asked before Spark starts the query. So nothing is written if the answer is no, and the
query can be started again once the cause is gone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pyspark.sql import DataFrame

from streamproof.spark_bindings import _spark
from streamproof.spark_bindings.channels.channel_log import ChannelLog
from streamproof.spark_bindings.channels.log_checks import require_unbroken
from streamproof.spark_bindings.channels.offsets import is_offset, require_own
from streamproof.spark_bindings.channels.source import OUTSIDE
from streamproof.spark_bindings.checkpoints.checkpoint import Checkpoint
from streamproof.spark_bindings.errors import WrongCheckpoint
from streamproof.spark_bindings.names import BatchId
from streamproof.spark_bindings.storage.place import Place


@dataclass(frozen=True, slots=True)
class PlannedSource:
    """A streaming source of a plan, if it reads a channel.

    Attributes
    ----------
    outside : its query is not one of the pipeline
    """

    place: Place
    pipeline: str
    channel: str
    outside: bool


def planned_sources(frame: DataFrame) -> list[PlannedSource | None]:
    """List the sources of a plan in the order in which Spark keeps their offsets."""
    found = _spark.channel_sources(frame, ("channel", "path", "pipeline", "reader"))
    return [
        None
        if source is None
        else PlannedSource(
            Place.of(source["path"]),
            source["pipeline"],
            source["channel"],
            outside=source["reader"] == OUTSIDE,
        )
        for source in found
    ]


def check_inputs(sources: Sequence[PlannedSource | None], checkpoint: Checkpoint) -> None:
    """Check that a plan's sources are those that a checkpoint was written with, and go on.

    Parameters
    ----------
    sources : in the order in which Spark meets them; None for those that read no channel

    Raises
    ------
    WrongCheckpoint : if Spark would give a source the offset of another one
    ChannelDamaged : if commits are missing that were read, or some behind them
    DamagedFile, LostFiles : if the checkpoint or the newest commit of a channel is not whole
    """
    checkpoint.check_readable()
    planned = checkpoint.last_planned()
    if planned is None:
        return
    for batch in (BatchId(planned - 1), planned):  # a batch under way begins where the last ended
        if checkpoint.is_planned(batch):
            _check_offsets(sources, checkpoint, batch)


def _check_offsets(
    sources: Sequence[PlannedSource | None], checkpoint: Checkpoint, batch: BatchId
) -> None:
    offsets = checkpoint.offsets(batch)
    if len(offsets) != len(sources):
        names = [source.channel if source else "no channel" for source in sources]
        raise WrongCheckpoint(
            f"the plan has {len(sources)} inputs ({', '.join(names)}), but the checkpoint "
            f"{checkpoint.place} was written with {len(offsets)}: {offsets}. Spark knows inputs by "
            "their order alone, so rows would be lost or doubled. Nothing was written. Give the "
            "plan the inputs that it had, or begin with a new checkpoint"
        )
    for source, offset in zip(sources, offsets, strict=True):
        if source is None:
            if is_offset(offset):
                raise WrongCheckpoint(
                    f"the checkpoint {checkpoint.place} has {offset} for an input that reads no "
                    "channel. Spark knows inputs by their order alone, and it has changed. "
                    "Nothing was written. Give the plan its inputs in the order that it had"
                )
            continue
        if offset is None:
            continue
        log = ChannelLog(source.place, source.pipeline)
        position = require_own(offset, source.channel, log, outside=source.outside)
        require_unbroken(log, position)
