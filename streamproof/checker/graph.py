"""The graph of all reachable states, for small models: to look at, and to ask networkx about."""

from __future__ import annotations

from collections import deque
from typing import Any

import networkx as nx

from streamproof.lang import StreamproofError
from streamproof.lang.model import Model
from streamproof.models.kit.trace import changes, fields_of, show

STATES_MAX = 10_000
"""States that a graph may have unless told otherwise; a picture of more shows nothing."""


class GraphTooLarge(StreamproofError, ValueError):
    """A model has more states than a graph of them may have."""


def state_graph(model: Model[Any], *, states_max: int = STATES_MAX) -> nx.MultiDiGraph[Any]:
    """Build the graph of all reachable states.

    Its nodes are the states themselves, in the order of a breadth-first search, with attributes
    `number` and `initial`; its edges have the attribute `call`, which is also their key. Steps in
    which a claim fails lead nowhere and are left out.

    Raises
    ------
    GraphTooLarge : if there are more than `states_max` states
    """
    graph: nx.MultiDiGraph[Any] = nx.MultiDiGraph()
    waiting: deque[Any] = deque()

    def add(state: Any, initial: bool) -> None:
        if state in graph:
            return
        if len(graph) >= states_max:
            raise GraphTooLarge(
                f"{type(model).__name__} has more than {states_max:,} states at this size, too "
                "many for a graph. Choose a smaller size, or raise --states-max"
            )
        graph.add_node(state, number=len(graph), initial=initial)
        waiting.append(state)

    for state in model.initial_states():
        add(state, initial=True)
    while waiting:
        state = waiting.popleft()
        for move in model.moves(state):
            if move.target is not None:
                add(move.target, initial=False)
                graph.add_edge(state, move.target, key=move.call, call=move.call)
    return graph


def to_graphml(graph: nx.MultiDiGraph[Any]) -> str:
    """Write a state graph as GraphML: nodes by number, with every field of the state as text."""
    plain: nx.MultiDiGraph[Any] = nx.MultiDiGraph()
    for state, data in graph.nodes(data=True):
        fields = {name or "state": show(value) for name, value in fields_of(state)}
        plain.add_node(data["number"], initial=data["initial"], **fields)
    for number, (source, target, call) in enumerate(graph.edges(keys=True)):
        numbers = graph.nodes[source]["number"], graph.nodes[target]["number"]
        plain.add_edge(*numbers, key=number, action=call.name, call=str(call))
    return "\n".join(nx.generate_graphml(plain)) + "\n"


def to_dot(graph: nx.MultiDiGraph[Any]) -> str:
    """Write a state graph for Graphviz.

    An initial state shows all its fields; any other shows what the step changed that found it.
    """
    lines = ["digraph states {", '  node [shape=box, fontname="monospace"];']
    told: dict[Any, str] = {}
    for state, data in graph.nodes(data=True):
        if data["initial"]:
            told[state] = "\n".join(f"{name} = {show(value)}" for name, value in fields_of(state))
        for target in graph.successors(state):
            if target not in told and not graph.nodes[target]["initial"]:
                told[target] = "\n".join(map(str, changes(state, target)))
    for state, data in graph.nodes(data=True):
        style = ", style=bold" if data["initial"] else ""
        label = _quoted(f"{data['number']}\n{told[state]}\n")
        lines.append(f"  {data['number']} [label={label}{style}];")
    for source, target, call in graph.edges(keys=True):
        numbers = f"{graph.nodes[source]['number']} -> {graph.nodes[target]['number']}"
        lines.append(f"  {numbers} [label={_quoted(str(call))}];")
    return "\n".join([*lines, "}", ""])


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\l")
    return f'"{escaped}"'
