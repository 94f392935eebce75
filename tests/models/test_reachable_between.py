"""S3 on graphs: a recorded state lies between the states in which its snapshot began and ended.

The application's own state graph comes from the model without initiators, so that there are no
markers. The model with snapshots is explored together with what a state alone does not tell: for
each snapshot under way, the application's state S_init in which it began. Every pair of a state and
its S_init that some run reaches is visited, and a snapshot's end is a step from such a pair, so the
check S_init ->* S* ->* S_final is made for every run, not for a sample. Each mutant must fail it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import networkx as nx
import pytest

from streamproof.lang import Map, exists
from streamproof.models.mutants.snapshots import chandy_lamport as mistakes
from streamproof.models.mutants.snapshots import token_passing as token_mistakes
from streamproof.models.snapshots.chandy_lamport import ChandyLamport
from streamproof.models.snapshots.graph import Graph
from streamproof.models.snapshots.token_passing import TokenPassing
from tests.models.support.shortest import mistaken

MODELS = {
    "counters-complete": ChandyLamport.sized(messages=(2, 1)),
    "counters-ring": ChandyLamport.sized(messages=(1, 1, 0), graph=Graph.RING),
    "counters-dag": ChandyLamport.sized(messages=(2, 1, 0), graph=Graph.DAG, initiators=1),
    "counters-overlapping": ChandyLamport.sized(messages=(1, 0), snapshots=2),
    "tokens-complete": TokenPassing.sized(messages=(2, 1), tokens=(0, 0)),
    "tokens-ring": TokenPassing.sized(messages=(1, 1, 1), tokens=(0, 1), graph=Graph.RING),
    "tokens-overlapping": TokenPassing.sized(messages=(1, 1), tokens=(0,), snapshots=2),
}


@dataclass(frozen=True)
class Recorded:
    """One snapshot of one class of runs: the three states of the theorem."""

    began: Any
    cut: Any
    ended: Any


def application_graph(model: Any) -> nx.DiGraph[Any]:
    """Build the state graph of the application: the model in which nobody initiates."""
    nobody = Map.fill(*model.may_initiate.domains, False)
    alone = replace(model, may_initiate=nobody)
    (start,) = alone.initial_states()
    graph: nx.DiGraph[Any] = nx.DiGraph()
    graph.add_node(start.app)
    pending = [start]
    while pending:
        state = pending.pop()
        for move in alone.moves(state):
            if move.target.app not in graph:
                pending.append(move.target)
            graph.add_edge(state.app, move.target.app)
    return graph


def snapshots_of(model: Any) -> Iterator[Recorded]:
    """List the completed snapshots of all runs."""
    (start,) = model.initial_states()
    first = (start, (None,) * len(model.snapshots))
    seen = {first}
    pending = deque([first])
    while pending:
        before, began = pending.popleft()
        for move in model.moves(before):
            if move.target is None:
                continue
            after = move.target
            begins = list(began)
            for k in model.snapshots:
                if is_under_way(model, after, k) and begins[k.index] is None:
                    begins[k.index] = before.app
                if model.complete(after, k) and not model.complete(before, k):
                    yield Recorded(begins[k.index], after.saved[k], after.app)
            node = (after, tuple(begins))
            if node not in seen:
                seen.add(node)
                pending.append(node)


def is_under_way(model: Any, state: Any, k: Any) -> bool:
    return exists(model.processes, lambda p: model.recorded(state, k, p))


def unreachable(model: Any) -> Recorded | None:
    """Find a snapshot that is not between its beginning and its end; None if there is none."""
    graph = application_graph(model)
    after = {state: nx.descendants(graph, state) | {state} for state in graph}
    checked = set()
    for found in snapshots_of(model):
        if found.cut not in after or found.cut not in after[found.began]:
            return found
        if found.ended not in after[found.cut]:
            return found
        checked.add(found)
    assert checked, "no snapshot completes, so nothing was checked"
    return None


@pytest.mark.parametrize("name", MODELS)
def test_every_snapshot_is_reachable_between_its_beginning_and_its_end(name):
    assert unreachable(MODELS[name]) is None


def test_some_recorded_state_never_occurred():
    # Else S* would always be a state of the run itself, and the theorem would say too little.
    model = MODELS["tokens-complete"]
    assert any(found.cut not in (found.began, found.ended) for found in snapshots_of(model))


@pytest.mark.parametrize(
    "mutant",
    [
        m
        for m in mistakes.MUTANTS
        if m.name not in ("chandy_lamport/no-relay", "chandy_lamport/halt-after-recording")
    ],
    ids=lambda mutant: mutant.name,
)
def test_a_mistake_puts_some_recorded_state_out_of_reach(mutant):
    model_class = mistaken(mutant.model_class, TokenPassing)
    messages = (1,) * len(mutant.size["messages"])
    ids = mutant.size.get("snapshots", 1)
    model = model_class.sized(messages=messages, tokens=(0,), snapshots=ids)
    assert unreachable(model) is not None


@pytest.mark.parametrize("mutant", token_mistakes.MUTANTS, ids=lambda mutant: mutant.name)
def test_a_mistake_with_tokens_puts_some_recorded_state_out_of_reach(mutant):
    assert unreachable(mutant.model_class.sized(**mutant.size)) is not None
