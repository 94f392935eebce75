"""Voices: ways to find out the same about a model, which must not contradict the reference engine.

Compiled code is not optimised here: LLVM would take ten times as long over it as the search does.
"""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import llvmlite.binding as llvm
import pytest

from streamproof.checker import Limits, check
from streamproof.checker import explore as reference
from streamproof.checker import simulate as simulating
from streamproof.checker.counterexample import BrokenModel
from streamproof.checker.engines import EngineName
from streamproof.checker.exploration import INTERRUPTED
from streamproof.checker.native import search
from streamproof.checker.native.checkpoint.checkpoint import Checkpoint
from streamproof.checker.native.code import machine_code, program
from streamproof.checker.native.code.terms import NumberTooLarge
from streamproof.checker.native.engine import explore as native
from streamproof.checker.packable import Unpackable
from streamproof.checker.simulate import simulate
from streamproof.checker.walks import Plan
from streamproof.lang import StreamproofError
from streamproof.lang.errors import TooManyPaths
from streamproof.models.kit.verdict import Refuted, Status
from tests.fuzz import z3_voices
from tests.fuzz.traced_voice import check_traced

LIMITS = Limits(states_max=600)
REFUSALS = (NumberTooLarge, Unpackable, TooManyPaths)
"""How an engine may say that it cannot take a model."""


class Disagree(AssertionError):
    """Two voices contradict each other."""


@dataclass(frozen=True)
class Known:
    """What the reference engine says, and how: findings and counts, or an error."""

    answer: Any

    @property
    def kind(self) -> str:
        """Return how the search ended: by an error, cut short, by a counterexample, or whole."""
        if not self.is_searched:
            return str(self.answer[0].__name__)
        verdicts = [part.verdict for part in self.answer[0].values()]
        broken = [part.broken for part in verdicts if isinstance(part, Refuted)]
        if self.is_cut:
            return "cut short"
        return broken[0].rpartition("_")[0] or broken[0] if broken else "whole"

    @property
    def is_searched(self) -> bool:
        """Whether there was a search at all, and no error."""
        return isinstance(self.answer[0], dict)

    @property
    def is_cut(self) -> bool:
        """Whether a limit ended the search."""
        found = self.answer[0].values() if self.is_searched else ()
        reasons = [text for part in found for text in getattr(part.verdict, "reasons", ())]
        return any("raise --" in reason for reason in reasons)

    @property
    def is_refuted(self) -> bool:
        """Whether some property of finite runs is broken, or a range was left."""
        if not self.is_searched:
            return True
        return any(
            isinstance(part.verdict, Refuted) and not part.kind.is_liveness
            for part in self.answer[0].values()
        )


def outcome(
    model: Any,
    engine: Any,
    *,
    liveness: bool = True,
    limits: Limits = LIMITS,
    validated: bool = False,
) -> Known:
    """Return everything that a check says, or how it failed."""
    try:
        report = check(model, engine=engine, liveness=liveness, limits=limits, validated=validated)
    except BrokenModel as error:
        return Known((type(error), str(error), error.trace))
    except REFUSALS:
        raise
    except StreamproofError as error:
        return Known((type(error), str(error)))
    return Known(({part.name: told(part) for part in report.findings}, report.counts))


def told(finding: Any) -> Any:
    """Leave out which fair run breaks a promise, and which of several premises never holds."""
    reasons = getattr(finding.verdict, "reasons", ())
    if reasons:
        plain = tuple(re.sub(r" \(line \d+\)", "", reason) for reason in reasons)
        return replace(finding, verdict=replace(finding.verdict, reasons=plain))
    if finding.kind.is_liveness and isinstance(finding.verdict, Refuted):
        return replace(finding, verdict=replace(finding.verdict, trace=None, reason=""), note="")
    return finding


def agree(one: Any, other: Any) -> None:
    """Compare two answers."""
    if one != other:
        raise Disagree(f"\n{one}\n\nis not\n\n{other}")


# ------------------------------------------------------------------------------------- voices


def ground(model: Any, known: Known) -> None:
    """Compiled code with a branch for each ground action."""
    with unrolled():
        agree(outcome(model, partial(native, threads=1)), known)


def rolled(model: Any, known: Known) -> None:
    """Compiled code with loops over elements."""
    with unrolled(loops=True):
        agree(outcome(model, partial(native, threads=1)), known)


def validated(model: Any, known: Known) -> None:
    """Compiled code whose traced form is compared with the plain code before it is believed."""
    with unrolled():
        agree(outcome(model, partial(native, threads=1), validated=True), known)


def threaded(model: Any, known: Known) -> None:
    """Two threads, which find states in another order."""
    if not known.is_cut:
        with unrolled():
            found = outcome(model, partial(native, threads=2), limits=Limits())
            agree(up_to_order(found), up_to_order(known))


def symmetric(model: Any, known: Known, *, loops: bool = False) -> None:
    """Compiled code that keeps one state of each orbit."""
    if not known.is_cut:
        with unrolled(loops=loops):
            engine = partial(native, threads=1, symmetry=True)
            found = outcome(model, engine, liveness=False, limits=Limits())
        agree(up_to_symmetry(found), up_to_symmetry(outcome(model, reference, liveness=False)))


def symmetric_rolled(model: Any, known: Known) -> None:
    """The same with loops."""
    symmetric(model, known, loops=True)


