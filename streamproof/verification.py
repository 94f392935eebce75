"""Everything that is known about one protocol.

A protocol is explored at every size that its model names for it, its mutants are hunted, and its
invariant is proven. `certification` writes down the outcome.
"""

from __future__ import annotations

import multiprocessing
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor, wait
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from streamproof.checker import CheckReport, Limits, check
from streamproof.checker.limits import cores
from streamproof.checker.mutation import MutantResult, MutationReport, run_mutants
from streamproof.installed import missing
from streamproof.lang.digest import protocol_digest
from streamproof.lang.model import Model
from streamproof.models.kit import registry
from streamproof.models.kit.mutant import Mutant
from streamproof.models.kit.registry import ModelFile, protocol_module
from streamproof.models.kit.sizes import at_size
from streamproof.models.kit.verdict import (
    ExitCode,
    Json,
    Undetermined,
    Verdict,
    exit_code,
    weakest,
)
from streamproof.proofs.find import find_invariant

if TYPE_CHECKING:  # which load Z3, and not each installation has it
    from streamproof.proofs.induction import ProofReport
    from streamproof.translation import TranslationReport

Explored: TypeAlias = tuple[str, str, CheckReport]
"""A model's class, the name of a size, and what exploring it gave."""
OnStage: TypeAlias = Callable[[str], None]
"""Called with what is being done now."""
OnReport: TypeAlias = Callable[["ProtocolReport"], None]
"""Called with what was found out about a protocol."""
STAGES_EVERY_SECONDS = 0.1
"""How often it is asked what processes that verify are doing."""


@dataclass(frozen=True, slots=True)
class ProtocolReport:
    """What was found out about one protocol.

    Attributes
    ----------
    digest : hash of the protocol's traced form
    checks : per model class and size name, what exploring it gave
    proof : of its invariant; None where the prover is not part of the installation
    translation : what the traced forms of the protocol, its models and its invariant were compared
        on; None where the prover is not part of the installation
    """

    protocol: str
    digest: str
    checks: tuple[Explored, ...]
    mutation: MutationReport
    proof: ProofReport | None
    translation: TranslationReport | None
    seconds: float

    @property
    def verdict(self) -> Verdict:
        """The weakest of the explorations and the proof; mutants count in `exit_code`.

        A proof that is not part of the installation is nothing that the report claims.
        """
        if not self.checks:
            return Undetermined(("no model of the protocol was explored",))
        explored = [report.verdict for _, _, report in self.checks]
        return weakest(explored if self.proof is None else [*explored, self.proof.verdict])

    @property
    def exit_code(self) -> ExitCode:
        """Green if everything is."""
        codes = (exit_code(self.verdict), self.mutation.exit_code)
        bad = [code for code in codes if code is not ExitCode.GREEN]
        return bad[0] if bad else ExitCode.GREEN

    def to_json(self) -> Json:
        """Return the report as JSON."""
        return {
            "protocol": self.protocol,
            "digest": self.digest,
            "verdict": self.verdict.to_json(),
            "checks": [
                {"model": model, "size": size, **report.to_json()}
                for model, size, report in self.checks
            ],
            "mutation": self.mutation.to_json(),
            "proof": self.proof and self.proof.to_json(),
            "translation": self.translation and self.translation.to_json(),
            "seconds": round(self.seconds, 3),
        }


def verify_protocol(
    name: str, *, limits: Limits | None = None, on_stage: OnStage = lambda _: None
) -> ProtocolReport:
    """Explore and mutate one protocol, and prove its invariant where the prover is installed.

    Raises
    ------
    UnknownModel, UnknownInvariant : if it has no model or no invariant
    TracingDisagrees : if a traced form differs from the code that it was traced from
    """
    began = time.perf_counter()
    digest = protocol_digest(protocol_module(name))
    checks, mutation = explore_protocol(name, limits=limits, on_stage=on_stage)
    proof = translation = None
    if not missing("prove"):
        proof, translation = prove_protocol(name, checks, on_stage)
    seconds = time.perf_counter() - began
    return ProtocolReport(name, digest, checks, mutation, proof, translation, seconds)


