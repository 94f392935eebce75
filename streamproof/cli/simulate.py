"""`streamproof simulate`: take random walks through a model, and say what they have shown."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from streamproof.checker.engines import EngineName
from streamproof.checker.progress import Meter
from streamproof.checker.simulate import SimulationReport
from streamproof.checker.simulate import simulate as run_walks
from streamproof.checker.walks import LENGTH_MAX, SEEDS, WALKS, OnWalks, Plan, Tally
from streamproof.cli.check import keep_as_test, print_counterexample, title_of
from streamproof.cli.options import (
    ENGINES,
    AsJson,
    AsPytest,
    Settings,
    SizeName,
    Target,
    chosen,
    new_file,
    replay_command,
)
from streamproof.cli.render import (
    console,
    error_console,
    print_findings,
    print_json,
    speed,
    status_text,
)
from streamproof.models.kit.registry import Sized
from streamproof.models.kit.verdict import ExitCode, Json, Refuted, exit_code


def simulate(
    target: Target,
    size: SizeName = "",
    settings: Settings = None,
    walks: Annotated[
        int,
        typer.Option(min=1, metavar="N", help="How many walks."),
    ] = WALKS,
    length_max: Annotated[
        int, typer.Option(min=1, metavar="STEPS", help="Cut a walk after so many steps.")
    ] = LENGTH_MAX,
    seed: Annotated[
        int, typer.Option(min=0, max=SEEDS - 1, metavar="N", help="Another seed takes other walks.")
    ] = 0,
    engine: Annotated[
        EngineName,
        typer.Option(
            metavar=ENGINES,
            help="native compiles a model that can be traced; reference walks through any, slowly;"
            " auto uses the native engine where it can.",
        ),
    ] = EngineName.AUTO,
    *,
    as_json: AsJson = False,
    pytest: AsPytest = None,
) -> ExitCode:
    """Take random walks through a model too large to search; SAMPLED is the best that they show."""
    new_file(pytest)
    sized = chosen(target, size, settings)
    with _walks_line() as on_walks:
        report = run_walks(
            sized.model,
            plan=Plan(walks, length_max, seed),
            engine=engine,
            on_walks=on_walks,
        )
    verdict = report.verdict
    written = keep_as_test(verdict, sized, pytest)
    if as_json:
        print_json(to_json(report, sized, written))
    else:
        print_report(report, sized, written)
    return exit_code(verdict)


def to_json(report: SimulationReport, sized: Sized, written: str | None) -> Json:
    """Return everything that `print_report` prints."""
    verdict = report.verdict
    command = replay_command(verdict.trace, sized) if isinstance(verdict, Refuted) else None
    return {**sized.to_json(), **report.to_json(), "replay": command, "pytest": written}


def print_report(report: SimulationReport, sized: Sized, written: str | None) -> None:
    """Print a report for people."""
    out = console()
    engine, seed = report.sample.engine, report.plan.seed
    out.print(Text(f"{title_of(sized)}, {engine} engine, seed {seed}"))
    if report.why_engine:
        out.print(Text(f"({report.why_engine})"), soft_wrap=True)
    out.print()
    print_findings(out, report.findings)
    if report.not_asked:
        out.print(f"not asked, since no finite walk refutes it: {', '.join(report.not_asked)}")
    out.print()
    _print_tally(out, report)
    verdict = report.verdict
    if isinstance(verdict, Refuted):
        print_counterexample(out, verdict)
        out.print(Text(f"\n{_how_short(report, verdict)}"), soft_wrap=True)
        out.print(Text(f"run it again: {replay_command(verdict.trace, sized)}"), soft_wrap=True)
    if written is not None:
        out.print(f"kept as a test: {written}", soft_wrap=True)
    out.print(status_text(verdict.status))


def _print_tally(out: Console, report: SimulationReport) -> None:
    plan, tally = report.plan, report.sample.tally
    table = Table("action", "taken", "possible", box=None, pad_edge=False)
    for part in report.coverage:
        table.add_row(part.action, f"{part.taken:,}", f"{part.enabled:,}")
    out.print(table)
    out.print(
        f"\n{tally.walks:,} of {plan.walks:,} walks; {tally.ended:,} came to an end, the others "
        f"were left after at most {plan.length_max:,} steps; the longest took {tally.longest:,}\n"
        f"{tally.steps:,} steps taken, {sum(tally.enabled):,} looked at; distinct states were not "
        f"counted\n{report.seconds:.3f} s, of which {report.sample.seconds:.3f} s walking"
        f"{speed(report.rate, 'steps', tally.steps)}\n"
    )


def _how_short(report: SimulationReport, verdict: Refuted) -> str:
    if report.sample.walk is None:
        return "an initial state breaks it"
    found = f"walk {report.sample.walk:,} broke it in {report.walked:,} steps"
    if report.minimised is None or not report.minimised.is_minimal:
        return f"{found}; to leave out those that it does not take was interrupted"
    return (
        f"{found}; of the {len(verdict.trace):,} that are left, none can be left out alone, but "
        "only streamproof check tells whether there is a shorter run"
    )


@contextmanager
def _walks_line() -> Iterator[OnWalks]:
    """Show a line that tells how far the walks are, on a terminal only."""
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    meter = Meter()
    with error_console().status("walking") as status:
        yield lambda tally: status.update(line_of(tally, meter))


def line_of(tally: Tally, meter: Meter) -> str:
    """Describe how far walks are, in one line."""
    return (
        f"{tally.walks:,} walks, {tally.steps:,} steps, {meter.rate(tally.steps):,} steps a second"
    )
