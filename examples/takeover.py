"""Twenty seconds of a pair whose primary is killed: what the client sees, and from which copy.

    python examples/takeover.py [--seconds 20] [--plot FILE] [--json]

It runs `examples/standby.py` under `streamproof run`, feeds it ten orders a second, and kills the
copy that delivers. EQUAL means that every order is in the revenue once, as if nothing had happened.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import pyarrow as pa
from rich.console import Console
from rich.text import Text
from standby import shop

from streamproof.spark_bindings import Pipeline, ProcessStatus

ORDER_SECONDS, READY_SECONDS_MAX, REST_SECONDS_MAX = 0.1, 300, 60
WARM_OUTPUTS = 5
"""Outputs before the timeline begins: the first batches of a JVM take seconds."""
COUNTRIES = ("FR", "NO")
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
    seconds : what each stage took
    """

    outputs: list[tuple[float, str]] = field(default_factory=list)
    killed: tuple[float, str] = (0.0, "")
    orders: int = 0
    wrong: str = ""
    seconds: dict[str, float] = field(default_factory=dict)

    @property
    def gap(self) -> tuple[float, float]:
        """The longest time without output around the failure: from when to when."""
        moments = [moment for moment, _ in self.outputs]
        around = [pair for pair in pairwise(moments) if pair[1] >= self.killed[0]]
        return max(around, key=lambda pair: pair[1] - pair[0], default=(0.0, 0.0))

    @property
    def equal(self) -> bool:
        """Whether every order counts once, and the twin has delivered after the failure."""
        moment, copy = self.killed
        return not self.wrong and any(t > moment and name != copy for t, name in self.outputs)

    def to_json(self) -> dict[str, Any]:
        """Give it as JSON."""
        return {
            "rows": self.orders,
            "equal": self.equal,
            "wrong": self.wrong,
            "killed": {"second": round(self.killed[0], 2), "copy": self.killed[1]},
            "gap_seconds": round(self.gap[1] - self.gap[0], 2),
            "outputs": [{"second": round(at, 2), "copy": copy} for at, copy in self.outputs],
            "seconds": {stage: round(seconds, 1) for stage, seconds in self.seconds.items()},
        }


class Pair:
    """The two copies, in processes of their own, under a supervisor in another."""

    def __init__(self, place: Path, pipeline: Pipeline) -> None:
        self._pipeline = pipeline
        file = Path(__file__).with_name("standby.py").resolve()
        program = [sys.executable, "-c", "from streamproof.cli import main; main()"]
        with (place / "log").open("wb") as log:
            self._supervisor = subprocess.Popen(  # noqa: S603 - ours
                [*program, "run", str(file), "--fast-start"], cwd=place, stdout=log, stderr=log
            )

    def await_ready(self) -> None:
        """Wait until both copies run, and one delivers."""
        deadline = time.monotonic() + READY_SECONDS_MAX
        while not (self.primary() and all(copy.is_beating for copy in self._pipeline.processes())):
            assert self._supervisor.poll() is None, "the supervisor has ended"
            assert time.monotonic() < deadline, f"no pair after {READY_SECONDS_MAX} s"
            time.sleep(0.1)

    def primary(self) -> ProcessStatus | None:
        """Find the copy that delivers; None if none does."""
        return next((copy for copy in self._pipeline.processes() if copy.is_primary), None)

    def kill(self, copy: ProcessStatus) -> None:
        """Kill a copy with its JVM and its workers."""
        assert copy.process is not None
        os.killpg(copy.process, signal.SIGKILL)

    def end(self) -> None:
        """End the supervisor, which ends its copies."""
        self._supervisor.terminate()
        self._supervisor.wait()


