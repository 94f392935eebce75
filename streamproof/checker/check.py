"""Checking: a search turned into findings, one verdict for each thing that was asked."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from streamproof.checker.counterexample import retrace
from streamproof.checker.engines import Engine, explore
from streamproof.checker.explanation import failing_part
from streamproof.checker.exploration import INTERRUPTED, Exploration, Path, Reduction
from streamproof.checker.lasso import promise_names
from streamproof.checker.limits import Limits, peak_memory_mb
from streamproof.checker.premises import untried
from streamproof.checker.progress import Meter, OnProgress, ignore
from streamproof.checker.promises import promise_findings
from streamproof.checker.properties import Broken, check_assumptions, never_asked
from streamproof.checker.purity import check_purity, require_unchanged
from streamproof.checker.states import look_at_fields
from streamproof.checker.translation import translation_of
from streamproof.lang import Domain, StreamproofError
from streamproof.lang.impure import surroundings
from streamproof.lang.model import STATED, Call, Model, Role
from streamproof.lang.quantify import Premises, observed_premises
from streamproof.models.verdict import (
    ACTIONS,
    CLAIMS,
    DEADLOCK,
    Counts,
    Exhausted,
    Finding,
    Json,
    Kind,
    Refuted,
    Undetermined,
    Verdict,
    exit_code,
    finding_named,
    weakest,
)

if TYPE_CHECKING:
    from streamproof.translation import TranslationReport

LARGER = "Choose a larger size"
"""What to do if a search does not see enough."""
=======
>>>>>>> 0fb4251 (translation: compare every traced form with the code before a verdict rests on it)
NO_PROPERTY = (
    "the model states no property, so only deadlocks and broken claims were looked for. State what "
    "must hold: a method marked @always, @every_step, @sometimes, @leads_to or @eventually"
)
"""Why a model is not green in which nothing was asked."""


class ClaimsDisabled(StreamproofError, RuntimeError):
    """Python runs with -O, which removes every `assert` and with it the claims."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """What findings about finite runs are made of: a search, or walks.

    Attributes
    ----------
    broken, path, witnesses, unfinished : as of an exploration
    firings : per action, how many of the steps that were looked at are its own
    looked_at : how much that is, in words
    more : what to do if that was not enough
    passed : the verdict on what was asked and was not seen to fail
    counts : None for walks, which do not know how many states are distinct
    """

    broken: tuple[Broken, ...]
    path: Path | None
    witnesses: Mapping[Call, Path]
    unfinished: str | None
    firings: tuple[tuple[str, int], ...]
    looked_at: str
    more: str
    passed: Verdict
    counts: Counts | None

    @classmethod
    def of_search(cls, found: Exploration) -> Evidence:
        """Take what a search has found."""
        return cls(
            found.broken,
            found.path,
            found.witnesses,
            found.unfinished,
            found.counts.firings,
            f"{found.counts.distinct:,} states",
            LARGER,
            Exhausted(found.counts),
            found.counts,
        )


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
        """Give the finding of a name.

        Raises
        ------
        KeyError : if there is none
        """
        return finding_named(self.findings, name)

    def to_json(self) -> Json:
        """Give the report as JSON."""
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
    validated : whether the traced form is compared with the model's methods before something is
        EXHAUSTED by an engine that works on the traced form; for mutants, which are never green

    Raises
    ------
    TracingDisagrees : if the traced form differs from the model's methods
    BrokenModel : if a method of the model fails
    Untraceable, Unpackable : if the native engine is asked for, and cannot take the model
    BrokenAssumption : if the model's size contradicts an @assume
    ImpureModel, UnfitState : if code or a state shows that a search would mean nothing
    ClaimsDisabled : under python -O
    """
    check_first(model)
    meter, limits = Meter(), limits or Limits()
    around = surroundings(model)
    with observed_premises() as premises:
        found = engine(model, limits=limits, on_progress=on_progress)
    require_unchanged(model, around)
    findings = list(safety_findings(model, Evidence.of_search(found), premises))
    promised = promise_names(model)
    if liveness and promised:
        told = promise_findings(model, found, limits, on_progress)
        findings += [_unless_untried(model, part, premises) for part in told]
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
    )


def check_first(model: Model[Any]) -> None:
    """Refuse a model of which nothing that is found would mean anything.

    Raises
    ------
    BrokenAssumption, ImpureModel, UnfitState, ClaimsDisabled : as `check` does
    """
    if not __debug__:
        raise ClaimsDisabled(
            "Python runs with -O, which removes every assert, so the claims of a model would go "
            "unchecked. Run it without -O and without PYTHONOPTIMIZE"
        )
    look_at_fields(model)
    check_assumptions(model)
    check_purity(model)


def safety_findings(model: Model[Any], found: Evidence, premises: Premises) -> tuple[Finding, ...]:
    """Say what is known of everything that a model asks of finite runs.

    Parameters
    ----------
    found : what was looked at
    premises : which premises of the model's properties were observed to hold
    """
    return tuple(_Findings(model, found, premises).all())


def _unless_untried(model: Model[Any], promise: Finding, premises: Premises) -> Finding:
    """Turn a promise that is kept undetermined if a premise in it was never tried."""
    verdict = promise.verdict
    if isinstance(verdict, Exhausted):
        looked_at = f"{verdict.counts.distinct:,} states"
        reason = untried(model, promise.name, premises, looked_at, LARGER)
        if reason:
            return dataclasses.replace(promise, verdict=Undetermined((reason,), verdict.counts))
    return promise


def _is_empty(value: object) -> bool:
    return isinstance(value, Domain) and len(value) == 0


