"""An independent count: replicas and subscribers on real queues; it imports nothing of ours.

A replica is its condition, how much it has emitted and guessed, what it keeps and who has what. A
subscriber has a queue of messages, which are plain tuples. What a feed does is worked out here from
the text of the protocol: UNDO, what is lacking, guesses, and UNDO again.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from tests.models.support.exploration import Counts, explore

GOOD, GUESSING, CORRECTING, CRASHED = 0, 1, 2, 3


class Replica(NamedTuple):
    """One replica of the upstream neighbour."""

    condition: int
    kept_from: int
    stable: int
    guesses: int
    acked: tuple[int, ...]


class Reader(NamedTuple):
    """One subscriber: what it has, what it reads, and what it has asked for.

    Attributes
    ----------
    reads : the replica at the other end, what that will send next, how many guesses it has sent,
        whether it owes an UNDO, the queue, and how many messages were ever in it
    closed : the replica that it read last; only there because the model remembers it too
    """

    source: int
    stable: int
    guesses: int
    reads: tuple[int, int, int, bool, tuple[Any, ...], int] | None
    closed: int
    asks: int | None


class State(NamedTuple):
    """Everything."""

    failures: int
    replicas: tuple[Replica, ...]
    readers: tuple[Reader, ...]


class Setting(NamedTuple):
    """How many of each."""

    upstreams: int
    subscribers: int
    tuples: int
    failures: int


def put(items, index, value):
    return (*items[:index], value, *items[index + 1 :])


def with_replica(s: State, u: int, **fields) -> State:
    return s._replace(replicas=put(s.replicas, u, s.replicas[u]._replace(**fields)))


def with_reader(s: State, d: int, **fields) -> State:
    return s._replace(readers=put(s.readers, d, s.readers[d]._replace(**fields)))


def starts(setting: Setting) -> Iterator[State]:
    nobody = (0,) * setting.subscribers
    for u in range(setting.upstreams):
        replicas = (Replica(GOOD, 0, 0, 0, nobody),) * setting.upstreams
        readers = (Reader(u, 0, 0, None, u, None),) * setting.subscribers
        yield State(setting.failures, replicas, readers)


def successors(s: State, tuples: int) -> Iterator[State]:
    for u in range(len(s.replicas)):
        yield from at_replica(s, u, tuples)
    for d, reader in enumerate(s.readers):
        yield from asks(s, d, reader)
        if reader.reads is not None:
            yield from sends(s, d, reader)
            yield from receives(s, d, reader)
            if s.failures:
                yield cut(s, d)._replace(failures=s.failures - 1)
        for u, replica in enumerate(s.replicas):
            for known in range(1, reader.stable + 1):
                acked = put(replica.acked, d, max(replica.acked[d], known))
                yield with_replica(s, u, acked=acked)


def cut(s: State, d: int) -> State:
    reader = s.readers[d]
    last = reader.closed if reader.reads is None else reader.reads[0]
    return with_reader(s, d, reads=None, closed=last, asks=None)


def at_replica(s: State, u: int, tuples: int) -> Iterator[State]:
    replica = s.replicas[u]
    yield from crashes(s, u, replica)
    if replica.condition == CRASHED:
        yield with_replica(s, u, condition=GOOD)
    elif replica.condition != GUESSING:
        if replica.stable < tuples:
            yield with_replica(s, u, stable=replica.stable + 1)
        if s.failures:
            yield with_replica(s, u, condition=GUESSING)._replace(failures=s.failures - 1)
    else:
        if replica.stable + replica.guesses < tuples:
            yield with_replica(s, u, guesses=replica.guesses + 1)
        corrected = with_replica(s, u, condition=CORRECTING, guesses=0)
        for d, reader in enumerate(s.readers):
            if reader.reads is not None and reader.reads[0] == u and reader.reads[2]:
                reads = (*reader.reads[:3], True, *reader.reads[4:])
                corrected = with_reader(corrected, d, reads=reads)
        yield corrected
    if replica.condition == CORRECTING:
        yield with_replica(s, u, condition=GOOD)
    for _ in [d for d in replica.acked if d == min(replica.acked) > replica.kept_from]:
        yield with_replica(s, u, kept_from=min(replica.acked))


def crashes(s: State, u: int, replica: Replica) -> Iterator[State]:
    if s.failures and replica.condition != CRASHED:
        crashed = with_replica(s, u, condition=CRASHED, guesses=0)
        for d, reader in enumerate(s.readers):
            reads = reader.reads is not None and reader.reads[0] == u
            if reads or (reader.asks is not None and reader.source == u):
                crashed = cut(crashed, d)
        yield crashed._replace(failures=s.failures - 1)


def asks(s: State, d: int, reader: Reader) -> Iterator[State]:
    if reader.asks is not None and s.replicas[reader.source].condition != CRASHED:
        reads = (reader.source, reader.asks, 0, True, (), 0)
        yield with_reader(s, d, reads=reads, closed=reader.source, asks=None)
        return
    best = min(replica.condition for replica in s.replicas)
    for u, replica in enumerate(s.replicas):
        worth = reader.reads is None or s.replicas[reader.source].condition > best
        if replica.condition == best and worth:
            yield with_reader(s, d, source=u, asks=reader.stable)


def sends(s: State, d: int, reader: Reader) -> Iterator[State]:
    assert reader.reads is not None
    u, number, guesses, owes, queue, count = reader.reads
    replica = s.replicas[u]
    if owes:
        queue = (*queue, ("undo", number))
        yield with_reader(s, d, reads=(u, number, 0, False, queue, count + 1))
        return
    first = max(number, replica.kept_from)
    if guesses == 0 and first < replica.stable:
        queue = (*queue, ("stable", first))
        yield with_reader(s, d, reads=(u, first + 1, 0, False, queue, count + 1))
    elif number == replica.stable and guesses < replica.guesses:
        queue = (*queue, ("guess", number, guesses))
        yield with_reader(s, d, reads=(u, number, guesses + 1, False, queue, count + 1))


def receives(s: State, d: int, reader: Reader) -> Iterator[State]:
    assert reader.reads is not None
    u, number, guesses, owes, queue, count = reader.reads
    if not queue:
        return
    head, *rest = queue
    s = with_reader(s, d, reads=(u, number, guesses, owes, tuple(rest), count))
    if head[0] == "undo":
        yield with_reader(s, d, guesses=0)
    elif head[1] != reader.stable:
        yield s
    elif head[0] == "stable":
        yield with_reader(s, d, stable=reader.stable + 1)
    else:
        yield with_reader(s, d, guesses=reader.guesses + 1)


def count(setting: Setting) -> Counts:
    """Count the states of replicas and their subscribers."""
    return explore(starts(setting), lambda state: successors(state, setting.tuples))
