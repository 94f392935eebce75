"""Twenty seconds of a pair whose primary is killed: what the client sees, and from which copy.

    python examples/takeover.py [--seconds 20] [--plot FILE] [--json]

It runs `examples/standby.py` under `streamproof run`, feeds it ten orders a second, and kills the
copy that delivers. EQUAL means that every order is in the revenue once, as if nothing had happened.
UNDETERMINED means that it gave up on a slow machine, before anything was seen to be wrong.

Exit codes: 0 EQUAL, 1 NOT EQUAL, 3 UNDETERMINED.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pyarrow as pa
from rich.console import Console
from rich.text import Text
from standby import shop

from streamproof.spark_bindings import Pipeline, ProcessStatus

ORDER_SECONDS, READY_SECONDS_MAX = 0.1, 1200
STALL_SECONDS_MAX, RUN_SECONDS_MAX = 240, 1800
"""Limits of a run: seconds in which nothing happens, and seconds in all."""
LOOK_AFTER_SECONDS = 5
"""Without output for so long, it is asked what the copies do. To ask takes a while, too."""
WARM_OUTPUTS = 5
"""Outputs before the timeline begins: the first batches of a JVM take seconds."""
COUNTRIES = ("FR", "NO")
COLOURS = {"A": "#1f6f8b", "B": "#d9822b"}


class Unfinished(Exception):
    """Time is over, and nothing is known to be wrong."""


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
        """Whether the twin has delivered after the failure."""
        moment, copy = self.killed
        return bool(copy) and any(t > moment and name != copy for t, name in self.outputs)

    @property
    def equal(self) -> bool:
        """Whether every order counts once, and the twin has delivered after the failure."""
        return not self.wrong and not self.unfinished and self.is_taken_over

    @property
    def exit_code(self) -> int:
        """How the script ends."""
        return 0 if self.equal else 3 if self.unfinished else 1

    def to_json(self) -> dict[str, Any]:
        """Give it as JSON."""
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
            if time.monotonic() > deadline:
                raise Unfinished("the two copies have not started yet")
            time.sleep(0.1)

    def primary(self, *, replaceable: bool = False) -> ProcessStatus | None:
        """Find the copy that delivers; None if none does, or if no other could take over."""
        copies = self._pipeline.processes()
        if replaceable and not all(copy.is_in_sync for copy in copies):
            return None
        return next((copy for copy in copies if copy.is_primary), None)

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
    except Unfinished as error:
        timeline.unfinished = f"not finished in {time.monotonic() - begun:.0f} s: {error}"
        out.print(timeline.unfinished)
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
        self.orders, self._taken, self._checked = 0, 0, -1
        self._wrong = ""

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

    def wrong(self) -> tuple[str, bool]:
        """Tell what is wrong with the revenue, and whether outputs that come may mend it."""
        if self._checked == self._taken:
            return self._wrong, True
        self._checked = self._taken
        told: dict[str, list[int]] = {country: [0] for country in COUNTRIES}
        for row in self._revenue.rows().to_pylist():
            told[row["country"]].append(row["cents"])
        if any(cents != sorted(set(cents)) for cents in told.values()):
            return "an output came twice", False
        cents = sum(history[-1] for history in told.values())
        fed = f"{self.orders} orders were fed, and the revenue is {cents}"
        self._wrong = "" if cents == self.orders else fed
        return self._wrong, cents <= self.orders


class Progress:
    """Bounds a wait by what happens: outputs come, copies start, or take what they lack."""

    def __init__(self, pipeline: Pipeline) -> None:
        self._pipeline, self._copies = pipeline, self._look(pipeline)
        self._begun = self._moved = time.monotonic()

    def is_over(self, outputs: list[str]) -> bool:
        """Tell whether nothing has happened for too long, or all of it takes too long.

        Parameters
        ----------
        outputs : those that have come since it was asked last
        """
        now = time.monotonic()
        if outputs:
            self._moved = now
        elif now - self._moved > LOOK_AFTER_SECONDS:
            copies = self._look(self._pipeline)
            if copies != self._copies:
                self._copies, self._moved = copies, now
        return self.is_stalled or now - self._begun > RUN_SECONDS_MAX

    @staticmethod
    def _look(pipeline: Pipeline) -> list[ProcessStatus]:
        # Without commits to take, of which there are more with each order.
        return [replace(copy, commits=0) for copy in pipeline.processes()]

    @property
    def is_stalled(self) -> bool:
        """Whether nothing has happened for too long."""
        return time.monotonic() - self._moved > STALL_SECONDS_MAX


def feed(pipeline: Pipeline, pair: Pair, timeline: Timeline, seconds: float, out: Console) -> None:
    """Append orders, note outputs, and kill the copy that delivers once the other is in sync."""
    client, progress = Client(pipeline), Progress(pipeline)
    warm_up(client, progress)
    begun, before, end = time.monotonic(), client.orders, math.inf
    while True:
        now = time.monotonic() - begun
        if now < end and client.orders - before < now / ORDER_SECONDS:
            client.append_order()
        timeline.orders = client.orders
        outputs = client.take_outputs()
        timeline.outputs += [(now, copy) for copy in outputs]
        is_due = not timeline.killed[1] and now > seconds / 3
        if is_due and (primary := pair.primary(replaceable=True)) is not None and primary.copy:
            pair.kill(primary)
            now = time.monotonic() - begun
            timeline.killed, end = (now, primary.copy.value), now + seconds * 2 / 3
            out.print(f"second {now:.1f}: copy {primary.copy.value}, which delivers, is killed")
        if now >= end:
            timeline.wrong, may_mend = client.wrong()
            if not (timeline.wrong and may_mend):
                return
        if progress.is_over(outputs):
            give_up(timeline, is_stalled=progress.is_stalled)
            return
        time.sleep(0.01)


def warm_up(client: Client, progress: Progress) -> None:
    """Feed orders until the first outputs have come."""
    warm = 0
    while warm < WARM_OUTPUTS:
        client.append_order()
        time.sleep(ORDER_SECONDS)
        outputs = client.take_outputs()
        warm += len(outputs)
        if progress.is_over(outputs):
            raise Unfinished("the first outputs have not come yet")


def give_up(timeline: Timeline, *, is_stalled: bool) -> None:
    """Say why nothing is known; what is wrong though the twin delivers, and nothing moves, stands.

    Raises
    ------
    Unfinished : if a faster machine might have shown it
    """
    if timeline.is_taken_over and is_stalled:
        return
    timeline.wrong = ""
    if not timeline.killed[1]:
        raise Unfinished("the other copy is not in sync yet, so none was killed")
    if not timeline.is_taken_over:
        raise Unfinished("the copy that took over has not delivered yet")
    raise Unfinished("the copy that took over still delivers")


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
    if timeline.unfinished:
        return Text("UNDETERMINED", "bold yellow") + Text(f"  {timeline.unfinished}")
    verdict = Text("EQUAL", "bold green") if timeline.equal else Text("NOT EQUAL", "bold red")
    gap = timeline.gap[1] - timeline.gap[0]
    told = timeline.wrong or "each of them counts once"
    return verdict + Text(
        f"  {timeline.orders} orders, {told}; the client was without output for {gap:.1f} s"
    )


def main() -> int:
    """Run it, and say how it ended: 0 if the revenue is right, 3 if that is not known."""
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
    return timeline.exit_code


if __name__ == "__main__":
    sys.exit(main())
