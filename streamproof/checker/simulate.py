"""Simulating: random walks turned into findings. What they did not see may still be there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from streamproof.checker.check import check_first
from streamproof.checker.engines import UNFIT, EngineName, require_native, why_not_native
from streamproof.checker.exploration import INTERRUPTED, counts_of
from streamproof.checker.findings import Evidence, safety_findings
from streamproof.checker.lasso import promise_names
from streamproof.checker.minimise import Minimised, minimise
from streamproof.checker.native.code.terms import NumberTooLarge
from streamproof.checker.packable import NotCompiled
from streamproof.checker.progress import Meter
from streamproof.checker.translation import translation_of
from streamproof.checker.walks import OnWalks, Plan, Sample, walk
from streamproof.lang.model import Model
from streamproof.lang.quantify import observed_premises
from streamproof.models.kit.verdict import (
    Finding,
    Json,
    Sampled,
    Verdict,
    exit_code,
    finding_named,
    weakest,
)

if TYPE_CHECKING:
    from streamproof.translation import TranslationReport


@dataclass(frozen=True, slots=True)
class Coverage:
    """How much was seen of an action, over all its parameters.

    Attributes
    ----------
    taken : steps of walks that are its own
    enabled : how often it was possible, and looked at, in a state on a walk
    """

    action: str
    taken: int
    enabled: int


@dataclass(frozen=True, slots=True)
class SimulationReport:
    """Everything that walks found out, and everything that is printed about it.

    Attributes
    ----------
    model : name of the model's class
    sample : what the engine found
    minimised : its run that breaks something, as short as it was made; None if there is none
    coverage : of each action
    not_asked : names of the promises, which no finite walk refutes
    seconds : how long all of it took: compiling, walking, minimising
    why_engine : why this engine walked, if it was left to choose; empty if it was named
    """

    model: str
    plan: Plan
    findings: tuple[Finding, ...]
    sample: Sample
    minimised: Minimised | None
    coverage: tuple[Coverage, ...]
    not_asked: tuple[str, ...]
    seconds: float
    why_engine: str = ""
    translation: TranslationReport | None = None

    @property
    def verdict(self) -> Verdict:
        """The weakest of all findings: SAMPLED at best."""
        return weakest(finding.verdict for finding in self.findings)

    @property
    def interrupted(self) -> bool:
        """Whether the walks were stopped by hand."""
        return self.sample.stopped == INTERRUPTED

    @property
    def walked(self) -> int | None:
        """Steps that the walk had taken which broke something; None if none did."""
        return None if self.sample.path is None else len(self.sample.path.steps)

    @property
    def rate(self) -> int:
        """Steps per second of walking."""
        seconds = self.sample.seconds
        return int(self.sample.tally.steps / seconds) if seconds > 0 else 0

    def finding(self, name: str) -> Finding:
        """Return the finding of a name.

        Raises
        ------
        KeyError : if there is none
        """
        return finding_named(self.findings, name)

    def to_json(self) -> Json:
        """Return the report as JSON."""
        tally = self.sample.tally
        return {
            "model": self.model,
            "engine": self.sample.engine,
            "why_engine": self.why_engine,
            "seed": self.plan.seed,
            "walks_asked": self.plan.walks,
            "length_max": self.plan.length_max,
            "verdict": self.verdict.to_json(),
            "exit_code": int(exit_code(self.verdict)),
            "findings": [finding.to_json() for finding in self.findings],
            "not_asked": list(self.not_asked),
            "walks": tally.walks,
            "ended": tally.ended,
            "steps": tally.steps,
            "looked_at": sum(tally.enabled),
            "longest": tally.longest,
            "actions": {
                part.action: {"taken": part.taken, "enabled": part.enabled}
                for part in self.coverage
            },
            "found_by_walk": self.sample.walk,
            "walked": self.walked,
            "is_minimal": self.minimised and self.minimised.is_minimal,
            "seconds": round(self.seconds, 3),
            "seconds_walking": round(self.sample.seconds, 3),
            "steps_per_second": self.rate,
            "translation": self.translation.to_json() if self.translation else None,
        }


def simulate(
    model: Model[Any],
    *,
    plan: Plan | None = None,
    engine: EngineName = EngineName.AUTO,
    on_walks: OnWalks = lambda _: None,
) -> SimulationReport:
    """Take random walks through a model, up to the first that breaks something.

    Their findings depend on the model and the plan alone: the counterexample is that of the walk
    with the lowest number, whichever engine walks. Two things depend on the engine: how much is
    walked after a counterexample is found, and which witness of a `sometimes` is reported.

    Parameters
    ----------
    plan : which walks; without one, those of the defaults
    engine : the native one where the model can be packed, unless one is named
    on_walks : told now and then how far the walks are

    Raises
    ------
    BrokenModel : if a method of the model fails
    TracingDisagrees : if the traced form, on which the native engine walks, is not the model
    Untraceable, Unpackable : if the native engine is asked for, and cannot take the model
    NotInstalled : if the native engine is asked for, and is not installed
    BrokenAssumption, ImpureModel, UnfitState, ClaimsDisabled : as `check` does
    """
    plan = plan or Plan()
    check_first(model)
    meter = Meter()
    with observed_premises() as premises:
        found, why = _walked(model, plan, engine, on_walks)
    shorter = minimise(model, found.path, found.broken[0].name) if found.path else None
    findings = safety_findings(model, _evidence(model, plan, found, shorter), premises)
    return SimulationReport(
        type(model).__name__,
        plan,
        findings,
        found,
        shorter,
        _coverage(model, found),
        promise_names(model),
        meter.seconds,
        why,
        translation_of(model, found.engine, findings),
    )


def _walked(
    model: Model[Any], plan: Plan, engine: EngineName, on_walks: OnWalks
) -> tuple[Sample, str]:
    """Take the walks with an engine, and say why with this one if it was left to choose."""
    if engine is not EngineName.AUTO:
        return (_walk_natively if engine is EngineName.NATIVE else walk)(model, plan, on_walks), ""
    refusal = why_not_native(model)
    if refusal is None:
        try:
            return _walk_natively(model, plan, on_walks), "it can take the model"
        except (NumberTooLarge, NotCompiled) as error:
            refusal = f"{UNFIT}: {error}"
    return walk(model, plan, on_walks), refusal


def _walk_natively(model: Model[Any], plan: Plan, on_walks: OnWalks) -> Sample:
    require_native()
    from streamproof.checker.native import walks  # LLVM takes a while to load

    return walks.walk(model, plan, on_walks)


def _evidence(model: Model[Any], plan: Plan, found: Sample, shorter: Minimised | None) -> Evidence:
    unfinished = found.stopped
    if shorter is not None:
        unfinished = f"the walks ended at the counterexample to {shorter.broken.name}"
    return Evidence(
        (shorter.broken,) if shorter else (),
        shorter.path if shorter else None,
        found.witnesses,
        unfinished,
        _by_action(model, found.tally.enabled),
        f"{sum(found.tally.enabled):,} steps that were looked at",
        "Take more walks, or longer ones, or choose a larger size",
        Sampled(found.tally.walks, plan.seed, found.tally.steps),
        None,
    )


def _coverage(model: Model[Any], found: Sample) -> tuple[Coverage, ...]:
    taken = dict(_by_action(model, found.tally.taken))
    return tuple(
        Coverage(name, taken[name], enabled)
        for name, enabled in _by_action(model, found.tally.enabled)
    )


def _by_action(model: Model[Any], counts: Sequence[int]) -> tuple[tuple[str, int], ...]:
    return counts_of(model, 0, 0, 0, counts).firings
