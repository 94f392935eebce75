"""Retention: a channel keeps the rows that a copy of some reader may still need.

Here the pure machine of `streamproof.protocols.flux` meets channels. For each process that reads
it, a channel is a producer without a standby copy: its tuples are the commits, and it keeps them
for each copy of that process until this copy has acknowledged them. A copy acknowledges what its
checkpoint holds. So the acks cross: what one copy has, the other copy may still lack, and a copy
that is replaced begins in a state which the other copy has acknowledged.

Nothing is appended or lost by it but rows: positions stay, and a commit whose rows are gone is a
commit without rows to whoever reads the Delta table.
"""

from __future__ import annotations

from typing import assert_never

from streamproof.lang import Domain, Map
from streamproof.protocols.flux import Discard, Outlet, Producer, SendTuples, on_ack
from streamproof.spark_bindings.channels.channel_log import ChannelLog
from streamproof.spark_bindings.checkpoints.checkpoint import Checkpoint
from streamproof.spark_bindings.layout import incarnation
from streamproof.spark_bindings.layout.events import MachineLog, described
from streamproof.spark_bindings.layout.pairs import Copy
from streamproof.spark_bindings.names import ChannelName, Position
from streamproof.spark_bindings.snapshots.participants import Participant
from streamproof.spark_bindings.storage.failpoints import RaceFailpoint, reached


def discarded(
    log: ChannelLog,
    reader: Participant,
    channel: ChannelName,
    done: Position,
    steps: MachineLog,
) -> Position:
    """Step the machine for what a reader's copies acknowledge; give what it keeps for none.

    Parameters
    ----------
    log, channel, reader : what is read, and by whom
    done : what was discarded before
    steps : where the steps of the machine are noted
    """
    names = tuple(copy.value for copy in Copy)[: len(reader.checkpoints)]
    copies: Domain[str] = Domain.of("copy", names)
    acks = [_ack(checkpoint, channel) for checkpoint in reader.checkpoints]
    # After all acks: whoever has begun to catch up by now has acknowledged nothing.
    present = dict(zip(names, map(incarnation.present, reader.checkpoints), strict=True))
    outlets = Map.build(copies, lambda name: Outlet(done, done, present[name], feeds=False, sent=0))
    producer = Producer(next=log.last(), single=True, outlets=outlets)
    steps.begin("flux", producer, channel=channel, reader=reader.name)
    begin = dict.fromkeys(names, done)
    for name, (replaced, acknowledged) in zip(names, acks, strict=True):
        arguments = name, name, replaced, acknowledged
        producer, effects = on_ack(producer, *arguments)
        done_now = []
        for effect in effects:
            match effect:
                case Discard(copy, end):
                    begin[copy] = Position(end)
                case SendTuples():
                    raise AssertionError("readers of a channel read it themselves")
                case _:
                    assert_never(effect)
            done_now.append(described(effect))
        steps.step("flux", on_ack, arguments, (producer, effects), done_now)
    return min(begin.values())


def _ack(checkpoint: Checkpoint, channel: ChannelName) -> tuple[int, Position]:
    number = incarnation.of_checkpoint(checkpoint)  # first: a newer checkpoint's ack counts later
    position = checkpoint.acknowledged(channel)
    reached(RaceFailpoint.COPY_ACKNOWLEDGED, checkpoint.place.parent.name)
    return number, position
