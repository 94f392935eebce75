"""What a channel's log is asked before somebody goes on with it: whether it is the one that was."""

from __future__ import annotations

from streamproof.spark_bindings.channels.channel_log import ChannelLog, Entry, committed_positions
from streamproof.spark_bindings.names import BatchId, Position


def newest(log: ChannelLog) -> Position:
    """Return the newest position as the directory says, whatever was seen before."""
    return max([*committed_positions(log.place), log.floor()])


def is_commit(log: ChannelLog, position: Position, name: str | None) -> bool:
    """Return whether the commit at a position has a name, as far as that is known.

    0.1.0 gave few a name, and one that was compacted away does not tell it any more.
    """
    if not log.has(position):
        return False
    return name is None or position <= log.floor() or log.entry(position).commit == name


def require_unbroken(log: ChannelLog, after: Position) -> None:
    """Check that no commit behind a position is missing, and that the newest one is whole.

    Raises
    ------
    ChannelDamaged : if one is missing: its readers would wait for it forever
    DamagedFile, UnknownFormat : if the newest one is not what was written there, or a later
        version wrote it
    """
    last = newest(log)
    for number in range(after + 1, last):
        if not log.has(Position(number)):
            log.entry(Position(number))  # which says so
    log.entry(last)


def made_by(log: ChannelLog, life: str, batch: BatchId) -> Entry | None:
    """Find the commit of a batch of a query's life, from the newest backward."""
    for number in range(log.last(), log.floor(), -1):
        entry = log.entry(Position(number))
        if entry.transactions.get(life) == batch:
            return entry
    return None
