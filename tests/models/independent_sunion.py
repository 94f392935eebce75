"""An independent count: SUNION with real lists, in plain tuples, importing nothing of ours.

It follows the text of [BBMS08] and not our model: a log is a list of tuples and boundaries, a
buffer is a set, an output is a list that is sorted when a bucket is emitted. Where both count the
same states, both understood the paper alike. Each state's outputs are compared with a plain merge.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from tests.models.support.exploration import Counts, explore

Log = tuple[tuple[str, int], ...]
"""What a source wrote: ("tuple", time) or ("boundary", bucket)."""
Key = tuple[int, int, int]
"""Time, stream and position of a tuple, in the order of the merge."""


class Replica(NamedTuple):
    """What one replica has read, learned, kept and emitted."""

    read: tuple[int, ...]
    boundaries: tuple[int, ...]
    emitted: int
    buffer: frozenset[Key]
    output: tuple[Key, ...]


class State(NamedTuple):
    """A global state."""

    logs: tuple[Log, ...]
    replicas: tuple[Replica, ...]


@dataclass(frozen=True)
class Setting:
    """A system to count; times are cut into `buckets` of the same width."""

    lengths: tuple[int, ...]
    buckets: int
    width: int
    replicas: int = 2

    def starts(self) -> Iterator[State]:
        """Yield a state for each way to write the logs, also against a promise."""
        tuples = [("tuple", time) for time in range(self.buckets * self.width)]
        boundaries = [("boundary", bucket) for bucket in range(1, self.buckets + 1)]
        choices = [
            tuple(itertools.product(tuples + boundaries, repeat=length)) for length in self.lengths
        ]
        nothing = (0,) * len(self.lengths)
        fresh = Replica(nothing, nothing, 0, frozenset(), ())
        for logs in itertools.product(*choices):
            yield State(logs, (fresh,) * self.replicas)

    def successors(self, s: State) -> Iterator[State]:
        for index, replica in enumerate(s.replicas):
            for target in (*self.reads(s, replica), *self.emits(replica)):
                others = s.replicas[:index], s.replicas[index + 1 :]
                yield s._replace(replicas=(*others[0], target, *others[1]))

    def reads(self, s: State, replica: Replica) -> Iterator[Replica]:
        for stream, log in enumerate(s.logs):
            position = replica.read[stream]
            if position < len(log):
                kind, value = log[position]
                after = replica._replace(read=put(replica.read, stream, position + 1))
                known = replica.boundaries[stream]
                if kind == "boundary":
                    further = put(replica.boundaries, stream, max(known, value))
                    yield after._replace(boundaries=further)
                elif value // self.width < known:
                    yield after
                else:
                    yield after._replace(buffer=replica.buffer | {(value, stream, position)})

    def emits(self, replica: Replica) -> Iterator[Replica]:
        for end in range(replica.emitted + 1, min(replica.boundaries) + 1):
            due = {key for key in replica.buffer if key[0] // self.width < end}
            yield replica._replace(
                emitted=end,
                buffer=replica.buffer - due,
                output=(*replica.output, *sorted(due)),
            )

    def merge(self, s: State) -> tuple[Key, ...]:
        """Return the right merge: all tuples that no earlier boundary of their log excludes."""
        found = []
        for stream, log in enumerate(s.logs):
            for position, (kind, value) in enumerate(log):
                ahead = [bucket for was, bucket in log[:position] if was == "boundary"]
                if kind == "tuple" and value // self.width >= max(ahead, default=0):
                    found.append((value, stream, position))
        return tuple(sorted(found))


def put(items: tuple[int, ...], index: int, value: int) -> tuple[int, ...]:
    return (*items[:index], value, *items[index + 1 :])


def count(setting: Setting) -> Counts:
    """Count the states of a system, in all of which outputs begin a plain merge."""

    def compared(state: State) -> Iterator[State]:
        merge = setting.merge(state)
        assert all(merge[: len(r.output)] == r.output for r in state.replicas)
        return setting.successors(state)

    return explore(setting.starts(), compared)
