"""The reference engine, on tiny graphs whose states, depths and shortest ways are known.

Where the right answer is not obvious, networkx finds it by its own breadth-first search.
"""

from __future__ import annotations

from dataclasses import dataclass

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamproof.checker import Limits, check, explore
from streamproof.checker.counterexample import BrokenModel, WrongState, retrace
from streamproof.checker.states import UnfitState
from streamproof.lang import Disabled, Domain, Element, Map, Model, WrongDefinition
from streamproof.lang.model import action, always, every_step, final, init, sometimes
from streamproof.models.kit.verdict import Counts
from tests.checker.support.walks import Count, Counter, Node, Walk, walk

SIZE = 7
edges = st.frozensets(st.tuples(st.integers(0, SIZE - 1), st.integers(0, SIZE - 1)), max_size=24)


class Endless(Walk):
    @final
    def anywhere(self, now: Node) -> bool:
        return True


class Avoids(Endless):
    @always
    def never_at_the_last(self, now: Node) -> bool:
        return now.index != len(self.nodes) - 1


def test_a_state_without_steps_is_one_state_of_depth_one():
    assert explore(walk(Endless)).counts == Counts(1, 1, 1, (("go", 0),))


def test_every_enabled_step_counts_as_generated_also_when_it_leads_back():
    found = explore(walk(Endless, (0, 1), (1, 0), (0, 0)))
    assert found.counts == Counts(distinct=2, generated=4, depth=2, firings=(("go", 3),))


def test_initial_states_count_each_time_and_are_kept_once():
    found = explore(walk(Endless, starts=(0, 1, 0)))
    assert (found.counts.distinct, found.counts.generated) == (2, 3)


def test_unreachable_states_are_not_visited():
    assert explore(walk(Endless, (1, 2), size=3)).counts.distinct == 1


@given(edges, st.lists(st.integers(0, SIZE - 1), min_size=1, max_size=3, unique=True))
def test_counts_are_those_of_an_independent_search(edges, starts):
    found = explore(walk(Endless, *edges, size=SIZE, starts=tuple(starts))).counts
    graph = nx.DiGraph(list(edges))
    graph.add_nodes_from(range(SIZE))
    layers = list(nx.bfs_layers(graph, starts))
    reached = [node for layer in layers for node in layer]
    assert found.distinct == len(reached)
    assert found.depth == len(layers)
    assert found.generated == len(starts) + sum(graph.out_degree(node) for node in reached)


@given(edges)
def test_a_counterexample_is_a_shortest_path(edges):
    model = walk(Avoids, *edges, size=SIZE)
    graph = nx.DiGraph(list(edges))
    graph.add_nodes_from(range(SIZE))
    found = explore(model)
    if nx.has_path(graph, 0, SIZE - 1):
        run = retrace(model, found.path)
        assert len(run.moves) == nx.shortest_path_length(graph, 0, SIZE - 1)
        assert run.states[-1].index == SIZE - 1
    else:
        assert not found.broken


def test_the_initial_state_is_checked():
    found = explore(walk(Avoids))
    assert found.broken[0].name == "never_at_the_last"
    assert (found.path.start, found.path.steps) == (0, ())


def test_a_broken_second_initial_state_is_named_by_its_index():
    assert explore(walk(Avoids, size=2, starts=(0, 1))).path.start == 1


class Steps(Endless):
    @every_step
    def never_down(self, before: Node, after: Node) -> bool:
        return before.index <= after.index


def test_a_step_to_a_known_state_is_checked_too():
    found = explore(walk(Steps, (0, 1), (1, 0)))
    assert [broken.name for broken in found.broken] == ["never_down"]
    assert len(found.path.steps) == 2


class Both(Steps, Avoids):
    pass


def test_all_properties_that_the_last_step_breaks_are_named():
    found = explore(walk(Both, (1, 0), starts=(1,), size=1))
    assert [broken.name for broken in found.broken] == ["never_at_the_last"]
    found = explore(walk(Both, (2, 1), (1, 3), (3, 0), starts=(2,)))
    assert [broken.name for broken in found.broken] == ["never_down"]


class DownToLast(Endless):
    @every_step
    def never_down(self, before: Node, after: Node) -> bool:
        return before.index <= after.index

    @always
    def never_at_zero(self, now: Node) -> bool:
        return now.index != 0


def test_a_step_and_its_target_may_break_properties_together():
    found = explore(walk(DownToLast, (1, 0), starts=(1,)))
    assert {broken.name for broken in found.broken} == {"never_down", "never_at_zero"}
    assert len(found.path.steps) == 1


class Failing(Endless):
    @action
    def fail(self, now: Node) -> Node:
        if now.index == 2:
            raise KeyError("no such row")
        raise Disabled


def test_an_exception_in_an_action_is_a_bug_of_the_model_and_shown_with_its_trace():
    with pytest.raises(BrokenModel, match=r"fail\(\) failed with KeyError: 'no such row'") as error:
        explore(walk(Failing, (0, 1), (1, 2)))
    assert [step.action for step in error.value.trace.steps] == ["go(to=node1)", "go(to=node2)"]


