"""What Spark keeps of how far a query has read a channel, and whether it may go on from there.

Spark hands an offset to whatever source stands in its place in the plan: if the plan was rewritten
from ``a.union(b)`` to ``b.union(a)``, to the source of the other channel. It does not know that a
channel has lost its newest commits, or that a checkpoint is of another pipeline. So an offset names
its pipeline, its channel and the commit at its position, and a reader refuses one that is not its
own, before Spark writes anything.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from streamproof.spark_bindings.channels.channel_log import ChannelLog
from streamproof.spark_bindings.channels.log_checks import is_commit, newest
from streamproof.spark_bindings.errors import ChannelDamaged, WrongCheckpoint
from streamproof.spark_bindings.names import Position
from streamproof.spark_bindings.storage.formats import FORMAT, FORMAT_KEY, format_of
from streamproof.spark_bindings.storage.json_files import read_json
from streamproof.spark_bindings.storage.place import Place

Offset = dict[str, Any]
DONE_KEY = "rerun"
"""In an offset of a restored query: how many batches of the original are done; see `rerun`."""


def offset_at(position: Position, channel: str, log: ChannelLog) -> Offset:
    """Return the offset behind a commit of a channel; 0 is before the first."""
    commit = log.entry(position).commit if position > 0 else None
    return {
        FORMAT_KEY: FORMAT,
        "pipeline": log.pipeline,
        "channel": channel,
        "position": position,
        "commit": commit,
    }


def is_offset(said: object) -> bool:
    """Return whether a line of a checkpoint is an offset of a channel."""
    return isinstance(said, Mapping) and {"channel", "position"} <= said.keys()


def require_own(offset: Offset, channel: str, log: ChannelLog, *, outside: bool) -> Position:
    """Check that an offset is of a channel, and not ahead of it; return its position.

    Parameters
    ----------
    offset, channel, log : what Spark hands to a source, and which channel that reads
    outside : the reader is no query of the pipeline

    Raises
    ------
    UnknownFormat : if a later version wrote it
    WrongCheckpoint : if it is of another channel or pipeline
    ChannelDamaged : if the channel has lost commits that were read, or has others in their place
    """
    format_of(offset, f"an offset of channel {offset.get('channel')!r} in a checkpoint")
    if not is_offset(offset) or offset["channel"] != channel:
        raise WrongCheckpoint(
            f"the checkpoint of a reader of channel {channel!r} says of its place in the plan: "
            f"{dict(offset)}. Spark knows inputs by their order alone, and it has changed: rows "
            "would be lost and doubled. Nothing was written. Give the plan its inputs in the "
            "order that it had, such as a.union(b) for b.union(a); or begin with a new checkpoint"
        )
    theirs = offset.get("pipeline")
    if theirs is None and outside and _is_restored(log.place):
        raise WrongCheckpoint(
            f"the checkpoint of a reader of channel {channel!r} does not say whether it is of the "
            f"pipeline {log.pipeline} or of the one that this one was restored from: 0.1.0 wrote "
            "it. Rows could be lost. Nothing was written. Begin with a new checkpoint"
        )
    if theirs not in (None, log.pipeline):
        raise WrongCheckpoint(
            f"the checkpoint of a reader of channel {channel!r} of pipeline {log.pipeline} is of "
            f"pipeline {theirs}. A restored pipeline has other rows behind the cut, so some would "
            "be lost. Nothing was written. Begin with a new checkpoint, and undo what was written "
            "with the old one"
        )
    position = Position(offset["position"])
    _require_there(position, offset.get("commit"), channel, log)
    return position


def _require_there(position: Position, commit: str | None, channel: str, log: ChannelLog) -> None:
    if position == 0:
        return
    if not log.has(position):
        raise ChannelDamaged(
            f"the reader of channel {channel!r} has read up to commit {position}, but the newest "
            f"in {log.place} is {newest(log)}. The channel has lost commits, and the next rows "
            "would take their place and be skipped. Nothing was written. Put the commits back "
            "from a backup, or restore a snapshot"
        )
    if not is_commit(log, position, commit):
        found = log.entry(position).commit
        raise ChannelDamaged(
            f"the reader of channel {channel!r} has read up to commit {position}, named {commit}, "
            f"but the one in {log.place} is named {found}. The channel has lost commits, and "
            "others took their place: they would be skipped. Nothing was written. Put the lost "
            "ones back from a backup, or restore a snapshot"
        )


def _is_restored(channel: Place) -> bool:
    pipeline = read_json(channel.parent.parent / "pipeline.json") or {}
    return bool(pipeline.get("origin"))
