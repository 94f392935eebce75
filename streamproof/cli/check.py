"""`streamproof check`: explore every reachable state of a model, and say what is known then."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.text import Text

from streamproof.checker import CheckReport
from streamproof.checker import check as run_check
from streamproof.checker.counterexample import as_pytest
from streamproof.checker.engines import EngineName, engine_of, symmetry_for
from streamproof.cli.options import (
    AsJson,
    DepthMax,
    EngineChoice,
    Memory,
    Settings,
    SizeName,
    StatesMax,
    Target,
    Threads,
    UseSymmetry,
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
from streamproof.models.verdict import ExitCode, Json, Refuted, Verdict, exit_code


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
    liveness = not safety
    reduced = symmetry_for(sized.model, symmetry, engine, liveness=liveness)
    with progress_line() as on_progress:
        report = run_check(
            sized.model,
            limits=limits,
            on_progress=on_progress,
            liveness=liveness,
            engine=engine_of(engine, threads, reduced),
        )
    verdict = report.verdict
    written = keep_as_test(verdict, sized, pytest)
    if as_json:
        print_json(to_json(report, sized, written))
    else:
        print_report(report, sized, written)
    return exit_code(verdict)


def replay_command(verdict: Refuted, sized: Sized) -> str:
    """Give the command that runs a counterexample again."""
    target, _, size = sized.options.partition(" ")
    return f"streamproof replay {target} {verdict.trace.key} {size}".rstrip()


def keep_as_test(verdict: Verdict, sized: Sized, path: Path | None) -> str | None:
    """Write a counterexample, if there is one, into a file, if one is named; give its name."""
    if path is None or not isinstance(verdict, Refuted):
        return None
    path.write_text(as_pytest(verdict.trace, verdict.broken, sized.source), encoding="utf-8")
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


def to_json(report: CheckReport, sized: Sized, written: str | None) -> Json:
    """Give everything that `print_report` prints."""
    found = report.to_json()
    verdict = report.verdict
    command = replay_command(verdict, sized) if isinstance(verdict, Refuted) else None
    asked = {"target": sized.target, "size_name": sized.size_name, "size": dict(sized.size)}
    return {**asked, **found, "replay": command, "pytest": written}


def print_report(report: CheckReport, sized: Sized, written: str | None) -> None:
    """Print a report for people."""
    out = console()
    out.print(Text(f"{title_of(sized)}, {report.engine} engine\n"))
    print_findings(out, report.findings)
    if report.left_out:
        out.print(f"left out (--safety): {', '.join(report.left_out)}")
    out.print()
    print_counts(out, report.counts)
    if report.reduction:
        alike = ", ".join(f"{count} of {name} are alike" for name, count in report.reduction.alike)
        out.print(Text(f"symmetry: {alike}; {report.reduction.kept:,} states stand for all"))
    out.print(
        f"{report.seconds:.3f} s, {report.rate:,} states a second, at most "
        f"{report.memory_mb_peak:,} MiB\n"
    )
    verdict = report.verdict
    if isinstance(verdict, Refuted):
        print_counterexample(out, verdict)
        out.print(Text(f"\nrun it again: {replay_command(verdict, sized)}"), soft_wrap=True)
    if written is not None:
        out.print(f"kept as a test: {written}", soft_wrap=True)
    halves = f"  safety {report.safety.status.value}"
    if report.liveness is not None:
        halves += f", liveness {report.liveness.status.value}"
    out.print(status_text(verdict.status) + Text(halves))
