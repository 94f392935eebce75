"""Mistakes that only a clock shows."""

from __future__ import annotations

from streamproof.models.dpc_chain import Chain, DpcChain, Hop
from streamproof.models.dpc_state import Bucket
from streamproof.models.mutant import Mutant


class TimerRestart(DpcChain):
    """A node begins to wait when it hears the first tuple of a bucket."""

    def waits_since(self, s: Chain, h: Hop, b: Bucket) -> int:
        """Wait for as long as the node before has waited, once more."""
        if self.is_first[h]:
            return super().waits_since(s, h, b)
        return s.first[self.before[h], b]


MUTANTS = (
    Mutant(
        "DPC-timerrestart",
        TimerRestart,
        {"buckets": 1},
        "in_time",
        11,
        "each node waits in turn, so a user waits X at every node instead of X in all",
    ),
)