class FailingProperty(Endless):
    @always
    def divides(self, now: Node) -> bool:
        return 1 // (1 - now.index) < 5


class FailingStep(Endless):
    @every_step
    def divides(self, before: Node, after: Node) -> bool:
        return 1 // (1 - after.index) < 5


@pytest.mark.parametrize("kind", [FailingProperty, FailingStep])
def test_an_exception_in_a_property_is_a_bug_of_the_model(kind):
    with pytest.raises(
        BrokenModel, match="a property or @init failed with ZeroDivisionError"
    ) as error:
        explore(walk(kind, (0, 1)))
    assert len(error.value.trace) == 1


class Forgetful(Endless):
    @action
    def forget(self, now: Node) -> Node:
        require_nothing = now
        del require_nothing


def test_an_action_that_returns_nothing_is_told_so():
    with pytest.raises(WrongState, match=r"after forget\(\), there is no state"):
        explore(walk(Forgetful))


class Unhashable(Counter):
    @action
    def spoil(self, now: Count) -> Count:
        return Count([now.value])


def test_a_state_that_cannot_be_hashed_is_a_bug_of_the_model():
    with pytest.raises(BrokenModel, match="spoil.* failed with TypeError: unhashable.* a tuple"):
        explore(Unhashable(1))


class P(Element): ...


class Assigns(Endless):
    @action
    def mark(self, now: Node) -> Node:
        Map.fill(Domain(P, 1), 0)[P(0)] += 1
        return now


def test_a_key_of_a_map_that_is_assigned_is_a_bug_of_the_model_that_names_set():
    with pytest.raises(BrokenModel, match=r"mark.*item assignment.* write m\.set\(key, value\)"):
        explore(walk(Assigns))


class Aims(Endless):
    @sometimes
    def arrives(self, now: Node, at: Node) -> bool:
        return now is at


def test_the_shortest_way_to_each_reachable_goal_is_kept():
    found = explore(walk(Aims, (0, 1), (1, 2), (0, 2), size=4))
    ways = {call.arguments[0].index: len(path.steps) for call, path in found.witnesses.items()}
    assert ways == {0: 0, 1: 1, 2: 1}


def test_progress_is_reported_with_queue_and_depth():
    reports = []
    explore(Counter(1000), on_progress=reports.append)
    assert [part.expanded for part in reports] == [0, 256, 512, 768]
    assert reports[1].distinct == 257
    assert reports[1].queue == 1
    assert reports[1].depth == 257


class Interrupted(Counter):
    @action
    def up(self, now: Count) -> Count:
        if now.value == 2:
            raise KeyboardInterrupt
        return super().up(now)


def test_an_interrupt_keeps_what_was_counted():
    found = explore(Interrupted(5))
    assert found.stopped.startswith("the search was interrupted")
    assert found.counts.distinct == 3


def test_two_runs_give_equal_results():
    model = walk(Endless, (0, 1), (1, 2), (2, 0))
    assert explore(model, limits=Limits()) == explore(model)


class Idle(Walk):
    @init
    def start(self) -> Node:
        return Node(0)


def test_a_model_without_initial_states_has_no_depth():
    assert explore(walk(Idle, starts=(0,))).counts.depth == 1
    model = Idle(walk(Idle).nodes, frozenset(), ())
    assert explore(model).counts == Counts(0, 0, 0, (("go", 0),))


class FailingInit(Counter):
    @init
    def start(self) -> Count:
        return Count(1 // (self.most - 1))


class UnhashableInit(Counter):
    @init
    def start(self) -> Count:
        return Count([])


@dataclass(frozen=True, eq=False)
class OnlyItself:
    n: int


@dataclass(frozen=True)
class NeverEqual(Model[OnlyItself]):
    @init
    def start(self) -> OnlyItself:
        return OnlyItself(0)

    @action
    def turn(self, now: OnlyItself) -> OnlyItself:
        return OnlyItself(1 - now.n)


def test_a_state_that_equals_itself_alone_is_told_so():
    for search in (explore, check):
        with pytest.raises(UnfitState, match="two OnlyItself are equal.* without eq=False"):
            search(NeverEqual())


class FailingFinal(Walk):
    @final
    def divides(self, now: Node) -> bool:
        return 1 // (1 - now.index) < 5


@pytest.mark.parametrize(
    ("model", "steps"),
    [(FailingInit(1), 0), (UnhashableInit(1), 0), (walk(FailingFinal, (0, 1)), 1)],
    ids=["init", "unhashable", "final"],
)
def test_an_exception_in_any_other_method_is_a_bug_of_the_model_too(model, steps):
    with pytest.raises(BrokenModel, match="a property or @init failed with") as error:
        explore(model)
    assert len(error.value.trace) == steps


def test_a_property_that_answers_nonsense_is_told_what_to_return():
    class Vague(Endless):
        @always
        def something(self, now: Node) -> int:
            return 1

    with pytest.raises(WrongDefinition, match="Return True, False"):
        explore(walk(Vague))
