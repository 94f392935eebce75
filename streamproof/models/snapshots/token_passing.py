"""Chandy-Lamport snapshots of processes that pass tokens, which can be told apart.

Counters do not see a wrong message in a log, only a wrong number of them, and two mistakes may
cancel. Here every message carries a token, and a snapshot must have every token exactly once: at a
process or on a channel, there in the order in which the channel carries them [CL85, section 2].

A state says of each process which tokens it holds, and of each channel as which message it carries
a token. So a process's part can be taken from it and saved, and the saved parts of a complete
snapshot are themselves a state of the application: S*.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from streamproof.lang import (
    Domain,
    Element,
    Map,
    action,
    always,
    exists,
    forall,
    implies,
    init,
    require,
    sometimes,
)
from streamproof.models.snapshots.chandy_lamport import SnapshotModel, fields_at
from streamproof.models.snapshots.graph import Graph
from streamproof.models.snapshots.state import (
    Application,
    Count,
    Process,
    Snapshot,
    SystemOf,
    received_one,
    sent_one,
)


class Token(Element):
    """A thing that is in one place at a time."""


@dataclass(frozen=True, slots=True)
class TokenApplication(Application):
    """A state of the application.

    Attributes
    ----------
    holds : whether a process has a token
    carries : as which message a channel carries a token: 1 for the first that was ever sent on it,
        0 if the token is not on it
    """

    holds: Map[tuple[Process, Token], bool]
    carries: Map[tuple[Process, Process, Token], Count]


TokenSystem = SystemOf[TokenApplication]


@dataclass(frozen=True)
class TokenPassing(SnapshotModel[TokenApplication]):
    """Snapshots of processes that pass tokens.

    Attributes
    ----------
    home : whether a process has a token at the start
    """

    tokens: Domain[Token]
    home: Map[tuple[Process, Token], bool]

    sizes: ClassVar[dict[str, dict[str, Any]]] = {
        "small": {"messages": (1, 1), "tokens": (0,)},
        "default": {"messages": (2, 2), "tokens": (0, 0)},
        "ring": {"messages": (1, 1, 1), "tokens": (0, 1), "graph": Graph.RING},
        "dag": {"messages": (2, 1, 0), "tokens": (0, 0), "graph": Graph.DAG, "initiators": 1},
        "overlapping": {"messages": (1, 1), "tokens": (0,), "snapshots": 2},
    }

    @classmethod
    def sized(
        cls,
        *,
        messages: tuple[int, ...] = (1, 1),
        tokens: tuple[int, ...] = (0,),
        graph: Graph = Graph.COMPLETE,
        snapshots: int = 1,
        initiators: int = 0,
    ) -> TokenPassing:
        """Build the model of a size.

        Parameters
        ----------
        messages, graph, snapshots, initiators : as in `ChandyLamport.sized`
        tokens : for each token, the index of the process that has it at the start
        """
        fields = fields_at(messages, graph, snapshots, initiators)
        domain = Domain(Token, len(tokens))
        home = Map.build(fields["processes"], domain, lambda p, t: tokens[t.index] == p.index)
        return cls(**fields, tokens=domain, home=home)

    # ----------------------------------------------------------------------- behaviour

    @init
    def start(self) -> TokenSystem:
        """All tokens are at home, nothing has been sent, no snapshot has begun."""
        processes = self.processes
        no_messages = Map.fill(processes, processes, 0)
        no_tokens = Map.fill(processes, processes, self.tokens, 0)
        return self.with_application(
            TokenApplication(self.messages, no_messages, no_messages, self.home, no_tokens)
        )

    @action
    def send(self, s: TokenSystem, p: Process, q: Process, t: Token) -> TokenSystem:
        """Process p sends a token that it has to q."""
        require(self.can_send(s.app, p, q) and s.app.holds[p, t])
        return replace(s, app=self.sent(s.app, p, q, t))

    def sent(self, app: TokenApplication, p: Process, q: Process, t: Token) -> TokenApplication:
        """Move a token from p into the channel to q."""
        after = sent_one(app, p, q)
        return replace(
            after,
            holds=app.holds.set((p, t), False),
            carries=app.carries.set((p, q, t), after.sent[p, q]),
        )

    def received(self, app: TokenApplication, p: Process, q: Process) -> TokenApplication:
        """Move the token of the next message from p to q."""
        number = app.received[p, q] + 1
        return replace(
            received_one(app, p, q),
            holds=app.holds.map_items(
                lambda r, t, has: has or (r == q and app.carries[p, q, t] == number)
            ),
            carries=app.carries.map_items(
                lambda a, b, _, n: 0 if a == p and b == q and n == number else n
            ),
        )

    def splice(
        self,
        app: TokenApplication,
        other: TokenApplication,
        chosen: Callable[[Process], bool],
    ) -> TokenApplication:
        """Take the chosen processes' local states, and with them the tokens that they have."""
        return replace(
            super().splice(app, other, chosen),
            holds=app.holds.map_items(lambda p, t, has: other.holds[p, t] if chosen(p) else has),
        )

    def write_log(
        self, before: TokenSystem, after: TokenSystem, p: Process, q: Process
    ) -> TokenSystem:
        """Write the token that q received into every channel log that the machine made longer."""
        number = after.app.received[p, q]
        carries, old, new = before.app.carries, before.recorders[q], after.recorders[q]

        def logged(k: Snapshot, saved: TokenApplication) -> TokenApplication:
            is_longer = new[k].log[p] > old[k].log[p]
            return replace(
                saved,
                carries=saved.carries.map_items(
                    lambda a, b, t, n: (
                        number
                        if is_longer and a == p and b == q and carries[p, q, t] == number
                        else n
                    )
                ),
            )

        return replace(after, saved=after.saved.map_items(logged))

    # ----------------------------------------------------------------------- properties

    @always
    def tokens_conserved(self, s: TokenSystem) -> dict[str, bool]:
        """A complete snapshot has every token once, and those of a channel in their order."""
        return {
            "never_lost": self.if_complete(s, self.has_every_token),
            "never_doubled": self.if_complete(s, self.has_no_token_twice),
            "in_order": self.if_complete(s, self.is_in_order),
        }

    def if_complete(self, s: TokenSystem, claim: Callable[[TokenApplication], bool]) -> bool:
        """Return whether the recorded state of every complete snapshot is as claimed."""
        return forall(self.snapshots, lambda k: implies(self.complete(s, k), claim(s.saved[k])))

    def is_at(self, app: TokenApplication, t: Token, p: Process, q: Process) -> bool:
        """Return whether a token is on the channel from p to q, or at p where they are the same."""
        return app.carries[p, q, t] > 0 or (p == q and app.holds[p, t])

    def has_every_token(self, app: TokenApplication) -> bool:
        """Return whether every token is somewhere."""
        return forall(
            self.tokens,
            lambda t: exists(self.processes, self.processes, lambda p, q: self.is_at(app, t, p, q)),
        )

    def has_no_token_twice(self, app: TokenApplication) -> bool:
        """Return whether no token is in two places."""
        place = self.processes, self.processes
        return forall(
            self.tokens,
            *place,
            *place,
            lambda t, p, q, a, b: implies(
                self.is_at(app, t, p, q) and self.is_at(app, t, a, b), p == a and q == b
            ),
        )

    def is_in_order(self, app: TokenApplication) -> bool:
        """Return whether each channel's tokens are numbered as its messages that are under way."""
        return forall(
            app.carries,
            lambda p, q, t: implies(
                app.carries[p, q, t] > 0,
                app.received[p, q] < app.carries[p, q, t] <= app.sent[p, q]
                and forall(
                    self.tokens,
                    lambda u: implies(app.carries[p, q, u] == app.carries[p, q, t], t == u),
                ),
            ),
        )

    @sometimes
    def a_token_is_recorded_on_a_channel(self, s: TokenSystem) -> bool:
        """Some complete snapshot has a token on a channel, so the logs are put to use."""
        return exists(
            self.snapshots,
            lambda k: (
                self.complete(s, k)
                and exists(s.app.carries, lambda p, q, t: s.saved[k].carries[p, q, t] > 0)
            ),
        )

    def is_application_step(self, before: TokenApplication, after: TokenApplication) -> bool:
        """Return whether the application can go from one state to the other in at most one step."""
        return before == after or exists(
            self.processes,
            self.processes,
            lambda p, q: (
                (self.can_receive(before, p, q) and after == self.received(before, p, q))
                or exists(
                    self.tokens,
                    lambda t: (
                        self.can_send(before, p, q)
                        and before.holds[p, t]
                        and after == self.sent(before, p, q, t)
                    ),
                )
            ),
        )

    def shadow(self, s: TokenSystem, k: Snapshot) -> TokenApplication:
        """Return the cut: a channel holds what the log has, and what is under way inside it."""
        cut = super().shadow(s, k)
        return replace(
            cut,
            carries=s.saved[k].carries.map_items(
                lambda p, q, t, logged: (
                    s.app.carries[p, q, t]
                    if logged == 0 and s.app.carries[p, q, t] <= cut.sent[p, q]
                    else logged
                )
            ),
        )


MODEL = TokenPassing
