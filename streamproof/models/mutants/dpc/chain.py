"""Mistakes that only a clock shows: when a node guesses, and when it stops.

Each is one changed function of the node or of what it measures.
"""

from __future__ import annotations

from streamproof.lang import require
from streamproof.lang.machine import replaced
from streamproof.models.dpc.chain import DpcChain
from streamproof.models.dpc.chain_state import Chain, Hop
from streamproof.models.dpc.state import Bucket, Machine, MachineStep
from streamproof.models.kit.mutant import Mutant
from streamproof.protocols import dpc as protocol
from streamproof.protocols.dpc import Condition, Policy


class TimerRestart(DpcChain):
    """A node begins to wait when it hears the first tuple of a bucket (DPC-timerrestart)."""

    def waits_since(self, s: Chain, h: Hop, b: Bucket) -> int:
        """Wait for as long as the node before has waited, once more."""
        if self.is_first[h]:
            return super().waits_since(s, h, b)
        return s.first[self.before[h], b]


def go_on_at_once(node: Machine, policy: Policy, end: int, number: int) -> MachineStep:
    """Do not look at the policy, but for SUSPEND."""
    require(policy != Policy.SUSPEND)
    return protocol.emit_tentative(node, Policy.PROCESS, end, number)


class DelayAsProcess(DpcChain):
    """A node whose policy is DELAY goes on at once, as under PROCESS (DPC-hasty)."""

    machine = replaced(protocol, emit_tentative=go_on_at_once)


def time_out_as_under_delay(node: Machine, policy: Policy, end: int, number: int) -> MachineStep:
    """Do not look at the policy."""
    del policy
    return protocol.on_timeout(node, Policy.DELAY, end, number)


class SuspendAsDelay(DpcChain):
    """A node whose policy is SUSPEND times out again and again (DPC-restless)."""

    machine = replaced(protocol, on_timeout=time_out_as_under_delay)


def time_out_unless_suspended(node: Machine, policy: Policy, end: int, number: int) -> MachineStep:
    """Never time out."""
    require(policy != Policy.SUSPEND)
    return protocol.on_timeout(node, policy, end, number)


class SuspendNeverGuesses(DpcChain):
    """A node whose policy is SUSPEND waits even before a failure has begun (DPC-mute)."""

    machine = replaced(protocol, on_timeout=time_out_unless_suspended)


def go_on_under_delay_alone(node: Machine, policy: Policy, end: int, number: int) -> MachineStep:
    """Emit nothing at once."""
    require(policy == Policy.DELAY)
    return protocol.emit_tentative(node, policy, end, number)


def time_out_once(node: Machine, policy: Policy, end: int, number: int) -> MachineStep:
    """Time out once, and then no more."""
    require(policy == Policy.DELAY or node.condition != Condition.UP_FAILURE)
    return protocol.on_timeout(node, policy, end, number)


class ProcessAsDelay(DpcChain):
    """A node whose policy is PROCESS waits with each bucket, as under DELAY (DPC-patient)."""

    machine = replaced(protocol, emit_tentative=go_on_under_delay_alone, on_timeout=time_out_once)


def stabilize_for_the_first_bucket(node: Machine, due: int) -> MachineStep:
    """Look at the first bucket alone."""
    return protocol.stabilize(node, min(due, node.serializer.emitted + 1))


class CorrectEarly(DpcChain):
    """A node begins to correct when the first bucket is complete, whatever has waited behind it.

    Short id: DPC-correctearly.
    """

    machine = replaced(protocol, stabilize=stabilize_for_the_first_bucket)


_ONE_BUCKET = {"buckets": 1}
_ONE_NODE = {"hops": 1}

MUTANTS = (
    Mutant(
        "dpc_chain/timer-restart",
        TimerRestart,
        _ONE_BUCKET,
        "in_time",
        11,
        "each node waits in turn, so a user waits X at every node instead of X in all",
    ),
    Mutant(
        "dpc_chain/delay-as-process",
        DelayAsProcess,
        _ONE_NODE,
        "guesses_have_waited",
        8,
        "a tuple is shown as tentative that would have been stable if the node had waited",
    ),
    Mutant(
        "dpc_chain/suspend-as-delay",
        SuspendAsDelay,
        _ONE_NODE,
        "a_suspended_node_is_silent",
        10,
        "who asked for one guess alone gets one after the other",
    ),
    Mutant(
        "dpc_chain/suspend-never-guesses",
        SuspendNeverGuesses,
        _ONE_NODE,
        "what_is_due_is_done",
        7,
        "who asked for an early result gets none until the source comes back",
    ),
    Mutant(
        "dpc_chain/process-as-delay",
        ProcessAsDelay,
        _ONE_NODE,
        "what_is_due_is_done",
        8,
        "who asked for every tuple at once waits for the source",
    ),
    Mutant(
        "dpc_chain/correct-early",
        CorrectEarly,
        {"hops": 1, "buckets": 3, "wait": 1, "stalls": 2},
        "who_stabilizes_does_not_fail_at_once",
        13,
        "everything is revoked, and the next moment guessed again",
    ),
)
