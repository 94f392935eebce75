"""Two-phase commit as in the TLA+ examples, in the language: it can be traced and compiled.

`examples/two_phase_commit.py` is the same model as a newcomer would write it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum
from typing import Any, ClassVar

from streamproof.lang import (
    Domain,
    Element,
    Map,
    Model,
    action,
    always,
    exists,
    final,
    forall,
    init,
    require,
    sometimes,
)


class Manager(Element):
    """A resource manager."""


class Part(Enum):
    """What a resource manager has done."""

    WORKING = "working"
    PREPARED = "prepared"
    COMMITTED = "committed"
    ABORTED = "aborted"


class Decision(Enum):
    """What the coordinator has decided."""

    INIT = "init"
    COMMITTED = "committed"
    ABORTED = "aborted"


@dataclass(frozen=True)
class State:
    """The parts, the coordinator, whom it knows to be prepared, and every message ever sent."""

    parts: Map[Manager, Part]
    decision: Decision
    known: Map[Manager, bool]
    prepared_sent: Map[Manager, bool]
    commit_sent: bool
    abort_sent: bool


@dataclass(frozen=True)
class TwoPhaseCommit(Model[State]):
    """A coordinator that may abort at any time, and managers that may do so until prepared."""

    managers: Domain[Manager]
    sizes: ClassVar[dict[str, dict[str, Any]]] = {
        "small": {"managers": 3},
        "default": {"managers": 5},
        "large": {"managers": 7},
    }

    @init
    def start(self) -> State:
        nobody = Map.fill(self.managers, False)
        parts = Map.fill(self.managers, Part.WORKING)
        return State(parts, Decision.INIT, nobody, nobody, False, False)

    @action
    def learn_prepared(self, s: State, m: Manager) -> State:
        require(s.decision == Decision.INIT and s.prepared_sent[m])
        return replace(s, known=s.known.set(m, True))

    @action
    def commit(self, s: State) -> State:
        require(s.decision == Decision.INIT and forall(self.managers, lambda m: s.known[m]))
        return replace(s, decision=Decision.COMMITTED, commit_sent=True)

    @action
    def abort(self, s: State) -> State:
        require(s.decision == Decision.INIT)
        return replace(s, decision=Decision.ABORTED, abort_sent=True)

    @action
    def prepare(self, s: State, m: Manager) -> State:
        require(s.parts[m] == Part.WORKING)
        parts = s.parts.set(m, Part.PREPARED)
        return replace(s, parts=parts, prepared_sent=s.prepared_sent.set(m, True))

    @action
    def choose_to_abort(self, s: State, m: Manager) -> State:
        require(s.parts[m] == Part.WORKING)
        return replace(s, parts=s.parts.set(m, Part.ABORTED))

    @action
    def obey_commit(self, s: State, m: Manager) -> State:
        require(s.commit_sent)
        return replace(s, parts=s.parts.set(m, Part.COMMITTED))

    @action
    def obey_abort(self, s: State, m: Manager) -> State:
        require(s.abort_sent)
        return replace(s, parts=s.parts.set(m, Part.ABORTED))

    @always
    def consistent(self, s: State) -> bool:
        """No manager has committed while another has aborted."""
        return not exists(
            self.managers,
            self.managers,
            lambda m, n: s.parts[m] == Part.COMMITTED and s.parts[n] == Part.ABORTED,
        )

    @sometimes
    def all_commit(self, s: State) -> bool:
        return forall(self.managers, lambda m: s.parts[m] == Part.COMMITTED)

    @final
    def anywhere(self, s: State) -> bool:
        del s
        return True


MODEL = TwoPhaseCommit
