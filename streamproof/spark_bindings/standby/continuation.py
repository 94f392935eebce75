"""Whether a copy may go on: what it has taken and delivered is compared with the pair's logs."""

from __future__ import annotations

from streamproof.spark_bindings.channels.channel_log import ChannelLog
from streamproof.spark_bindings.channels.log_checks import is_commit, newest
from streamproof.spark_bindings.channels.provenance import Made
from streamproof.spark_bindings.checkpoints.checkpoint import Checkpoint
from streamproof.spark_bindings.errors import ChannelDamaged
from streamproof.spark_bindings.names import BatchId, Position, Turn
from streamproof.spark_bindings.processes.order_log import OrderLog
from streamproof.spark_bindings.storage.json_files import as_written, read_json, write_json
from streamproof.spark_bindings.storage.place import Place


class DeliveredNote:
    """Up to where a copy knows its pair's turns to be in the output channel; it forgets those.

    Parameters
    ----------
    place : of the file that says so
    output : the channel
    """

    def __init__(self, place: Place, output: ChannelLog) -> None:
        self._place, self._output = place, output

    def write(self, turn: Turn, position: Position, commit: str | None) -> None:
        """Note the newest delivery, before what was kept of it is forgotten."""
        write_json(self._place, {"turn": turn, "position": position, "commit": commit})

    def check(self) -> None:
        """Check that the channel has what this copy has forgotten.

        Raises
        ------
        ChannelDamaged : if it has lost it
        """
        stored = read_json(self._place, turn=int, position=int)
        if stored is None:
            return
        with as_written(self._place):
            position, commit = Position(stored["position"]), stored["commit"]
        if is_commit(self._output, position, commit):
            return
        there = self._output.has(position)
        what = "has another commit" if there else f"ends at {newest(self._output)}"
        raise ChannelDamaged(
            f"turn {stored['turn']} was delivered to {self._output.place} as commit {position}, "
            f"but the channel {what}. It has lost rows, and no copy keeps them any more. Nothing "
            "was written. Put the commits back from a backup, or restore a snapshot"
        )


def check_turns(query: str, checkpoint: Checkpoint, order: OrderLog, output: ChannelLog) -> None:
    """Compare what a copy's checkpoint says that it has read with what its turns were.

    Parameters
    ----------
    query, output : whose copy it is, and where its pair delivers
    checkpoint, order : the copy's, and the log that it shares with the other copy

    Raises
    ------
    FencedDriver : if a turn was made from something else than the checkpoint says
    """
    for batch in {checkpoint.last_committed(), checkpoint.last_planned()} - {None}:
        assert batch is not None
        received = checkpoint.received(batch)
        choice = order.choice(Turn(batch))
        if choice is not None and received.get(choice.lane, Position(0)) != choice.end:
            found = Made(query, batch, {choice.lane: received.get(choice.lane, Position(0))})
            stands = Made(query, batch, {choice.lane: choice.end})
            raise found.disagrees(stands, query, "the order log")
    _check_newest(query, checkpoint, output)


def _check_newest(query: str, checkpoint: Checkpoint, output: ChannelLog) -> None:
    """Compare the newest turn that this pair has delivered."""
    for number in range(newest(output), output.floor(), -1):
        entry = output.entry(Position(number))
        if entry.is_of_0_1_0 and entry.is_message:
            return
        made = entry.made
        if made is None or entry.pipeline != output.pipeline or made.life != query:
            continue
        batch = BatchId(made.batch)
        if checkpoint.is_planned(batch) and checkpoint.received(batch) != made.received:
            found = Made(query, batch, checkpoint.received(batch))
            raise found.disagrees(made, query, f"commit {number} of {output.place}")
        return
