"""Mutation: every named mistake must be caught, by the property that it breaks, in a short run."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, TypeAlias

from streamproof.checker.check import CheckReport, check
from streamproof.checker.limits import Limits
from streamproof.lang import WrongDefinition
from streamproof.lang.claims import claim_function
from streamproof.lang.model import PROMISES, STATED, Model
from streamproof.models.kit.mutant import Mutant
from streamproof.models.kit.verdict import (
    ACTIONS,
    CLAIMS,
    DEADLOCK,
    ExitCode,
    Json,
    Refuted,
    Status,
    Verdict,
)

BuildAt: TypeAlias = Callable[[type[Model[Any]], Any], Model[Any]]
OriginalOf: TypeAlias = Callable[[Mutant], type[Model[Any]]]


class Fate(Enum):
    """What became of a mutant."""

    KILLED = "killed"
    """By the named property, in few enough steps, while the original passes."""
    SURVIVED = "survived"
    """Every state was searched, and the property that should catch the mistake holds."""
    OTHER_KILLER = "killed by another property"
    """So the named one was not tried, and may be too weak."""
    TOO_LONG = "killed too late"
    """The shortest counterexample is longer than the mutant allows."""
    ORIGINAL_FAILS = "the original fails as well"
    """So the property says nothing about the mistake."""
    UNDETERMINED = "undetermined"
    """The search did not end."""

    @property
    def exit_code(self) -> ExitCode:
        """How a command ends that found this."""
        if self is Fate.KILLED:
            return ExitCode.GREEN
        return ExitCode.UNDETERMINED if self is Fate.UNDETERMINED else ExitCode.REFUTED


@dataclass(frozen=True, slots=True)
class MutantResult:
    """What became of one mutant, and why.

    Attributes
    ----------
    killer : the property that killed it; empty if none did
    steps : steps of the counterexample; None if there is none
    distinct : distinct states of the mutant that were searched
    """

    mutant: Mutant
    fate: Fate
    killer: str
    steps: int | None
    distinct: int
    reason: str
    report: CheckReport

    def to_json(self) -> Json:
        """Return the result as JSON."""
        return {
            "mutant": self.mutant.name,
            "story": self.mutant.story,
            "fate": self.fate.value,
            "killed_by": self.mutant.killed_by,
            "killer": self.killer,
            "steps": self.steps,
            "steps_max": self.mutant.steps_max,
            "distinct": self.distinct,
            "reason": self.reason,
            "trace": _trace_json(self.report),
        }


@dataclass(frozen=True, slots=True)
class MutationReport:
    """What became of a model's mutants.

    Attributes
    ----------
    left : mutants that were not checked, since the run was interrupted by hand
    """

    model: str
    results: tuple[MutantResult, ...]
    left: int = 0

    @property
    def exit_code(self) -> ExitCode:
        """Green if all were killed; there must be one."""
        codes = {result.fate.exit_code for result in self.results}
        if ExitCode.REFUTED in codes:
            return ExitCode.REFUTED
        is_green = codes == {ExitCode.GREEN} and not self.left
        return ExitCode.GREEN if is_green else ExitCode.UNDETERMINED

    def to_json(self) -> Json:
        """Return the report as JSON."""
        killed = sum(result.fate is Fate.KILLED for result in self.results)
        return {
            "model": self.model,
            "killed": killed,
            "left": self.left,
            "mutants": [result.to_json() for result in self.results],
            "exit_code": int(self.exit_code),
        }


def run_mutants(
    mutants: Sequence[Mutant],
    *,
    original_of: OriginalOf,
    build: BuildAt,
    limits: Limits | None = None,
) -> Iterator[MutantResult]:
    """Check every mutant, and its original at the same size; each result as soon as it is there.

    A search that is interrupted by hand is the last one.

    Parameters
    ----------
    mutants : in the order in which they are checked
    original_of : gives the model without the mistake
    build : builds a model at a size
    limits : how far to search each

    Raises
    ------
    WrongDefinition : if a mutant is to be killed by what is no property of its model
    """
    for mutant in mutants:
        _check_killer(mutant)
    known: dict[tuple[type[Model[Any]], str], CheckReport] = {}
    for mutant in mutants:
        asks_promises = _is_promise(mutant)  # which take longer to decide than all else
        mutated = check(
            build(mutant.model_class, mutant.size),
            limits=limits,
            liveness=asks_promises,
            validated=False,
        )
        original = original_of(mutant)
        key = (original, f"{dict(mutant.size)} {asks_promises}")
        if key not in known:
            known[key] = check(build(original, mutant.size), limits=limits, liveness=asks_promises)
        yield _result(mutant, mutated, known[key])
        if mutated.interrupted or known[key].interrupted:
            return


def _is_promise(mutant: Mutant) -> bool:
    methods = [method for role in PROMISES for method in mutant.model_class.methods(role)]
    return mutant.property_name in [method.name for method in methods]


def _check_killer(mutant: Mutant) -> None:
    known = [method.name for role in STATED for method in mutant.model_class.methods(role)]
    known += [DEADLOCK, CLAIMS, ACTIONS]
    if mutant.property_name not in known:
        raise WrongDefinition(
            f"mutant {mutant.name} is to be killed by {mutant.killed_by}, which is no property of "
            f"{mutant.model_class.__name__}, so nothing would be found out. Let killed_by name one "
            f"of {', '.join(known)}"
        )


def _result(mutant: Mutant, mutated: CheckReport, original: CheckReport) -> MutantResult:
    refuted = [part.verdict for part in mutated.findings if isinstance(part.verdict, Refuted)]
    killer = next((verdict for verdict in refuted if _is_named(mutant, verdict)), None)
    shown = killer or (refuted[0] if refuted else None)
    fate, reason = _fate(mutant, mutated, original, killer, shown)
    return MutantResult(
        mutant,
        fate,
        shown.broken if shown else "",
        len(shown.trace) if shown else None,
        mutated.counts.distinct,
        reason,
        mutated,
    )


def _fate(
    mutant: Mutant,
    mutated: CheckReport,
    original: CheckReport,
    killer: Refuted | None,
    shown: Refuted | None,
) -> tuple[Fate, str]:
    property_name = mutant.property_name
    finding = mutated.finding(property_name)
    before = original.finding(property_name).verdict
    if before.status is Status.REFUTED:
        return Fate.ORIGINAL_FAILS, f"without the mistake {property_name} is refuted too"
    if killer is not None and before.status is not Status.EXHAUSTED:
        why = f" ({_reasons(before)})" if _reasons(before) else ""
        return Fate.UNDETERMINED, f"the original is {before.status.value}{why}, not EXHAUSTED"
    if killer is not None and len(killer.trace) > mutant.steps_max:
        return Fate.TOO_LONG, _too_long(mutant, len(killer.trace))
    if killer is not None:
        return Fate.KILLED, killer.reason
    if shown is not None:
        return Fate.OTHER_KILLER, f"{shown.broken} broke first: {shown.reason}"
    if finding.verdict.status is Status.UNDETERMINED:
        return Fate.UNDETERMINED, _reasons(finding.verdict)
    return Fate.SURVIVED, f"{property_name} holds in all {mutated.counts.distinct:,} states"


def _too_long(mutant: Mutant, steps: int) -> str:
    found = "the run that was found" if _is_promise(mutant) else "the shortest run"  # a lasso
    few = "1 step" if steps == 1 else f"{steps} steps"
    right = "1 is right" if steps == 1 else f"{steps} are right"
    return (
        f"{found} has {few}, and the mutant allows {mutant.steps_max}: write steps_max={steps}, if "
        f"{right}"
    )


def _reasons(verdict: Verdict) -> str:
    return "; ".join(getattr(verdict, "reasons", ()))


def _is_named(mutant: Mutant, verdict: Refuted) -> bool:
    if verdict.broken != mutant.property_name:
        return False
    parts = (claim_function(verdict.reason),) if verdict.broken == CLAIMS else verdict.conjuncts
    return not mutant.killed_by_part or mutant.killed_by_part in parts


def _trace_json(report: CheckReport) -> Json | None:
    verdict = report.verdict
    return verdict.trace.to_json() if isinstance(verdict, Refuted) else None
