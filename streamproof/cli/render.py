"""Rendering: reports as text, coloured on a terminal, and the line that tells of a search."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from contextvars import ContextVar
from typing import TYPE_CHECKING, TextIO

from rich.console import Console
from rich.table import Table
from rich.text import Text

from streamproof.checker.limits import memory_mb
from streamproof.checker.mutation import Fate
from streamproof.checker.progress import Meter, OnProgress, Progress, ignore
from streamproof.models.kit.trace import Trace
from streamproof.models.kit.verdict import (
    EXACT_BELOW,
    Counts,
    ExitCode,
    Finding,
    Json,
    Refuted,
    Status,
    Undetermined,
    Verdict,
)

if TYPE_CHECKING:
    from streamproof.translation import TranslationReport

PIPED_WIDTH = 160
"""Columns where there is no terminal to ask."""
RATE_FROM = 1_000
"""States or steps. Of fewer, a rate would say how long it takes to begin."""
COLOURS = {
    Status.PROVED: "bold green",
    Status.EXHAUSTED: "green",
    Status.SAMPLED: "yellow",
    Status.UNDETERMINED: "yellow",
    Status.REFUTED: "bold red",
}


class _Console(Console):
    """A console that leaves the exit code to the command: that of Rich, 1, would mean REFUTED."""

    def on_broken_pipe(self) -> None:
        raise BrokenPipeError


def console() -> Console:
    """Return the console for results."""
    return _Console(width=None if sys.stdout.isatty() else PIPED_WIDTH, highlight=False)


def error_console() -> Console:
    """Return the console for errors and progress, which must not mix with results in a pipe."""
    wide = None if sys.stderr.isatty() else PIPED_WIDTH
    return _Console(stderr=True, width=wide, highlight=False)


def print_json(value: Json) -> None:
    """Print a report for machines."""
    (_results.get() or sys.stdout).write(json.dumps(value, indent=2) + "\n")


_results: ContextVar[TextIO | None] = ContextVar("results", default=None)


@contextmanager
def only_json() -> Iterator[None]:
    """Keep standard output for `print_json`: what a model prints goes where progress goes."""
    token = _results.set(sys.stdout)
    try:
        with redirect_stdout(sys.stderr):
            yield
    finally:
        _results.reset(token)


def fate_colour(fate: Fate) -> str:
    """Return the colour of a mutant's fate."""
    colours = {ExitCode.GREEN: "green", ExitCode.UNDETERMINED: "yellow"}
    return colours.get(fate.exit_code, "red")


def status_text(status: Status) -> Text:
    """Colour a verdict."""
    return Text(status.value, style=COLOURS[status])


def print_findings(out: Console, findings: tuple[Finding, ...]) -> None:
    """Print a row for each finding."""
    table = Table("property", "kind", "verdict", "", box=None, pad_edge=False)
    for finding in findings:
        verdict = finding.verdict
        remark = remark_on(verdict) or finding.note
        table.add_row(finding.name, finding.kind.value, status_text(verdict.status), Text(remark))
    out.print(table)


def remark_on(verdict: Verdict) -> str:
    """Describe why a verdict is what it is; nothing for a green one."""
    match verdict:
        case Undetermined(reasons):
            return "; ".join(reasons)
        case Refuted(reason=reason):
            return reason
        case _:
            return ""


def print_counts(out: Console, counts: Counts) -> None:
    """Print what a search did."""
    out.print(
        f"{number_text(counts.distinct)} distinct states, {number_text(counts.generated)} "
        f"generated, depth {counts.depth:,}"
    )
    happened = ", ".join(f"{name} {number_text(count)}" for name, count in counts.firings)
    out.print(Text(f"steps: {happened}"))


def number_text(count: int) -> str:
    """Write a count; one so large that it is no longer exact as what it is."""
    return f"{count:,}" if count < EXACT_BELOW else f"about {count:.3e}"


def print_trace(out: Console, trace: Trace) -> None:
    """Print a run: the first state whole, then what each step changes."""
    out.print(Text("\n".join(trace.lines())), soft_wrap=True)


@contextmanager
def progress_line() -> Iterator[OnProgress]:
    """Show a line that tells how far a search is, on a terminal only."""
    if not sys.stderr.isatty():
        yield ignore
        return
    meter = Meter()
    with error_console().status("searching") as status:

        def tell(progress: Progress) -> None:
            status.update(line_of(progress, meter, memory_mb()))

        yield tell


def line_of(progress: Progress, meter: Meter, memory_mb_now: int) -> str:
    """Describe how far a search is, in one line of at most 100 columns."""
    if progress.deciding:
        states = f"{short(progress.distinct)} distinct"
        return f"{states}, deciding {progress.deciding}, {memory_mb_now:,} MiB"
    if progress.reading:
        states = f"{short(progress.distinct)} of {short(progress.reading)} states"
        return f"reading the checkpoint, {states}, {memory_mb_now:,} MiB"
    rate = meter.rate(progress.expanded - progress.resumed)
    line = (
        f"{short(progress.distinct)} distinct, depth {progress.depth:,}, "
        f"{short(progress.queue)} waiting, {short(rate)}/s, {memory_mb_now:,} MiB"
    )
    left = progress.left
    if left is None or rate == 0:
        return line
    return f"{line}, about {short(left)} left, {duration(left / rate)}"


def speed(rate: int, unit: str, count: int) -> str:
    """Write a rate, behind a comma; nothing where there was too little to tell one.

    Parameters
    ----------
    rate, unit : how many of what a second
    count : of how many
    """
    return f", {rate:,} {unit} a second" if count >= RATE_FROM else ""


def short(count: int) -> str:
    """Write a number with at most four digits before the unit: 9,999, 12.3 k, 1.2 M."""
    if count < 10_000:
        return f"{count:,}"
    thousands = count / 1_000
    for unit in ("k", "M"):
        if thousands < 999.95:
            return f"{thousands:.1f} {unit}"
        thousands /= 1_000
    return f"{thousands:,.1f} G"


def duration(seconds: float) -> str:
    """Write how long something takes, in its largest unit."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    if seconds < 90 * 60:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:,.0f} h"


def about_translation(report: TranslationReport) -> str:
    """Return on how much a traced form was compared with the code."""
    return (
        f"the traced form is what the code does: {report.compared:,} comparisons, "
        f"{report.outcomes:,} outcomes of conditions and paths ({report.impossible:,} more are "
        f"impossible), {report.seconds:.1f} s"
    )


def about_this_process(reason: str) -> str:
    """Report that a model may answer otherwise in another process, and why nobody has looked."""
    return (
        f"not compared with other processes: {reason}. A verdict that depends on the hash of a "
        "text or the order of a set would not be noticed"
    )
