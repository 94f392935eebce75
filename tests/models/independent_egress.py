"""An independent count: two copies and a client on real queues; it imports nothing of ours."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from tests.models.support.exploration import Counts, explore


class Setting(NamedTuple):
    """How much of each."""

    outputs: int
    failures: int


class Copy(NamedTuple):
    """One copy: what it has made, keeps from where on, and is to send next if it sends."""

    is_up: bool
    made: int
    kept_from: int
    sends: bool
    to_send: int
    queue: tuple[int, ...]
    last: int


class State(NamedTuple):
    """Everything; what a copy has under way to the client outlives it."""

    copies: tuple[Copy, Copy]
    seen: tuple[int, ...]
    failures: int


def starts(setting: Setting) -> Iterator[State]:
    active, passive = Copy(True, 0, 0, True, 0, (), 0), Copy(True, 0, 0, False, 0, (), 0)
    yield State((active, passive), (), setting.failures)
    yield State((passive, active), (), setting.failures)


def with_copy(s: State, c: int, copy: Copy) -> State:
    return s._replace(copies=(copy, s.copies[1]) if c == 0 else (s.copies[0], copy))


def successors(s: State, setting: Setting) -> Iterator[State]:
    for c, copy in enumerate(s.copies):
        twin = s.copies[1 - c]
        if copy.queue:
            number, *rest = copy.queue
            seen = (*s.seen, number) if number == len(s.seen) else s.seen
            yield with_copy(s, c, copy._replace(queue=tuple(rest)))._replace(seen=seen)
        if not copy.is_up:
            if twin.is_up:
                yield with_copy(s, c, Copy(True, twin.made, twin.kept_from, False, 0, (), 0))
            continue
        if copy.made < setting.outputs:
            yield with_copy(s, c, copy._replace(made=copy.made + 1))
        if copy.sends:
            yield from sends(s, c, copy)
        if s.failures and twin.is_up:
            yield fails(s, c, copy)


def sends(s: State, c: int, copy: Copy) -> Iterator[State]:
    twin, number = s.copies[1 - c], copy.to_send
    if number < copy.made:
        queue = (*copy.queue, number)
        yield with_copy(s, c, copy._replace(to_send=number + 1, queue=queue, last=number + 1))
    if copy.kept_from < len(s.seen):
        yield with_copy(s, c, copy._replace(kept_from=len(s.seen)))
    if twin.is_up and twin.kept_from < copy.kept_from:
        yield with_copy(s, 1 - c, twin._replace(kept_from=copy.kept_from))


def fails(s: State, c: int, copy: Copy) -> State:
    twin = s.copies[1 - c]
    s = with_copy(s, c, Copy(False, 0, 0, False, 0, copy.queue, copy.last))
    s = s._replace(failures=s.failures - 1)
    if not copy.sends:
        return s
    first = twin.kept_from
    return with_copy(s, 1 - c, twin._replace(sends=True, to_send=first, queue=(), last=first))


def count(setting: Setting) -> Counts:
    """Count the states of two copies and a client."""
    return explore(starts(setting), lambda state: successors(state, setting))
