"""Induction: discharging every obligation with Z3, and explaining the ones that fail."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from enum import Enum
from typing import Any

import z3

from streamproof.checker.constants import look_at_sizes
from streamproof.checker.elsewhere import require_same_elsewhere
from streamproof.checker.evident import is_evident_class
from streamproof.checker.prefix import stop_loading
from streamproof.lang import expr as ex
from streamproof.lang.as_asked import require_as_first_asked
from streamproof.lang.claims import require_claims
from streamproof.lang.errors import WrongDefinition
from streamproof.lang.expr import Var
from streamproof.lang.impure import require_pure
from streamproof.lang.model import Model, Role
from streamproof.lang.reached import require_as_when_listed
from streamproof.models.kit.sizes import at_size
from streamproof.models.kit.verdict import Json, Proved, Reachable, Refuted, Undetermined, Verdict
from streamproof.proofs.bounded import Question, find_instance
from streamproof.proofs.cti import (
    SIZES,
    CounterexampleToInduction,
    Reach,
    counterexamples,
    not_searched,
)
from streamproof.proofs.empty import without_elements
from streamproof.proofs.invariant import Invariant, named
from streamproof.proofs.obligations import RLIMIT, Kind, Obligation, Theory, obligations
from streamproof.proofs.premises import ask, untried_premises
from streamproof.proofs.to_z3 import NotProvable, OpenTranslator
from streamproof.translation import TranslationReport, validate_invariant

EXPLAINED_MAX = 8
"""Failed obligations for which examples are looked for; the others rarely tell more."""


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
    rlimit : Z3's own steps that it took, where every domain has an element
    without : the domains that are empty in the case that is not discharged
    """

    obligation: Obligation
    answer: Answer
    rlimit: int
    examples: tuple[CounterexampleToInduction, ...] = ()
    without: tuple[str, ...] = ()

    @property
    def is_discharged(self) -> bool:
        """Whether Z3 has shown that there is no exception."""
        return self.answer is Answer.UNSAT

    @property
    def told(self) -> str:
        """What became of it, in a line."""
        where = f" with no {', no '.join(self.without)} at all" if self.without else ""
        return f"{self.obligation}: {self.answer.value}{where}"

    def to_json(self) -> Json:
        """Return it as JSON."""
        found: Json = {
            "kind": self.obligation.kind.value,
            "subject": self.obligation.subject,
            "action": self.obligation.action,
            "answer": self.answer.value,
            "rlimit": self.rlimit,
        }
        found |= {"without": list(self.without)} if self.without else {}
        return found | {"examples": [example.to_json() for example in self.examples]}


