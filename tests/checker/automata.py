"""Random automata with fairness, and liveness by its definition: every set of states is tried."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain, combinations
from typing import Any

from hypothesis import assume
from hypothesis import strategies as st

from streamproof.lang import Domain, Element, Map, Model, require
from streamproof.lang.model import Fairness, action, eventually, final, init, leads_to


class Node(Element):
    """A state of an automaton."""


@dataclass(frozen=True)
class At:
    node: Node


@dataclass(frozen=True)
class Automaton(Model[At]):
    """Actions as tables: where each can happen, and where it leads."""

    nodes: Domain[Node]
    home: Node
    can_0: Map[Node, bool]
    can_1: Map[Node, bool]
    can_2: Map[Node, bool]
    to_0: Map[Node, Node]
    to_1: Map[Node, Node]
    to_2: Map[Node, Node]
    premise: Map[Node, bool]
    goal: Map[Node, bool]

    @init
    def start(self) -> At:
        return At(self.home)

    @final
    def anywhere(self, s: At) -> bool:
        return True

    @leads_to
    def keeps_its_promise(self, s: At) -> tuple[bool, bool]:
        return self.premise[s.node], self.goal[s.node]

    @eventually
    def arrives(self, s: At) -> bool:
        return self.goal[s.node]


def acting(number: int, fairness: Fairness) -> Any:
    def act(self: Any, s: At) -> At:
        require(getattr(self, f"can_{number}")[s.node])
        return At(getattr(self, f"to_{number}")[s.node])

    return action(fairness=fairness)(act)


KINDS = {
    kinds: type(
        "Automaton_" + "_".join(kind.value for kind in kinds),
        (Automaton,),
        {f"act_{number}": acting(number, kind) for number, kind in enumerate(kinds)},
    )
    for kinds in [
        (a, b, c)
        for a in Fairness
        for b in Fairness
        for c in Fairness
        if a.value <= b.value <= c.value
    ]
}


@st.composite
def random_automata(draw: Any, *, size: int = 0) -> Automaton:
    """Make automata of so many states; without a size, of at most six that a run can go around in.

    Where none can, whether a promise is kept is only a question of where a run may stay. What
    stands in the tables is drawn as one string, with a byte for each entry.
    """
    nodes = Domain(Node, size or draw(st.integers(2, 6)))
    kind = KINDS[draw(st.sampled_from(list(KINDS)))]
    can, goal = draw(st.sampled_from((0.6, 0.9, 0.3))), draw(st.sampled_from((0.1, 0.4)))
    made = 0.1 if size else 0.5  # rarely, so that ways to where a promise is made differ
    drawn = draw(st.binary(min_size=8 * len(nodes), max_size=8 * len(nodes)))
    entries = iter(drawn)

    def table(share: float) -> Map[Node, bool]:
        return Map.build(nodes, lambda _: next(entries) >= 256 * (1 - share))

    def leading() -> Map[Node, Node]:
        return Map.build(nodes, lambda _: nodes.elements[next(entries) % len(nodes)])

    cans, tos = [table(can) for _ in range(3)], [leading() for _ in range(3)]
    model = kind(nodes, nodes.elements[0], *cans, *tos, table(made), table(goal))
    assume(size or goes_around(model))
    return model


def moves_of(model: Automaton) -> dict[At, dict[str, At]]:
    """List what changes each state, and to what."""
    steps = {
        state: {
            call.name: act(state)
            for call, act in model.ground_actions
            if getattr(model, f"can_{call.name[-1]}")[state.node]
        }
        for state in map(At, model.nodes)
    }
    return {s: {a: t for a, t in found.items() if t != s} for s, found in steps.items()}


def goes_around(model: Automaton) -> bool:
    """Return whether a run can visit several states for ever, and arrive at the goal in none."""
    moves = moves_of(model)
    open_ = {state for state in moves if not model.goal[state.node]}
    reached = closure({At(model.home)} & open_, moves, open_)
    return any(s in closure({t}, moves, open_) for s in reached for t in moves[s].values())


def breaks_by_definition(model: Automaton, name: str) -> bool:
    """Return whether some fair run breaks a promise: by trying every set that it could end up in.

    A run ends up in a set of states if it visits each of them, and no other, again and again. It
    can do that for every set that its own steps connect, and for one state by staying there.
    """
    moves = moves_of(model)
    fairness = {method.name: method.fairness for method in model.methods(action_role())}
    open_ = {state for state in moves if not model.goal[state.node]}
    reached = closure({At(model.home)}, moves, set(moves))
    begun = {s for s in reached if model.premise[s.node]} & open_
    if name == "arrives":
        begun = {At(model.home)} & open_
    region = closure(begun, moves, open_)
    return any(
        is_connected(part, moves) and is_fair(part, moves, fairness)
        for part in map(set, chain.from_iterable(combinations(region, n + 1) for n in range(6)))
    )


def action_role() -> Any:
    from streamproof.lang.model import Role

    return Role.ACTION


def closure(begun: set[At], moves: Any, allowed: set[At]) -> set[At]:
    found = set(begun)
    while more := {t for s in found for t in moves[s].values() if t in allowed} - found:
        found |= more
    return found


def is_connected(part: set[At], moves: Any) -> bool:
    return all(closure({state}, moves, part) == part for state in part)


def is_fair(part: set[At], moves: Any, fairness: dict[str, Fairness]) -> bool:
    for name, kind in fairness.items():
        taken = any(moves[state].get(name) in part for state in part)
        enabled = [name in moves[state] for state in part]
        if kind is Fairness.WEAK and all(enabled) and not taken:
            return False
        if kind is Fairness.STRONG and any(enabled) and not taken:
            return False
    return True


def breaks_as_told(model: Automaton, lasso: Any, name: str) -> bool:
    """Check a counterexample step by step: it runs, returns, is fair, and keeps the goal away."""
    actions = model.ground_actions
    states = [At(model.home)]
    for number in (*lasso.path.steps, *lasso.cycle):
        call, act = actions[number]
        require(getattr(model, f"can_{call.name[-1]}")[states[-1].node])
        states.append(act(states[-1]))
    entry = len(lasso.path.steps)
    around = states[entry:]
    if around[0] != around[-1]:
        return False
    part = set(around)
    taken = {actions[number][0].name for number in lasso.cycle}
    for method in model.methods(action_role()):
        can = [
            getattr(model, f"can_{method.name[-1]}")[s.node]
            and getattr(model, f"to_{method.name[-1]}")[s.node] != s.node
            for s in part
        ]
        if method.fairness is Fairness.WEAK and all(can) and method.name not in taken:
            return False
        if method.fairness is Fairness.STRONG and any(can) and method.name not in taken:
            return False
    made = [name == "arrives" or model.premise[state.node] for state in states[: entry + 1]]
    kept = [model.goal[state.node] for state in states]
    begun = max((at for at, held in enumerate(kept) if held), default=-1) + 1
    return any(made[begun : 1 if name == "arrives" else None])
