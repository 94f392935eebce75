"""Orphans: data files that a killed process has left in a channel, and that no commit will name.

A file is an orphan once whoever wrote it cannot commit it any more: a feed, when nobody writes the
channel; a query, when it has completed the batch that the file's name tells; a copy of a pair, when
it has completed the turn and keeps nothing of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from streamproof.spark_bindings.channels.channel_log import ChannelLog
from streamproof.spark_bindings.channels.writers import tidying
from streamproof.spark_bindings.layout.directory import PipelineDirectory
from streamproof.spark_bindings.layout.output_buffer import OutputBuffer
from streamproof.spark_bindings.layout.pairs import Copy, PairDirectory
from streamproof.spark_bindings.names import BatchId, ChannelName, Position
from streamproof.spark_bindings.storage.delta_tables import open_table
from streamproof.spark_bindings.storage.store import store_at

_OF_FEED = re.compile(r"feed-[0-9a-f]{32}\.parquet")
_OF_BATCH = re.compile(r"rows-(\d+)-[0-9a-f]{32}\.parquet")
_OF_TURN = re.compile(r"turn-(\d+)-([AB])-[0-9a-f]{32}\.parquet")


def remove_orphans(
    directory: PipelineDirectory, channel: ChannelName, done: Position, *, dry_run: bool
) -> int:
    """Remove the orphans of a channel; give how many there are.

    Parameters
    ----------
    directory, channel : whose, and where
    done : up to where rows were removed: of no commit behind it a file is missing
    dry_run : whether to count only
    """
    log = directory.log(channel)
    if dry_run:
        return len(list(_orphans(directory, log, channel, done, is_alone=True)))
    if not _data_files(log):
        return 0
    with tidying(log.place) as is_alone:
        orphans = list(_orphans(directory, log, channel, done, is_alone=is_alone))
        for name in orphans:
            store_at(log.place).delete(name)
    return len(orphans)


def _orphans(
    directory: PipelineDirectory,
    log: ChannelLog,
    channel: ChannelName,
    done: Position,
    *,
    is_alone: bool,
) -> Iterator[str]:
    # In this order: what a writer has completed it has kept or committed, and what it keeps no
    # more it has committed.
    batch, turns = _completed(directory, channel)
    kept = _kept(directory, channel)
    names = _data_files(log)
    named = {file.path for entry in log.entries(done, log.last()) for file in entry.files}
    named |= set(open_table(log.place).get_add_actions(flatten=True)["path"].to_pylist())
    for name in names:
        if name in named or name in kept:
            continue
        if (
            (is_alone and _OF_FEED.fullmatch(name))
            or ((found := _OF_BATCH.fullmatch(name)) and int(found[1]) <= batch)
            or ((found := _OF_TURN.fullmatch(name)) and int(found[1]) <= turns[Copy(found[2])])
        ):
            yield name


def _data_files(log: ChannelLog) -> list[str]:
    return [name for name in store_at(log.place).list() if name.endswith(".parquet")]


def _completed(
    directory: PipelineDirectory, channel: ChannelName
) -> tuple[int, dict[Copy, BatchId]]:
    """Return the last batch of the query that writes a channel, or the last turn of its copies."""
    turns = dict.fromkeys(Copy, BatchId(-1))
    writer = directory.wiring.writer(channel)
    if writer is None:
        return -1, turns
    pairs = [PairDirectory(path) for path in directory.pair_places(writer)]
    for copy in Copy if pairs else ():
        last = [pair.copy(copy).checkpoint.last_committed() for pair in pairs]
        # A turn's number does not tell of which partition it is: the slowest one counts.
        turns[copy] = min(BatchId(-1) if number is None else number for number in last)
    alone = directory.checkpoint(writer).last_committed()
    return -1 if alone is None else alone, turns


def _kept(directory: PipelineDirectory, channel: ChannelName) -> set[str]:
    """Name the files that copies of pairs keep, since they may have to deliver them."""
    writer = directory.wiring.writer(channel)
    pairs = [] if writer is None else directory.pair_places(writer)
    found: set[str] = set()
    for pair in map(PairDirectory, pairs):
        for copy in Copy:
            kept = OutputBuffer(pair.copy(copy).kept, directory.channel_place(channel))
            for turn in kept.turns():
                output = kept.output(turn)
                found |= set() if output is None else {file.path for file in output.files}
    return found
