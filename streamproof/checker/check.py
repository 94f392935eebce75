"""Checking: a search turned into findings, one verdict for each thing that was asked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from streamproof.checker.constants import look_at_constants
from streamproof.checker.elsewhere import require_same_elsewhere
from streamproof.checker.engines import Engine, explore
from streamproof.checker.exploration import INTERRUPTED, Reduction
from streamproof.checker.findings import Evidence, safety_findings, unless_untried
from streamproof.checker.lasso import promise_names
from streamproof.checker.limits import Limits, peak_memory_mb
from streamproof.checker.prefix import stop_loading
from streamproof.checker.progress import Meter, OnProgress, ignore
from streamproof.checker.promises import promise_findings
from streamproof.checker.properties import check_assumptions
from streamproof.checker.purity import check_purity, require_unchanged
from streamproof.checker.ruled_out import names_ruled_out
from streamproof.checker.translation import translation_of
from streamproof.lang.as_asked import require_as_first_asked
from streamproof.lang.claims import require_claims
from streamproof.lang.impure import require_exact_keys
from streamproof.lang.model import Model
from streamproof.lang.quantify import observed_premises
from streamproof.lang.reached import require_as_when_listed
from streamproof.lang.surroundings import surroundings
from streamproof.models.kit.verdict import (
    Counts,
    Finding,
    Json,
    Verdict,
    exit_code,
    finding_named,
    weakest,
)

if TYPE_CHECKING:
    from streamproof.translation import TranslationReport


@dataclass(frozen=True, slots=True)
class CheckReport:
    """Everything that a check found out, and everything that is printed about it.

    Attributes
    ----------
    model : name of the model's class
    engine : which engine searched
    why_engine : why this engine did, if it was left to choose; empty if it was named
    left_out : names of the liveness properties that the user asked to leave out
    reduction : what symmetry saved, if it was made use of
    seconds : how long the search took
    memory_mb_peak : the most memory that the process has held so far, in MiB
    resumed : how many of the distinct states a checkpoint held, or held others for
    translation : what the traced form was compared on, if a verdict rests on it
    only_here : why the model was not compared with itself in other processes; empty if it was, or
        need not be
    """

    model: str
    engine: str
    findings: tuple[Finding, ...]
    counts: Counts
    left_out: tuple[str, ...]
    reduction: Reduction | None
    seconds: float
    memory_mb_peak: int
    resumed: int = 0
    why_engine: str = ""
    translation: TranslationReport | None = None
    only_here: str = ""

    @property
    def verdict(self) -> Verdict:
        """The weakest of all findings."""
        return weakest(finding.verdict for finding in self.findings)

    @property
    def safety(self) -> Verdict:
        """The weakest of the findings about finite runs."""
        return weakest(part.verdict for part in self.findings if not part.kind.is_liveness)

    @property
    def liveness(self) -> Verdict | None:
        """The weakest of the findings about infinite runs; None if there are none."""
        found = [part.verdict for part in self.findings if part.kind.is_liveness]
        return weakest(found) if found else None

    @property
    def interrupted(self) -> bool:
        """Whether the search was stopped by hand."""
        reasons = (getattr(part.verdict, "reasons", ()) for part in self.findings)
        return any(INTERRUPTED in found for found in reasons)

    @property
    def rate(self) -> int:
        """States visited a second: those that are kept, without those of a checkpoint."""
        resumed = self.reduction.resumed if self.reduction else self.resumed
        return int((self.kept - resumed) / self.seconds) if self.seconds > 0 else 0

    @property
    def kept(self) -> int:
        """How many states were kept: all distinct ones, or those that stand for them."""
        return self.reduction.kept if self.reduction else self.counts.distinct

    def finding(self, name: str) -> Finding:
        """Return the finding of a name.

        Raises
        ------
        KeyError : if there is none
        """
        return finding_named(self.findings, name)

    def to_json(self) -> Json:
        """Return the report as JSON."""
        return {
            "model": self.model,
            "engine": self.engine,
            "why_engine": self.why_engine,
            "verdict": _without_counts(self.verdict.to_json()),
            "safety": self.safety.status.value,
            "liveness": None if self.liveness is None else self.liveness.status.value,
            "exit_code": int(exit_code(self.verdict)),
            "findings": [_row(finding) for finding in self.findings],
            "left_out": list(self.left_out),
            "counts": self.counts.to_json(),
            "symmetry": self.reduction.to_json() if self.reduction else None,
            "seconds": round(self.seconds, 3),
            "states_per_second": self.rate,
            "memory_mb_peak": self.memory_mb_peak,
            "resumed": self.resumed,
            "translation": self.translation.to_json() if self.translation else None,
            "only_here": self.only_here,
        }


def check(  # noqa: PLR0913 - all that can be asked, by name
    model: Model[Any],
    *,
    limits: Limits | None = None,
    on_progress: OnProgress = ignore,
    liveness: bool = True,
    engine: Engine = explore,
    validated: bool = True,
) -> CheckReport:
    """Search a model's states and say of each property what is known then.

    Parameters
    ----------
    limits : how far to search; without any up to most of the machine's memory
    on_progress : told now and then how far the search is
    liveness : whether the promises, `leads_to` and `eventually`, belong to the question; without
        them the report lists them as left out and says nothing about them
    engine : one of `checker.engines`, or another function of the same form
    validated : whether the model is asked in other processes, too, and the traced form is compared
        with the model's methods before something is EXHAUSTED by an engine that works on the traced
        form; not for mutants, which are never green

    Raises
    ------
    TracingDisagrees : if the traced form differs from the model's methods
    BrokenModel : if a method of the model fails
    Untraceable, Unpackable : if the native engine is asked for, and cannot take the model
    NotInstalled : if a verdict needs what is not installed: the native engine, or Z3
    BrokenAssumption : if the model's size contradicts an @assume
    ImpureModel, UnfitState : if code or a state shows that a search would mean nothing
    ClaimsDisabled : under python -O

    Examples
    --------
    >>> from streamproof.lang import Model, action, always, init, require
    >>> class Counter(Model[int]):
    ...     @init
    ...     def zero(self) -> int:
    ...         return 0
    ...
    ...     @action
    ...     def add(self, n: int) -> int:
    ...         require(n < 3)
    ...         return n + 1
    ...
    ...     @always
    ...     def is_small(self, n: int) -> bool:
    ...         return n < 3
    >>> verdict = check(Counter()).verdict
    >>> verdict.broken, verdict.trace.key
    ('is_small', '0/0/0/0')
    """
    check_first(model)
    only_here = require_same_elsewhere(model) if validated else ""
    meter, limits = Meter(), limits or Limits()
    around = surroundings(model)
    with observed_premises() as premises:
        found = engine(model, limits=limits, on_progress=on_progress)
    require_unchanged(model, around)
    require_exact_keys(type(model))
    findings = list(safety_findings(model, Evidence.of_search(found), premises))
    promised = promise_names(model)
    if liveness and promised:
        told = promise_findings(model, found, limits, on_progress)
        findings += [unless_untried(model, part, premises) for part in told]
    seconds = meter.seconds
    return CheckReport(
        type(model).__name__,
        found.engine,
        tuple(findings),
        found.counts,
        () if liveness else promised,
        found.reduction,
        seconds,
        peak_memory_mb(),
        found.resumed,
        found.why,
        translation_of(model, found.engine, findings) if validated else None,
        only_here,
    )


def check_first(model: Model[Any]) -> None:
    """Refuse a model for which no result of a search would mean anything.

    Raises
    ------
    BrokenAssumption, ImpureModel, UnfitState, ClaimsDisabled : as `check` does
    WrongDefinition : if a class has changed, or what the size rules out is not clear
    """
    require_claims()
    stop_loading()
    require_as_when_listed(type(model))
    require_as_first_asked(type(model))
    look_at_constants(model)
    check_assumptions(model)
    names_ruled_out(model)
    check_purity(model)


def _row(finding: Finding) -> Json:
    row = finding.to_json()
    return row | {"verdict": _without_counts(row["verdict"])}


def _without_counts(verdict: Json) -> Json:
    """Leave out what is the same for all findings of one search, and said once."""
    return {key: value for key, value in verdict.items() if key != "counts"}
