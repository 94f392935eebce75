"""What a run of the flights example reports: for people, for machines, and as a figure."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd
from cut import Cut
from rich.console import Console
from rich.table import Table
from rich.text import Text

ORIGINAL, RESTORED, PANDAS = "original", "restored", "pandas"
COLOURS = {ORIGINAL: "#1f6f8b", RESTORED: "#d9822b"}
Point = tuple[float, int]


@dataclass
class Report:
    """What happened, and what came out.

    Attributes
    ----------
    rows_out : per pipeline and channel, how many rows were found
    killed : where the driver was when it was killed
    mismatches : per two that were compared, and per channel, the rows that differ
    counted : per pipeline, when batches of `carriers` were done, and departures counted by then
    moments : what happened when, in seconds since the start
    completed : when the snapshots were complete
    """

    rows: int
    rows_out: dict[str, dict[str, int]] = field(default_factory=dict)
    snapshots: list[Cut] = field(default_factory=list)
    killed: dict[str, Any] = field(default_factory=dict)
    mismatches: dict[str, Mapping[str, pd.DataFrame]] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)
    counted: dict[str, list[Point]] = field(default_factory=dict)
    moments: dict[str, float] = field(default_factory=dict)
    completed: list[float] = field(default_factory=list)

    @property
    def equal(self) -> bool:
        """Whether everything that was compared is equal, and every snapshot adds up."""
        compared = [rows for pair in self.mismatches.values() for rows in pair.values()]
        adds_up = not any(cut.wrong for cut in self.snapshots)
        return bool(compared) and all(rows.empty for rows in compared) and adds_up

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON."""
        return {
            "rows": self.rows,
            "rows_out": self.rows_out,
            "snapshots": [cut.to_json() for cut in self.snapshots],
            "killed": self.killed,
            "equal": self.equal,
            "mismatches": {
                pair: {channel: len(rows) for channel, rows in found.items()}
                for pair, found in self.mismatches.items()
            },
            "seconds": {stage: round(seconds, 1) for stage, seconds in self.seconds.items()},
        }


def print_report(report: Report, out: Console) -> None:
    """Print it for people."""
    out.print(_cuts(report))
    out.print(_results(report))
    for pair, found in report.mismatches.items():
        for channel, rows in found.items():
            if not rows.empty:
                out.print(Text(f"{pair} differ in {channel}, for example:\n{rows.head()}"))
    for cut in report.snapshots:
        for wrong in cut.wrong:
            out.print(Text(f"snapshot {cut.id} does not add up: {wrong}"))
    stages = ", ".join(f"{stage} {seconds:.1f} s" for stage, seconds in report.seconds.items())
    out.print(Text(stages))
    verdict = Text("EQUAL", "bold green") if report.equal else Text("NOT EQUAL", "bold red")
    out.print(verdict + Text(f"  {report.rows:,} departures, each result row for row"))


def _cuts(report: Report) -> Table:
    table = Table("cut", "query", title="What the snapshots hold, and where the driver was killed")
    for name in ("batch", "rows received", "rows in state", "commits in flight", "rows in flight"):
        table.add_column(name, justify="right")
    for cut in report.snapshots:
        for number, (query, part) in enumerate(cut.queries.items()):
            counts = (
                part.batch,
                part.rows_received,
                part.rows_in_state,
                part.commits_in_flight,
                part.rows_in_flight,
            )
            label = f"snapshot {cut.id} ({cut.seconds:.1f} s)" if number == 0 else ""
            table.add_row(label, query, *(f"{count:,}" for count in counts))
        table.add_section()
    for number, (query, at) in enumerate(report.killed.get("queries", {}).items()):
        cells = (str(at["batch"]), f"{at['rows_received']:,}", "", f"{at['behind']:,}", "")
        table.add_row("killed" if number == 0 else "", query, *cells)
    return table


def _results(report: Report) -> Table:
    table = Table("channel", title="Results: rows compared, and rows that differ")
    for pipeline in report.rows_out:
        table.add_column(pipeline, justify="right")
    for pair in report.mismatches:
        table.add_column(pair, justify="right")
    for channel in next(iter(report.rows_out.values()), ()):
        sizes = [f"{found[channel]:,}" for found in report.rows_out.values()]
        wrong = [
            Text(f"{len(found[channel]):,}", "green" if found[channel].empty else "bold red")
            for found in report.mismatches.values()
        ]
        table.add_row(channel, *sizes, *wrong)
    return table


def draw(report: Report, file: Path) -> None:
    """Draw throughput over time, with what happened, into an SVG or PNG file."""
    from matplotlib.figure import Figure  # here, so that a run without a figure need not have it

    figure = Figure(figsize=(9, 4.5), layout="constrained")
    rate, total = figure.subplots(2, 1, sharex=True, height_ratios=(2, 1))
    for pipeline, points in report.counted.items():
        colour = COLOURS[pipeline]
        for number, part in enumerate(_lives(pipeline, points, report.moments)):
            seconds, counts = [second for second, _ in part], [count for _, count in part]
            # A batch's rows are spread over the time since the batch before it.
            rates = [
                (count - before) / (second - since)
                for (since, before), (second, count) in itertools.pairwise(part)
            ]
            steps = [*rates, rates[-1]] if rates else [0.0]
            rate.fill_between(seconds, steps, step="post", color=colour, alpha=0.3, linewidth=0)
            rate.step(seconds, steps, where="post", color=colour, linewidth=1.2)
            label = pipeline if number == 0 else None
            thousands = [count / 1000 for count in counts]
            total.step(seconds, thousands, where="post", color=colour, linewidth=1.6, label=label)
    _mark(report, rate, total)
    rate.set_ylabel("departures a second")
    total.set(ylabel="counted, thousands", xlabel="seconds since the start")
    total.set_ylim(0, None)
    total.set_xlim(0, None)
    total.legend(loc="lower right", frameon=False)
    for axes in (rate, total):
        axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(file)


def _mark(report: Report, rate: Any, total: Any) -> None:
    top = rate.get_ylim()[1]
    rate.set_ylim(0, top * 1.3)
    for number, (what, second) in enumerate(report.moments.items()):
        for axes in (rate, total):
            axes.axvline(second, color="#555555", linewidth=0.8, linestyle=":")
        # Two heights, since the kill and the restore are close to each other.
        height = top * (1.22 if number % 2 == 0 else 1.1)
        rate.annotate(f" {what}", (second, height), fontsize=8, color="#333333")
    asked = [second for what, second in report.moments.items() if what.startswith("snapshot")]
    for begin, end in zip(asked, report.completed, strict=False):
        rate.axvspan(begin, end, ymax=0.8, color="#555555", alpha=0.08, linewidth=0)


def _lives(pipeline: str, points: list[Point], moments: Mapping[str, float]) -> list[list[Point]]:
    """Cut a pipeline's batches into its drivers' lives; each begins where the one before ended."""
    killed, restored = moments["kill"], moments["restore"]
    first = [point for point in points if point[0] <= killed]
    second = [point for point in points if point[0] > killed]
    # A restored pipeline has the batches of the one that it comes from, with their times.
    begin = (restored, first[-1][1] if first else 0)
    if pipeline == RESTORED:
        return [[begin, *second]]
    return [[(0.0, 0), *first], [begin, *second]]
