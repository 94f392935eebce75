"""Channel graphs: which processes a model connects."""

from __future__ import annotations

from enum import Enum
from typing import Any

from streamproof.lang import Domain, Map


class Graph(Enum):
    """A family of directed graphs without loops at one process."""

    COMPLETE = "complete"
    """Every process to every other."""
    RING = "ring"
    """Every process to the next, the last to the first."""
    CHAIN = "chain"
    """Every process to the next."""
    DAG = "dag"
    """Every process to all later ones."""
    FAN_IN = "fan_in"
    """Every process to the last."""
    FAN_OUT = "fan_out"
    """The first process to every other."""
    CYCLE_WITH_TAIL = "cycle_with_tail"
    """A chain whose last process also feeds the second: a source that feeds a cycle."""


def channels_of(graph: Graph, processes: Domain[Any]) -> Map[tuple[Any, Any], bool]:
    """Return the channel relation of a graph.

    Parameters
    ----------
    processes : elements with an `index`
    """
    last = len(processes) - 1

    def channel(p: Any, q: Any) -> bool:
        if p is q:
            return False
        match graph:
            case Graph.COMPLETE:
                return True
            case Graph.RING:
                return bool(q.index == (p.index + 1) % (last + 1))
            case Graph.CHAIN:
                return bool(q.index == p.index + 1)
            case Graph.DAG:
                return bool(q.index > p.index)
            case Graph.FAN_IN:
                return bool(q.index == last)
            case Graph.FAN_OUT:
                return bool(p.index == 0)
            case Graph.CYCLE_WITH_TAIL:
                return bool(q.index == p.index + 1 or (p.index == last and q.index == 1))

    return Map.build(processes, processes, channel)
