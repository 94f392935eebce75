"""Mean time to failure of two ways to make a partitioned dataflow redundant [SHB04, section 2].

A *pair of dataflows* runs every partition twice, but a copy of the dataflow that has lost one node
is lost as a whole. *Pairs of partitions* take over and are replaced one by one, as
`protocols/flux.py` has it. Both are Markov chains: a node fails after a time that is exponentially
distributed, and so is the time until what has failed is replaced, which includes catch-up. The
dataflow has failed when both copies of something are down.

Any unit of time will do, if it is the same everywhere.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from streamproof.lang import StreamproofError

Rates: TypeAlias = NDArray[np.floating[Any]]
"""How often a chain goes from one working state to another, or from one to failure."""
PARTITIONS_MAX = 2_000
"""Of a chain with as many states as partitions; its matrix then has 32 MB."""


class NoChain(StreamproofError, ValueError):
    """Numbers with which no dataflow can be described."""


@dataclass(frozen=True, slots=True)
class Cluster:
    """A dataflow on nodes that fail.

    Attributes
    ----------
    partitions : of each copy of the dataflow; each is on a node of its own
    node_mttf : the mean time until a node fails
    repair : the mean time until a copy of a partition is replaced and has caught up
    dataflow_repair : the same of a copy of the whole dataflow
    """

    partitions: int
    node_mttf: float
    repair: float
    dataflow_repair: float

    def __post_init__(self) -> None:
        if not 1 <= self.partitions <= PARTITIONS_MAX:
            raise NoChain(
                f"{self.partitions:,} partitions were asked for, and the chain has a state for "
                f"each. Give 1 to {PARTITIONS_MAX:,}"
            )
        times = {
            "node_mttf": self.node_mttf,
            "repair": self.repair,
            "dataflow_repair": self.dataflow_repair,
        }
        for name, time in times.items():
            if not 0 < time < float("inf"):
                raise NoChain(f"{name} is {time}, which is no mean time. Give a positive number")


def of_partition_pairs(cluster: Cluster) -> float:
    """Return the mean time until both copies of some partition are down.

    In state k, k partitions have one copy. Each gets its other one back on its own.
    """
    count, fails, heals = cluster.partitions, 1 / cluster.node_mttf, 1 / cluster.repair
    states = np.arange(count + 1)
    lost, replaced = 2 * fails * (count - states), heals * states
    rates = np.diag(lost[:-1], 1) + np.diag(replaced[1:], -1)
    return _time_to_failure(rates, fatal=fails * states)


def of_dataflow_pair(cluster: Cluster) -> float:
    """Return the mean time until both copies of the whole dataflow are down.

    Any node's failure takes its copy of the dataflow down, until all of that is replaced.
    """
    fails, heals = cluster.partitions / cluster.node_mttf, 1 / cluster.dataflow_repair
    rates = np.array([[0, 2 * fails], [heals, 0]])
    return _time_to_failure(rates, fatal=np.array([0, fails]))


def about_partition_pairs(cluster: Cluster) -> float:
    """Estimate `of_partition_pairs` where repair is short: m^2 / (2 n r)."""
    return cluster.node_mttf**2 / (2 * cluster.partitions * cluster.repair)


def about_dataflow_pair(cluster: Cluster) -> float:
    """Estimate `of_dataflow_pair` where repair is short: m^2 / (2 n^2 r)."""
    return cluster.node_mttf**2 / (2 * cluster.partitions**2 * cluster.dataflow_repair)


def _time_to_failure(rates: Rates, *, fatal: Rates) -> float:
    """Return the mean time from state 0 until a fatal step.

    In each state, the mean time left is the mean stay and what is left from where the chain goes
    then: a linear equation for each state.

    Parameters
    ----------
    rates : from each working state to each other one
    fatal : per working state, the rate of fatal steps
    """
    leaves = rates.sum(axis=1) + fatal
    left = np.linalg.solve(np.diag(leaves) - rates, np.ones(len(rates)))
    return float(left[0])
