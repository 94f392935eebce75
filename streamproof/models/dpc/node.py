"""What models of DPC nodes have in common: streams, buckets, policies, and the node's machine."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Generic, Protocol, TypeVar

from streamproof.lang import Domain, Element, Map, Model, every_step, forall, implies
from streamproof.models.dpc.state import Bucket, Machine, Stream
from streamproof.protocols.dpc import Condition, Policy


class Choice(Element):
    """One of the policies that the user may have chosen; a run keeps to one."""


ALL_POLICIES = tuple(Policy)
S = TypeVar("S")


@dataclass(frozen=True)
class NodeModel(Model[S], Generic[S]):
    """A model of one or more DPC nodes.

    Attributes
    ----------
    number : a bucket's number
    chosen : a choice's policy
    """

    protocol_name: ClassVar[str] = "dpc"

    streams: Domain[Stream]
    buckets: Domain[Bucket]
    choices: Domain[Choice]
    number: Map[Bucket, int]
    chosen: Map[Choice, Policy]


class WithNode(Protocol):
    """A state of a model that has one node."""

    @property
    def policy(self) -> Policy:
        """What the user has chosen."""

    @property
    def node(self) -> Machine:
        """The node's machine."""


N = TypeVar("N", bound=WithNode)


@dataclass(frozen=True)
class OneNodeModel(NodeModel[N], Generic[N]):
    """A model of one DPC node, with what it must do and leave whatever surrounds it."""

    @every_step
    def what_is_complete_is_not_guessed(self, before: N, after: N) -> bool:
        """P6: a STABLE node emits complete buckets as what they are, before it guesses."""
        begins = passes(before.node, after.node, Condition.STABLE, Condition.UP_FAILURE)
        return implies(begins, not has_complete(before.node))

    @every_step
    def a_suspended_node_is_silent(self, before: N, after: N) -> bool:
        """P6: under SUSPEND, nothing more is guessed once a failure has begun."""
        fails_on = passes(before.node, after.node, Condition.UP_FAILURE, Condition.UP_FAILURE)
        is_silent = (
            before.node.tentative == after.node.tentative
            and before.node.reached == after.node.reached
        )
        return implies(before.policy == Policy.SUSPEND and fails_on, is_silent)

    @every_step
    def corrections_are_at_hand(self, before: N, after: N) -> bool:
        """A node revokes nothing before it can give at least a part of it again."""
        begins = passes(before.node, after.node, Condition.UP_FAILURE, Condition.STABILIZATION)
        return implies(begins, has_complete(before.node))


def passes(before: Machine, after: Machine, old: Condition, new: Condition) -> bool:
    """Return whether a step of the node begins in one condition and ends in another."""
    return before.condition == old and after.condition == new


def has_complete(node: Machine) -> bool:
    """Return whether there is a complete bucket that the node has not emitted stable."""
    boundary, emitted = node.serializer.boundary, node.serializer.emitted
    return forall(boundary, lambda stream: boundary[stream] > emitted)


def node_fields(streams: int, buckets: int, policies: tuple[Policy, ...]) -> dict[str, Any]:
    """Return the fields of a model at a size.

    Parameters
    ----------
    streams, buckets : how many there are
    policies : those that the user may have chosen
    """
    some, choices = Domain(Bucket, buckets), Domain(Choice, len(policies))
    return {
        "streams": Domain(Stream, streams),
        "buckets": some,
        "choices": choices,
        "number": Map.build(some, lambda b: b.index),
        "chosen": Map.build(choices, lambda c: policies[c.index]),
    }
