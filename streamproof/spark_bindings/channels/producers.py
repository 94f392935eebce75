"""Whether an append is a repetition: a producer that begins anew repeats numbers, but not rows."""

from __future__ import annotations

import pyarrow as pa

from streamproof.spark_bindings.channels.channel_log import ChannelLog, Entry
from streamproof.spark_bindings.errors import ReusedSequence, VacuumedRows, WrongArgument
from streamproof.spark_bindings.names import Position

APPLICATION = "producer:"
"""How the names of producers' Delta transactions begin."""
SEQUENCE_MAX = 2**63 - 1
"""The largest number of an append: Delta keeps 64 bits."""


def require_number(sequence: int) -> None:
    """Refuse what the log of a channel cannot keep as the number of an append.

    Raises
    ------
    WrongArgument : if it is no whole number from 0 to `SEQUENCE_MAX`
    """
    if type(sequence) is not int or not 0 <= sequence <= SEQUENCE_MAX:
        raise WrongArgument(
            f"append was given sequence={sequence!r}, which numbers no append: the channel keeps "
            f"whole numbers from 0 to {SEQUENCE_MAX:,}. Nothing was appended. Give one of them"
        )


class Producers:
    """What the producers of a channel have appended. Its caller holds the channel's lock.

    Parameters
    ----------
    log : of the channel
    """

    def __init__(self, log: ChannelLog) -> None:
        self._log, self._read = log, Position(0)
        self._positions: dict[tuple[str, int], Position] = {}

    def require_repetition(self, producer: str, sequence: int, newest: int, rows: pa.Table) -> None:
        """Check that an append which is skipped has the rows that it had the first time.

        Parameters
        ----------
        producer, sequence, rows : what is appended again
        newest : the last sequence number of the producer

        Raises
        ------
        ReusedSequence : if these rows were not appended with this number
        """
        position = self._position(f"{APPLICATION}{producer}", sequence)
        if position is None and sequence == newest and self._log.floor() > 0:
            return  # compacted away; whoever repeats its last append has not begun anew
        if position is None:
            raise self._reused(producer, sequence, newest, self._absent())
        entry = self._log.entry(position)
        if self._has(entry, rows) is False:
            what = f"{entry.rows} other rows were appended with it, at position {position}"
            raise self._reused(producer, sequence, newest, what)

    def _has(self, entry: Entry, rows: pa.Table) -> bool | None:
        """Return whether a commit has these rows; None if they were removed."""
        if entry.is_emptied:
            return None
        if entry.rows != rows.num_rows:
            return False
        try:
            batches = list(self._log.batches([entry], rows.schema.names))
        except VacuumedRows:
            return None
        there = pa.Table.from_batches(batches, schema=rows.schema)
        # NaN equals nothing, not itself either; as text it does.
        return there.equals(rows) or repr(there.to_pylist()) == repr(rows.to_pylist())

    def _absent(self) -> str:
        if self._log.floor() > 0:
            return "what was appended with it, if anything, was compacted away"
        return "no rows were ever appended with it"

    def _position(self, application: str, sequence: int) -> Position | None:
        newest = self._log.last()
        for entry in self._log.entries(max(self._read, self._log.floor()), newest):
            for name, version in entry.transactions.items():
                if name.startswith(APPLICATION):
                    self._positions[name, version] = entry.position
        self._read = newest
        return self._positions.get((application, sequence))

    def _reused(self, producer: str, sequence: int, newest: int, what: str) -> ReusedSequence:
        return ReusedSequence(
            f"producer {producer!r} appends rows as number {sequence} to channel "
            f"{self._log.place}, which has seen its number {newest}; but {what}. A bridge with a "
            "new checkpoint begins to count anew, and its rows would be skipped. Nothing was "
            "appended. Make its life a part of its name, such as "
            f'producer=f"{producer}-{{query.id}}"'
        )
