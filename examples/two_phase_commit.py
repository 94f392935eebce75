"""Two-phase commit as in the TLA+ examples: all resource managers commit, or all abort.

Plain Python values: nothing here has to be traced. Check it with 5 managers:

    streamproof check examples/two_phase_commit.py --set managers=5
"""

from dataclasses import dataclass, replace
from enum import Enum

from streamproof.lang import Domain, Element, Map, Model, action, always, init, require, sometimes

Phase = Enum("Phase", "WORKING PREPARED COMMITTED ABORTED")


class Manager(Element):
    """A resource manager; as a message, the news that it has prepared."""


@dataclass(frozen=True)
class State:
    """The participants, and all messages ever sent: none is lost, any may come late or again."""

    managers: Map[Manager, Phase]
    coordinator: Phase
    known_prepared: frozenset[Manager]
    messages: frozenset[Manager | Phase]


@dataclass(frozen=True)
class TwoPhaseCommit(Model[State]):
    managers: Domain[Manager]
    sizes = {"small": {"managers": 3}, "default": {"managers": 5}, "large": {"managers": 7}}

    @init
    def start(self) -> State:
        working = Map.fill(self.managers, Phase.WORKING)
        return State(working, Phase.WORKING, frozenset(), frozenset())

    @action
    def commit(self, now: State) -> State:
        require(now.coordinator is Phase.WORKING)
        require(len(now.known_prepared) == len(self.managers))
        return replace(now, coordinator=Phase.COMMITTED, messages=now.messages | {Phase.COMMITTED})

    @action
    def abort(self, now: State) -> State:
        require(now.coordinator is Phase.WORKING)
        return replace(now, coordinator=Phase.ABORTED, messages=now.messages | {Phase.ABORTED})

    @action
    def hear_prepared(self, now: State, manager: Manager) -> State:
        require(now.coordinator is Phase.WORKING and manager in now.messages)
        return replace(now, known_prepared=now.known_prepared | {manager})

    @action
    def prepare(self, now: State, manager: Manager) -> State:
        require(now.managers[manager] is Phase.WORKING)
        managers = now.managers.set(manager, Phase.PREPARED)
        return replace(now, managers=managers, messages=now.messages | {manager})

    @action
    def give_up(self, now: State, manager: Manager) -> State:
        require(now.managers[manager] is Phase.WORKING)
        return replace(now, managers=now.managers.set(manager, Phase.ABORTED))

    @action
    def hear_decision(self, now: State, manager: Manager) -> State:
        require(now.coordinator is not Phase.WORKING)  # the message is there since the decision
        return replace(now, managers=now.managers.set(manager, now.coordinator))

    @always
    def all_decide_alike(self, now: State) -> bool:
        ends = {phase for _, phase in now.managers.items()}
        return not {Phase.COMMITTED, Phase.ABORTED} <= ends

    @sometimes
    def all_commit(self, now: State) -> bool:
        return all(phase is Phase.COMMITTED for _, phase in now.managers.items())
