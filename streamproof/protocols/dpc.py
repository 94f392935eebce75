"""DPC (delay, process, and correct): a node that stays available while an input fails.

A node merges its streams by a serializer (`sunion`) and is in one of four conditions. While STABLE
it emits complete buckets alone. When an incomplete one has waited as long as the user allows, the
node stops waiting: in UP_FAILURE it emits what there is, as *tentative* tuples. It keeps what it
has read, and its serializer stays where the failure began: that is the checkpoint. Once its inputs
are corrected and the other replicas agree, it goes into STABILIZATION: it revokes the tentative
tuples by UNDO, emits the buckets behind the checkpoint again, complete and in order, and says
REC_DONE when everything that it had guessed is corrected. A node that crashed is in FAILURE until
it has rebuilt its stable state [BBMS08, section 4].

So whoever reads the node's output has a stable prefix that only grows, and behind it a tentative
tail, which is revoked as a whole before the prefix goes on.

A machine works on bucket numbers and counts, never on tuples, and has no clock: a bucket's age
comes in as an event.

Assumptions
-----------
* Operators are deterministic, and go back to a checkpoint or undo what they did
  (mutant `late-checkpoint`).
* A step and its effects are atomic. What is durable is where the serializer stands and how many
  stable tuples there are; the tuples behind that can be read again.
* Links are FIFO: whoever reads the output gets UNDO before the corrections (mutant `no-undo`).

Deviations from the paper
-------------------------
* Operators go back by checkpoint/redo or by undo/redo: both are `TakeCheckpoint` and `Undo` here.
* The paper's SOutput drops stable tuples that are emitted twice. Here none are: what is emitted
  stable moves the checkpoint, also in the middle of corrections.
* A node that crashed revokes whatever it may have sent, instead of waiting to be asked.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum
from typing import Generic, TypeAlias

from streamproof.lang import Map, Step, require
from streamproof.protocols import sunion
from streamproof.protocols.sunion import EmitStable, Serializer, Stream, is_complete


class Condition(Enum):
    """What a node is in, and answers to a keep-alive."""

    STABLE = "stable"
    UP_FAILURE = "up_failure"
    STABILIZATION = "stabilization"
    FAILURE = "failure"
    """It has restarted and rebuilds its state; until then it is as good as silent."""


class Policy(Enum):
    """What happens to the tuples that arrive in UP_FAILURE."""

    PROCESS = "process"
    """They are emitted at once."""
    DELAY = "delay"
    """Each bucket waits again, as long as the user allows."""
    SUSPEND = "suspend"
    """They wait until the inputs are corrected, however long that takes."""


@dataclass(frozen=True, slots=True)
class Node(Generic[Stream]):
    """One node.

    Attributes
    ----------
    serializer : what was emitted stable: where it stands is the checkpoint, and every tuple of the
        buckets behind that is kept
    reached : the first bucket behind all that were ever emitted tentatively
    stable : stable tuples emitted so far, so the stable id of the next one
    tentative : tentative tuples emitted and not revoked
    """

    condition: Condition
    serializer: Serializer[Stream]
    reached: int
    stable: int
    tentative: int


@dataclass(frozen=True, slots=True)
class TakeCheckpoint:
    """Keep the operators' state as it is now, or begin to log how to undo what follows."""


@dataclass(frozen=True, slots=True)
class EmitTentative:
    """Emit what has arrived of some buckets and was not emitted since the checkpoint, as tentative.

    The order is that of `EmitStable`, and there is no boundary at the end.

    Attributes
    ----------
    begin, end : from which bucket on, and the first one behind them
    """

    begin: int
    end: int


@dataclass(frozen=True, slots=True)
class Undo:
    """Take the operators back to the checkpoint, and revoke all tuples but the stable ones.

    Attributes
    ----------
    stable : how many tuples remain
    """

    stable: int


@dataclass(frozen=True, slots=True)
class RecDone:
    """Tell that everything that was ever emitted tentatively has been corrected."""


NodeEffect: TypeAlias = EmitStable | TakeCheckpoint | EmitTentative | Undo | RecDone
NodeStep: TypeAlias = Step[Node[Stream], NodeEffect]


def initial_node(boundary: Map[Stream, int], begin: int) -> Node[Stream]:
    """Return a node that has emitted nothing.

    Parameters
    ----------
    boundary : per stream, the first bucket of which tuples may arrive
    begin : the first bucket to be emitted; no boundary is less
    """
    return Node(
        condition=Condition.STABLE,
        serializer=Serializer(boundary, emitted=begin),
        reached=begin,
        stable=0,
        tentative=0,
    )


