"""One serializer: it tells the machine what arrived, and does to rows what the machine says.

A batch is a few steps of the machine, whatever its size: each stream's boundary, then what may be
emitted. The rows are Arrow tables, and no step looks at them one by one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias, assert_never

import numpy as np
import pyarrow as pa

from streamproof.lang import Disabled, Domain, Map
from streamproof.protocols import dpc
from streamproof.protocols.dpc import (
    EmitTentative,
    Node,
    NodeEffect,
    NodeStep,
    RecDone,
    TakeCheckpoint,
    Undo,
)
from streamproof.protocols.sunion import EmitStable, is_late
from streamproof.spark_bindings.sunion.pending import Index, Pending
from streamproof.spark_bindings.sunion.progress import Progress
from streamproof.spark_bindings.sunion.repeats import set_apart
from streamproof.spark_bindings.sunion.rows import (
    by_value,
    in_blobs,
    integers,
    join_in_order,
    split_placed,
)
from streamproof.spark_bindings.sunion.settings import Booleans, Settings
from streamproof.spark_bindings.sunion.tuple_type import TupleType

MergeState: TypeAlias = Node[str]
"""The machine, with the streams by their names."""


@dataclass(frozen=True, slots=True)
class Arrivals:
    """What a batch brought to one serializer.

    Attributes
    ----------
    rows : per stream, in any order
    progress : per stream, how its boundary rose; it may have risen by rows that are not ours
    """

    rows: Mapping[str, Sequence[pa.Table]]
    progress: Mapping[str, Progress]


NOTHING = Arrivals({}, {})


@dataclass(frozen=True, slots=True)
class Emission:
    """Some tuples of one type, in order.

    Attributes
    ----------
    rows : what they say; None for a tuple that is no row
    stable_id : of the first of stable rows; else of the next stable row; None if late
    bucket : of a boundary; rows have theirs by their time
    """

    kind: TupleType
    rows: pa.Table | None = None
    stable_id: int | None = None
    bucket: int | None = None


def initial_state(settings: Settings) -> MergeState:
    """Return the machine before the first row."""
    streams: Domain[str] = Domain.of("stream", settings.streams)
    return dpc.initial_node(Map.fill(streams, settings.bucket_min), settings.bucket_min)


class Merge:
    """Runs one serializer for one batch.

    Parameters
    ----------
    settings : the merge's
    node : the machine, as the batch before left it
    pending : the rows that it left
    now_ms : when the batch began
    """

    def __init__(self, settings: Settings, node: MergeState, pending: Pending, now_ms: int) -> None:
        self._settings, self.node, self._pending, self._now_ms = settings, node, pending, now_ms
        self._arrived: pa.Table | None = None

    def on_batch(self, arrivals: Arrivals) -> Iterator[Emission]:
        """Take in what arrived, and emit what the machine allows.

        Every event is offered; whether it happens is for the machine's guards to say.
        """
        yield from self._receive(arrivals)
        bounded = self._settings.wait_ms is not None
        if bounded:
            yield from self._step(lambda: dpc.stabilize(self.node, self._to_correct()))
        yield from self._step(self._emit)
        self._keep_arrived()
        if bounded:
            yield from self._step(self._time_out)
            yield from self._step(self._emit_tentative)

    @property
    def index(self) -> Index:
        """Of what waits now."""
        return self._pending.index

    def _receive(self, arrivals: Arrivals) -> Iterator[Emission]:
        on_time = []
        for stream, parts in arrivals.rows.items():
            for rows in parts:
                placed, unplaced = split_placed(rows, self._settings)
                late = self._are_late(stream, placed, arrivals.progress[stream])
                if late.any():
                    yield Emission(TupleType.LATE, placed.filter(pa.array(late)))
                    placed = placed.filter(pa.array(~late))
                if unplaced.num_rows:
                    yield Emission(TupleType.LATE, unplaced)
                on_time.append(placed)
        yield from self._set_apart(join_in_order(on_time, self._settings))
        for stream, progress in arrivals.progress.items():
            boundary = progress.end(self.node.serializer.boundary[stream])
            self.node, _ = dpc.on_boundary(self.node, stream, boundary)

    def _set_apart(self, arrived: pa.Table | None) -> Iterator[Emission]:
        """Keep what is new; a copy of a row that is here is late, as it would be behind it."""
        if arrived is None:
            return
        like = self._pending.like(arrived, self._settings)
        self._pending.note(arrived, self._settings)
        self._arrived, copies = set_apart(arrived, like, self._settings)
        if copies.num_rows:
            yield Emission(TupleType.LATE, copies)

    def _are_late(self, stream: str, rows: pa.Table, progress: Progress) -> Booleans:
        """Ask the machine for all rows at once: a boundary and a bucket for each."""
        serializer: Any = self.node.serializer
        positions = integers(rows[self._settings.position])
        boundary = progress.before(positions, serializer.boundary[stream])
        at_each_row = replace(serializer, boundary=serializer.boundary.set(stream, boundary))
        buckets: Any = self._settings.buckets(integers(rows[self._settings.time]))
        return np.asarray(is_late(at_each_row, stream, buckets))

    def _emit(self) -> NodeStep[str]:
        end = self._complete_before()
        return dpc.emit(self.node, end, self._rows_before(end))

    def _time_out(self) -> NodeStep[str]:
        end = self._due()
        return dpc.on_timeout(self.node, self._settings.policy, end, self._unshown(end))

    def _emit_tentative(self) -> NodeStep[str]:
        end, policy = self._pending.end(self.node.serializer.emitted), self._settings.policy
        count = self._unshown(end)
        return dpc.emit_tentative(self.node, policy, end, count)

    def _unshown(self, end: int) -> int:
        return self._pending.unshown(self.node.serializer.emitted, end)

    def _due(self) -> int:
        """Return the first bucket behind those that have waited as long as the user allows."""
        assert self._settings.wait_ms is not None
        since_ms = self._now_ms - self._settings.wait_ms
        return self._pending.end(self.node.serializer.emitted, since_ms)

    def _complete_before(self) -> int:
        """Return the first bucket that some stream has not passed."""
        return min(boundary for _, boundary in self.node.serializer.boundary.items())

    def _to_correct(self) -> int:
        """Return the bucket up to which the inputs must be corrected before corrections begin.

        What is complete is enough if nothing behind it is overdue. An input that is back may lag by
        more than that for as long as it likes, so it is enough too once it is half of what waits:
        no more rows are shown as tentative again than come out stable.
        """
        complete, due = self._complete_before(), self._due()
        waiting = self._pending.end(self.node.serializer.emitted)
        if due <= complete or 2 * self._rows_before(complete) >= self._rows_before(waiting):
            return complete
        return due

    def _rows_before(self, end: int) -> int:
        """Count the rows that were not emitted stable, of buckets before `end`."""
        kept = self._pending.rows(self.node.serializer.emitted, end)
        return kept + self._arrived_before(end)

    def _arrived_before(self, end: int) -> int:
        """Count the rows that arrived in this batch, of buckets before `end`."""
        if self._arrived is None:
            return 0
        times = integers(self._arrived[self._settings.time])
        return int(np.searchsorted(times, end * self._settings.bucket_us))

    def _step(self, step: Callable[[], NodeStep[str]]) -> Iterator[Emission]:
        try:
            self.node, effects = step()
        except Disabled:
            return
        for effect in effects:
            yield from self._carry_out(effect)

    def _carry_out(self, effect: NodeEffect) -> Iterator[Emission]:
        stable = self.node.stable
        match effect:
            case EmitStable(begin, end):
                rows = self._complete(begin, end)
                if rows is not None:
                    yield Emission(TupleType.INSERTION, rows, stable - rows.num_rows)
                yield Emission(TupleType.BOUNDARY, None, stable, end)
            case EmitTentative(begin, end):
                rows = join_in_order(self._pending.show(begin, end), self._settings)
                if rows is not None:
                    yield Emission(TupleType.TENTATIVE, rows, stable)
            case TakeCheckpoint():
                pass  # the state is a checkpoint: rows stay in it until they are emitted stable
            case Undo(remaining):
                self._pending.hide()
                yield Emission(TupleType.UNDO, None, remaining)
            case RecDone():
                yield Emission(TupleType.REC_DONE, None, stable)
            case _:
                assert_never(effect)

    def _complete(self, begin: int, end: int) -> pa.Table | None:
        """Take the rows of complete buckets, in order; of what arrived, the others remain."""
        kept = self._pending.take(begin, end)
        if self._arrived is None:
            return join_in_order(kept, self._settings)
        count = self._arrived_before(end)
        complete, self._arrived = self._arrived.slice(0, count), self._arrived.slice(count)
        if kept:
            return join_in_order([*kept, complete], self._settings)
        return complete if count else None

    def _keep_arrived(self) -> None:
        if self._arrived is not None:
            buckets = self._settings.buckets(integers(self._arrived[self._settings.time]))
            for bucket, rows in by_value(self._arrived, buckets):
                for blob in in_blobs(rows):
                    self._pending.add(bucket, blob, self._now_ms)
