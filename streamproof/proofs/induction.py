"""Induction: discharging every obligation with Z3, and explaining the ones that fail."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum

import z3

from streamproof.lang import expr as ex
from streamproof.lang.expr import Var
from streamproof.models.verdict import Json, Proved, Undetermined, Verdict
from streamproof.proofs.bounded import Question, find_instance
from streamproof.proofs.cti import (
    SIZES,
    CounterexampleToInduction,
    Reach,
    counterexamples,
    not_searched,
)
from streamproof.proofs.invariant import Invariant
from streamproof.proofs.obligations import RLIMIT, Kind, Obligation, Theory, obligations
from streamproof.proofs.to_z3 import OpenTranslator


class Answer(Enum):
    """What Z3 says of the opposite of an obligation."""

    UNSAT = "unsat"
    """There is no exception: the obligation is discharged."""
    SAT = "sat"
    """There is an exception."""
    UNKNOWN = "unknown"
    """Nothing is known; never taken for proved."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """An obligation and what became of it.

    Attributes
    ----------
    rlimit : Z3's own steps that it took
    """

    obligation: Obligation
    answer: Answer
    rlimit: int
    examples: tuple[CounterexampleToInduction, ...] = ()

    @property
    def is_discharged(self) -> bool:
        """Whether Z3 has shown that there is no exception."""
        return self.answer is Answer.UNSAT

    def to_json(self) -> Json:
        """Give it as JSON."""
        found: Json = {
            "kind": self.obligation.kind.value,
            "subject": self.obligation.subject,
            "action": self.obligation.action,
            "answer": self.answer.value,
            "rlimit": self.rlimit,
        }
        return found | {"examples": [example.to_json() for example in self.examples]}


@dataclass(frozen=True, slots=True)
class ProofReport:
    """Everything that a proof found out.

    Attributes
    ----------
    vacuous : action paths and lemmas whose guard no state with the invariant satisfies, at the
        sizes tried: what is proven of them is proven of nothing
    """

    model: str
    outcomes: tuple[Outcome, ...]
    vacuous: tuple[str, ...]
    seconds: float

    @property
    def failed(self) -> tuple[Outcome, ...]:
        """The obligations that are not discharged."""
        return tuple(part for part in self.outcomes if not part.is_discharged)

    @property
    def verdict(self) -> Verdict:
        """PROVED if every obligation is `unsat` and none is vacuous."""
        reasons = [f"{part.obligation}: {part.answer.value}" for part in self.failed]
        reasons += [f"{name} is never enabled under the invariant" for name in self.vacuous]
        if not self.outcomes:
            reasons.append("there was nothing to prove")
        return Undetermined(tuple(reasons)) if reasons else Proved(len(self.outcomes))

    def to_json(self) -> Json:
        """Give the report as JSON."""
        return {
            "model": self.model,
            "verdict": self.verdict.to_json(),
            "obligations": [part.to_json() for part in self.outcomes],
            "vacuous": list(self.vacuous),
            "seconds": round(self.seconds, 3),
        }


def prove(
    invariant: Invariant,
    *,
    rlimit: int = RLIMIT,
    reach: Reach = not_searched,
    on_progress: Callable[[int, int, Obligation], None] = lambda *_: None,
) -> ProofReport:
    """Discharge every obligation of an invariant, each in a solver of its own.

    Parameters
    ----------
    rlimit : Z3's own steps for one obligation
    reach : tells whether the state of a counterexample to induction is reachable
    on_progress : called before each obligation with the number done, the total and the obligation
    """
    began = time.perf_counter()
    theory = Theory.of(invariant)
    asked = obligations(theory)
    outcomes = []
    for done, obligation in enumerate(asked):
        on_progress(done, len(asked), obligation)
        outcomes.append(_explained(theory, _discharge(obligation, rlimit), reach))
    return ProofReport(
        theory.traced.name,
        tuple(outcomes),
        vacuous_paths(theory, asked),
        time.perf_counter() - began,
    )


def _discharge(obligation: Obligation, rlimit: int) -> Outcome:
    translator = OpenTranslator()
    solver = z3.Solver(ctx=translator.context)
    solver.set("rlimit", rlimit)
    solver.add(*(translator.term(premise) for premise in obligation.premises))
    solver.add(translator.term(ex.negate(obligation.conclusion)))
    answer = Answer(str(solver.check()))
    return Outcome(obligation, answer, int(solver.statistics().get_key_value("rlimit count")))


def _explained(theory: Theory, outcome: Outcome, reach: Reach) -> Outcome:
    """Look for small examples of an obligation that is not discharged."""
    if outcome.answer is Answer.UNSAT:
        return outcome
    examples = counterexamples(theory, outcome.obligation, reach)
    answer = Answer.SAT if examples else outcome.answer
    return Outcome(outcome.obligation, answer, outcome.rlimit, examples)


def vacuous_paths(theory: Theory, asked: tuple[Obligation, ...]) -> tuple[str, ...]:
    """Name action paths, and lemmas, whose premises no state with the invariant satisfies."""
    found = [
        path
        for path, command in theory.paths()
        if not _satisfiable(theory, (*theory.assumed, *command.guard), command.parameters)
    ]
    lemmas: dict[str, list[Obligation]] = {}
    for obligation in asked:
        if obligation.kind is Kind.LEMMA:
            lemmas.setdefault(obligation.subject, []).append(obligation)
    found += [
        name
        for name, parts in lemmas.items()
        if not any(_satisfiable(theory, part.premises, part.parameters) for part in parts)
    ]
    return tuple(found)


def _satisfiable(
    theory: Theory, premises: tuple[ex.Expr, ...], parameters: tuple[Var, ...]
) -> bool:
    return any(
        find_instance(Question(theory.traced, premises, parameters, size)) is not None
        for size in SIZES
    )
