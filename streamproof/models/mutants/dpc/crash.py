"""Mistakes in how a DPC node comes back after a crash."""

from __future__ import annotations

from dataclasses import replace

from streamproof.lang.machine import replaced
from streamproof.models.dpc.crash import DpcCrash
from streamproof.models.dpc.state import Machine, MachineStep, Operator, System
from streamproof.models.kit.mutant import Mutant
from streamproof.protocols import dpc as protocol
from streamproof.protocols.dpc import Condition, Policy, RecDone


def restart_without_undo(node: Machine, present: int) -> MachineStep:
    """Leave out UNDO."""
    after, effects = protocol.restart(node, present)
    return after, effects[1:]


class RestartWithoutUndo(DpcCrash):
    """A restarted node does not revoke what it has forgotten (DPC-restartsilent)."""

    machine = replaced(protocol, restart=restart_without_undo)


def restart_stable(node: Machine, present: int) -> MachineStep:
    """Leave out the rebuilding."""
    after, effects = protocol.restart(node, present)
    return replace(after, condition=Condition.STABLE), (effects[0], RecDone())


class RestartStable(DpcCrash):
    """A restarted node is STABLE at once (DPC-restartstable)."""

    machine = replaced(protocol, restart=restart_stable)


class RestartEmpty(DpcCrash):
    """A restarted node has forgotten the operator's state, but not how far its output goes.

    Short id: DPC-restartempty.
    """

    def restored(self, s: System) -> Operator:
        """Begin to number anew."""
        del s
        return Operator(0, 0, 0)


def time_out_in_failure(node: Machine, policy: Policy, end: int, number: int) -> MachineStep:
    """Time out in FAILURE as in STABILIZATION."""
    if node.condition != Condition.FAILURE:
        return protocol.on_timeout(node, policy, end, number)
    back = replace(node, condition=Condition.STABILIZATION)
    return protocol.on_timeout(back, policy, end, number)


class RestartGuessing(DpcCrash):
    """A restarted node guesses while it rebuilds its state (DPC-restartguessing)."""

    machine = replaced(protocol, on_timeout=time_out_in_failure)


MUTANTS = (
    Mutant(
        "dpc_crash/restart-without-undo",
        RestartWithoutUndo,
        {"buckets": 1, "failures": 2},
        "corrections_follow_undo",
        10,
        "the client keeps tentative tuples that the node does not know of any more",
    ),
    Mutant(
        "dpc_crash/restart-stable",
        RestartStable,
        {"buckets": 1, "failures": 2},
        "rec_done_is_true",
        4,
        "a node passes for STABLE that owes corrections",
    ),
    Mutant(
        "dpc_crash/restart-empty",
        RestartEmpty,
        {"streams": 1, "failures": 1},
        "stable_prefix",
        7,
        "the operator goes on from a state that has not seen the stable tuples",
    ),
    Mutant(
        "dpc_crash/restart-guessing",
        RestartGuessing,
        {"buckets": 1, "failures": 2},
        "who_rebuilds_guesses_nothing",
        3,
        "a node that knows less than its replicas answers as if it knew as much",
    ),
)
