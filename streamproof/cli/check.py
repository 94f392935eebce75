"""`streamproof check`: explore every reachable state of a model, and say what is known then."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.text import Text

from streamproof.checker import CheckReport
from streamproof.checker import check as run_check
from streamproof.checker.counterexample import as_pytest
from streamproof.checker.engines import EngineName, engine_of, symmetry_for
from streamproof.checker.progress import KEPT_EVERY_SECONDS
from streamproof.cli.options import (
    AsJson,
    AsPytest,
    CheckpointDirectory,
    CheckpointSeconds,
    DepthMax,
    EngineChoice,
    Memory,
    ResumeDirectory,
    Settings,
    SizeName,
    StatesMax,
    Target,
    Threads,
    UseSymmetry,
    checkpoint_of,
    chosen,
    limits_of,
    new_file,
    replay_command,
)
from streamproof.cli.render import (
    about_this_process,
    about_translation,
    console,
    print_counts,
    print_findings,
    print_json,
    print_trace,
    progress_line,
    speed,
    status_text,
)
from streamproof.models.kit.registry import Sized
from streamproof.models.kit.verdict import ExitCode, Json, Refuted, Verdict, exit_code

if TYPE_CHECKING:
    from streamproof.checker.native.checkpoint.checkpoint import Checkpoint


def check(
    target: Target,
    size: SizeName = "",
    settings: Settings = None,
    states_max: StatesMax = None,
    depth_max: DepthMax = None,
    memory: Memory = None,
    engine: EngineChoice = EngineName.AUTO,
    threads: Threads = None,
    symmetry: UseSymmetry = None,
    checkpoint: CheckpointDirectory = None,
    resume: ResumeDirectory = None,
    checkpoint_seconds: CheckpointSeconds = KEPT_EVERY_SECONDS,
    *,
    safety: Annotated[
        bool,
        typer.Option(
            "--safety", help="Leave liveness (leads_to) out of the question; the report says so."
        ),
    ] = False,
    as_json: AsJson = False,
    pytest: AsPytest = None,
) -> ExitCode:
    """Visit every reachable state of a model and check its properties."""
    new_file(pytest)
    sized = chosen(target, size, settings)
    limits = limits_of(states_max, depth_max, memory)
    liveness = not safety
    reduced = symmetry_for(sized.model, symmetry, engine, liveness=liveness)
    kept = checkpoint_of(checkpoint, resume, checkpoint_seconds)
    searching = engine_of(engine, threads, reduced, kept)
    with progress_line() as on_progress:
        report = run_check(
            sized.model,
            limits=limits,
            on_progress=on_progress,
            liveness=liveness,
            engine=searching,
        )
    verdict = report.verdict
    written = keep_as_test(verdict, sized, pytest)
    if as_json:
        print_json(to_json(report, sized, written, kept))
    else:
        command = resume_command(kept, sized, safety=safety, symmetry=symmetry)
        print_report(report, sized, written, kept, command)
    return exit_code(verdict)


def keep_as_test(verdict: Verdict, sized: Sized, path: Path | None) -> str | None:
    """Write a counterexample, if there is one, into a file, if one is named; give its name."""
    if path is None or not isinstance(verdict, Refuted):
        return None
    source = sized.source_beside(path.parent)
    path.write_text(as_pytest(verdict.trace, verdict.broken, source), encoding="utf-8")
    return str(path)


def title_of(sized: Sized) -> str:
    """Name a model with its size and settings."""
    settings = ", ".join(f"{name}={text}" for name, text in sized.size.items())
    parts = (sized.target, sized.size_name, f"({settings})" if settings else "")
    return " ".join(part for part in parts if part)


def print_counterexample(out: Console, verdict: Refuted) -> None:
    """Print what is broken, and the run that shows it."""
    conjuncts = f" ({', '.join(verdict.conjuncts)})" if verdict.conjuncts else ""
    out.print(Text(f"counterexample to {verdict.broken}{conjuncts}: {verdict.reason}"))
    print_trace(out, verdict.trace)


def print_others(out: Console, report: CheckReport, sized: Sized, shown: Refuted) -> None:
    """Print how to see the runs that break other promises."""
    for finding in report.findings:
        other = finding.verdict
        if isinstance(other, Refuted) and other.trace != shown.trace:
            command = replay_command(other.trace, sized)
            out.print(Text(f"the run that breaks {finding.name}: {command}"), soft_wrap=True)


def resume_command(
    kept: Checkpoint | None, sized: Sized, *, safety: bool, symmetry: bool | None
) -> str:
    """Return the command that goes on with the same search, if it is kept."""
    if kept is None:
        return ""
    flags = ["--safety"] if safety else []
    if symmetry is not None:
        flags.append("--symmetry" if symmetry else "--no-symmetry")
    flags += ["--resume", str(kept.directory)]
    return f"streamproof check {sized.options} {shlex.join(flags)}"


def about_checkpoint(kept: Checkpoint, report: CheckReport, command: str) -> str:
    """Describe where the search is kept, and which command goes on with it."""
    likes = ", which stand for all like them" if report.reduction else ""
    held = f"kept in {kept.directory}: {kept.states:,} states{likes}"
    if kept.failure is not None:
        held = (
            f"the search could not be kept to its end ({kept.failure}): {kept.directory} holds "
            f"{kept.states:,} of {report.kept:,} states{likes}"
        )
    elif kept.is_whole:
        return f"kept in {kept.directory}. The same report without another search: {command}"
    if isinstance(report.safety, Refuted):
        return f"{held}. The search ended at the counterexample, so nothing is left to go on with"
    return f"{held}. Go on from them: {command}"


def to_json(
    report: CheckReport, sized: Sized, written: str | None, kept: Checkpoint | None
) -> Json:
    """Return everything that `print_report` prints."""
    found = report.to_json()
    verdict = report.verdict
    command = replay_command(verdict.trace, sized) if isinstance(verdict, Refuted) else None
    checkpoint = None if kept is None else kept.to_json()
    kept_as = {"replay": command, "pytest": written, "checkpoint": checkpoint}
    return {**sized.to_json(), **found, **kept_as}


def print_report(
    report: CheckReport, sized: Sized, written: str | None, kept: Checkpoint | None, command: str
) -> None:
    """Print a report for people.

    Parameters
    ----------
    report, sized : what was found out, and about what
    written : the file in which a counterexample is kept as a test
    kept, command : where the search is kept, and the command that goes on with it
    """
    out = console()
    out.print(Text(f"{title_of(sized)}, {report.engine} engine"))
    if report.why_engine:
        out.print(Text(f"({report.why_engine})"), soft_wrap=True)
    out.print()
    print_findings(out, report.findings)
    if report.left_out:
        out.print(f"left out (--safety): {', '.join(report.left_out)}")
    out.print()
    _print_basis(out, report)
    verdict = report.verdict
    if isinstance(verdict, Refuted):
        print_counterexample(out, verdict)
        out.print(Text(f"\nrun it again: {replay_command(verdict.trace, sized)}"), soft_wrap=True)
        print_others(out, report, sized, verdict)
    if written is not None:
        out.print(f"kept as a test: {written}", soft_wrap=True)
    if kept is not None:
        out.print(Text(f"{about_checkpoint(kept, report, command)}\n"), soft_wrap=True)
    halves = f"  safety {report.safety.status.value}"
    if report.liveness is not None:
        halves += f", liveness {report.liveness.status.value}"
    out.print(status_text(verdict.status) + Text(halves))


def _print_basis(out: Console, report: CheckReport) -> None:
    """Print what the verdicts rest on."""
    print_counts(out, report.counts)
    if report.reduction:
        alike = ", ".join(f"{count} of {name} are alike" for name, count in report.reduction.alike)
        out.print(Text(f"symmetry: {alike}; {report.reduction.kept:,} states stand for all"))
    out.print(
        f"{report.seconds:.3f} s{speed(report.rate, 'states', report.counts.distinct)}, at most "
        f"{report.memory_mb_peak:,} MiB\n"
    )
    if report.resumed:
        out.print(f"{report.resumed:,} of these states were found by an earlier search\n")
    if report.translation:
        out.print(f"{about_translation(report.translation)}\n")
    if report.only_here:
        out.print(Text(f"{about_this_process(report.only_here)}\n"))
