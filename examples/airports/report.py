"""What the airports example shows: a live table, a summary, and a figure."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from feed import AIRPORTS, Feed, Plan
from rich.table import Table
from rich.text import Text

STABLE_COLOUR, TENTATIVE_COLOUR = "#1f6f8b", "#d9822b"


@dataclass(frozen=True)
class Sample:
    """What was in the table at a moment.

    Attributes
    ----------
    minute : of the flights' time
    fed : departures that had taken place by then, whether they had arrived or not
    stable, tentative : rows of each kind
    waited : the most minutes from the arrival of a departure to its first result, of those that
        were in the table for the first time
    """

    minute: float
    fed: int
    stable: int
    tentative: int
    waited: float

    def in_words(self) -> str:
        """Return it as a line, where a live table cannot be shown."""
        return (
            f"minute {self.minute:.0f}: {self.fed} have departed; in the table {self.stable} "
            f"stable and {self.tentative} tentative results"
        )


@dataclass
class Report:
    """What happened.

    Attributes
    ----------
    wrong : rows in which the result differs from the merge of the complete streams
    tentative_left : rows that were never corrected
    batch_longest : minutes that the longest batch took, but for the first one
    seconds : what each stage took
    """

    plan: Plan
    rows: int
    samples: list[Sample] = field(default_factory=list)
    wrong: int = 0
    tentative_left: int = 0
    batch_longest: float = 0.0
    seconds: dict[str, float] = field(default_factory=dict)

    @property
    def tentative_max(self) -> int:
        """The most tentative rows that were in the table at once."""
        return max((sample.tentative for sample in self.samples), default=0)

    @property
    def waited_longest(self) -> float:
        """The most minutes from the arrival of a departure to its first result."""
        return max((sample.waited for sample in self.samples), default=0.0)

    @property
    def equal(self) -> bool:
        """Whether the stable result is the right one, and there were tentative results before."""
        return self.wrong == 0 and self.tentative_left == 0 and self.tentative_max > 0

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON."""
        return {
            "rows": self.rows,
            "tentative_max": self.tentative_max,
            "tentative_left": self.tentative_left,
            "waited_longest": round(self.waited_longest, 2),
            "batch_longest": round(self.batch_longest, 2),
            "wrong": self.wrong,
            "equal": self.equal,
            "seconds": {stage: round(seconds, 1) for stage, seconds in self.seconds.items()},
            "samples": [
                {
                    "minute": round(sample.minute, 2),
                    "fed": sample.fed,
                    "stable": sample.stable,
                    "tentative": sample.tentative,
                }
                for sample in self.samples
            ],
        }


def live_table(feed: Feed, sample: Sample) -> Table:
    """Show how far the streams are, and what is known of them."""
    table = Table("", "departed", "arrived", title=f"minute {feed.minute:.0f}", min_width=40)
    for airport in AIRPORTS:
        departed = feed.departed_by(feed.minute, airport)
        is_away = feed.plan.arrives_by(airport, feed.minute) < feed.minute
        note = Text("  stalled", TENTATIVE_COLOUR) if is_away else Text("")
        table.add_row(Text(airport) + note, f"{departed}", f"{feed.fed[airport]}")
    table.add_section()
    table.add_row("stable results", "", Text(f"{sample.stable}", STABLE_COLOUR))
    table.add_row("tentative results", "", Text(f"{sample.tentative}", TENTATIVE_COLOUR))
    return table


def summary(report: Report) -> Text:
    """Report in a line how it ended."""
    verdict = Text("EQUAL", "bold green") if report.equal else Text("NOT EQUAL", "bold red")
    return verdict + Text(
        f"  {report.rows} departures, merged as if nothing had happened; up to "
        f"{report.tentative_max} tentative results meanwhile, {report.tentative_left} of them "
        f"left; {report.wrong} rows wrong; the first result at most {report.waited_longest:.1f} "
        "minutes after a departure had arrived"
    )


def draw(report: Report, file: Path) -> None:
    """Draw results and throughput over time, into an SVG or PNG file."""
    from matplotlib.figure import Figure  # here, so that a run without a figure need not have it

    plan = report.plan
    figure = Figure(figsize=(9, 5), layout="constrained")
    total, rate = figure.subplots(2, 1, sharex=True, height_ratios=(2, 1))
    minutes = [sample.minute for sample in report.samples]
    stable = [sample.stable for sample in report.samples]
    tentative = [sample.tentative for sample in report.samples]
    fed = [sample.fed for sample in report.samples]
    colours = (STABLE_COLOUR, TENTATIVE_COLOUR)
    total.stackplot(
        minutes, stable, tentative, labels=("stable", "tentative"), colors=colours, alpha=0.7
    )
    total.plot(minutes, fed, color="#333333", linewidth=1, linestyle=":", label="departed")
    total.set_ylabel("results in the table")
    total.legend(loc="upper left", frameon=False)
    for counts, colour in ((stable, STABLE_COLOUR), (tentative, TENTATIVE_COLOUR)):
        grown = [max(0, after - before) for before, after in itertools.pairwise(counts)]
        spans = [after - before for before, after in itertools.pairwise(minutes)]
        rates = [count / span if span else 0.0 for count, span in zip(grown, spans, strict=True)]
        rate.fill_between(minutes[1:], rates, step="pre", color=colour, alpha=0.5, linewidth=0)
    rate.set(ylabel="new results a minute", xlabel="minutes of the flights' time")
    for axes in (total, rate):
        stall_until = plan.stall_from + plan.stall_minutes
        axes.axvspan(plan.stall_from, stall_until, color="#555555", alpha=0.1, linewidth=0)
        axes.spines[["top", "right"]].set_visible(False)
        axes.set_xlim(0, None)
        axes.set_ylim(0, None)
    middle = plan.stall_from + plan.stall_minutes / 2
    label = f"nothing from {plan.stalled}"
    total.annotate(label, (middle, total.get_ylim()[1] * 0.96), fontsize=8, ha="center")
    figure.savefig(file)
