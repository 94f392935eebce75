"""Faults of the bindings of snapshots, each planted in the way of a run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from typing import Any
from unittest import mock

from streamproof.protocols import chandy_lamport as protocol
from streamproof.spark_bindings.channels.channel import Channel
from streamproof.spark_bindings.channels.channel_log import ChannelLog
from streamproof.spark_bindings.layout.snapshot_files import RecordedState, SnapshotFiles
from streamproof.spark_bindings.names import BatchId, Position
from streamproof.spark_bindings.pipelines.query_process import QueryProcess
from streamproof.spark_bindings.snapshots import chandy_lamport as binding
from streamproof.spark_bindings.snapshots.chandy_lamport import Recording
from tests.conformance.support.planting import fault, wrapped
from tests.conformance.support.scenario import (
    run_chain,
    run_fan_in,
    run_pair,
)

# --- what is carried out ---------------------------------------------------------------------


@fault(run_chain)
def marker_before_the_state() -> AbstractContextManager[Any]:
    """The marker is sent, then the state is saved."""
    return wrapped(
        Recording,
        "_carry_out",
        lambda original, own, effects, *rest: original(own, list(effects)[::-1], *rest),
    )


@fault(run_chain)
def effects_dropped() -> AbstractContextManager[Any]:
    """What the machine answers is not done."""
    return wrapped(
        Recording, "_carry_out", lambda original, own, _, *rest: original(own, (), *rest)
    )


@fault(run_chain)
def marker_not_sent() -> AbstractContextManager[Any]:
    """A query says that it has sent its marker, and has not."""

    def send(original: Any, channel: Channel, snapshot: Any) -> None:
        if channel.name != "middle":
            original(channel, snapshot)

    return wrapped(Channel, "append_marker_once", send)


@fault(run_chain)
def marker_sent_twice() -> AbstractContextManager[Any]:
    """A query sends its marker again."""
    return _sent_twice("middle")


def _sent_twice(name: str) -> AbstractContextManager[Any]:
    def send(original: Any, channel: Channel, snapshot: Any) -> None:
        original(channel, snapshot)
        if channel.name == name:
            channel._commit([], None, channel.marker(snapshot)[0])

    return wrapped(Channel, "append_marker_once", send)


@fault(run_chain)
def marker_ahead_of_the_rows() -> AbstractContextManager[Any]:
    """A batch's marker is sent, then its rows."""
    kept: list[Callable[[], Any]] = []

    @contextmanager
    def planted() -> Iterator[None]:
        def later(own: QueryProcess, rows: Any, made: Any) -> None:
            kept.append(lambda: own._output.append_once(rows, made.life, made.batch, made.received))

        def record(original: Any, own: Recording, *rest: Any) -> None:
            original(own, *rest)
            while kept:
                kept.pop()()

        with (
            mock.patch.object(QueryProcess, "_append", later),
            wrapped(Recording, "on_batch", record),
        ):
            yield

    return planted()


@fault(run_pair)
def marker_a_turn_late() -> AbstractContextManager[Any]:
    """A pair sends its marker with the rows of the next turn."""
    late: list[Any] = []

    def record(original: Any, own: Recording, batch_id: Any, received: Any, send: Any) -> None:
        if late:
            send(late.pop())
        original(own, batch_id, received, late.append)

    return wrapped(Recording, "on_batch", record)


# --- the state -------------------------------------------------------------------------------


@fault(run_chain)
def state_of_the_batch_before() -> AbstractContextManager[Any]:
    """The saved state is a batch too old."""
    return mock.patch.object(
        binding,
        "RecordedState",
        lambda batch, received: RecordedState(BatchId(batch - 1), received),
    )


@fault(run_chain)
def state_of_other_positions() -> AbstractContextManager[Any]:
    """The saved state says that it has read a commit less than it has."""

    def less(batch: BatchId, received: Mapping[Any, Position]) -> RecordedState:
        return RecordedState(batch, {name: Position(at - 2) for name, at in received.items()})

    return mock.patch.object(binding, "RecordedState", less)


@fault(run_chain)
def state_not_saved() -> AbstractContextManager[Any]:
    """A process says that it has saved its state, and has not."""
    return mock.patch.object(SnapshotFiles, "save_state", return_value=None)


@fault(run_fan_in)
def counts_of_channels_too_high() -> AbstractContextManager[Any]:
    """One more message is said to be in each channel."""
    return wrapped(
        SnapshotFiles,
        "save_channels",
        lambda original, own, snapshot, process, log: original(
            own, snapshot, process, {lane: count + 1 for lane, count in log.items()}
        ),
    )


