"""Faults of the bindings of pairs and of the retention, each planted in the way of a run."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from typing import Any
from unittest import mock

from streamproof.spark_bindings.checkpoints.checkpoint import Checkpoint
from streamproof.spark_bindings.names import Position
from streamproof.spark_bindings.processes.order_log import Choice
from streamproof.spark_bindings.snapshots import vacuum as vacuuming
from streamproof.spark_bindings.standby import copy_run
from streamproof.spark_bindings.standby import egress as standby_egress
from streamproof.spark_bindings.standby import merge_order as standby_merge_order
from streamproof.spark_bindings.standby.client import ChannelClient
from streamproof.spark_bindings.standby.egress import CopyEgress
from streamproof.spark_bindings.standby.merge_order import MergeOrder
from tests.conformance.support.planting import fault, wrapped
from tests.conformance.support.scenario import (
    run_frozen,
    run_pair,
    run_vacuum,
)

# --- merge order and egress ------------------------------------------------------------------


@fault(run_pair)
def turn_delivered_twice() -> AbstractContextManager[Any]:
    """A turn is committed again, though the client has it."""

    def twice(original: Any, own: ChannelClient, output: Any, incarnation: int) -> Any:
        if output is not None:
            original(own, output, incarnation)
        return original(own, output, incarnation)

    return wrapped(ChannelClient, "_commit", twice)


@fault(run_pair)
def acknowledged_too_far() -> AbstractContextManager[Any]:
    """The primary takes the client to have a turn more than it has."""

    def step(
        original: Any, own: CopyEgress, transition: Any, *arguments: int, **facts: Any
    ) -> None:
        more = transition.__name__ == "on_ack"
        original(own, transition, *(argument + more for argument in arguments), **facts)

    return wrapped(CopyEgress, "_step", step)


@fault(run_pair)
def delivered_before_it_is_committed() -> AbstractContextManager[Any]:
    """Output leaves the pair though the other copy may not have the choices behind it."""

    def step(original: Any, own: MergeOrder, transition: Any, *rest: Any, **named: Any) -> None:
        if transition.__name__ != "on_log_ack":
            original(own, transition, *rest, **named)

    @contextmanager
    def planted() -> Iterator[None]:
        with (
            wrapped(MergeOrder, "_step", step),
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
            wrapped(CopyEgress, "_note", note),
        ):
            yield

    return planted()


@fault(run_pair)
def copies_take_otherwise() -> AbstractContextManager[Any]:
    """A follower takes a commit less than its leader has chosen."""

    def require(original: Any, own: MergeOrder, turn: Any) -> Choice:
        choice = original(own, turn)
        return replace(choice, end=Position(max(0, choice.end - 1)))

    return wrapped(MergeOrder, "_require", require)


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
            wrapped(copy_run, "write_rows", rows),
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
    return wrapped(Checkpoint, "acknowledged", lambda original, *args: original(*args) + 1)


@fault(run_vacuum)
def removed_what_a_reader_needs() -> AbstractContextManager[Any]:
    """A vacuum removes what the fastest reader has, whoever is behind."""
    return wrapped(
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
    return wrapped(vacuuming, "discarded", lambda original, *args: original(*args) + 1)
