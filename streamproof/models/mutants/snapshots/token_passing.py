"""Mistakes that only tokens show: a log has as many messages as it should, but the wrong ones."""

from __future__ import annotations

from dataclasses import replace

from streamproof.models.kit.mutant import Mutant
from streamproof.models.snapshots.state import Process, Snapshot
from streamproof.models.snapshots.token_passing import TokenApplication, TokenPassing, TokenSystem


class LogReversed(TokenPassing):
    """A log is written down with its newest message first (CL-logreversed)."""

    def write_log(
        self, before: TokenSystem, after: TokenSystem, p: Process, q: Process
    ) -> TokenSystem:
        """Put the message in front of those that are there."""
        logged = super().write_log(before, after, p, q)

        def turned(k: Snapshot, saved: TokenApplication) -> TokenApplication:
            first = saved.received[p, q] + 1
            is_longer = after.recorders[q][k].log[p] > before.recorders[q][k].log[p]

            def number(a: Process, b: Process, n: int) -> int:
                if not (is_longer and a == p and b == q and n > 0):
                    return n
                return first if n == after.app.received[p, q] else n + 1

            return replace(
                saved, carries=saved.carries.map_items(lambda a, b, _, n: number(a, b, n))
            )

        return replace(logged, saved=logged.saved.map_items(turned))


class LogShifted(TokenPassing):
    """A log is taken to begin one message later than it does (CL-logshifted)."""

    def write_log(
        self, before: TokenSystem, after: TokenSystem, p: Process, q: Process
    ) -> TokenSystem:
        """Number the messages of a log from 2."""
        logged = super().write_log(before, after, p, q)

        def shifted(k: Snapshot, saved: TokenApplication) -> TokenApplication:
            old = before.saved[k].carries
            return replace(
                saved,
                carries=saved.carries.map_items(
                    lambda a, b, t, n: n + 1 if n != old[a, b, t] else n
                ),
            )

        return replace(logged, saved=logged.saved.map_items(shifted))


class StaleState(TokenPassing):
    """A process saves the tokens that it had at the start, not those that it has.

    Short id: CL-stalestate.
    """

    def save_state(self, s: TokenSystem, k: Snapshot, p: Process) -> TokenSystem:
        """Save counters that are new and tokens that are old."""
        saved = super().save_state(s, k, p)
        return replace(
            saved,
            saved=saved.saved.set(k, replace(saved.saved[k], holds=s.saved[k].holds)),
        )


MUTANTS = (
    Mutant(
        "token_passing/log-reversed",
        LogReversed,
        {"messages": (2, 0), "tokens": (0, 0)},
        "shadow_simulation",
        5,
        "two tokens of a channel are recorded in the wrong order",
    ),
    Mutant(
        "token_passing/log-shifted",
        LogShifted,
        {"messages": (2, 1), "tokens": (0,)},
        "shadow_simulation",
        3,
        "a channel's token is recorded behind the last message that was sent on it",
    ),
    Mutant(
        "token_passing/stale-state",
        StaleState,
        {"messages": (1, 1), "tokens": (0,)},
        "shadow_simulation",
        2,
        "a process saves its counters and not its tokens, so a token is recorded twice",
    ),
)
