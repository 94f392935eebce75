"""Verdicts as assertions: each is an AssertionError unless the verdict is the one asked for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

from streamproof.checker.check import CheckReport, check
from streamproof.checker.engines import EngineName, engine_of
from streamproof.checker.limits import Limits
from streamproof.checker.mutation import Fate, MutantResult, run_mutants
from streamproof.checker.simulate import SimulationReport, simulate
from streamproof.checker.walks import Plan
from streamproof.installed import require
from streamproof.lang import StreamproofError
from streamproof.lang.model import Model, Role
from streamproof.models.kit.mutant import Mutant
from streamproof.models.kit.sizes import at_size, named_size
from streamproof.models.kit.verdict import Finding, Refuted, Status, Undetermined, Verdict

if TYPE_CHECKING:  # Z3 is loaded by a proof alone
    from streamproof.proofs.induction import ProofReport
    from streamproof.proofs.invariant import Invariant

Size: TypeAlias = str | Mapping[str, Any]
"""The name of one of the model's sizes, or its settings; an empty name is the default size."""


class NotGreen(StreamproofError, AssertionError):
    """A verdict is not the one that was asserted; the text has its reason and the shortest run."""


def sized(model: Model[Any] | type[Model[Any]], size: Size = "") -> Model[Any]:
    """Build a model at a size; a model that is built already is taken as it is.

    Raises
    ------
    UnknownSize : if the model has no such size or setting
    WrongSize : if a size is given for a model that has one
    """
    if isinstance(model, type):
        return at_size(model, named_size(model, size)[1] if isinstance(size, str) else size)
    if size:
        raise WrongSize(
            f"{type(model).__name__} is built already, and size={size!r} is given too, so which is "
            f"meant is open. Give the class, or leave size out"
        )
    return model


class WrongSize(StreamproofError, ValueError):
    """A size was given for a model that has one."""


def assert_exhausted(
    model: Model[Any] | type[Model[Any]],
    size: Size = "",
    *,
    limits: Limits | None = None,
    engine: EngineName | str = EngineName.AUTO,
) -> CheckReport:
    """Assert that every reachable state is searched and every property holds.

    Parameters
    ----------
    model : its class, or a model that is built
    size : of a class; its default one unless another is given
    limits : how far to search; a search that reaches one fails
    engine : the engine's name

    Raises
    ------
    NotGreen : if the verdict is not EXHAUSTED
    StreamproofError : as `check` raises it

    Examples
    --------
    >>> from streamproof.lang import Model, action, always, init
    >>> class Lamp(Model[bool]):
    ...     @init
    ...     def dark(self) -> bool:
    ...         return False
    ...
    ...     @action
    ...     def toggle(self, lit: bool) -> bool:
    ...         return not lit
    ...
    ...     @always
    ...     def is_a_truth(self, lit: bool) -> bool:
    ...         return lit or not lit
    >>> assert_exhausted(Lamp).counts.distinct
    2
    """
    built = sized(model, size)
    report = check(built, limits=limits, engine=engine_of(EngineName(engine)))
    _require(report.model, report.findings, report.verdict, Status.EXHAUSTED)
    return report


def assert_sampled(
    model: Model[Any] | type[Model[Any]],
    size: Size = "",
    *,
    walks: int,
    length_max: int = 100,
    seed: int = 0,
) -> SimulationReport:
    """Assert that random walks break no property. The weakest assertion: other runs may.

    Parameters
    ----------
    model, size : as `assert_exhausted` takes them
    walks : how many
    length_max : steps after which a walk is cut
    seed : of the random numbers

    Raises
    ------
    NotGreen : if the verdict is weaker than SAMPLED
    StreamproofError : as `simulate` raises it
    """
    built = sized(model, size)
    report = simulate(built, plan=Plan(walks, length_max, seed))
    _require(report.model, report.findings, report.verdict, Status.SAMPLED)
    return report


def assert_proved(invariant: Invariant | str, *, rlimit: int | None = None) -> ProofReport:
    """Assert that an invariant is proved for any size.

    Parameters
    ----------
    invariant : an Invariant, or the target of one as `streamproof prove` takes it
    rlimit : Z3's own steps for one obligation

    Raises
    ------
    NotGreen : if the verdict is not PROVED
    NotInstalled : if Z3 is not installed
    StreamproofError : as `prove` raises it
    """
    require("prove", "A proof")
    from streamproof.checker.reach import reach
    from streamproof.proofs.find import find_invariant
    from streamproof.proofs.induction import prove
    from streamproof.proofs.obligations import RLIMIT

    asked = find_invariant(invariant) if isinstance(invariant, str) else invariant
    report = prove(asked, rlimit=RLIMIT if rlimit is None else rlimit, reach=reach)
    if report.verdict.status is not Status.PROVED:
        raise NotGreen(_told(report.model, "", report.verdict, Status.PROVED))
    return report


def assert_killed(mutant: Mutant, original: type[Model[Any]] | None = None) -> MutantResult:
    """Assert that a mutant is killed by the property it names, in few enough steps.

    Parameters
    ----------
    mutant : the mistake
    original : the model without it; the nearest base of the mutant's class that can be explored
        unless another is given

    Raises
    ------
    NotGreen : if it survives, or falls to another property, or the original fails as well
    WrongDefinition : if the mutant names no property of its model
    """
    right = original or _original(mutant)
    (result,) = run_mutants([mutant], original_of=lambda _: right, build=at_size)
    if result.fate is not Fate.KILLED:
        raise NotGreen(
            f"mutant {mutant.name} ({mutant.story}) was to be killed by {mutant.killed_by}. "
            f"What became of it: {result.fate.value}, since {result.reason}"
        )
    return result


def _original(mutant: Mutant) -> type[Model[Any]]:
    for base in mutant.model_class.__mro__[1:]:
        if issubclass(base, Model) and base is not Model and base.methods(Role.INIT):
            return base
    raise NotGreen(
        f"mutant {mutant.name} has no base class that can be explored, so nothing says that its "
        "mistake is what the property sees. Give the model without it as original="
    )


def _require(model: str, findings: Iterable[Finding], verdict: Verdict, wanted: Status) -> None:
    if verdict.status.strength >= wanted.strength:
        return
    weak = [part for part in findings if part.verdict.status.strength < wanted.strength]
    raise NotGreen("\n".join(_told(model, part.name, part.verdict, wanted) for part in weak))


def why_not_green(model: str, finding: Finding, wanted: Status) -> str | None:
    """Describe why a finding is weaker than wanted; None if it is not."""
    if finding.verdict.status.strength >= wanted.strength:
        return None
    return _told(model, finding.name, finding.verdict, wanted)


def _told(model: str, name: str, verdict: Verdict, wanted: Status) -> str:
    """Describe a verdict: its reason, and the shortest run if there is one."""
    what = f"{name} of {model}" if name else model
    head = f"{what} is {verdict.status.value}, not {wanted.value}"
    match verdict:
        case Refuted(reason=reason, trace=trace, conjuncts=conjuncts):
            named = f" ({', '.join(conjuncts)})" if conjuncts else ""
            return "\n".join([f"{head}{named}: {reason}", *trace.lines(), f"  key {trace.key}"])
        case Undetermined(reasons):
            return f"{head}: {'; '.join(reasons)}"
        case _:
            return head
