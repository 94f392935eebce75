"""The streaming source that reads one turn of a pair's order log in each batch.

A turn takes from one lane. So it does not matter that Spark asks the inputs of a query one after
the other: an input that is asked before the turn was chosen says the same as if it were asked
behind it, unless the turn is its own, and then there is no batch yet.
"""

from __future__ import annotations

from typing import Any

from pyspark.sql.types import StructType

from streamproof.spark_bindings.channels.source import ChannelReader, ChannelSource
from streamproof.spark_bindings.names import Position, Turn
from streamproof.spark_bindings.processes.order_log import OrderLog
from streamproof.spark_bindings.storage.numbered_files import NumberedFiles
from streamproof.spark_bindings.storage.place import Place

TURN_SOURCE_NAME = "streamproof_turn"


class TurnReader(ChannelReader):
    """Reads one channel for one copy, up to where the turn of the next batch ends."""

    def __init__(self, *, order: str, checkpoint: str, **channel: Any) -> None:
        super().__init__(**channel)
        self._order, self._state = OrderLog(order), Place.of(checkpoint)

    def _end(self, after: Position) -> Position:
        """Return the end of the next turn."""
        choice = self._order.choice(self._turn())
        return after if choice is None or choice.lane != self._channel else choice.end

    def _turn(self) -> Turn:
        # Spark writes a batch's offsets before it runs, and asks for those of the next one after.
        newest = NumberedFiles(self._state / "offsets", "").newest()
        return Turn(0 if newest is None else newest + 1)


class TurnSource(ChannelSource):
    """What `spark.readStream.format("streamproof_turn")` makes."""

    @classmethod
    def name(cls) -> str:
        """Return the name of the format."""
        return TURN_SOURCE_NAME

    def streamReader(self, schema: StructType) -> ChannelReader:
        """Make the reader. Spark calls it in the planner and pickles the result to workers."""
        order, checkpoint = self.options["order"], self.options["checkpoint"]
        return TurnReader(order=order, checkpoint=checkpoint, **self._arguments(schema))