def on_boundary(node: Node[Stream], stream: Stream, bucket: int) -> NodeStep[Stream]:
    """Note that nothing of earlier buckets follows on a stream, whatever the node's condition."""
    serializer, _ = sunion.on_boundary(node.serializer, stream, bucket)
    return replace(node, serializer=serializer), ()


def emit(node: Node[Stream], end: int, count: int) -> NodeStep[Stream]:
    """Emit complete buckets: new ones, or corrections, of which the last is followed by REC_DONE.

    A node in UP_FAILURE cannot, since its operators have seen tentative tuples (mutants
    `mislabel`, `no-reconcile`).

    Parameters
    ----------
    end : the first bucket that is not emitted
    count : how many stable tuples that gives
    """
    require(node.condition != Condition.UP_FAILURE)
    assert count >= 0
    serializer, effects = sunion.emit(node.serializer, end)
    return _settled(replace(node, serializer=serializer, stable=node.stable + count), effects)


def on_timeout(node: Node[Stream], policy: Policy, end: int, count: int) -> NodeStep[Stream]:
    """Stop waiting for buckets that are not complete [BBMS08, section 4.3].

    A node whose policy is SUSPEND does so once, and then no more until its inputs are corrected.

    Parameters
    ----------
    end : the first bucket behind those that have waited as long as the user allows
    count : how many tentative tuples that gives
    """
    if node.condition == Condition.UP_FAILURE:
        require(policy != Policy.SUSPEND)
        return _emit_tentative(node, end, count)
    # Complete buckets are emitted first. Corrections need not be: they may take too long.
    missing = node.serializer.emitted + 1 if node.condition == Condition.STABLE else end
    require(node.condition != Condition.FAILURE and not is_complete(node.serializer, missing))
    failed, effects = _emit_tentative(replace(node, condition=Condition.UP_FAILURE), end, count)
    # Before the first tentative tuple: a later checkpoint would contain it (`late-checkpoint`).
    return failed, (TakeCheckpoint(), *effects)


def emit_tentative(node: Node[Stream], policy: Policy, end: int, count: int) -> NodeStep[Stream]:
    """Emit at once what arrives at a node in UP_FAILURE, if that is its policy.

    Parameters
    ----------
    end : the first bucket of which nothing is emitted
    count : how many tentative tuples that gives
    """
    require(node.condition == Condition.UP_FAILURE and policy == Policy.PROCESS)
    return _emit_tentative(node, end, count)


def is_corrected(node: Node[Stream], due: int) -> bool:
    """Return whether a node may ask the other replicas for permission to stabilize.

    Parameters
    ----------
    due : the first bucket that has not waited as long as the user allows: if those before it are
        complete, a node that starts anew would not fail at once. An earlier one, up to which the
        inputs are corrected, is as safe
    """
    return (
        node.condition == Condition.UP_FAILURE
        and node.serializer.emitted < due
        and is_complete(node.serializer, due)
    )


def stabilize(node: Node[Stream], due: int) -> NodeStep[Stream]:
    """Begin to correct, when the node's replicas have permitted it [BBMS08, section 4.4].

    Parameters
    ----------
    due : as for `is_corrected`
    """
    require(is_corrected(node, due))
    effects = (Undo(node.stable),) if node.tentative > 0 else ()
    return replace(node, condition=Condition.STABILIZATION, tentative=0), effects


def restart(node: Node[Stream], present: int) -> NodeStep[Stream]:
    """Come back after a crash with what is durable: the stable output [BBMS08, section 4.5].

    Parameters
    ----------
    present : the first bucket of which the node cannot have emitted anything, not even tentatively
    """
    emitted = node.serializer.emitted
    restarted = Node(
        condition=Condition.FAILURE,
        serializer=Serializer(node.serializer.boundary.map(lambda _: emitted), emitted),
        reached=present,
        stable=node.stable,
        tentative=0,
    )
    return _settled(restarted, (Undo(node.stable),))


def _emit_tentative(node: Node[Stream], end: int, count: int) -> NodeStep[Stream]:
    begin = node.serializer.emitted
    require(begin < end)
    assert count >= 0
    reached, tentative = max(node.reached, end), node.tentative + count
    return replace(node, reached=reached, tentative=tentative), (EmitTentative(begin, end),)


def _settled(node: Node[Stream], effects: tuple[NodeEffect, ...]) -> NodeStep[Stream]:
    """Become STABLE as soon as nothing is left to correct (mutant `rec-done-early`)."""
    if node.condition == Condition.STABLE or node.serializer.emitted < node.reached:
        return node, effects
    return replace(node, condition=Condition.STABLE), (*effects, RecDone())