@fault(run_fan_in)
def done_when_recorded() -> AbstractContextManager[Any]:
    """A process has done its part once it has recorded, though a marker is still to come."""
    return mock.patch.object(binding, "is_complete", lambda recorder: recorder.recorded)


# --- what a batch reads, and what the machine is told ----------------------------------------


@fault(run_chain)
def batch_beyond_a_marker() -> AbstractContextManager[Any]:
    """A batch goes on behind a marker."""

    @contextmanager
    def planted() -> Iterator[None]:
        with (
            wrapped(
                ChannelLog,
                "batch_end",
                lambda original, *args, **_: original(*args, at_markers=False),
            ),
            mock.patch.object(Recording, "_require_at_end", return_value=None),
        ):
            yield

    return planted()


def _told(change: Callable[[Counter[Any], dict[Any, Any]], None]) -> AbstractContextManager[Any]:
    def read(original: Any, *args: Any) -> Any:
        messages, markers = original(*args)
        change(messages, markers)
        return messages, markers

    return wrapped(Recording, "_read", read)


@fault(run_chain)
def message_not_told() -> AbstractContextManager[Any]:
    """The machine hears of a message less."""
    return _told(lambda messages, _: messages.subtract(list(messages)))


@fault(run_chain)
def messages_told_twice() -> AbstractContextManager[Any]:
    """The machine hears of each message twice."""
    return _told(lambda messages, _: messages.update(dict(messages)))


@fault(run_chain)
def marker_not_told() -> AbstractContextManager[Any]:
    """The machine hears of no marker."""
    return _told(lambda _, markers: markers.clear())


@fault(run_fan_in)
def marker_of_another_lane() -> AbstractContextManager[Any]:
    """The machine is told that a marker came on the other input."""

    def swap(_: Any, markers: dict[Any, Any]) -> None:
        other = {"middle": "other", "other": "middle"}
        swapped = {other.get(lane, lane): snapshot for lane, snapshot in markers.items()}
        markers.clear()
        markers.update(swapped)

    return _told(swap)


# --- the machine -----------------------------------------------------------------------------


@fault(run_fan_in)
def one_recorder_for_all() -> AbstractContextManager[Any]:
    """A marker is taken for one of the newest snapshot under way."""

    def blind(recorders: Any, snapshot: Any, channel: Any) -> Any:
        return protocol.on_marker(recorders, max(name for name, _ in recorders.items()), channel)

    return mock.patch.object(binding, "on_marker", blind)


@fault(run_fan_in)
def recorded_at_each_marker() -> AbstractContextManager[Any]:
    """A process records again at the second marker."""

    def again(recorders: Any, snapshot: Any, channel: Any) -> Any:
        fresh = replace(recorders[snapshot], recorded=False)
        return protocol.on_marker(recorders.set(snapshot, fresh), snapshot, channel)

    @contextmanager
    def planted() -> Iterator[None]:
        with (
            mock.patch.object(binding, "on_marker", again),
            mock.patch.object(SnapshotFiles, "save_state", _save_over),
        ):
            yield

    return planted()


def _save_over(own: SnapshotFiles, snapshot: Any, process: Any, state: RecordedState) -> None:
    if own.state(snapshot, process) is None:
        _SAVE(own, snapshot, process, state)


_SAVE = SnapshotFiles.save_state


@fault(run_fan_in)
def messages_not_logged() -> AbstractContextManager[Any]:
    """What arrives between the recording and the marker is not counted."""
    return mock.patch.object(binding, "on_messages", lambda recorders, *_: (recorders, ()))


@fault(run_chain)
def marker_of_a_feed_sent_twice() -> AbstractContextManager[Any]:
    """A feed sends its marker again."""
    return _sent_twice("source")


# --- repeated steps, and copies --------------------------------------------------------------


@fault(run_chain)
def repeated_batch_appended_again() -> AbstractContextManager[Any]:
    """A batch that is repeated appends its rows again."""

    def twice(original: Any, own: Channel, rows: Any, identity: Any, batch_id: Any, *r: Any) -> Any:
        original(own, rows, f"{identity}-first", batch_id, *r)
        return original(own, rows, identity, batch_id, *r)

    return wrapped(Channel, "append_once", twice)


@fault(run_pair)
def copies_read_otherwise() -> AbstractContextManager[Any]:
    """One copy tells its machine of a message less than the other does."""

    def read(original: Any, own: Recording, *args: Any) -> Any:
        messages, markers = original(own, *args)
        if str(own._events._place).endswith("B/events.jsonl"):
            messages = Counter({lane: count + 1 for lane, count in messages.items()})
        return messages, markers

    return wrapped(Recording, "_read", read)