def prove_protocol(
    name: str, checks: Sequence[Explored], on_stage: OnStage
) -> tuple[ProofReport, TranslationReport]:
    """Prove the invariant of one protocol, and compare what was traced of it with the code.

    Parameters
    ----------
    name, on_stage : as `verify_protocol` takes them
    checks : explorations of its models, whose comparisons count, too
    """
    from streamproof.proofs.induction import prove  # Z3 takes a while to load
    from streamproof.translation import validate_protocol

    on_stage(f"{name}: proving its invariant for any number of processes")
    proof = prove(find_invariant(name))
    on_stage(f"{name}: comparing its traced form with the code")
    compared = [report.translation for _, _, report in checks] + [proof.translation]
    return proof, sum(filter(None, compared), start=validate_protocol(protocol_module(name)))


def explore_protocol(
    name: str, *, limits: Limits | None = None, on_stage: OnStage = lambda _: None
) -> tuple[tuple[Explored, ...], MutationReport]:
    """Explore the models of one protocol, and hunt its mutants.

    Raises
    ------
    UnknownModel : if it has no model
    """
    checks, results = [], []
    for file in model_files(name):
        for model_class in file.all:
            for size_name, size in model_class.sizes.items():
                on_stage(f"{name}: exploring {model_class.__name__} at size {size_name}")
                report = check(at_size(model_class, size), limits=limits)
                _unless_interrupted(report)
                checks.append((model_class.__name__, size_name, report))
        if file.mutants:
            on_stage(f"{name}: hunting {len(file.mutants)} mutants of {file.name}")
        results += mutants_of(file, limits)
    return tuple(checks), MutationReport(name, tuple(results))


def verify_protocols(
    names: Sequence[str],
    *,
    on_stage: OnStage = lambda _: None,
    on_report: OnReport = lambda _: None,
) -> list[ProtocolReport]:
    """Verify protocols side by side, in as many processes as there are cores.

    Parameters
    ----------
    names : of the protocols
    on_stage, on_report : called in this process, each report as soon as it is there

    Raises
    ------
    UnknownModel, UnknownInvariant : if one has no model or no invariant
    """
    workers = min(cores(), len(names))
    if workers <= 1:
        reports = []
        for name in names:
            reports.append(verify_protocol(name, on_stage=on_stage))
            on_report(reports[-1])
        return reports
    fresh = multiprocessing.get_context("spawn")  # threads of native searches would not be forked
    stages, others = fresh.Queue(), set(multiprocessing.active_children())
    with ProcessPoolExecutor(workers, fresh, _tell_to, (stages,)) as pool:
        # The longest first, so that no process is left alone with it.
        begun = {name: pool.submit(_verify_here, name) for name in sorted(names, key=_brevity)}
        told: set[str] = set()
        try:
            while len(told) < len(begun):
                wait([begun[name] for name in begun if name not in told], STAGES_EVERY_SECONDS)
                while not stages.empty():
                    on_stage(stages.get())
                for name, one in begun.items():
                    if one.done() and name not in told:
                        on_report(one.result())  # or raises what went wrong, at once
                        told.add(name)
        except BaseException:
            for process in set(multiprocessing.active_children()) - others:
                process.terminate()
            raise
        return [begun[name].result() for name in names]


_stages: Any = None
"""Where a process that verifies tells what it does."""


def _tell_to(stages: Any) -> None:
    global _stages  # noqa: PLW0603  the pool's way to give each of its processes something
    _stages = stages


def _verify_here(name: str) -> ProtocolReport:
    return verify_protocol(name, on_stage=_stages.put)


def _brevity(protocol: str) -> int:
    """Sort protocols with many mutants first: hunting and proving these takes longest."""
    return -sum(len(file.mutants) for file in model_files(protocol))


def model_files(protocol: str) -> tuple[ModelFile, ...]:
    """List the files whose models are about a protocol."""
    files = map(registry.load, registry.names())
    return tuple(file for file in files if file.main.protocol_name == protocol)


def mutants_of(file: ModelFile, limits: Limits | None) -> list[MutantResult]:
    """Hunt the mutants of a file."""

    def original_of(mutant: Mutant) -> type[Model[Any]]:
        return registry.original_of(mutant, file)

    found = []
    for result in run_mutants(file.mutants, original_of=original_of, build=at_size, limits=limits):
        _unless_interrupted(result.report)
        found.append(result)
    return found


def _unless_interrupted(report: CheckReport) -> None:
    """End everything where one search was stopped by hand, instead of going on with the next."""
    if report.interrupted:
        raise KeyboardInterrupt