def resumed(model: Any, known: Known) -> None:
    """A search that is interrupted again and again, and goes on from its checkpoint."""
    if known.is_cut:
        return
    with unrolled(), tempfile.TemporaryDirectory() as place, pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda handle: None)
        patch.setattr(search, "BUFFER", 8)
        patch.setattr(search, "REPORT_EVERY_SECONDS", 0.0)
        for attempt in range(4):
            checkpoint = Checkpoint(Path(place) / "kept", resume=attempt > 0, every_seconds=0.0)
            tell = interrupting(3 if attempt < 3 else None)

            def engine(model, *, limits, on_progress, checkpoint=checkpoint, tell=tell):
                return native(
                    model, threads=1, limits=limits, on_progress=tell, checkpoint=checkpoint
                )

            found = outcome(model, engine, limits=Limits())
            if INTERRUPTED not in str(found.answer):
                break
        agree(found, known)


def interrupting(after: int | None) -> Callable[[Any], None]:
    """Interrupt a search that was told of so often."""
    left = [after]

    def tell(progress: Any) -> None:
        if left[0] is not None and progress.expanded > progress.resumed:
            left[0] -= 1
            if left[0] <= 0:
                raise KeyboardInterrupt

    return tell


def walks(model: Any, known: Known) -> None:
    """Random walks, by plain Python and by compiled code; what they break is broken."""
    plan = Plan(30, 12, 7)
    with unrolled(), pytest.MonkeyPatch.context() as patch:
        patch.setattr(simulating, "translation_of", lambda *asked: None)
        expected, found = (
            walked(model, plan, name) for name in (EngineName.REFERENCE, EngineName.NATIVE)
        )
    agree(found, expected)
    if isinstance(expected, tuple) and expected[0] and not known.is_cut and not known.is_refuted:
        raise Disagree(f"walks find that {expected[0]} is broken, and the search did not")


def walked(model: Any, plan: Plan, engine: EngineName) -> Any:
    """Return what both engines must agree on, or how walking failed."""
    try:
        report = simulate(model, plan=plan, engine=engine)
    except BrokenModel as error:
        return type(error), str(error), error.trace
    except REFUSALS:
        raise
    except StreamproofError as error:
        return type(error), str(error)
    found = report.sample
    verdicts = [(part.name, part.verdict.status) for part in report.findings]
    if found.broken:
        return found.broken, found.walk, found.path, report.walked, verdicts
    reasons = [getattr(told(part).verdict, "reasons", ()) for part in report.findings]
    return (), found.tally, verdicts, reasons


def traced(model: Any, known: Known) -> None:
    """The traced form, evaluated on states that are reached and on others."""
    check_traced(model, Random(0))


def relation(model: Any, known: Known) -> None:
    """The traced form in Z3: initial states, and steps from some of the states."""
    z3_voices.check_relation(model, Random(0))


def induction(model: Any, known: Known) -> None:
    """What Z3 proves of the model for any size holds at this one."""
    proved = z3_voices.proved(type(model))
    if proved and known.is_refuted and known.kind not in ("LeftRange", "DEADLOCK", "deadlock"):
        raise Disagree(f"{proved} is proved, and the search ends with {known.kind}")


VOICES: dict[str, Callable[[Any, Known], None]] = {
    "traced": traced,
    "ground": ground,
    "rolled": rolled,
    "validated": validated,
    "threaded": threaded,
    "symmetric": symmetric,
    "symmetric_rolled": symmetric_rolled,
    "resumed": resumed,
    "walks": walks,
    "relation": relation,
    "induction": induction,
}


# ------------------------------------------------------------------------------------ compared


def up_to_order(known: Known) -> Any:
    """Leave out which of several shortest ways to a `sometimes` was found."""
    if not isinstance(known.answer[0], dict):
        return known.answer
    found = {
        name: replace(part, note=part.note.partition(":")[0])
        for name, part in known.answer[0].items()
    }
    return found, *known.answer[1:]


def up_to_symmetry(known: Known) -> Any:
    """Leave out which of several shortest counterexamples is found, and how far the search was."""
    if not isinstance(known.answer[0], dict):
        trace = known.answer[2] if len(known.answer) > 2 else ()
        return known.answer[0], len(trace.steps) if trace else 0
    broken = [
        part.verdict for part in known.answer[0].values() if part.verdict.status is Status.REFUTED
    ]
    return {len(verdict.trace) for verdict in broken} or up_to_order(known)


@contextmanager
def unrolled(*, loops: bool = False) -> Iterator[None]:
    """Compile quickly, keep nothing on the disk, and with loops or without."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(program, "is_large", lambda encoder: loops)
        patch.setattr(program, "kept", lambda key: None)
        patch.setattr(program, "keep", lambda *content: None)
        patch.setattr(program, "compile_module", OPTIMISED.get(loops, compiled))
        yield


OPTIMISED: dict[bool, Any] = {}


def compiled(module: Any) -> bytes:
    """Compile a module without optimising it."""
    parsed = llvm.parse_assembly(str(module))
    target = llvm.Target.from_default_triple().create_target_machine(
        cpu=llvm.get_host_cpu_name(),
        features=llvm.get_host_cpu_features().flatten(),
        opt=0,
        reloc="pic",
        codemodel="large",
    )
    image: bytes = target.emit_object(parsed)
    return image


@contextmanager
def optimising() -> Iterator[None]:
    """Compile as a user's model is compiled."""
    OPTIMISED.update(dict.fromkeys((False, True), machine_code.compile_module))
    try:
        yield
    finally:
        OPTIMISED.clear()
