"""Egress: a pair of copies gives its output to a client, which sees each tuple once.

Outputs are numbered, and the same at both copies. One copy is *active* and sends them; the other
one only keeps them. The client takes the output that is next, drops what it has, and acknowledges;
the active copy then notes to its twin what was delivered, and both forget it. When the active copy
fails, its twin sends all that was not noted, and the client knows the repeated ones by their
numbers [SHB04, section 4].

Without the client's help there is no such thing: between sending an output and noting it the active
copy may fail, and nobody else can tell whether it was sent.

Assumptions
-----------
* What is sent to the client arrives in order, also from a copy that has failed since.
* The client takes an output and counts it in one step; it does not forget.
* An output is sent once it is committed (`merge_order`).
* Failures are noticed, and a copy that is taken to have failed stays away.

Deviations from the paper
-------------------------
* The client is a machine of its own here: what it must do is a part of the protocol. In the paper
  it is behind a proxy, which must not fail.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TypeAlias

from streamproof.lang import Step, require


@dataclass(frozen=True, slots=True)
class Egress:
    """One copy's part in giving output.

    Attributes
    ----------
    next : outputs so far, so the number of the next one
    begin : the first output that is kept
    active : this copy sends
    sent : the next output to send; 0 where none are sent
    """

    next: int
    begin: int
    active: bool
    sent: int


@dataclass(frozen=True, slots=True)
class Client:
    """What the client has: outputs so far, so the number of the next one."""

    next: int


@dataclass(frozen=True, slots=True)
class SendOutputs:
    """Send outputs number `begin` to `end` - 1 to the client."""

    begin: int
    end: int


@dataclass(frozen=True, slots=True)
class NoteDelivered:
    """Tell the twin that the client has all outputs before `end`."""

    end: int


@dataclass(frozen=True, slots=True)
class TakeOutputs:
    """Take outputs number `begin` to `end` - 1."""

    begin: int
    end: int


EgressEffect: TypeAlias = SendOutputs | NoteDelivered
EgressStep: TypeAlias = Step[Egress, EgressEffect]
ClientStep: TypeAlias = Step[Client, TakeOutputs]


def give(egress: Egress, count: int) -> EgressStep:
    """Keep new outputs."""
    return replace(egress, next=egress.next + count), ()


def send(egress: Egress, end: int) -> EgressStep:
    """Send the client what it was not sent, before number `end`."""
    require(egress.active and egress.sent < end <= egress.next)
    return replace(egress, sent=end), (SendOutputs(egress.sent, end),)


def on_outputs(client: Client, begin: int, end: int) -> ClientStep:
    """Take outputs `begin` to `end` - 1, without those that the client has (`no-deduplication`)."""
    assert begin <= client.next  # else outputs in between were lost
    if end <= client.next:
        return client, ()
    return Client(end), (TakeOutputs(client.next, end),)


def on_ack(egress: Egress, end: int) -> EgressStep:
    """Forget what the client has, and tell the twin: not before (mutant `tell-first`)."""
    require(egress.active and egress.begin < end)
    return replace(egress, begin=end), (NoteDelivered(end),)


def on_note(egress: Egress, end: int) -> EgressStep:
    """Forget what the client has; the note may come before the output itself is made here."""
    return replace(egress, begin=max(egress.begin, end)), ()


def take_over(egress: Egress) -> EgressStep:
    """Send all that is kept, when the active copy has failed."""
    require(not egress.active)
    return replace(egress, active=True, sent=egress.begin), ()


def transfer(survivor: Egress) -> Egress:
    """Return a new copy in the survivor's state. It is not active."""
    return replace(survivor, active=False, sent=0)
