"""Lanes of a Flux dataflow: copies fail, are stood in for, and are replaced.

What is abstracted away, and why that is sound
----------------------------------------------
* Tuples are numbers: that both copies of a producer give the same ones is what `merge_order` is
  about. A consumer copy notes whether it has applied number 0, 1, 2 and so on; then its state is
  that of any other copy that has applied as many.
* When a partition gives a tuple does not depend on what it has applied: it may at any time.
* One tuple is produced, sent and received at a time; a run of them is several such steps.
* A connection is FIFO, so that what is under way is known by two numbers: the next tuple to arrive,
  and the next to be sent.
* Acks may overtake each other, and outlive both ends: of a producer copy that is down, its
  replacement hears them. That is more than can happen, since what they say stays true.
* The controller is left out: a failure is noticed at once, and all that it tells the lanes of a
  partition is one step. A partition's new copy is a copy of the survivor, between two tuples.
* `failures` bounds the failures of each partition, since otherwise there is no end.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

from streamproof.lang import (
    Map,
    action,
    exists,
    require,
)
from streamproof.models.flux.lanes import exchange
from streamproof.models.flux.pairs import Pairs
from streamproof.models.flux.state import Copy, Lane, Number, Partition, State
from streamproof.protocols import flux as protocol
from streamproof.protocols.flux import Producer

__all__ = ["MODEL", "Copy", "Flux", "Lane", "Number", "Partition", "State"]


@dataclass(frozen=True)
class Flux(Pairs):
    """Partitions, of which each runs as two copies, and the lanes between them."""

    machine = protocol

    protocol_name: ClassVar[str] = "flux"
    sizes: ClassVar[dict[str, dict[str, Any]]] = {
        "small": {"tuples": 1, "source_failures": 1, "sink_failures": 1, "acks": 1},
        "default": {"tuples": 1, "source_failures": 1, "sink_failures": 1},
        "two_tuples": {"tuples": 2, "source_failures": 1},
        "two_producer_failures": {"tuples": 1, "source_failures": 2},
        "two_consumer_failures": {"tuples": 1, "source_failures": 1, "sink_failures": 2},
        "no_repair": {"tuples": 1, "source_failures": 1, "repairs": False},
        "no_repair_two_tuples": {"tuples": 2, "source_failures": 1, "repairs": False},
    }

    @classmethod
    def sized(
        cls,
        *,
        sources: int = 1,
        sinks: int = 1,
        tuples: int = 1,
        source_failures: int = 1,
        sink_failures: int = 0,
        repairs: bool = True,
        acks: int = 2,
    ) -> Self:
        """Build an exchange, whose settings `exchange` tells."""
        return cls(
            **exchange(
                sources=sources,
                sinks=sinks,
                tuples=tuples,
                source_failures=source_failures,
                sink_failures=sink_failures,
                repairs=repairs,
                acks=acks,
            )
        )

    @action
    def fail(self, s: State, p: Partition, c: Copy) -> State:
        """A copy of a partition fails, and its twin takes over in all lanes."""
        require(s.up[p, c] and s.failures[p] > 0)
        require(exists(self.copies, lambda o: o != c and s.up[p, o]))
        fresh, lose = self.machine.initial_producer, self.machine.on_consumer_failure
        take_over = self.machine.on_twin_failure

        def told(x: Lane, o: Copy, producer: Producer[Copy]) -> Producer[Copy]:
            if self.source[x] == p:
                if o == c:
                    return fresh(Map.fill(self.copies, False))
                return take_over(producer, c, s.up[self.sink[x], c])[0]
            if self.sink[x] == p:
                return lose(producer, c)[0]
            return producer

        return self.reconnected(
            replace(
                self.without(s, lambda q, o: q == p and o == c),
                failures=s.failures.set(p, s.failures[p] - 1),
            ),
            s.producers.map_items(told),
        )


MODEL = Flux
