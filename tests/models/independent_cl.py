"""An independent count: Chandy-Lamport on real queues, in plain tuples, importing nothing of ours.

It follows the text of [CL85] and not our model: a channel is a queue of messages and markers, a log
is a list of messages. Where both count the same states, both understood the paper alike. It is
itself checked against counts that five other checkers agree on.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from tests.models.support.exploration import Counts, explore

MESSAGE = "m"  # stands for any message, where they cannot be told apart


class Part(NamedTuple):
    """What one process has recorded: its own state, and the log of each input channel."""

    saved: Any
    logs: tuple[tuple[Any, ...], ...]
    closed: tuple[bool, ...]


class State(NamedTuple):
    """A global state; channels are in the order of `Setting.channels`."""

    left: tuple[int | None, ...]
    held: tuple[tuple[int, ...], ...]  # per process its tokens, sorted
    queues: tuple[tuple[Any, ...], ...]
    sent: tuple[int, ...]
    received: tuple[int, ...]
    parts: tuple[tuple[Part | None, ...], ...]  # per snapshot and process
    began_in: Any = None  # the application's state when the first process recorded


@dataclass(frozen=True)
class Setting:
    """A system to count.

    Attributes
    ----------
    bounds : messages that each process may send; None for as many as it likes, then nothing is
        numbered either and the states stay finite only with tokens
    homes : for each token, the process that has it at first; None if messages carry no tokens
    initiators : per snapshot, the processes that may initiate it
    alike : whether the tokens cannot be told apart
    markers_in_order : whether neighbouring markers on a channel keep their order
    in_turn : whether an initiator waits for the one before it
    remembers_start : whether a state says in which state of the application its snapshot began
    """

    channels: tuple[tuple[int, int], ...]
    bounds: tuple[int, ...] | None
    homes: tuple[int, ...] | None
    initiators: tuple[tuple[int, ...], ...]
    alike: bool = False
    markers_in_order: bool = True
    in_turn: bool = False
    remembers_start: bool = False

    @property
    def snapshots(self) -> int:
        return len(self.initiators)

    @property
    def processes(self) -> int:
        return 1 + max(max(channel) for channel in self.channels)

    def start(self) -> State:
        n, zeros = self.processes, (0,) * len(self.channels)
        homes = self.homes or ()
        names = [0 if self.alike else t for t in range(len(homes))]
        pairs = list(zip(names, homes, strict=True))
        held = tuple(tuple(t for t, home in pairs if home == p) for p in range(n))
        queues: tuple[tuple[Any, ...], ...] = ((),) * len(self.channels)
        parts: tuple[tuple[Part | None, ...], ...] = ((None,) * n,) * self.snapshots
        return State(self.bounds or (None,) * n, held, queues, zeros, zeros, parts)

    def successors(self, s: State) -> Iterator[State]:
        for c, (p, q) in enumerate(self.channels):
            if s.left[p] != 0:
                yield from self.sends(s, c, p)
            if s.queues[c]:
                head = s.queues[c][0]
                if isinstance(head, frozenset):
                    for k in head:
                        yield self.receive_marker(s, c, q, k)
                else:
                    yield self.receive(s, c, q)
        for k, processes in enumerate(self.initiators):
            before: Part | None = None
            for index, p in enumerate(processes):
                waits = self.in_turn and index > 0 and before is None
                before = s.parts[k][p]
                if before is None and not waits:
                    yield self.record(s, k, p)

    def sends(self, s: State, c: int, p: int) -> Iterator[State]:
        left = s.left if self.bounds is None else put(s.left, p, s.left[p] - 1)  # type: ignore[operator]
        sent = s.sent if self.bounds is None else put(s.sent, c, s.sent[c] + 1)
        for what in [MESSAGE] if self.homes is None else sorted(set(s.held[p])):
            held = s.held if what == MESSAGE else put(s.held, p, without(s.held[p], what))
            queue = (*s.queues[c], what)
            yield s._replace(left=left, held=held, queues=put(s.queues, c, queue), sent=sent)

    def receive(self, s: State, c: int, q: int) -> State:
        what, *rest = s.queues[c]
        parts = s.parts
        for k in range(self.snapshots):
            part = parts[k][q]
            if part is not None and not part.closed[c]:
                logs = put(part.logs, c, (*part.logs[c], what))
                parts = put(parts, k, put(parts[k], q, part._replace(logs=logs)))
        return s._replace(
            held=s.held if what == MESSAGE else put(s.held, q, tuple(sorted((*s.held[q], what)))),
            queues=put(s.queues, c, tuple(rest)),
            received=s.received if self.bounds is None else put(s.received, c, s.received[c] + 1),
            parts=parts,
        )

    def receive_marker(self, s: State, c: int, q: int, k: int) -> State:
        others = s.queues[c][0] - {k}
        s = s._replace(queues=put(s.queues, c, ((others,) if others else ()) + s.queues[c][1:]))
        if s.parts[k][q] is None:
            s = self.record(s, k, q)
        part = s.parts[k][q]
        assert part is not None
        closed = part._replace(closed=put(part.closed, c, True))
        return s._replace(parts=put(s.parts, k, put(s.parts[k], q, closed)))

    def record(self, s: State, k: int, p: int) -> State:
        outputs = tuple(s.sent[c] for c, (a, _) in enumerate(self.channels) if a == p)
        inputs = tuple(s.received[c] for c, (_, b) in enumerate(self.channels) if b == p)
        saved = (s.left[p], s.held[p], outputs, inputs)
        # A channel that does not lead here has no log; closed, so that it is never waited for.
        closed = tuple(q != p for _, q in self.channels)
        part = Part(saved, ((),) * len(self.channels), closed)
        queues = tuple(
            self.with_marker(queue, k) if self.channels[c][0] == p else queue
            for c, queue in enumerate(s.queues)
        )
        began_in = s.began_in
        if self.remembers_start and began_in is None:
            messages = tuple(tuple(m for m in q if not isinstance(m, frozenset)) for q in s.queues)
            began_in = (s.left, s.held, messages, s.sent, s.received)
        parts = put(s.parts, k, put(s.parts[k], p, part))
        return s._replace(queues=queues, parts=parts, began_in=began_in)

    def with_marker(self, queue: tuple[Any, ...], k: int) -> tuple[Any, ...]:
        if not self.markers_in_order and queue and isinstance(queue[-1], frozenset):
            return (*queue[:-1], queue[-1] | {k})
        return (*queue, frozenset({k}))


def put(items: tuple[Any, ...], index: int, value: Any) -> tuple[Any, ...]:
    return (*items[:index], value, *items[index + 1 :])


def without(items: tuple[int, ...], item: int) -> tuple[int, ...]:
    index = items.index(item)
    return (*items[:index], *items[index + 1 :])


def count(setting: Setting) -> Counts:
    """Count the states of a system."""
    return explore([setting.start()], setting.successors)


def complete(n: int) -> tuple[tuple[int, int], ...]:
    return tuple((p, q) for p in range(n) for q in range(n) if p != q)


def ring(n: int) -> tuple[tuple[int, int], ...]:
    return tuple((p, (p + 1) % n) for p in range(n))


def dag(n: int) -> tuple[tuple[int, int], ...]:
    return tuple((p, q) for p in range(n) for q in range(p + 1, n))
