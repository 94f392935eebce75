"""An independent count: replicas ask for permission on real queues; it imports nothing of ours.

A connection is two queues: of requests, releases and the news of a crash in one direction, of
grants in the other. A replica is a plain tuple. Where this and the model count the same states,
facts that stand for queues lose nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from tests.models.support.exploration import Counts, explore

IDLE, WANTS, STABILIZES = "idle", "wants", "stabilizes"
NO, ASKED, HAS, NEEDLESS = "no", "asked", "has", "needless"


class Replica(NamedTuple):
    """One replica; `mine` and `theirs` have an entry for each replica."""

    up: bool
    what: str
    mine: tuple[str, ...]
    theirs: tuple[str, ...]


class State(NamedTuple):
    """All replicas; `forth` and `back` are the queues of the connection from r to q."""

    replicas: tuple[Replica, ...]
    forth: tuple[tuple[tuple[str, ...], ...], ...]
    back: tuple[tuple[tuple[str, ...], ...], ...]


def put(items, index, value):
    return (*items[:index], value, *items[index + 1 :])


def fresh(n: int, *, up: bool) -> Replica:
    return Replica(up, IDLE, (NO,) * n, (NO,) * n)


def start(n: int) -> State:
    empty = (((),) * n,) * n
    return State((fresh(n, up=True),) * n, empty, empty)


def changed(s: State, r: int, **fields) -> State:
    return s._replace(replicas=put(s.replicas, r, s.replicas[r]._replace(**fields)))


def queued(s: State, queues: str, r: int, q: int, items: tuple[str, ...]) -> State:
    old = getattr(s, queues)
    return s._replace(**{queues: put(old, r, put(old[r], q, items))})


def sent(s: State, sender: int, receiver: int, item: str) -> State:
    """Send, unless the receiver is another than it is taken for."""
    if "crash" in s.forth[receiver][sender]:
        return s
    if item != "request" and not s.replicas[receiver].up:
        return s
    if item == "grant":
        return queued(s, "back", receiver, sender, (*s.back[receiver][sender], item))
    return queued(s, "forth", sender, receiver, (*s.forth[sender][receiver], item))


def settled(mine: tuple[str, ...]) -> bool:
    return all(part in (HAS, NEEDLESS) for part in mine)


def successors(s: State, crashing: int) -> Iterator[State]:
    for r, replica in enumerate(s.replicas):
        yield from asks(s, r, replica)
        yield from grants(s, r, replica)
        if not replica.up:
            yield changed(s, r, up=True)
        elif r < crashing:
            yield crashed(s, r)
        for q in range(len(s.replicas)):
            yield from received(s, r, q)


def asks(s: State, r: int, replica: Replica) -> Iterator[State]:
    n = len(s.replicas)
    if replica.up and replica.what == IDLE:
        yield changed(s, r, what=WANTS)
    if replica.what == STABILIZES:
        done = changed(s, r, what=IDLE, mine=(NO,) * n)
        for q in range(n):
            done = sent(done, r, q, "release")
        yield done
    if replica.what == WANTS:
        q = next(q for q in range(n) if replica.mine[q] not in (HAS, NEEDLESS))
        if replica.mine[q] == NO:
            yield sent(changed(s, r, mine=put(replica.mine, q, ASKED)), r, q, "request")


def grants(s: State, r: int, replica: Replica) -> Iterator[State]:
    if HAS not in replica.theirs:
        for q, theirs in enumerate(replica.theirs):
            if theirs == ASKED:
                yield sent(changed(s, r, theirs=put(replica.theirs, q, HAS)), r, q, "grant")


def crashed(s: State, r: int) -> State:
    n = len(s.replicas)
    s = s._replace(replicas=put(s.replicas, r, fresh(n, up=False)))
    for q in range(n):
        news = ("crash",) if q != r and s.replicas[q].up else ()
        s = queued(queued(s, "forth", r, q, news), "back", r, q, ())
        if q != r:
            s = queued(queued(s, "forth", q, r, ()), "back", q, r, ())
    return s


def received(s: State, r: int, q: int) -> Iterator[State]:
    """Receive the heads of the connection from r to q."""
    asker, asked = s.replicas[r], s.replicas[q]
    if s.forth[r][q]:
        head, *tail = s.forth[r][q]
        rest = queued(s, "forth", r, q, tuple(tail))
        if head == "request" and not asked.up:
            yield queued(rest, "forth", q, r, ("crash", *s.forth[q][r]))
        elif head == "request":
            yield changed(rest, q, theirs=put(asked.theirs, r, ASKED))
        elif head == "release":
            yield changed(rest, q, theirs=put(asked.theirs, r, NO))
        else:
            mine = put(asked.mine, r, NEEDLESS) if asked.mine[r] != NO else asked.mine
            what = STABILIZES if asked.mine[r] != NO and settled(mine) else asked.what
            yield changed(rest, q, mine=mine, theirs=put(asked.theirs, r, NO), what=what)
    if s.back[r][q]:
        mine = put(asker.mine, q, HAS)
        what = STABILIZES if settled(mine) else asker.what
        yield changed(queued(s, "back", r, q, s.back[r][q][1:]), r, mine=mine, what=what)


def count(replicas: int, crashing: int) -> Counts:
    """Count the states of replicas, of which so many may crash."""
    return explore([start(replicas)], lambda state: successors(state, crashing))
