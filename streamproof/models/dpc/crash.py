"""A DPC node that may also crash, and restarts with its stable output alone.

Beyond `dpc.py`
---------------
* A crash and the restart are one step: a node that is down does nothing, and links that fail
  meanwhile may as well fail before or after.
* A crash is one of the failures. What the node has read behind its stable output is gone, and is
  read again; the operator's state is kept together with the stable output that it gave.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

from streamproof.lang import action, every_step, implies, require, sometimes
from streamproof.models.dpc.dpc import Dpc
from streamproof.models.dpc.state import Bucket, Operator, System, nothing_is_owed
from streamproof.protocols import dpc as protocol
from streamproof.protocols.dpc import Condition


@dataclass(frozen=True)
class DpcCrash(Dpc):
    """A node that may crash, its operator and its client."""

    machine = protocol

    sizes: ClassVar[dict[str, dict[str, Any]]] = {
        "small": {"streams": 1, "failures": 2},
        "default": {"failures": 2},
    }

    @action
    def crash(self, s: System, b: Bucket) -> System:
        """The node crashes and restarts, in a bucket of which it has emitted nothing."""
        present = self.number[b] + 1
        require(s.failures_left > 0 and present >= s.node.reached)
        node, effects = self.machine.restart(s.node, present)
        restarted = replace(
            s,
            read=s.read.map(lambda _: s.node.serializer.emitted),
            operator=self.restored(s),
            failures_left=s.failures_left - 1,
        )
        return self.carry_out(restarted, node, effects)

    def restored(self, s: System) -> Operator:
        """Return the operator's state as it was when the last stable tuple came out of it."""
        return Operator(s.node.stable, s.node.stable, 0)

    @every_step
    def who_rebuilds_guesses_nothing(self, before: System, after: System) -> bool:
        """A node in FAILURE leaves it with its whole stable output, or not at all."""
        ways_out = (Condition.FAILURE, Condition.STABLE)
        return implies(before.node.condition == Condition.FAILURE, after.node.condition in ways_out)

    @sometimes
    def a_crash_is_seen(self, s: System) -> bool:
        """The node rebuilds its state, and until then nobody takes it for STABLE."""
        return s.node.condition == Condition.FAILURE

    @sometimes
    def a_tail_is_lost(self, s: System) -> bool:
        """The node had emitted tentative tuples when it crashed."""
        return s.node.condition == Condition.FAILURE and not nothing_is_owed(s.client)


MODEL = DpcCrash
