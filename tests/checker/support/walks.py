"""Tiny models for tests of the engine: walks on a directed graph, and a counter."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Annotated

from streamproof.lang import Domain, Element, require
from streamproof.lang.model import Model, action, always, every_step, init, sometimes
from streamproof.lang.sorts import Range


class Node(Element):
    """A node of the graph; the model's whole state."""


@dataclass(frozen=True)
class Walk(Model[Node]):
    """From node to node along edges; tests add the properties."""

    nodes: Domain[Node]
    edges: frozenset[tuple[int, int]]
    starts: tuple[int, ...] = (0,)

    @init
    def start(self) -> Node:
        raise NotImplementedError  # `initial_states` says where walks start

    def initial_states(self) -> Iterator[Node]:
        return (Node(index) for index in self.starts)

    @action
    def go(self, now: Node, to: Node) -> Node:
        require((now.index, to.index) in self.edges)
        return to


def walk(kind: type[Walk], *edges: tuple[int, int], size: int = 0, starts: tuple[int, ...] = (0,)):
    """Make a walk on the graph of these edges."""
    known = max([size - 1, *starts, *(node for edge in edges for node in edge)])
    return kind(Domain(Node, known + 1), frozenset(edges), starts)


@dataclass(frozen=True)
class Count:
    """The state of a counter."""

    value: Annotated[int, Range(0, "most")]
    parity: bool = False


@dataclass(frozen=True)
class Counter(Model[Count]):
    """Counts up to `most`, then starts again."""

    most: int
    sizes = {"default": {"most": 3}, "large": {"most": 50}}

    @init
    def start(self) -> Count:
        return Count(0)

    @action
    def up(self, now: Count) -> Count:
        require(now.value < self.most)
        return replace(now, value=now.value + 1, parity=not now.parity)

    @action
    def reset(self, now: Count) -> Count:
        require(now.value == self.most)
        return Count(0)


class Sound(Counter):
    """A counter of which everything holds that is said."""

    @always
    def in_range(self, now: Count) -> bool:
        return 0 <= now.value <= self.most

    @every_step
    def parity_turns(self, before: Count, after: Count) -> bool:
        return before.parity != after.parity or after.value == 0

    @sometimes
    def gets_to_the_top(self, now: Count) -> bool:
        return now.value == self.most
