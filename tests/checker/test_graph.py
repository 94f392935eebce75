"""State graphs: the same states and steps as the engine's, and files that other tools read."""

from __future__ import annotations

import io

import networkx as nx
import pytest

from streamproof.checker import explore
from streamproof.checker.graph import GraphTooLarge, state_graph, to_dot, to_graphml
from streamproof.lang.model import action
from tests.checker.support.walks import Count, Counter, Node, Walk, walk


def test_nodes_are_the_states_and_edges_the_steps():
    graph = state_graph(Counter(2))
    assert list(graph.nodes) == [Count(0), Count(1, True), Count(2)]
    steps = [(a.value, b.value, str(call)) for a, b, call in graph.edges(keys=True)]
    assert steps == [(0, 1, "up()"), (1, 2, "up()"), (2, 0, "reset()")]
    assert graph.nodes[Count(0)] == {"number": 0, "initial": True}
    assert graph.nodes[Count(2)] == {"number": 2, "initial": False}


def test_the_graph_has_as_many_states_and_steps_as_the_search_counts():
    model = walk(Walk, (0, 1), (1, 0), (0, 0), (1, 2), (2, 0), starts=(0, 0))
    graph, counts = state_graph(model), explore(model).counts
    assert (len(graph), graph.size()) == (counts.distinct, counts.generated - 2)


def test_two_ways_between_the_same_states_are_two_edges():
    class Twice(Walk):
        @action
        def jump(self, now: Node, to: Node) -> Node:
            return to

    graph = state_graph(walk(Twice, (0, 1)))
    assert graph.number_of_edges(Node(0), Node(1)) == 2


def test_a_step_whose_claim_fails_leads_nowhere():
    class Claiming(Counter):
        @action
        def claim(self, now: Count) -> Count:
            assert now.value < 0
            return now

    assert {call.name for *_, call in state_graph(Claiming(1)).edges(keys=True)} == {"up", "reset"}


def test_a_graph_that_is_too_large_is_refused():
    with pytest.raises(GraphTooLarge, match="Counter has more than 3 states .* --states-max"):
        state_graph(Counter(3), states_max=3)
    assert len(state_graph(Counter(2), states_max=3)) == 3


def test_graphml_is_read_back_with_fields_and_actions():
    graph = nx.read_graphml(io.StringIO(to_graphml(state_graph(Counter(2)))), force_multigraph=True)
    assert graph.nodes["1"] == {"initial": False, "value": "1", "parity": "True"}
    assert [data["call"] for *_, data in graph.edges(data=True)] == ["up()", "up()", "reset()"]


def test_graphml_names_a_state_that_is_no_record():
    graph = nx.read_graphml(io.StringIO(to_graphml(state_graph(walk(Walk, (0, 1))))))
    assert graph.nodes["1"]["state"] == "node1"


def test_dot_shows_the_first_state_whole_and_then_what_changed():
    assert to_dot(state_graph(Counter(1))) == (
        "digraph states {\n"
        '  node [shape=box, fontname="monospace"];\n'
        '  0 [label="0\\lvalue = 0\\lparity = False\\l", style=bold];\n'
        '  1 [label="1\\lvalue: 0 -> 1\\lparity: False -> True\\l"];\n'
        '  0 -> 1 [label="up()"];\n'
        '  1 -> 0 [label="reset()"];\n'
        "}\n"
    )
