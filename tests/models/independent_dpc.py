"""An independent count: a DPC node as the paper tells it, on lists, importing nothing of ours.

A stream is a list of tuples and boundaries, the client's view a list of numbered tuples, and the
operator an object that is copied for a checkpoint, or told to undo its log. Where this counts as
many states as `models/dpc/dpc.py`, both understood the paper alike.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from tests.models.support.exploration import Counts, explore

STABLE, UP_FAILURE, STABILIZATION = "stable", "up_failure", "stabilization"
FAILURE = "failure"
PROCESS, DELAY, SUSPEND = "process", "delay", "suspend"

Tuple = tuple[int, int]
"""A bucket and a stream: their order is that of the serializer."""
Numbered = tuple[Tuple, int]


class Operator(NamedTuple):
    """An operator that numbers tuples."""

    last: int = 0
    checkpoint: int = 0
    log: tuple[Tuple, ...] = ()


class State(NamedTuple):
    """A global state.

    `read` counts the entries of each stream's log: tuple, boundary, tuple, boundary, and so on.
    """

    policy: str
    read: tuple[int, ...]
    down: tuple[bool, ...]
    failures: int
    condition: str = STABLE
    begin: int = 0  # the first bucket that is not emitted stable
    furthest: int = 0  # the first bucket behind all that time-outs and policy have let out
    operator: Operator = Operator()
    prefix: tuple[Numbered, ...] = ()
    tail: tuple[Numbered, ...] = ()
    awaited: frozenset[Tuple] = frozenset()  # shown tentatively, and not corrected
    rec_done: bool = False
    failed_again: bool = False


def count(
    streams: int, buckets: int, failures: int, *, undo: bool = False, crashes: bool = False
) -> Counts:
    """Count the states of a node under each policy; that it crashes may be one of the failures."""
    starts = [
        State(policy, (0,) * streams, (False,) * streams, failures)
        for policy in (PROCESS, DELAY, SUSPEND)
    ]
    return explore(starts, lambda state: steps(state, buckets, undo=undo, crashes=crashes))


def steps(s: State, buckets: int, *, undo: bool, crashes: bool) -> Iterator[State]:
    """List what may happen next."""
    for stream in range(len(s.down)):
        yield from on_link(s, stream, buckets)
    # A boundary is every second entry, so what is complete is what every stream has read twice.
    complete = min(s.read) // 2
    for end in range(s.begin + 1, buckets + 1):
        if s.condition != UP_FAILURE and end <= complete:
            yield emitted(s, end)
        if any(s.down) and may_fail(s, end, complete):
            yield failed(s, end)
        if s.condition == UP_FAILURE and s.policy == PROCESS:
            yield guessed(s, end)
        if s.condition == UP_FAILURE and end <= complete:
            yield corrected(s, undo=undo)
    if crashes and s.failures:
        for present in range(max(1, s.furthest), buckets + 1):
            yield crashed(s, present)


def on_link(s: State, stream: int, buckets: int) -> Iterator[State]:
    """List what may happen on a stream's link."""
    if s.down[stream]:
        yield s._replace(down=changed(s.down, stream, False))
        return
    if s.failures:
        yield s._replace(down=changed(s.down, stream, True), failures=s.failures - 1)
    if s.read[stream] < 2 * buckets:
        yield s._replace(read=changed(s.read, stream, s.read[stream] + 1))


def may_fail(s: State, end: int, complete: int) -> bool:
    """Return whether the node may stop waiting for the buckets before an end."""
    if s.condition == UP_FAILURE:
        return s.policy != SUSPEND
    if s.condition == FAILURE:
        return False
    return complete <= s.begin if s.condition == STABLE else complete < end


def failed(s: State, end: int) -> State:
    """Stop waiting; for the first time, after a checkpoint."""
    if s.condition == UP_FAILURE:
        return guessed(s, end)
    kept = Operator(s.operator.last, s.operator.last)
    again = s.failed_again or (s.condition == STABILIZATION and min(s.read) // 2 > s.begin)
    return guessed(s._replace(condition=UP_FAILURE, operator=kept, failed_again=again), end)


def guessed(s: State, end: int) -> State:
    """Emit tentatively what has come before an end, and is not in the tail."""
    shown = {each for each, _ in s.tail}
    new = [each for each in arrived(s, end) if each not in shown]
    last, log = s.operator.last, s.operator.log
    return s._replace(
        furthest=max(s.furthest, end),
        operator=s.operator._replace(last=last + len(new), log=log + tuple(new)),
        tail=s.tail + tuple((each, last + place) for place, each in enumerate(new, start=1)),
        awaited=s.awaited | set(new),
        rec_done=s.rec_done and not new,
    )


def corrected(s: State, *, undo: bool) -> State:
    """Revoke the tail, and take the operator back."""
    operator = s.operator
    if s.tail:
        last = operator.last - len(operator.log) if undo else operator.checkpoint
        operator = Operator(last, operator.checkpoint)
    return s._replace(condition=STABILIZATION, operator=operator, tail=())


def emitted(s: State, end: int) -> State:
    """Emit complete buckets; when all guesses are corrected, say so."""
    new, last = arrived(s, end), s.operator.last
    is_done = s.condition in {STABILIZATION, FAILURE} and end >= s.furthest
    return s._replace(
        begin=end,
        operator=s.operator._replace(last=last + len(new)),
        prefix=s.prefix + tuple((each, last + place) for place, each in enumerate(new, start=1)),
        awaited=s.awaited - set(new),
        condition=STABLE if is_done else s.condition,
        rec_done=s.rec_done or is_done,
    )


def crashed(s: State, present: int) -> State:
    """Lose what is not in the prefix, and read it again; until the present all is to be rebuilt."""
    is_whole, kept = s.begin >= present, len(s.prefix)
    return s._replace(
        read=(2 * s.begin,) * len(s.read),
        failures=s.failures - 1,
        condition=STABLE if is_whole else FAILURE,
        furthest=present,
        operator=Operator(kept, kept),
        tail=(),
        rec_done=s.rec_done or is_whole,
    )


def arrived(s: State, end: int) -> list[Tuple]:
    """List the tuples from the checkpoint to an end that have been read, in order."""
    buckets, streams = range(s.begin, end), range(len(s.read))
    return [(b, a) for b in buckets for a in streams if s.read[a] > 2 * b]


def changed(parts: tuple, index: int, value: object) -> tuple:
    """Return a tuple that differs at one place."""
    return (*parts[:index], value, *parts[index + 1 :])
