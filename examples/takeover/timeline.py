"""What the client of the takeover example saw, as JSON, a line and a figure."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

from rich.text import Text

COLOURS = {"A": "#1f6f8b", "B": "#d9822b"}


@dataclass
class Timeline:
    """What happened, in seconds since the first order.

    Attributes
    ----------
    outputs : when the client got an output, and from which copy
    killed : when the primary was killed, and which copy it was
    orders : how many were fed
    wrong : what is wrong with the revenue; empty if nothing is
    unfinished : why it was given up before anything was known; empty if it was not
    seconds : what each stage took
    """

    outputs: list[tuple[float, str]] = field(default_factory=list)
    killed: tuple[float, str] = (0.0, "")
    orders: int = 0
    wrong: str = ""
    unfinished: str = ""
    seconds: dict[str, float] = field(default_factory=dict)

    @property
    def gap(self) -> tuple[float, float]:
        """The longest time without output around the failure: from when to when."""
        moments = [moment for moment, _ in self.outputs]
        around = [pair for pair in pairwise(moments) if pair[1] >= self.killed[0]]
        return max(around, key=lambda pair: pair[1] - pair[0], default=(0.0, 0.0))

    @property
    def is_taken_over(self) -> bool:
        """Whether the other copy has delivered after the failure."""
        moment, copy = self.killed
        return bool(copy) and any(t > moment and name != copy for t, name in self.outputs)

    @property
    def equal(self) -> bool:
        """Whether every order counts once, and the other copy has delivered after the failure."""
        return not self.wrong and not self.unfinished and self.is_taken_over

    @property
    def exit_code(self) -> int:
        """How the script ends."""
        return 0 if self.equal else 3 if self.unfinished else 1

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON."""
        return {
            "rows": self.orders,
            "equal": self.equal,
            "wrong": self.wrong,
            "unfinished": self.unfinished,
            "killed": {"second": round(self.killed[0], 2), "copy": self.killed[1]},
            "gap_seconds": round(self.gap[1] - self.gap[0], 2),
            "outputs": [{"second": round(at, 2), "copy": copy} for at, copy in self.outputs],
            "seconds": {stage: round(seconds, 1) for stage, seconds in self.seconds.items()},
        }


def draw(timeline: Timeline, file: Path) -> None:
    """Draw the outputs over time, into an SVG or PNG file."""
    from matplotlib.figure import Figure  # here, so that a run without a figure need not have it

    figure = Figure(figsize=(9, 3), layout="constrained")
    axes = figure.subplots()
    for copy, colour in COLOURS.items():  # which fixes their order, too
        moments = [moment for moment, name in timeline.outputs if name == copy]
        axes.scatter(moments, [copy] * len(moments), color=colour, s=18)
    axes.axvspan(*timeline.gap, color="#eeeeee", label="no output")
    axes.axvline(timeline.killed[0], color="#b22222", label=f"copy {timeline.killed[1]} is killed")
    axes.set(xlabel="seconds", ylabel="delivered by", yticks=list(COLOURS))
    axes.invert_yaxis()
    axes.margins(y=0.4)
    axes.legend(loc="center right", frameon=False)
    figure.savefig(file)


def summary(timeline: Timeline) -> Text:
    """Report in a line how it ended."""
    if timeline.unfinished:
        return Text("UNDETERMINED", "bold yellow") + Text(f"  {timeline.unfinished}")
    verdict = Text("EQUAL", "bold green") if timeline.equal else Text("NOT EQUAL", "bold red")
    gap = timeline.gap[1] - timeline.gap[0]
    told = timeline.wrong or "each of them counts once"
    return verdict + Text(
        f"  {timeline.orders} orders, {told}; the client was without output for {gap:.1f} s"
    )
