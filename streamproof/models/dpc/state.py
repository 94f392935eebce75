"""States: of a DPC node's surroundings, an operator behind it and a client that reads it.

The client and the operator are told what the node's effects say, and do here what they do with it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum
from typing import Annotated, TypeAlias

from streamproof.lang import Element, Map, Range, count, exists
from streamproof.protocols.dpc import Node, NodeStep, Policy


class Stream(Element):
    """An input of the node."""


class Bucket(Element):
    """An interval of time."""


Count = Annotated[int, Range(0, "numbers")]
Machine: TypeAlias = Node[Stream]
MachineStep: TypeAlias = NodeStep[Stream]
Tuples: TypeAlias = Map[tuple[Stream, Bucket], bool]
"""Some of the tuples: each is known by its stream and its bucket."""


class Style(Enum):
    """How the operator goes back to where a failure began."""

    CHECKPOINT_REDO = "checkpoint_redo"
    UNDO_REDO = "undo_redo"


@dataclass(frozen=True, slots=True)
class Operator:
    """An operator that numbers the tuples that pass it.

    Attributes
    ----------
    position : the last number
    checkpoint : the position that it was told to keep, which checkpoint/redo goes back to
    log : how many tuples it has numbered since, which undo/redo undoes
    """

    position: Count
    checkpoint: Count
    log: Count


View: TypeAlias = Map[tuple[Stream, Bucket], Count]
"""Tuples with the numbers that the operator gave them; 0 for one that is not in the view."""


@dataclass(frozen=True, slots=True)
class Client:
    """What a client has been told.

    Attributes
    ----------
    stable, tail : the stable prefix of its view, and the tentative tail behind it
    stable_count, tail_count : their lengths
    owed : what was ever in the tail and is not in the prefix
    settled : REC_DONE is the last that it heard of any tentative tuple
    """

    stable: View
    tail: View
    stable_count: Count
    tail_count: Count
    owed: Tuples
    settled: bool


@dataclass(frozen=True, slots=True)
class System:
    """The node, what surrounds it, and what may still go wrong.

    Attributes
    ----------
    policy : what the user has chosen
    read : per stream, the first bucket of which the tuple has not been read
    down : per stream, its link has failed
    failed_again : a failure has begun while corrections were at hand
    """

    policy: Policy
    node: Machine
    read: Map[Stream, Count]
    down: Map[Stream, bool]
    operator: Operator
    client: Client
    failures_left: Annotated[int, Range(0, "failures")]
    failed_again: bool


def size(chosen: Tuples) -> int:
    """Count the chosen tuples."""
    return count(chosen, lambda a, b: chosen[a, b])


# --------------------------------------------------------------------------- the operator


def process(operator: Operator, number: int) -> Operator:
    """Number some tuples."""
    return replace(operator, position=operator.position + number)


def process_and_log(operator: Operator, number: int) -> Operator:
    """Number some tuples so that it can be undone."""
    return replace(process(operator, number), log=operator.log + number)


def take_checkpoint(operator: Operator) -> Operator:
    """Keep the state as it is, and begin a log."""
    return replace(operator, checkpoint=operator.position, log=0)


def go_back(operator: Operator, style: Style) -> Operator:
    """Go back to the checkpoint, or undo what is in the log."""
    undone = operator.position - operator.log
    position = operator.checkpoint if style == Style.CHECKPOINT_REDO else undone
    return replace(operator, position=position, log=0)


# --------------------------------------------------------------------------- the client


def on_insertion(client: Client, chosen: Tuples, numbers: View) -> Client:
    """Hear of stable tuples, which are entered behind the prefix."""
    return replace(
        client,
        stable=_entered(client.stable, chosen, numbers),
        stable_count=client.stable_count + size(chosen),
        owed=client.owed.map_items(lambda a, b, is_owed: is_owed and not chosen[a, b]),
    )


def on_tentative(client: Client, chosen: Tuples, numbers: View) -> Client:
    """Hear of tentative tuples, which are entered behind the tail."""
    number = size(chosen)
    return replace(
        client,
        tail=_entered(client.tail, chosen, numbers),
        tail_count=client.tail_count + number,
        owed=client.owed.map_items(lambda a, b, is_owed: is_owed or chosen[a, b]),
        settled=client.settled & (number == 0),
    )


def on_undo(client: Client, stable: int) -> Client:
    """Revoke everything but the first stable tuples."""
    return replace(
        client,
        stable=client.stable.map(lambda number: number if number <= stable else 0),
        stable_count=min(client.stable_count, stable),
        tail=client.tail.map(lambda _: 0),
        tail_count=0,
    )


def on_rec_done(client: Client) -> Client:
    """Take what there is for corrected."""
    return replace(client, settled=True)


def nothing_is_owed(client: Client) -> bool:
    """Return whether all that was ever tentative has been corrected."""
    return not exists(client.owed, lambda a, b: client.owed[a, b])


def _entered(view: View, chosen: Tuples, numbers: View) -> View:
    return view.map_items(lambda a, b, old: numbers[a, b] if chosen[a, b] else old)
