"""The models at sizes that no search reaches, driven by Hypothesis with a cheap oracle for S3.

Rules are the model's actions, invariants its properties. The oracle needs no search. It carries,
for each snapshot, the cut as it would be if only those had acted who have not recorded, and the
steps that it put off: those of processes that have. Each step of the first kind must be possible on
the cut; at the end the cut must be what was recorded, and the steps put off must lead from there to
where the run is. The oracle alone catches the mutants of our protocol notes.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Any, ClassVar

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    precondition,
    rule,
    run_state_machine_as_test,
)

from streamproof.checker.properties import Properties
from streamproof.lang.model import Call, Role
from streamproof.models.mutants.snapshots.chandy_lamport import MUTANTS
from streamproof.models.snapshots.chandy_lamport import ChandyLamport, SnapshotModel, sent_one
from streamproof.models.snapshots.graph import Graph
from streamproof.models.snapshots.token_passing import TokenPassing
from tests.models.support.shortest import mistaken

GRAPHS = (Graph.RING, Graph.COMPLETE, Graph.CYCLE_WITH_TAIL, Graph.DAG)
RUN = settings(
    max_examples=10,
    stateful_step_count=40,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)


CAUGHT = (
    "chandy_lamport/non-fifo",
    "chandy_lamport/channel-empty",
    "chandy_lamport/record-after",
    "chandy_lamport/marker-late",
    "chandy_lamport/record-again",
    "chandy_lamport/id-blind",
)


class Cut:
    """One snapshot as the oracle sees it."""

    def __init__(self, model: Any, app: Any) -> None:
        self.model, self.app = model, app
        self.put_off: list[Call] = []

    def follow(self, call: Call, *, has_recorded: bool) -> None:
        if has_recorded:
            self.put_off.append(call)
        else:
            self.app = stepped(self.model, self.app, call)

    def ends_at(self, recorded: Any, app: Any) -> None:
        assert self.app == recorded, "the cut is not what was recorded"
        for call in self.put_off:
            self.app = stepped(self.model, self.app, call)
        assert self.app == app, "the steps put off do not lead to where the run is"


def stepped(model: Any, app: Any, call: Call) -> Any:
    """Take a step of the application alone."""
    p, q, *token = call.arguments
    if call.name == "receive":
        assert model.can_receive(app, p, q), f"{call} is not possible on the cut"
        return model.received(app, p, q)
    assert model.can_send(app, p, q), f"{call} is not possible on the cut"
    if not token:
        return sent_one(app, p, q)
    assert app.holds[p, token[0]], f"{call} is not possible on the cut"
    return model.sent(app, p, q, token[0])


class SnapshotMachine(RuleBasedStateMachine):
    """A run of a model. Subclasses choose the model."""

    model_class: ClassVar[type[SnapshotModel[Any]]] = ChandyLamport
    processes: ClassVar[int] = 5
    snapshots: ClassVar[int] = 3
    asks_properties: ClassVar[bool] = True

    @initialize(graph=st.sampled_from(GRAPHS))
    def start(self, graph: Graph) -> None:
        size: dict[str, Any] = {"messages": (3,) * self.processes, "graph": graph}
        if issubclass(self.model_class, TokenPassing):
            size["tokens"] = (0, 0, 1)
        self.model: Any = self.model_class.sized(**size, snapshots=self.snapshots)
        self.properties: Properties[Any] = Properties.of(self.model)
        self.state = next(self.model.initial_states())
        self.cuts = {k: Cut(self.model, self.state.app) for k in self.model.snapshots}
        self.look()

    def look(self) -> None:
        self.moves: dict[str, list[Any]] = defaultdict(list)
        for move in self.model.moves(self.state):
            if move.target is not None or self.asks_properties:  # else a claim would catch it
                self.moves[move.call.name].append(move)

    def take(self, move: Any) -> None:
        assert move.target is not None, move.broken_claim
        before, self.state = self.state, move.target
        if self.asks_properties:
            assert self.properties.broken_by(before, self.state) == ()
            assert self.properties.broken_in(self.state) == ()
        if move.call.name in ("send", "receive"):
            actor = move.call.arguments[0 if move.call.name == "send" else 1]
            for k, cut in self.cuts.items():
                cut.follow(move.call, has_recorded=self.model.recorded(before, k, actor))
        for k in list(self.cuts):
            if self.model.complete(self.state, k):
                self.cuts.pop(k).ends_at(self.state.saved[k], self.state.app)
        self.look()

    def choose(self, data: st.DataObject, action: str) -> None:
        # Draws are printed when a test fails: the calls are short, their targets are not.
        targets = {str(move.call): move for move in self.moves[action]}
        self.take(targets[data.draw(st.sampled_from(list(targets)))])

    @precondition(lambda self: self.moves["send"])
    @rule(data=st.data())
    def send(self, data: st.DataObject) -> None:
        self.choose(data, "send")

    @precondition(lambda self: self.moves["receive"])
    @rule(data=st.data())
    def receive(self, data: st.DataObject) -> None:
        self.choose(data, "receive")

    @precondition(lambda self: self.moves["initiate"])
    @rule(data=st.data())
    def initiate(self, data: st.DataObject) -> None:
        self.choose(data, "initiate")

    @precondition(lambda self: self.moves["receive_marker"])
    @rule(data=st.data())
    def receive_marker(self, data: st.DataObject) -> None:
        self.choose(data, "receive_marker")

    @precondition(lambda self: self.moves["catch_up"])  # of chandy_lamport/marker-late
    @rule(data=st.data())
    def catch_up(self, data: st.DataObject) -> None:
        self.choose(data, "catch_up")

    @precondition(lambda self: not any(self.moves.values()))
    @rule()
    def rest(self) -> None:
        """Hypothesis wants a rule to be possible at any time."""
        assert not self.asks_properties or self.properties.is_final(self.state)

    def teardown(self) -> None:
        """Let the channels deliver, so that what has begun comes to its end."""
        if not hasattr(self, "moves"):
            return
        while (
            moves := self.moves["receive_marker"] or self.moves["receive"] or self.moves["catch_up"]
        ):
            self.take(moves[-1])


class TokenMachine(SnapshotMachine):
    model_class = TokenPassing
    processes = 4
    snapshots = 2


@pytest.mark.parametrize("machine", [SnapshotMachine, TokenMachine], ids=["counters", "tokens"])
def test_long_runs_of_many_processes_keep_all_properties(machine):
    run_state_machine_as_test(machine, settings=RUN)


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("machine", [SnapshotMachine, TokenMachine], ids=["counters", "tokens"])
def test_many_long_runs_keep_all_properties(machine):
    run_state_machine_as_test(machine, settings=settings(RUN, max_examples=150))


def test_the_rules_are_the_actions():
    for model_class in (ChandyLamport, TokenPassing):
        assert {method.name for method in model_class.methods(Role.ACTION)} == {
            "send",
            "receive",
            "initiate",
            "receive_marker",
        }


@pytest.mark.parametrize(
    "mutant",
    [mutant for mutant in MUTANTS if mutant.name in CAUGHT],
    ids=lambda mutant: mutant.name,
)
def test_the_oracle_alone_catches_every_mistake(mutant):
    class Mistaken(SnapshotMachine):
        model_class = mistaken(mutant.model_class, TokenPassing)
        processes = 3
        snapshots = 2
        asks_properties = False

    found_soon = settings(RUN, max_examples=200, phases=[Phase.generate])
    with pytest.raises(AssertionError, match="cut|put off"):
        run_state_machine_as_test(Mistaken, settings=found_soon)
