"""Two-phase commit that comes to an end: the traced model, with fairness and promises."""

from __future__ import annotations

from benchmarks.traced_two_phase_commit import Decision, Manager, Part, State, TwoPhaseCommit
from streamproof.lang import action, eventually, leads_to
from streamproof.lang.model import Fairness


class FairTwoPhaseCommit(TwoPhaseCommit):
    """The coordinator decides if it can, and managers obey; nobody has to prepare."""

    @action(fairness=Fairness.WEAK)
    def abort(self, s: State) -> State:
        return super().abort(s)

    @action(fairness=Fairness.WEAK)
    def obey_commit(self, s: State, m: Manager) -> State:
        return super().obey_commit(s, m)

    @action(fairness=Fairness.WEAK)
    def obey_abort(self, s: State, m: Manager) -> State:
        return super().obey_abort(s, m)

    @eventually
    def decided(self, s: State) -> bool:
        """The coordinator decides."""
        return s.decision != Decision.INIT

    @leads_to
    def obeyed(self, s: State, m: Manager) -> tuple[bool, bool]:
        """A manager that is told to commit does so."""
        return s.commit_sent, s.parts[m] == Part.COMMITTED


MODEL = FairTwoPhaseCommit
