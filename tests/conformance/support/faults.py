"""Faults of the bindings, each planted in the way of a run: `conform` has to find it."""

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
from streamproof.spark_bindings.checkpoints.checkpoint import Checkpoint
from streamproof.spark_bindings.layout.snapshot_files import RecordedState, SnapshotFiles
from streamproof.spark_bindings.names import BatchId, Position
from streamproof.spark_bindings.pipelines.query_process import QueryProcess
from streamproof.spark_bindings.processes.order_log import Choice
from streamproof.spark_bindings.snapshots import chandy_lamport as binding
from streamproof.spark_bindings.snapshots import vacuum as vacuuming
from streamproof.spark_bindings.snapshots.chandy_lamport import Recording
from streamproof.spark_bindings.standby import copy_run
from streamproof.spark_bindings.standby import egress as standby_egress
from streamproof.spark_bindings.standby import merge_order as standby_merge_order
from streamproof.spark_bindings.standby.client import ChannelClient
from streamproof.spark_bindings.standby.egress import CopyEgress
from streamproof.spark_bindings.standby.merge_order import MergeOrder
from tests.conformance.support.scenario import (
    Scenario,
    run_chain,
    run_fan_in,
    run_frozen,
    run_pair,
    run_vacuum,
)

Plant = Callable[[], AbstractContextManager[Any]]
FAULTS: dict[str, tuple[Scenario, Plant]] = {}
"""By name: the run in which a fault shows, and the fault."""


def fault(scenario: Scenario) -> Callable[[Plant], Plant]:
    """Register a fault under its function's name."""

    def registered(plant: Plant) -> Plant:
        FAULTS[plant.__name__] = scenario, plant
        return plant

    return registered


def _wrapped(owner: Any, name: str, other: Callable[..., Any]) -> AbstractContextManager[Any]:
    """Put a function in the place of another one, which it gets as its first argument."""
    original = getattr(owner, name)
    return mock.patch.object(
        owner, name, lambda *args, **keywords: other(original, *args, **keywords)
    )


# --- what is carried out ---------------------------------------------------------------------


@fault(run_chain)
def marker_before_the_state() -> AbstractContextManager[Any]:
    """The marker is sent, then the state is saved."""
    return _wrapped(
        Recording,
        "_carry_out",
        lambda original, own, effects, *rest: original(own, list(effects)[::-1], *rest),
    )


@fault(run_chain)
def effects_dropped() -> AbstractContextManager[Any]:
    """What the machine answers is not done."""
    return _wrapped(
        Recording, "_carry_out", lambda original, own, _, *rest: original(own, (), *rest)
    )


@fault(run_chain)
def marker_not_sent() -> AbstractContextManager[Any]:
    """A query says that it has sent its marker, and has not."""

    def send(original: Any, channel: Channel, snapshot: Any) -> None:
        if channel.name != "middle":
            original(channel, snapshot)

    return _wrapped(Channel, "append_marker_once", send)


@fault(run_chain)
def marker_sent_twice() -> AbstractContextManager[Any]:
    """A query sends its marker again."""
    return _sent_twice("middle")