def run(place: Path, seconds: float, out: Console) -> Timeline:
    """Feed a pair for so long, and kill the primary after a third of it."""
    timeline, begun = Timeline(), time.monotonic()
    pipeline = shop(place / "shop")
    pair = Pair(place, pipeline)
    try:
        out.print("starting two copies of the query")
        pair.await_ready()
        timeline.seconds["start"] = time.monotonic() - begun
        feed(pipeline, pair, timeline, seconds, out)
        timeline.seconds["run"] = time.monotonic() - begun - timeline.seconds["start"]
    finally:
        pair.end()
    return timeline


class Client:
    """Feeds orders, and takes outputs.

    Attributes
    ----------
    orders : how many were fed
    """

    def __init__(self, pipeline: Pipeline) -> None:
        self._channel, self._revenue = pipeline.channel("orders"), pipeline.channel("revenue")
        self.orders, self._taken = 0, 0

    def append_order(self) -> None:
        """Append an order of one cent."""
        country = COUNTRIES[self.orders % len(COUNTRIES)]
        self._channel.append(pa.table({"country": [country], "cents": [1]}))
        self.orders += 1

    def take_outputs(self) -> list[str]:
        """Take what is new; give for each output the copy that has delivered it."""
        copies = []
        for commit in self._revenue.follow(self._taken, idle=0):
            self._taken = commit.position
            copies.append(str(commit.copy))
        return copies


def feed(pipeline: Pipeline, pair: Pair, timeline: Timeline, seconds: float, out: Console) -> None:
    """Append orders, note outputs, and kill the copy that delivers."""
    client, warm = Client(pipeline), 0
    while warm < WARM_OUTPUTS:
        client.append_order()
        time.sleep(ORDER_SECONDS)
        warm += len(client.take_outputs())
    begun, before = time.monotonic(), client.orders
    while (now := time.monotonic() - begun) < seconds or not is_told(pipeline, timeline):
        if now >= seconds + REST_SECONDS_MAX:
            return
        if now < seconds and client.orders - before < now / ORDER_SECONDS:
            client.append_order()
        timeline.orders = client.orders
        timeline.outputs += [(now, copy) for copy in client.take_outputs()]
        is_due = not timeline.killed[1] and now > seconds / 3
        if is_due and (primary := pair.primary()) is not None and primary.copy is not None:
            pair.kill(primary)
            timeline.killed = (now, primary.copy.value)
            out.print(f"second {now:.1f}: copy {primary.copy.value}, which delivers, is killed")
        time.sleep(0.01)


def is_told(pipeline: Pipeline, timeline: Timeline) -> bool:
    """Tell whether the client's revenue is what was fed, each order once; note what is not."""
    told: dict[str, list[int]] = {country: [0] for country in COUNTRIES}
    for row in pipeline.channel("revenue").rows().to_pylist():
        told[row["country"]].append(row["cents"])
    twice = any(cents != sorted(set(cents)) for cents in told.values())
    cents = sum(history[-1] for history in told.values())
    timeline.wrong = "an output came twice" if twice else ""
    if cents != timeline.orders:
        timeline.wrong = f"{timeline.orders} orders were fed, and the revenue is {cents}"
    return not timeline.wrong


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
    """Say in a line how it ended."""
    verdict = Text("EQUAL", "bold green") if timeline.equal else Text("NOT EQUAL", "bold red")
    gap = timeline.gap[1] - timeline.gap[0]
    told = timeline.wrong or "each of them counts once"
    return verdict + Text(
        f"  {timeline.orders} orders, {told}; the client was without output for {gap:.1f} s"
    )


def main() -> int:
    """Run it, and say how it ended: 0 if the revenue is right."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--plot", type=Path, help="an SVG or PNG file")
    parser.add_argument("--json", action="store_true")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="takeover-") as place:
        timeline = run(Path(place), chosen.seconds, Console(stderr=True))
    if chosen.plot is not None:
        draw(timeline, chosen.plot)
    if chosen.json:
        print(json.dumps(timeline.to_json()))
    else:
        Console().print(summary(timeline))
    return 0 if timeline.equal else 1


if __name__ == "__main__":
    sys.exit(main())
