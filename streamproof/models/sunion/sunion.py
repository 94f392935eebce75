"""SUNION at several replicas, each of which reads the same streams at its own pace.

What is abstracted away, and why that is sound
----------------------------------------------
* All logs are written before anything is read. A log is persistent, so a replica cannot tell
  whether the entry that it reads was written long ago or just now.
* A boundary stands where a bucket begins. Within a bucket it would promise no more, since a machine
  receives buckets.
* Payloads are left out: where a tuple comes out depends on its key alone.
* An output says which tuples came out, and which of two came first (`output.py`).

Sources may break their promise here. A tuple behind a boundary that excludes it is late, at one
replica as at the other, so that replicas agree even then.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, Any, ClassVar, TypeAlias, assert_never

from streamproof.lang import (
    Domain,
    Element,
    Fairness,
    Map,
    Range,
    action,
    always,
    every_step,
    exists,
    final,
    forall,
    implies,
    init,
    leads_to,
    require,
    sometimes,
)
from streamproof.models.sunion.output import Output
from streamproof.models.sunion.source_log import (
    Entry,
    Kind,
    Logs,
    SourceModel,
    Stream,
    World,
    source_fields,
)
from streamproof.protocols import sunion as protocol
from streamproof.protocols.sunion import (
    EmitStable,
    Serializer,
    SerializerStep,
    initial_serializer,
    is_complete,
)

Machine: TypeAlias = Serializer[Stream]
MachineStep: TypeAlias = SerializerStep[Stream]


class Replica(Element):
    """A replica of the node that merges the streams."""


class Bucket(Element):
    """A bucket up to which a replica may emit."""


@dataclass(frozen=True, slots=True)
class Node:
    """One replica.

    Attributes
    ----------
    read : per stream, how many entries of its log
    buffer : the tuples that wait until their bucket is complete
    boundary : the boundary behind the output, which is the first bucket of which nothing is out
    """

    serializer: Machine
    read: Map[Stream, Annotated[int, Range(0, "length_max")]]
    buffer: Map[Entry, bool]
    output: Output
    boundary: Annotated[int, Range(0, "buckets_max")]


@dataclass(frozen=True, slots=True)
class System:
    """The logs of all streams, and the replicas that read them."""

    logs: Logs
    nodes: Map[Replica, Node]


@dataclass(frozen=True)
class Sunion(SourceModel[System]):
    """Replicas that merge streams.

    Attributes
    ----------
    end : of a bucket, the number of the next one
    """

    protocol_name: ClassVar[str] = "sunion"
    machine = protocol
    """The protocol that is checked. A mutant replaces some of its functions."""

    replicas: Domain[Replica]
    buckets: Domain[Bucket]
    end: Map[Bucket, int]

    sizes: ClassVar[dict[str, dict[str, Any]]] = {
        "small": {"lengths": (2, 1), "buckets": 1},
        "default": {"lengths": (2, 2), "buckets": 2},
        "large": {"lengths": (3, 2), "buckets": 2, "width": 2},
        "three_streams": {"lengths": (2, 2, 1), "buckets": 1, "width": 2},
        "three_replicas": {"lengths": (2, 2), "buckets": 1, "width": 2, "replicas": 3},
    }

    @classmethod
    def sized(
        cls,
        *,
        lengths: tuple[int, ...] = (2, 2),
        buckets: int = 2,
        width: int = 1,
        replicas: int = 2,
    ) -> Sunion:
        """Build the model of a size.

        Parameters
        ----------
        lengths, buckets, width : as in `source_fields`
        replicas : number of replicas
        """
        domain = Domain(Bucket, buckets)
        return cls(
            **source_fields(lengths, buckets, width),
            replicas=Domain(Replica, replicas),
            buckets=domain,
            end=Map.build(domain, lambda b: b.index + 1),
        )

    def precedes(self, s: System, node: Node, x: Entry, y: Entry) -> bool:
        """Ask the protocol which of two tuples comes out first; it does not look at the node."""
        del node
        return self.machine.precedes(self.key(s.logs, x), self.key(s.logs, y))

    # ----------------------------------------------------------------------- behaviour

    @init
    def start(self, w: World) -> System:
        """Everything has been written, and nothing has been read."""
        nothing = Map.fill(self.entries, False)
        node = Node(
            serializer=initial_serializer(self.streams, 0),
            read=Map.fill(self.streams, 0),
            buffer=nothing,
            output=Output(nothing, Map.fill(self.entries, self.entries, False)),
            boundary=0,
        )
        return System(
            logs=Map.build(self.entries, lambda e: self.may_be_written[w, e]),
            nodes=Map.fill(self.replicas, node),
        )

    @action(fairness=Fairness.WEAK)
    def read(self, s: System, r: Replica, e: Entry) -> System:
        """Replica r reads the next entry of a log."""
        node, stream = s.nodes[r], self.stream[e]
        require(self.is_next(node, e))
        node = replace(node, read=node.read.set(stream, node.read[stream] + 1))
        return replace(s, nodes=s.nodes.set(r, self.receive(s, node, e)))

    def is_next(self, node: Node, e: Entry) -> bool:
        """Return whether all entries ahead of this one are read. Here is where order is assumed."""
        return self.position[e] == node.read[self.stream[e]]

    def has_read(self, node: Node, e: Entry) -> bool:
        """Return whether a replica has read an entry."""
        return self.position[e] < node.read[self.stream[e]]

    def receive(self, s: System, node: Node, e: Entry) -> Node:
        """Step the machine by a boundary; buffer a tuple, unless it is late."""
        stream, written = self.stream[e], s.logs[e]
        if written.kind == Kind.BOUNDARY:
            serializer, _ = self.machine.on_boundary(node.serializer, stream, written.bucket)
            return replace(node, serializer=serializer)
        if self.machine.is_late(node.serializer, stream, written.bucket):
            return node
        return replace(node, buffer=node.buffer.set(e, True))

    @action(fairness=Fairness.WEAK)
    def emit(self, s: System, r: Replica, b: Bucket) -> System:
        """Replica r emits everything up to bucket b, which is complete."""
        node = s.nodes[r]
        serializer, effects = self.machine.emit(node.serializer, self.end[b])
        node = self.carry_out(s, replace(node, serializer=serializer), effects)
        return replace(s, nodes=s.nodes.set(r, node))

    def carry_out(self, s: System, node: Node, effects: tuple[EmitStable, ...]) -> Node:
        """Do for a replica what its machine asks for, as a binding does with rows."""
        for effect in effects:
            match effect:
                case EmitStable(begin, end):
                    assert begin == node.boundary  # no bucket comes out twice, and none is left out
                    node = self.emit_stable(s, node, begin, end)
                case _:
                    assert_never(effect)
        return node

    def emit_stable(self, s: System, node: Node, begin: int, end: int) -> Node:
        """Move the tuples of some buckets from the buffer to the end of the output, in order."""

        def is_due(e: Entry) -> bool:
            return node.buffer[e] and begin <= s.logs[e].bucket < end

        return replace(
            node,
            buffer=node.buffer.map_items(lambda e, waits: waits and not is_due(e)),
            output=node.output.append(is_due, lambda x, y: self.precedes(s, node, x, y)),
            boundary=end,
        )

    # ----------------------------------------------------------------------- properties

    def merge(self, s: System) -> Output:
        """Return the right merge, which the logs alone decide."""
        return Output(
            contains=Map.build(self.entries, lambda e: self.is_merged(s.logs, e)),
            before=Map.build(self.entries, self.entries, lambda x, y: self.is_before(s.logs, x, y)),
        )

    def is_before(self, logs: Logs, x: Entry, y: Entry) -> bool:
        """Return whether a tuple is before another by time, then stream, then position."""
        if logs[x].time != logs[y].time:
            return logs[x].time < logs[y].time
        if self.stream[x] != self.stream[y]:
            return self.number[self.stream[x]] < self.number[self.stream[y]]
        return self.position[x] < self.position[y]

    @always
    def output_is_a_prefix_of_the_merge(self, s: System) -> bool:
        """P1: each replica emits the right merge, as far as it has come."""
        merge = self.merge(s)
        return forall(self.replicas, lambda r: s.nodes[r].output.is_prefix_of(merge))

    @always
    def replicas_agree(self, s: System) -> bool:
        """P2: of two outputs, one begins with the other."""
        output = s.nodes.map(lambda node: node.output)
        return forall(
            self.replicas,
            self.replicas,
            lambda q, r: output[q].is_prefix_of(output[r]) or output[r].is_prefix_of(output[q]),
        )

    @always
    def nothing_is_lost(self, s: System) -> bool:
        """Of disciplined sources, every tuple of a bucket that was emitted is out."""
        return forall(
            self.replicas,
            self.entries,
            lambda r, e: implies(
                s.logs[e].bucket < s.nodes[r].serializer.emitted
                and self.is_tuple(s.logs, e)
                and self.is_disciplined(s.logs, self.stream[e]),
                s.nodes[r].output.contains[e],
            ),
        )

    @always
    def nothing_comes_twice(self, s: System) -> bool:
        """No tuple comes out before itself."""
        return forall(
            self.replicas, self.entries, lambda r, e: not s.nodes[r].output.has_before(e, e)
        )

    @every_step
    def output_only_grows(self, before: System, after: System) -> bool:
        """What has come out stays, and what comes out later is behind it."""
        return forall(
            self.replicas, lambda r: before.nodes[r].output.is_prefix_of(after.nodes[r].output)
        )

    @leads_to
    def complete_buckets_come_out(self, s: System, r: Replica, b: Bucket) -> tuple[bool, bool]:
        """Where all logs have a boundary behind a bucket, each replica emits it."""
        merge, output = self.merge(s), s.nodes[r].output

        def is_behind(e: Entry) -> bool:
            return s.logs[e].bucket >= self.end[b]

        return forall(
            self.streams,
            lambda t: exists(
                self.entries,
                lambda e: self.stream[e] == t and s.logs[e].kind == Kind.BOUNDARY and is_behind(e),
            ),
        ), forall(
            self.entries,
            lambda e: implies(merge.contains[e] and not is_behind(e), output.contains[e]),
        )

    @sometimes
    def every_replica_finishes(self, s: System) -> bool:
        """Everything that the sources wrote comes out everywhere."""
        return exists(self.entries, lambda e: self.is_tuple(s.logs, e)) and forall(
            self.replicas,
            self.entries,
            lambda r, e: implies(self.is_tuple(s.logs, e), s.nodes[r].output.contains[e]),
        )

    @sometimes
    def replicas_are_at_different_places(self, s: System) -> bool:
        """Something has come out at one replica and not yet at another."""
        output = s.nodes.map(lambda node: node.output)
        return exists(
            self.replicas,
            self.replicas,
            self.entries,
            lambda q, r, e: output[q].contains[e] and not output[r].contains[e],
        )

    @sometimes
    def a_tuple_is_late(self, s: System) -> bool:
        """A replica has read a tuple that it has not accepted."""
        return exists(
            self.replicas,
            self.entries,
            lambda r, e: (
                self.is_tuple(s.logs, e)
                and self.has_read(s.nodes[r], e)
                and not (s.nodes[r].buffer[e] or s.nodes[r].output.contains[e])
            ),
        )

    @final
    def nothing_is_left(self, s: System) -> bool:
        """All logs are read, and every complete bucket is emitted."""
        serializer = s.nodes.map(lambda node: node.serializer)
        return forall(
            self.replicas, self.entries, lambda r, e: self.has_read(s.nodes[r], e)
        ) and forall(
            self.replicas,
            self.buckets,
            lambda r, b: implies(
                is_complete(serializer[r], self.end[b]), serializer[r].emitted >= self.end[b]
            ),
        )


MODEL = Sunion
