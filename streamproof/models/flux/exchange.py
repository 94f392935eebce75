"""An exchange of two operators on two nodes, each of which hosts primaries and secondaries.

Beyond `flux.py`
----------------
* Each node hosts one copy of every partition: of the first one the primary on the first node, of
  the second one the primary on the second node, and so on. A node fails as a whole, so in each lane
  a producer copy and a consumer copy fail at once, which may feed each other or not.
* The copies of a node are replaced one partition at a time, while the others go on. The next
  failure comes when all are replaced.

How far it is searched
----------------------
Lanes meet in failures and repairs alone, so that states multiply with each. Two lanes with acks are
searched in half a minute (``--set sources=2 --set acks=1``, 13.8 million states), and two operators
of two partitions each without acks, for safety, in a minute (``--set sources=2 --set sinks=2
--set acks=0 --safety``, 82 million). With acks they are walked through, and proven for any number
of lanes.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

from streamproof.lang import Domain, Element, Map, action, exists, forall, require, sometimes
from streamproof.models.flux.lanes import exchange
from streamproof.models.flux.pairs import Pairs
from streamproof.models.flux.state import Copy, Lane, Partition, State
from streamproof.protocols import flux as protocol
from streamproof.protocols.flux import Producer


class Node(Element):
    """A machine that hosts a copy of every partition."""


@dataclass(frozen=True)
class FluxExchange(Pairs):
    """Lanes between partitions that share two nodes.

    Attributes
    ----------
    hosted : which copy of a partition a node hosts
    """

    machine = protocol

    protocol_name: ClassVar[str] = "flux"
    sizes: ClassVar[dict[str, dict[str, Any]]] = {
        "small": {"sources": 1, "sinks": 1, "acks": 1},
        "two_sources": {"sources": 2, "sinks": 1, "acks": 0},
        "two_sinks": {"sources": 1, "sinks": 2, "acks": 0},
    }

    nodes: Domain[Node]
    hosted: Map[tuple[Node, Partition], Copy]

    @classmethod
    def sized(
        cls, *, sources: int = 1, sinks: int = 1, tuples: int = 1, failures: int = 1, acks: int = 2
    ) -> Self:
        """Build the model of a size.

        Parameters
        ----------
        sources, sinks : partitions of the two operators
        tuples : of each lane
        failures : of nodes
        acks : that may be under way at a time
        """
        fields = exchange(
            sources=sources,
            sinks=sinks,
            tuples=tuples,
            source_failures=failures,
            sink_failures=failures,
            repairs=True,
            acks=acks,
        )
        nodes = Domain(Node, 2)
        hosted = Map.build(nodes, fields["partitions"], lambda n, p: Copy((n.index + p.index) % 2))
        return cls(**fields, nodes=nodes, hosted=hosted)

    @action
    def fail(self, s: State, n: Node) -> State:
        """A node fails, with the copies that it hosts; their twins take over in all lanes."""
        require(forall(s.up, lambda p, c: s.up[p, c]))
        require(exists(self.partitions, lambda p: s.failures[p] > 0))  # all have as many left
        fresh, lose = self.machine.initial_producer, self.machine.on_consumer_failure
        take_over = self.machine.on_twin_failure

        def told(x: Lane, o: Copy, producer: Producer[Copy]) -> Producer[Copy]:
            source, sink = self.hosted[n, self.source[x]], self.hosted[n, self.sink[x]]
            if o == source:
                return fresh(Map.fill(self.copies, False))
            left, _ = lose(producer, sink)
            return take_over(left, source, source != sink)[0]

        return self.reconnected(
            replace(
                self.without(s, lambda p, c: c == self.hosted[n, p]),
                failures=s.failures.map(lambda left: left - 1),
            ),
            s.producers.map_items(told),
        )

    @sometimes
    def a_node_is_whole_again(self, s: State) -> bool:
        """The search sees that all copies of a failed node were replaced."""
        return exists(self.partitions, lambda p: s.failures[p] < self.may_fail[p]) and forall(
            s.up, lambda p, c: s.up[p, c]
        )


MODEL = FluxExchange
