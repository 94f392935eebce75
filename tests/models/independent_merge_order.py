"""An independent count: two copies that merge, with real logs; it imports nothing of ours.

Histories and logs are tuples of lanes, and so is what the client has seen. A leader also has a
queue of choices that are under way to its twin.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from tests.models.support.exploration import Counts, explore


class Setting(NamedTuple):
    """How much of each."""

    lanes: int
    lane_tuples: int
    failures: int


class Copy(NamedTuple):
    """One copy: a leader knows how many choices its twin has, a follower has them."""

    leads: bool
    alone: bool
    history: tuple[int, ...]
    known: int
    log: tuple[int, ...]


class State(NamedTuple):
    """Everything; a copy that is down is None."""

    copies: tuple[Copy | None, Copy | None]
    queue: tuple[int, ...]
    shown: tuple[int, ...]
    failures: int


def starts(setting: Setting) -> Iterator[State]:
    leader, follower = Copy(True, False, (), 0, ()), Copy(False, False, (), 0, ())
    yield State((leader, follower), (), (), setting.failures)
    yield State((follower, leader), (), (), setting.failures)


def with_copy(s: State, c: int, copy: Copy | None, **fields: Any) -> State:
    return s._replace(copies=(copy, s.copies[1]) if c == 0 else (s.copies[0], copy), **fields)


def successors(s: State, setting: Setting) -> Iterator[State]:
    for c, copy in enumerate(s.copies):
        twin = s.copies[1 - c]
        if copy is None:
            if twin is not None and twin.leads:
                new = Copy(False, False, twin.history, 0, twin.history)
                told = twin._replace(alone=False, known=len(twin.history))
                yield with_copy(with_copy(s, c, new), 1 - c, told, queue=())
            continue
        yield from (leads if copy.leads else follows)(s, c, copy, setting)
        place = len(s.shown)
        may_give = copy.alone or (copy.leads and place < copy.known)
        if may_give and place < len(copy.history):
            yield s._replace(shown=(*s.shown, copy.history[place]))
        if twin is not None and s.failures:
            failed = with_copy(s, c, None, queue=(), failures=s.failures - 1)
            yield with_copy(failed, 1 - c, twin._replace(alone=True))


def leads(s: State, c: int, copy: Copy, setting: Setting) -> Iterator[State]:
    twin = s.copies[1 - c]
    for lane in range(setting.lanes):
        if copy.history.count(lane) < setting.lane_tuples:
            chosen = copy._replace(history=(*copy.history, lane))
            yield with_copy(s, c, chosen, queue=() if twin is None else (*s.queue, lane))
    if twin is not None and copy.known < len(twin.log):
        yield with_copy(s, c, copy._replace(known=len(twin.log)))


def follows(s: State, c: int, copy: Copy, setting: Setting) -> Iterator[State]:
    del setting
    place = len(copy.history)
    if s.queue and not copy.alone:
        heard = copy._replace(log=(*copy.log, s.queue[0]))
        yield with_copy(s, c, heard, queue=s.queue[1:])
    if place < len(copy.log):
        yield with_copy(s, c, copy._replace(history=(*copy.history, copy.log[place])))
    elif copy.alone:
        yield with_copy(s, c, Copy(True, True, copy.history, place, ()))


def count(setting: Setting) -> Counts:
    """Count the states of two copies and a client."""
    return explore(starts(setting), lambda state: successors(state, setting))