@dataclass(frozen=True, slots=True)
class ProofReport:
    """Everything that a proof found out.

    Attributes
    ----------
    vacuous : what says nothing: actions, initial states and lemmas whose guard no state satisfies
        at the sizes tried, and properties that are true whatever the state
    seconds : how long the questions took, without comparing
    translation : what the traced form was compared on; None if nothing is proved by it
    """

    model: str
    outcomes: tuple[Outcome, ...]
    vacuous: tuple[str, ...]
    seconds: float
    translation: TranslationReport | None = None

    @property
    def failed(self) -> tuple[Outcome, ...]:
        """The obligations that are not discharged."""
        return tuple(part for part in self.outcomes if not part.is_discharged)

    @property
    def verdict(self) -> Verdict:
        """PROVED if every obligation is `unsat` and none is vacuous.

        REFUTED if a run leads to a state from which one is seen to fail: then what was to be
        proven, of the model or as a part of its invariant, is false.
        """
        if refuted := self._refuted():
            return refuted
        reasons = [part.told for part in self.failed]
        reasons += self.vacuous
        if not self.outcomes:
            reasons.append("there was nothing to prove")
        return Undetermined(tuple(reasons)) if reasons else Proved(len(self.outcomes))

    def _refuted(self) -> Refuted | None:
        """Return what fails after a run, a property of the model before a part of the invariant."""
        about_model = (Kind.SAFETY, Kind.STEP, Kind.CLAIM)
        for outcome in sorted(
            self.failed, key=lambda part: part.obligation.kind not in about_model
        ):
            for example in outcome.examples:
                if example.reachable is Reachable.YES and example.trace is not None:
                    subject = outcome.obligation.subject
                    reason = (
                        f"{subject} fails after a run ({outcome.obligation}), with {example.size} "
                        "elements in every domain"
                    )
                    return Refuted(subject, reason, example.trace)
        return None

    def to_json(self) -> Json:
        """Return the report as JSON."""
        return {
            "model": self.model,
            "verdict": self.verdict.to_json(),
            "obligations": [part.to_json() for part in self.outcomes],
            "vacuous": list(self.vacuous),
            "seconds": round(self.seconds, 3),
            "translation": self.translation.to_json() if self.translation else None,
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
    rlimit : Z3's own steps for one obligation, and for each question in the search for an example
        of why it fails
    reach : tells whether the state of a counterexample to induction is reachable
    on_progress : called before each obligation with the number done, the total and the obligation

    Raises
    ------
    TracingDisagrees : if all is proved of a traced form that differs from the code
    ClaimsDisabled : under python -O
    BrokenAssumption, UnfitState : if a named size is none that the proof would speak of
    ImpureModel : if the code may answer otherwise in another process, or does
    WrongDefinition : if a class of the model has changed since its methods were listed

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> from streamproof.lang import Model, action, always, init
    >>> @dataclass(frozen=True)
    ... class Account:
    ...     paid: int
    ...     owed: int
    >>> class Bank(Model[Account]):
    ...     sizes = {"default": {}}
    ...
    ...     @init
    ...     def start(self) -> Account:
    ...         return Account(0, 0)
    ...
    ...     @action
    ...     def pay(self, now: Account) -> Account:
    ...         return Account(now.paid + 1, now.owed - 1)
    ...
    ...     @always
    ...     def nobody_is_owed(self, now: Account) -> bool:
    ...         return now.owed <= 0
    >>> def adds_up(model: Bank, now: Account) -> bool:
    ...     return now.paid + now.owed == 0 and now.paid >= 0
    >>> prove(Invariant(Bank, (adds_up,))).verdict.status.value
    'PROVED'
    """
    began = time.perf_counter()
    _look_at_model(invariant.model_class)
    theory = Theory.of(invariant)
    asked = obligations(theory)
    outcomes: list[Outcome] = []
    for done, obligation in enumerate(asked):
        on_progress(done, len(asked), obligation)
        outcome = _discharge(theory, obligation, rlimit)
        failed = sum(not part.is_discharged for part in outcomes)
        outcomes.append(outcome)
        if failed < EXPLAINED_MAX:
            outcomes[-1] = _explained(theory, outcome, reach, rlimit)
    report = ProofReport(
        theory.traced.name,
        tuple(outcomes),
        vacuous_parts(theory, asked),
        time.perf_counter() - began,
    )
    if not isinstance(report.verdict, Proved):
        return report
    return dataclasses.replace(report, translation=validate_invariant(invariant))


def _look_at_model(cls: type[Model[Any]]) -> None:
    """Refuse a model for which no proof would mean anything."""
    require_claims()
    stop_loading()
    require_as_when_listed(cls)
    require_as_first_asked(cls)
    require_pure(cls)
    look_at_sizes(cls)
    if not cls.sizes and not is_evident_class(cls):  # type: ignore[arg-type] # a class does hash
        raise WrongDefinition(
            f"{cls.__name__} names no size, so no other process can be asked whether its methods "
            "answer alike there, and its code does not show it. A proof might hold in this process "
            'alone. Name a size: sizes = {"default": {...}}, with the arguments of `sized`'
        )
    for size in [*cls.sizes.values()][:1]:  # what differs in a class differs in each size
        require_same_elsewhere(at_size(cls, size))


def _discharge(theory: Theory, obligation: Obligation, rlimit: int) -> Outcome:
    """Ask Z3 of domains that have elements, and then of those that have none."""
    answer, steps = _asked(obligation, rlimit)
    if answer is not Answer.UNSAT:
        return Outcome(obligation, answer, steps)
    for empty, case in without_elements(theory.traced, obligation):
        of_none, _ = _asked(case, rlimit)
        if of_none is not Answer.UNSAT:
            return Outcome(obligation, of_none, steps, without=empty)
    return Outcome(obligation, answer, steps)


def _asked(obligation: Obligation, rlimit: int) -> tuple[Answer, int]:
    """Ask Z3 for an exception; tell its answer, and how many steps it took."""
    translator = OpenTranslator()
    solver = z3.Solver(ctx=translator.context)
    solver.set("rlimit", rlimit)
    solver.set("ctrl_c", False)  # else Z3 keeps an interrupt to itself
    solver.add(*(translator.term(premise) for premise in obligation.premises))
    solver.add(translator.term(ex.negate(obligation.conclusion)))
    answer = Answer(str(solver.check()))
    return answer, int(solver.statistics().get_key_value("rlimit count"))


def _explained(theory: Theory, outcome: Outcome, reach: Reach, rlimit: int) -> Outcome:
    """Look for small examples of an obligation that is not discharged."""
    if outcome.answer is Answer.UNSAT or outcome.without:
        return outcome
    examples = counterexamples(theory, outcome.obligation, reach, rlimit)
    answer = Answer.SAT if examples else outcome.answer
    return Outcome(outcome.obligation, answer, outcome.rlimit, examples)


def vacuous_parts(theory: Theory, asked: tuple[Obligation, ...]) -> tuple[str, ...]:
    """Return what is proven of nothing: a proof with such a part is no proof."""
    traced = theory.traced
    found = []
    for path, command in theory.paths():
        premises = (*theory.assumed, *command.guard)
        answer = _answer(theory, premises, command.parameters)
        if answer != z3.sat:
            how = "never enabled" if answer == z3.unsat else "not known to be enabled"
            found.append(f"{path} is {how} under the invariant")
    # A guard that simplifies to False leaves no path at all, and so no obligation to fail.
    cls = theory.invariant.model_class
    happening = {command.name for command in traced.commands}
    actions = [method.name for method in cls.methods(Role.ACTION)]
    found += [f"{name} can never happen" for name in actions if name not in happening]
    starts = [
        (*traced.assumptions, *command.guard)
        for command in traced.initial
        if _satisfiable(theory, (*traced.assumptions, *command.guard), command.parameters)
    ]
    found += ["there is no initial state"] * (not starts) + ["there is no action"] * (not actions)
    said = [form for form in traced.properties if form.role in (Role.ALWAYS, Role.EVERY_STEP)]
    found += ["the model states no property"] * (not said)
    found += [
        f"{form.name} is true of every state, reachable or not"
        for form in said
        if all(conjunct == ex.TRUE for _, conjunct in form.conjuncts)
    ]
    return (*found, *untried_premises(theory), *_vacuous_lemmas(theory, asked))


def _vacuous_lemmas(theory: Theory, asked: tuple[Obligation, ...]) -> tuple[str, ...]:
    lemmas: dict[str, list[Obligation]] = {
        name: [] for name, _ in named(theory.invariant.lemmas, "lemma")
    }
    for obligation in asked:
        if obligation.kind is Kind.LEMMA:
            lemmas[obligation.subject].append(obligation)
    return tuple(
        f"{name} assumes what no state with the invariant satisfies"
        for name, parts in lemmas.items()
        if not any(_satisfiable(theory, part.premises, part.parameters) for part in parts)
    )


def _satisfiable(
    theory: Theory, premises: tuple[ex.Expr, ...], parameters: tuple[Var, ...]
) -> bool:
    return bool(_answer(theory, premises, parameters) == z3.sat)


def _answer(
    theory: Theory, premises: tuple[ex.Expr, ...], parameters: tuple[Var, ...]
) -> z3.CheckSatResult:
    """Return whether some state satisfies premises: a small one, or any that Z3 finds."""
    questions = (Question(theory.traced, premises, parameters, size) for size in SIZES)
    if any(find_instance(question) is not None for question in questions):
        return z3.sat
    with suppress(NotProvable):
        return ask(premises, RLIMIT)
    return z3.unknown