def _sent_twice(name: str) -> AbstractContextManager[Any]:
    def send(original: Any, channel: Channel, snapshot: Any) -> None:
        original(channel, snapshot)
        if channel.name == name:
            channel._commit([], None, channel.marker(snapshot)[0])

    return _wrapped(Channel, "append_marker_once", send)


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
            _wrapped(Recording, "on_batch", record),
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

    return _wrapped(Recording, "on_batch", record)


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
    return _wrapped(
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
            _wrapped(
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

    return _wrapped(Recording, "_read", read)


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

    return _wrapped(Channel, "append_once", twice)


@fault(run_pair)
def copies_read_otherwise() -> AbstractContextManager[Any]:
    """One copy tells its machine of a message less than the other does."""

    def read(original: Any, own: Recording, *args: Any) -> Any:
        messages, markers = original(own, *args)
        if str(own._events._place).endswith("B/events.jsonl"):
            messages = Counter({lane: count + 1 for lane, count in messages.items()})
        return messages, markers

    return _wrapped(Recording, "_read", read)


# --- merge order and egress ------------------------------------------------------------------


@fault(run_pair)
def turn_delivered_twice() -> AbstractContextManager[Any]:
    """A turn is committed again, though the client has it."""

    def twice(original: Any, own: ChannelClient, output: Any, incarnation: int) -> Any:
        if output is not None:
            original(own, output, incarnation)
        return original(own, output, incarnation)

    return _wrapped(ChannelClient, "_commit", twice)


@fault(run_pair)
def acknowledged_too_far() -> AbstractContextManager[Any]:
    """The primary takes the client to have a turn more than it has."""

    def step(
        original: Any, own: CopyEgress, transition: Any, *arguments: int, **facts: Any
    ) -> None:
        more = transition.__name__ == "on_ack"
        original(own, transition, *(argument + more for argument in arguments), **facts)

    return _wrapped(CopyEgress, "_step", step)


@fault(run_pair)
def delivered_before_it_is_committed() -> AbstractContextManager[Any]:
    """Output leaves the pair though the other copy may not have the choices behind it."""

    def step(original: Any, own: MergeOrder, transition: Any, *rest: Any, **named: Any) -> None:
        if transition.__name__ != "on_log_ack":
            original(own, transition, *rest, **named)

    @contextmanager
    def planted() -> Iterator[None]:
        with (
            _wrapped(MergeOrder, "_step", step),
            mock.patch.object(MergeOrder, "is_committed", return_value=True),
        ):
            yield

    return planted()


@fault(run_pair)
def takeover_without_a_fence() -> AbstractContextManager[Any]:
    """A copy becomes primary without a commit that fences the earlier one."""

    @contextmanager
    def planted() -> Iterator[None]:
        with (
            mock.patch.object(ChannelClient, "take_over", return_value=True),
            mock.patch.object(ChannelClient, "_require_primary", return_value=None),
        ):
            yield

    return planted()


@fault(run_frozen)
def old_primary_delivers() -> AbstractContextManager[Any]:
    """A primary that was frozen wakes up, and its delivery is taken."""

    def note(original: Any, own: CopyEgress, delivery: Any) -> None:
        if not own.active:
            original(own, delivery)

    @contextmanager
    def planted() -> Iterator[None]:
        with (
            mock.patch.object(ChannelClient, "_require_primary", return_value=None),
            _wrapped(CopyEgress, "_note", note),
        ):
            yield

    return planted()


@fault(run_pair)
def copies_take_otherwise() -> AbstractContextManager[Any]:
    """A follower takes a commit less than its leader has chosen."""

    def require(original: Any, own: MergeOrder, turn: Any) -> Choice:
        choice = original(own, turn)
        return replace(choice, end=Position(max(0, choice.end - 1)))

    return _wrapped(MergeOrder, "_require", require)


@fault(run_pair)
def copies_give_otherwise() -> AbstractContextManager[Any]:
    """The copies give other rows, and nobody compares them."""
    digests = iter(range(1_000))

    def rows(original: Any, *args: Any) -> Any:
        files, _ = original(*args)
        return files, f"{next(digests)}"

    @contextmanager
    def planted() -> Iterator[None]:
        with (
            _wrapped(copy_run, "write_rows", rows),
            mock.patch.object(CopyEgress, "_compare", return_value=None),
        ):
            yield

    return planted()


@fault(run_pair)
def leads_before_the_log_is_finished() -> AbstractContextManager[Any]:
    """A copy leads though it has choices left to follow."""

    def take_over(merger: Any) -> Any:
        return replace(merger, leads=True), ()

    @contextmanager
    def planted() -> Iterator[None]:
        with (
            mock.patch.object(standby_merge_order, "take_over", take_over),
            mock.patch.object(MergeOrder, "on_twin_failure", return_value=None),
        ):
            yield

    return planted()


@fault(run_pair)
def output_lost_at_a_takeover() -> AbstractContextManager[Any]:
    """A copy that takes over goes on behind what it has kept."""

    def take_over(egress: Any) -> Any:
        return replace(egress, active=True, sent=egress.next), ()

    return mock.patch.object(standby_egress, "take_over", take_over)


# --- retention -------------------------------------------------------------------------------


@fault(run_vacuum)
def acknowledged_more_than_was_read() -> AbstractContextManager[Any]:
    """A query acknowledges a commit more than it has read."""
    return _wrapped(Checkpoint, "acknowledged", lambda original, *args: original(*args) + 1)


@fault(run_vacuum)
def removed_what_a_reader_needs() -> AbstractContextManager[Any]:
    """A vacuum removes what the fastest reader has, whoever is behind."""
    return _wrapped(
        vacuuming,
        "_remove",
        lambda original, log, channel, done, until, dry_run: original(
            log, channel, done, log.last(), dry_run=dry_run
        ),
    )


@fault(run_vacuum)
def removed_what_a_snapshot_has() -> AbstractContextManager[Any]:
    """A vacuum looks at no snapshot."""
    return mock.patch.object(vacuuming, "_kept_by_snapshots", return_value=())


@fault(run_vacuum)
def discards_beyond_the_ack() -> AbstractContextManager[Any]:
    """The machine's answer is taken for one of a commit more."""
    return _wrapped(vacuuming, "discarded", lambda original, *args: original(*args) + 1)
