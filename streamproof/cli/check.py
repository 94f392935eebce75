"""`streamproof check`: explore every reachable state of a model, and say what is known then."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from streamproof.checker import CheckReport
from streamproof.checker import check as run_check
from streamproof.checker.counterexample import as_pytest
from streamproof.checker.engines import EngineName, engine_of
from streamproof.checker.progress import KEPT_EVERY_SECONDS
from streamproof.cli.options import (
    AsJson,
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
    checkpoint_of,
    chosen,
    limits_of,
    new_file,
)
from streamproof.cli.render import (
    console,
    print_counts,
    print_findings,
    print_json,
    print_trace,
    progress_line,
    status_text,
)
from streamproof.models.registry import Sized
from streamproof.models.verdict import ExitCode, Json, Refuted, exit_code

if TYPE_CHECKING:
    from streamproof.checker.native.checkpoint import Checkpoint


def check(
    target: Target,
    size: SizeName = "",
    settings: Settings = None,
    states_max: StatesMax = None,
    depth_max: DepthMax = None,
    memory: Memory = None,
    engine: EngineChoice = EngineName.AUTO,
    threads: Threads = None,
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
    pytest: Annotated[
        Path | None, typer.Option(help="Write a counterexample into this file, as a test.")
    ] = None,
) -> ExitCode:
    """Visit every reachable state of a model and check its properties."""
    new_file(pytest)
    sized = chosen(target, size, settings)
    limits = limits_of(states_max, depth_max, memory)
    kept = checkpoint_of(checkpoint, resume, checkpoint_seconds)
    searching = engine_of(engine, threads, kept)
    with progress_line() as on_progress:
        report = run_check(
            sized.model,
            limits=limits,
            on_progress=on_progress,
            liveness=not safety,
            engine=searching,
        )
    verdict = report.verdict
    written = None
    if pytest is not None and isinstance(verdict, Refuted):
        pytest.write_text(as_pytest(verdict.trace, verdict.broken, sized.source), encoding="utf-8")
        written = str(pytest)
    if as_json:
        print_json(to_json(report, sized, written, kept))
    else:
        print_report(report, sized, written, kept)
    return exit_code(verdict)


def replay_command(verdict: Refuted, sized: Sized) -> str:
    """Give the command that runs a counterexample again."""
    target, _, size = sized.options.partition(" ")
    return f"streamproof replay {target} {verdict.trace.key} {size}".rstrip()


def about_checkpoint(kept: Checkpoint, report: CheckReport, sized: Sized) -> str:
    """Say where the search is kept, and what can be done with it."""
    resume = shlex.join(["--resume", str(kept.directory)])
    command = f"streamproof check {sized.options} {resume}"
    if kept.failure is not None:
        return (
            f"the search could not be kept to its end ({kept.failure}): {kept.directory} holds "
            f"{kept.states:,} of {report.counts.distinct:,} states. Go on from them: {command}"
        )
    if kept.is_whole:
        return f"kept in {kept.directory}. The same report without another search: {command}"
    return f"kept in {kept.directory}: {kept.states:,} states. Go on from them: {command}"


def to_json(
    report: CheckReport, sized: Sized, written: str | None, kept: Checkpoint | None
) -> Json:
    """Give everything that `print_report` prints."""
    found = report.to_json()
    verdict = report.verdict
    command = replay_command(verdict, sized) if isinstance(verdict, Refuted) else None
    asked = {"target": sized.target, "size_name": sized.size_name, "size": dict(sized.size)}
    checkpoint = None if kept is None else kept.to_json()
    return {**asked, **found, "replay": command, "pytest": written, "checkpoint": checkpoint}


def print_report(
    report: CheckReport, sized: Sized, written: str | None, kept: Checkpoint | None
) -> None:
    """Print a report for people."""
    out = console()
    settings = ", ".join(f"{name}={text}" for name, text in sized.size.items())
    named = " ".join(
        part for part in (sized.size_name, f"({settings})" if settings else "") if part
    )
    out.print(Text(f"{sized.target} {named}, {report.engine} engine\n"))
    print_findings(out, report.findings)
    if report.left_out:
        out.print(f"left out (--safety): {', '.join(report.left_out)}")
    out.print()
    print_counts(out, report.counts)
    out.print(
        f"{report.seconds:.3f} s, {report.rate:,} states a second, at most "
        f"{report.memory_mb_peak:,} MiB\n"
    )
    if report.resumed:
        out.print(f"{report.resumed:,} of these states were found by an earlier search\n")
    verdict = report.verdict
    if isinstance(verdict, Refuted):
        conjuncts = f" ({', '.join(verdict.conjuncts)})" if verdict.conjuncts else ""
        out.print(Text(f"counterexample to {verdict.broken}{conjuncts}: {verdict.reason}"))
        print_trace(out, verdict.trace)
        out.print(Text(f"\nrun it again: {replay_command(verdict, sized)}"), soft_wrap=True)
    if written is not None:
        out.print(f"kept as a test: {written}", soft_wrap=True)
    if kept is not None:
        out.print(Text(f"{about_checkpoint(kept, report, sized)}\n"), soft_wrap=True)
    halves = f"  safety {report.safety.status.value}"
    if report.liveness is not None:
        halves += f", liveness {report.liveness.status.value}"
    out.print(status_text(verdict.status) + Text(halves))
