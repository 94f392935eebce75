"""An independent count: DPC nodes in a chain, with a clock, on lists, importing nothing of ours.

The first node hears two sources, each other node hears the one before it. What a node has put out
is a word for each bucket. Where this counts as many states as `models/dpc/chain.py`, both
understood in the same way how long who has to wait.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from tests.models.independent_dpc import DELAY, PROCESS, STABILIZATION, STABLE, SUSPEND, UP_FAILURE
from tests.models.support.exploration import Counts, explore

NOTHING, GUESS, FINAL = "nothing", "guess", "final"


class Node(NamedTuple):
    """A node: up to which bucket each input has come, and what of each bucket is out since when."""

    heard: tuple[int, ...]
    out: tuple[str, ...]
    since: tuple[int | None, ...]
    condition: str = STABLE
    begin: int = 0  # the first bucket that is not out for good
    furthest: int = 0  # the first one behind all that ever were guesses

    @property
    def whole(self) -> int:
        """The first bucket that an input has not passed."""
        return min(self.heard)


class State(NamedTuple):
    """A global state; `last` is when the source that may stall last fell silent."""

    policy: str
    stalls: int
    nodes: tuple[Node, ...]
    clock: int = 0
    silent: bool = False
    last: int = 0
    was_long: bool = False


class Size(NamedTuple):
    """How large the chain is, and for how many ticks a node waits."""

    hops: int = 2
    buckets: int = 2
    wait: int = 2
    stalls: int = 1

    @property
    def end(self) -> int:
        """When the clock stops."""
        return self.buckets + 2 * self.wait + 1


def count(size: Size) -> Counts:
    """Count the states of a chain under each policy."""
    blank = ((NOTHING,) * size.buckets, (None,) * size.buckets)
    nodes = (Node((0, 0), *blank), *(Node((0,), *blank) for _ in range(size.hops - 1)))
    starts = [State(policy, size.stalls, nodes) for policy in (PROCESS, DELAY, SUSPEND)]
    return explore(starts, lambda state: steps(state, size))


def steps(s: State, size: Size) -> Iterator[State]:
    """List what may happen next."""
    if s.silent:
        yield s._replace(silent=False)
    elif s.stalls:
        yield s._replace(silent=True, last=s.clock, stalls=s.stalls - 1)
    is_calm = True
    for hop, node in enumerate(s.nodes):
        for stream, (old, new) in enumerate(zip(node.heard, said_to(s, hop), strict=True)):
            if old < new:
                is_calm = False
                heard = (*node.heard[:stream], new, *node.heard[stream + 1 :])
                yield with_node(s, hop, node._replace(heard=heard))
        is_calm = is_calm and not any(owes(s, hop, bucket, size) for bucket in range(size.buckets))
        yield from outputs(s, hop, size)
    if is_calm and s.clock < size.end:
        long = s.was_long or (s.silent and s.clock + 1 - s.last >= size.wait)
        yield s._replace(clock=s.clock + 1, was_long=long)


def said_to(s: State, hop: int) -> tuple[int, ...]:
    """Give up to which bucket the inputs of a node have come, whether it has heard it or not."""
    if hop:
        return (s.nodes[hop - 1].begin,)
    return (s.clock, s.last if s.silent else s.clock)


def has(s: State, hop: int, bucket: int) -> bool:
    """Return whether a node has got the tuple of a bucket."""
    return s.nodes[hop - 1].out[bucket] != NOTHING if hop else bucket <= s.clock


def is_overdue(s: State, bucket: int, size: Size) -> bool:
    """Return whether a bucket, over at the next one's begin, has waited since as long as it may."""
    return s.clock - (bucket + 1) >= size.wait


def owes(s: State, hop: int, bucket: int, size: Size) -> bool:
    """Return whether a node must put a bucket out before the clock goes on."""
    node = s.nodes[hop]
    if node.condition != UP_FAILURE and bucket < node.whole:
        return bucket >= node.begin
    if not has(s, hop, bucket) or node.out[bucket] != NOTHING:
        return False
    if node.condition == UP_FAILURE and s.policy != DELAY:
        return s.policy == PROCESS
    return is_overdue(s, bucket, size)


def outputs(s: State, hop: int, size: Size) -> Iterator[State]:
    """List what a node may put out or take back."""
    node = s.nodes[hop]
    for bucket in range(node.begin, size.buckets):
        if node.condition != UP_FAILURE and bucket < node.whole:
            out = put(s, hop, bucket, FINAL)
            is_done = node.condition == STABLE or bucket + 1 >= node.furthest
            condition = STABLE if is_done else node.condition
            yield shown(s, hop, node._replace(out=out, begin=bucket + 1, condition=condition))
        if has(s, hop, bucket) and node.out[bucket] == NOTHING:
            if is_overdue(s, bucket, size) and may_stop_waiting(s.policy, node, bucket):
                yield guess(s, hop, bucket)
            if node.condition == UP_FAILURE and s.policy == PROCESS:
                yield guess(s, hop, bucket)
        later = range(bucket + 1, size.buckets)
        is_right = bucket < node.whole and not any(is_overdue(s, other, size) for other in later)
        if node.condition == UP_FAILURE and is_right:
            out = tuple(NOTHING if word == GUESS else word for word in node.out)
            yield with_node(s, hop, node._replace(out=out, condition=STABILIZATION))


def may_stop_waiting(policy: str, node: Node, bucket: int) -> bool:
    """Return whether a node may guess a bucket that is overdue."""
    if node.condition == UP_FAILURE:
        return policy != SUSPEND
    return node.whole <= (node.begin if node.condition == STABLE else bucket)


def guess(s: State, hop: int, bucket: int) -> State:
    """Put out what there is, up to a bucket."""
    node = s.nodes[hop]
    furthest = max(node.furthest, bucket + 1)
    failed = node._replace(condition=UP_FAILURE, furthest=furthest)
    return shown(s, hop, failed._replace(out=put(s, hop, bucket, GUESS)))


def put(s: State, hop: int, last: int, word: str) -> tuple[str, ...]:
    """Return a word of the buckets up to a node's last one, and of which nothing is out."""
    return tuple(
        word if bucket <= last and old == NOTHING and has(s, hop, bucket) else old
        for bucket, old in enumerate(s.nodes[hop].out)
    )


def shown(s: State, hop: int, node: Node) -> State:
    """Note when something of a bucket was out for the first time."""
    words = zip(node.out, node.since, strict=True)
    since = tuple(s.clock if old is None and word != NOTHING else old for word, old in words)
    return with_node(s, hop, node._replace(since=since))


def with_node(s: State, hop: int, node: Node) -> State:
    """Put a node into its place."""
    return s._replace(nodes=(*s.nodes[:hop], node, *s.nodes[hop + 1 :]))
