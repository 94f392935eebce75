"""Z3 as a further voice: the relation of steps at the model's size, and proofs for any size."""

from __future__ import annotations

import typing
from random import Random
from typing import Any

import z3

from streamproof.lang import expr as ex
from streamproof.lang.model import Role
from streamproof.lang.trace import trace_model
from streamproof.proofs.invariant import Invariant
from streamproof.proofs.obligations import Theory, obligations
from streamproof.proofs.relation import Relation
from streamproof.proofs.to_z3 import NotProvable, OpenTranslator
from tests.fuzz.traced_voice import reached

STATES = 3
"""States whose steps are looked for through Z3."""
RLIMIT = 200_000
"""Z3's own steps for one obligation of a proof."""


def check_relation(model: Any, rng: Random) -> None:
    """Compare initial states, and the steps from some states, with what Z3 finds.

    Raises
    ------
    AssertionError : if they differ
    """
    starts = set(model.initial_states())
    if not starts:
        return
    relation = Relation(trace_model(type(model)), model)
    assert relation.initial_states() == starts
    states = reached(model, 30)
    for state in rng.sample(states, min(STATES, len(states))):
        moves = list(model.moves(state))
        if all(move.target is not None for move in moves):
            assert relation.successors(state) == {move.target for move in moves}, str(state)


def proved(cls: Any) -> tuple[str, ...]:
    """Name what is proved by induction over a model's invariants: everything, or nothing."""
    names = [method.name for method in cls.methods(Role.ALWAYS)]
    conjuncts = tuple(conjunct(cls, method) for method in cls.methods(Role.ALWAYS))
    theory = Theory.of(Invariant(cls, conjuncts))
    asked = obligations(theory)
    try:
        if not all(map(is_discharged, asked)):
            return ()
    except NotProvable:
        return ()
    return (*names, *(method.name for method in cls.methods(Role.EVERY_STEP)), "claims")


def conjunct(cls: Any, method: Any) -> Any:
    """Make a conjunct of an invariant from a property."""
    names = ", ".join(name for name, _ in method.parameters)
    given = "".join(f", {name}: {note.__name__}" for name, note in method.parameters)
    notes = {note.__name__: note for _, note in method.parameters}
    answer = f"model.{method.name}(state, {names})"
    # A reason as text is no truth; named conjuncts hold together.
    gives = typing.get_type_hints(getattr(cls, method.name))["return"]
    holds = "answer['one'] and answer['other']" if gives == dict[str, bool] else "answer == True"
    text = f"def {method.name}(model, state{given}):\n    answer = {answer}\n    return {holds}\n"
    exec(compile(text, "conjunct.py", "exec", dont_inherit=True), notes)
    return notes[method.name]


def is_discharged(obligation: Any) -> bool:
    """Ask Z3 whether an obligation has no exception."""
    translator = OpenTranslator()
    solver = z3.Solver(ctx=translator.context)
    solver.set("rlimit", RLIMIT)
    solver.add(*(translator.term(premise) for premise in obligation.premises))
    solver.add(translator.term(ex.negate(obligation.conclusion)))
    return str(solver.check()) == "unsat"