def _row(finding: Finding) -> Json:
    row = finding.to_json()
    return row | {"verdict": _without_counts(row["verdict"])}


def _without_counts(verdict: Json) -> Json:
    """Leave out what is the same for all findings of one search, and said once."""
    return {key: value for key, value in verdict.items() if key != "counts"}


class _Findings:
    def __init__(self, model: Model[Any], found: Evidence, premises: Premises) -> None:
        self.model, self.found, self.counts = model, found, found.counts
        self.run = retrace(model, found.path) if found.path else None
        self.premises = premises

    def all(self) -> Iterator[Finding]:
        for role, kind in ((Role.ALWAYS, Kind.ALWAYS), (Role.EVERY_STEP, Kind.EVERY_STEP)):
            unasked = never_asked(self.model, role)
            for method in self.model.methods(role):
                yield Finding(method.name, kind, self._safety(method.name, kind, unasked))
        for method in self.model.methods(Role.SOMETIMES):
            yield self._sometimes(method.name)
        yield Finding(CLAIMS, Kind.CLAIMS, self._safety(CLAIMS, Kind.CLAIMS, ()))
        yield Finding(DEADLOCK, Kind.DEADLOCK, self._safety(DEADLOCK, Kind.DEADLOCK, ()))
        if not any(self.model.methods(role) for role in STATED):
            yield Finding("properties", Kind.ALWAYS, self._searched() or self._unknown(NO_PROPERTY))
        yield Finding(ACTIONS, Kind.ACTIONS, self._actions())

    def _safety(self, name: str, kind: Kind, unasked: tuple[str, ...]) -> Verdict:
        for broken in self.found.broken:
            if broken.name == name:
                return self._refuted(broken)
        if name in unasked:
            return self._unknown(
                f"{name} was never asked: its parameters range over an empty domain. Choose a "
                "larger size"
            )
        if kind is Kind.EVERY_STEP and not any(count for _, count in self.found.firings):
            return self._searched() or self._unknown(
                f"{name} was never asked, since no step is possible"
            )
        asks_states = kind in (Kind.ALWAYS, Kind.EVERY_STEP)
        if asks_states and (empty := self._empty_domains()):
            return self._unknown(
                f"{', '.join(empty)} has no element, so what is said of all of them says nothing. "
                "Choose a larger size"
            )
        return self._searched() or self._vacuous(name) or self.found.passed

    def _empty_domains(self) -> list[str]:
        fields = (field.name for field in dataclasses.fields(self.model))
        return [name for name in fields if _is_empty(getattr(self.model, name))]

    def _vacuous(self, name: str) -> Undetermined | None:
        """Say that a property asked `implies` of nothing; None if its premises have held.

        That no run gets stuck is vacuous if what is final is.
        """
        finals = self.model.methods(Role.FINAL) if name == DEADLOCK and self.counts else ()
        for part in (name, *(method.name for method in finals)):
            looked_at, more = self.found.looked_at, self.found.more
            if reason := untried(self.model, part, self.premises, looked_at, more):
                return self._unknown(reason)
        return None

    def _refuted(self, broken: Broken) -> Refuted:
        assert self.run is not None  # a search that breaks a property says where
        trace, reason = self.run.trace, broken.reason
        if broken.name == CLAIMS:
            reason = trace.steps[-1].broken_claim or ""
        elif not broken.conjuncts:
            part = failing_part(self.model, broken.name, self.run.states)
            reason = f"{reason}: {part}" if part else reason
        return Refuted(broken.name, reason, trace, broken.conjuncts, self.counts)

    def _sometimes(self, name: str) -> Finding:
        calls = [
            call
            for method in self.model.methods(Role.SOMETIMES)
            if method.name == name
            for call in self.model.calls(method)
        ]
        missing = [str(call) for call in calls if call not in self.found.witnesses]
        paths = [self.found.witnesses[call] for call in calls if call in self.found.witnesses]
        note = ""
        if paths and not missing:
            longest = max(paths, key=lambda path: len(path.steps))
            key = retrace(self.model, longest).key
            note = f"reached in {len(longest.steps)} steps: {key}"
        verdict = self._searched()
        if verdict is None and (missing or not calls):
            verdict = self._unknown(
                f"{', '.join(missing) or name} is not reached in any of {self.found.looked_at}, "
                f"so what holds may hold because nothing happens. {self.found.more}, or look for a "
                "guard that is too strong"
            )
        if verdict is None and self.counts:  # walks do not ask it in every state
            verdict = self._vacuous(name)
        return Finding(name, Kind.SOMETIMES, verdict or self.found.passed, note)

    def _actions(self) -> Verdict:
        ruled_out = self.model.ruled_out()
        happened = [name for name, count in self.found.firings if count and name in ruled_out]
        if happened:
            return self._unknown(
                f"{', '.join(happened)} happened, though the model's ruled_out() has it that this "
                "size excludes it: so it is not known what the size is meant to be. Mend ruled_out"
            )
        idle = [name for name, count in self.found.firings if not count and name not in ruled_out]
        if idle and not self._searched():
            return self._unknown(
                f"{', '.join(idle)} never happened in any of {self.found.looked_at}, so nothing "
                f"is known about it. {self.found.more}, or look for a guard that never holds"
            )
        return self._searched() or self.found.passed

    def _searched(self) -> Undetermined | None:
        """Say why not all states were searched; None if they were."""
        return self._unknown(self.found.unfinished) if self.found.unfinished else None

    def _unknown(self, reason: str) -> Undetermined:
        return Undetermined((reason,), self.counts)
