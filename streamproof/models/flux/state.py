"""States of a Flux dataflow: the copies of every partition, and what is under way in the lanes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, TypeAlias

from streamproof.lang import Element, Map, Range
from streamproof.protocols.flux import ApplyTuples, Consumer, Producer


class Partition(Element):
    """A partition of an operator, which runs as two copies."""


class Copy(Element):
    """A copy of any partition: one is the primary, the other the secondary."""


class Lane(Element):
    """What leads from one partition to another."""


class Number(Element):
    """A number in an ack: of tuples, or of an incarnation."""


Connection: TypeAlias = tuple[Lane, Copy, Copy]
"""In a lane, from a producer copy to a consumer copy."""
AckKey: TypeAlias = tuple[Lane, Copy, Copy, Number, Number]
"""Of an ack: to which producer copy, from which consumer copy, its incarnation, and its tuples."""
Tuples = Annotated[int, Range(0, "tuples")]
Applications = Annotated[int, Range(0, "applications_max")]


@dataclass(frozen=True, slots=True)
class Applied:
    """What a consumer copy's operator has made of a lane.

    Attributes
    ----------
    count : tuples that were applied to its state
    is_right : they are number 0, 1, 2 and so on, none twice and none left out
    """

    count: Applications
    is_right: bool


def apply(applied: Applied, effect: ApplyTuples) -> Applied:
    """Return what was applied after an effect of the consumer's machine."""
    return Applied(
        applied.count + effect.end - effect.begin,
        # Not `and`, which would fork where a copy was wrong before: that never is the case.
        applied.is_right & (effect.begin == applied.count),
    )


@dataclass(frozen=True, slots=True)
class State:
    """The dataflow.

    Attributes
    ----------
    up : per partition and copy, whether it is running; one that is down has forgotten everything
    failures : per partition, how many may still come
    received : per connection, the next tuple to arrive; 0 where there is none
    acks : which ones are under way
    acks_under_way : how many
    retaining : per partition and copy, whether tuples are retained for a new copy
    """

    up: Map[tuple[Partition, Copy], bool]
    failures: Map[Partition, Annotated[int, Range(0, "failures_max")]]
    producers: Map[tuple[Lane, Copy], Producer[Copy]]
    consumers: Map[tuple[Lane, Copy], Consumer]
    received: Map[Connection, Tuples]
    acks: Map[AckKey, bool]
    acks_under_way: Annotated[int, Range(0, "acks_max")]
    retaining: Map[tuple[Partition, Copy], bool]
    applied: Map[tuple[Lane, Copy], Applied]
