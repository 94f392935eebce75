"""A lease: however many workers there are, at most one writes to the sink."""

from dataclasses import dataclass

from streamproof import Invariant, Mutant
from streamproof.lang import Domain, Element, Fairness, Map, Model
from streamproof.lang import action, always, forall, implies, init, leads_to, require, sometimes


class Worker(Element): ...


@dataclass(frozen=True)
class State:
    free: bool
    holds: Map[Worker, bool]


@dataclass(frozen=True)
class Lease(Model[State]):
    workers: Domain[Worker]
    sizes = {"default": {"workers": 3}}

    @init
    def start(self) -> State:
        return State(free=True, holds=Map.fill(self.workers, False))

    @action
    def take(self, s: State, w: Worker) -> State:
        require(s.free)
        return State(free=False, holds=s.holds.set(w, True))

    @action(fairness=Fairness.WEAK)
    def give_back(self, s: State, w: Worker) -> State:
        require(s.holds[w])
        return State(free=True, holds=s.holds.set(w, False))

    @always
    def one_writer(self, s: State) -> bool:
        both = lambda v, w: s.holds[v] and s.holds[w]
        return forall(self.workers, self.workers, lambda v, w: implies(both(v, w), v == w))

    @sometimes
    def somebody_writes(self, s: State) -> bool:
        return not s.free

    @leads_to
    def each_lease_ends(self, s: State, w: Worker) -> tuple[bool, bool]:
        return s.holds[w], not s.holds[w]


class Hasty(Lease):
    @action
    def take(self, s: State, w: Worker) -> State:
        return State(free=False, holds=s.holds.set(w, True))


def free_means_unheld(m: Lease, s: State, w: Worker) -> bool:
    return implies(s.free, not s.holds[w])


INVARIANT = Invariant(Lease, conjuncts=(free_means_unheld, lambda m, s: m.one_writer(s)))
MUTANTS = (Mutant("hasty", Hasty, {"workers": 2}, "one_writer", 2, "two workers hold it"),)
MODEL = Lease
