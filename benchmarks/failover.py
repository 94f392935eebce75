"""How long the client is without output when a driver is killed or frozen: a pair, and one alone.

    python -m benchmarks.failover [--rounds 1] [--state-mb 100] [--ways pair plain fast]
                                  [--suspect-after 0.75] [--json]

The query adds up orders by customer, and knows so many customers that its state has the wanted
size. An order comes each 80 ms. A pair is run by `streamproof run --fast-start`, copy by copy. A
plain one is the same pipeline without a standby, in a process that is started again at once, as
Spark recovers; a fast one has the JVM of `--fast-start` besides. Each round begins anew and ends
the driver that delivers. A pair's lost copy is then started again, and catches up while the other
copy goes on. What came out is compared with what was fed. The goals are told at the end; the exit
code is 1 if one was missed. CPU seconds and delays are those of the time before the failure.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from datetime import datetime
from itertools import pairwise
from pathlib import Path

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 - as Spark's users write
from rich.console import Console
from rich.table import Table

from benchmarks.failover_client import BUYERS, NOTE, Client, account
from streamproof.cli.run import copy_command
from streamproof.spark_bindings import OutputMode, Pipeline, Query, Standby
from streamproof.spark_bindings.layout.pairs import Copy, Pair
from streamproof.spark_bindings.processes.heartbeat import SUSPECT_AFTER_SECONDS
from streamproof.spark_bindings.storage.json_files import read_json
from streamproof.spark_bindings.storage.place import Place

ROOT = Path(__file__).parents[1]
AFTER_SECONDS, START_SECONDS_MAX = 10, 300
CUSTOMERS_PER_MB = 8_000
"""A customer takes some 125 bytes of state."""
ORDERS = "customer long, cents long, note string"
WAYS = ["pair", "plain", "fast"]
TICKS = os.sysconf("SC_CLK_TCK")
GAP_SECONDS_MAX, RATIO_MIN = 1.5, 8.0
"""Goals: a pair's gap, and how much longer that of a plain restart is in the same run."""


def revenue(orders: DataFrame) -> DataFrame:
    """Add up what each customer has brought in, and keep the note that comes last by alphabet."""
    totals = orders.groupBy("customer").agg(
        F.sum("cents").alias("cents"), F.max("note").alias("note")
    )
    return totals.drop("note")


def shop(path: Path | str, *, has_standby: bool) -> Pipeline:
    """Orders go through a query, with a standby copy or without."""
    return Pipeline(
        path,
        channels={"orders": ORDERS, "revenue": "customer long, cents long"},
        queries=[
            Query(
                "revenue",
                inputs=("orders",),
                output="revenue",
                output_mode=OutputMode.UPDATE,
                plan=revenue,
                standby=Standby() if has_standby else None,
            )
        ],
    )


def run_alone(path: str, *, fast: bool) -> None:
    """Run the pipeline without a standby until the process is killed."""
    from streamproof.spark_bindings import spark_session
    from streamproof.spark_bindings.session.class_archive import java_options

    settings = {"spark.driver.extraJavaOptions": java_options()} if fast else {}
    with shop(path, has_standby=False).start(spark_session("alone", settings=settings)) as pipeline:
        while all(query.running for query in pipeline.status().values()):
            time.sleep(1)


@dataclass
class Measured:
    """What one round showed, in seconds.

    Attributes
    ----------
    first_output : from the failure to the next output
    gap, usual_gap : how long the client was without output around the failure, and usually
    delay : from an order to the output that holds it, before the failure, the median
    cpu : of all processes, per second, before the failure
    twice, lost : as `Account`
    catch_up : from the start of a new copy until it is where the other copy is
    transfer : of it, giving it the other copy's state
    pause : between the two outputs of the other copy that have this in between
    gap_meanwhile : how long the client was without output at most, until then
    """

    way: str
    first_output: float
    gap: float
    usual_gap: float
    delay: float
    cpu: float
    twice: int = 0
    lost: int = 0
    catch_up: float | None = None
    transfer: float | None = None
    pause: float | None = None
    gap_meanwhile: float | None = None


def beat(path: Path, copy: Copy) -> dict[str, object]:
    """Return what a copy says of itself; nothing if it does not run."""
    return read_json(Place.of(path) / f"queries/revenue/{copy.value}/beat.json") or {}


def begin(command: list[str], log: Path) -> subprocess.Popen[bytes]:
    """Start a driver, in a process group of its own."""
    with log.open("ab") as file:
        return subprocess.Popen(
            command,
            cwd=ROOT,
            start_new_session=True,
            stdout=file,
            stderr=file,
        )


class Way:
    """How the query is run: as a pair, or alone."""

    def __init__(self, place: Path, name: str, bound_seconds: float) -> None:
        self.path, self._place, self.name = place / "shop", place, name
        self._options = ["--fast-start", f"--suspect-after={bound_seconds}"]
        self._has_standby = name == "pair"
        self.pipeline = shop(self.path, has_standby=self._has_standby)
        self.processes: dict[Copy, subprocess.Popen[bytes]] = {}

    def begin(self) -> None:
        """Start what has to run."""
        for copy in Copy if self._has_standby else (Copy.A,):
            self.start(copy)

    def start(self, copy: Copy) -> None:
        """Start one driver."""
        if not self._has_standby:
            asked = f"{str(self.path)!r}, fast={self.name == 'fast'}"
            program = f"from benchmarks.failover import run_alone; run_alone({asked})"
            command = [sys.executable, "-c", program]
        else:
            file = self._place / "pair.py"
            made = f"PIPELINE = shop({str(self.path)!r}, has_standby=True)"
            text = f"from benchmarks.failover import shop\n\n{made}"
            file.write_text(text + "\n", encoding="utf-8")
            command = copy_command(str(file), self._options, Pair(self.pipeline.queries[0]), copy)
        self.processes[copy] = begin(command, self._place / f"{copy.value}.log")

    def await_ready(self, customers: int) -> None:
        """Wait until every driver has the state of all customers."""
        deadline = time.monotonic() + START_SECONDS_MAX
        while not self._is_ready(customers):
            assert time.monotonic() < deadline, f"not ready; see {self._place}"
            time.sleep(0.2)

    def _is_ready(self, customers: int) -> bool:
        if self.pipeline.channel("revenue").log.last() < 1:
            return False
        if not self._has_standby:
            return len(self.pipeline.channel("revenue").rows()) >= customers
        beats = [beat(self.path, copy) for copy in Copy]
        return (
            all(beats) and beats[0]["turn"] == beats[1]["turn"] and int(str(beats[0]["turn"])) > 1
        )

    def replace(self, lost: Copy) -> None:
        """Start a copy again, and wait until it is where the other copy is."""
        process = self.processes[lost]
        os.killpg(process.pid, signal.SIGKILL)  # it may be frozen, or gone
        process.wait()
        (self.path / "queries" / "revenue" / lost.value / "beat.json").unlink(missing_ok=True)
        self.start(lost)
        deadline = time.monotonic() + START_SECONDS_MAX
        while not self._is_level(lost):
            assert time.monotonic() < deadline, f"{lost} has not caught up; see {self._place}"
            time.sleep(0.05)

    def _is_level(self, new: Copy) -> bool:
        turns = [int(str(beat(self.path, copy).get("turn", 0))) for copy in (new, new.other)]
        return turns[0] >= turns[1] - 1

    def transfer(self, copy: Copy) -> tuple[float, float]:
        """Return start and end of a copy's last transfer of state, by the monotonic clock."""
        at, seconds = re.findall(
            r"^(\S+ \S+) .*in the other copy's state, .* given in ([\d.]+) s",
            (self._place / f"{copy.value}.log").read_text(encoding="utf-8"),
            re.MULTILINE,
        )[-1]
        told = datetime.strptime(at, "%Y-%m-%d %H:%M:%S,%f").astimezone()
        end = told.timestamp() - time.time() + time.monotonic()
        return end - float(seconds), end

    def primary(self) -> Copy:
        """Name the driver that delivers."""
        if not self._has_standby:
            return Copy.A
        return next(copy for copy in Copy if beat(self.path, copy).get("active"))

    def cpu_seconds(self) -> float:
        """Add up the processor seconds of all drivers with their JVMs and workers."""
        groups, total = {process.pid for process in self.processes.values()}, 0
        for entry in Path("/proc").iterdir():
            if entry.name.isdigit():
                try:
                    fields = (entry / "stat").read_text().rpartition(")")[2].split()
                except OSError:
                    continue
                if int(fields[2]) in groups or int(fields[3]) in groups:
                    total += int(fields[11]) + int(fields[12])
        return total / TICKS

    def end(self) -> None:
        """Kill what runs."""
        for process in self.processes.values():
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def one_round(way: Way, number: signal.Signals, customers: int, warm_seconds: float) -> Measured:
    """Run the query, end the driver that delivers, and see what the client sees."""
    ids = range(BUYERS, customers)
    rows = {"customer": ids, "cents": [0] * len(ids), "note": [NOTE] * len(ids)}
    way.pipeline.channel("orders").append(pa.table(rows))
    client = None
    try:
        way.begin()
        way.await_ready(len(ids))
        client = Client(way.pipeline)
        time.sleep(warm_seconds / 2)
        before, began = way.cpu_seconds(), time.monotonic()
        time.sleep(warm_seconds / 2)
        cpu = (way.cpu_seconds() - before) / (time.monotonic() - began)
        victim = way.primary()
        ended = time.monotonic()
        os.killpg(way.processes[victim].pid, number)
        if way.name != "pair":
            way.processes[victim].wait()
            way.start(victim)
        await_output(client, ended)
        time.sleep(AFTER_SECONDS)
        found = measured(f"{way.name}, {number.name}", client, ended, cpu)
        if way.name == "pair":
            caught_up(found, way, client, victim)
        client.stop()
        counted = account(way.pipeline, client, customers)
        found.twice, found.lost = counted.twice, counted.lost
        return found
    finally:
        if client is not None:
            client.stop()
        way.end()


def await_output(client: Client, ended: float) -> None:
    """Wait until the client has had output since the failure."""
    deadline = time.monotonic() + START_SECONDS_MAX
    while not client.seen or client.seen[-1] <= ended:
        assert time.monotonic() < deadline, "no output since the failure"
        time.sleep(0.1)


def measured(way: str, client: Client, ended: float, cpu: float) -> Measured:
    """Return how long the client waited."""
    before = [moment for moment in client.seen if moment < ended]
    after = [moment for moment in client.seen if moment >= ended]
    usual = statistics.median(later - earlier for earlier, later in pairwise(before[-30:]))
    delay = statistics.median(client.delays[: len(before)][-30:])
    first, gap = after[0] - ended, after[0] - before[-1]
    return Measured(
        way,
        first_output=round(first, 2),
        gap=round(gap, 2),
        usual_gap=round(usual, 2),
        delay=round(delay, 2),
        cpu=round(cpu, 2),
    )


def caught_up(found: Measured, way: Way, client: Client, lost: Copy) -> None:
    """Replace a lost copy, and note what that took and what the client saw of it."""
    began = time.monotonic()
    way.replace(lost)
    done = time.monotonic()
    found.catch_up = round(done - began, 2)
    begin, end = way.transfer(lost)
    found.transfer = round(end - begin, 3)
    around = [pair for pair in pairwise(client.seen) if pair[0] < end and pair[1] > begin]
    found.pause = round(max(later - earlier for earlier, later in around), 2)
    time.sleep(AFTER_SECONDS)
    near = [moment for moment in client.seen if began - AFTER_SECONDS < moment < done + 1]
    found.gap_meanwhile = round(max(later - earlier for earlier, later in pairwise(near)), 2)


def goals(found: list[Measured]) -> list[tuple[str, bool | None]]:
    """Return what was to be reached, and whether it was; None if it was not measured."""
    gaps = [one.gap for one in found if one.way.startswith("pair")]
    plain = [one.gap for one in found if one.way.startswith("plain")]
    worst = max(gaps, default=None)
    ratio = min(plain) / worst if plain and worst is not None else None
    return [
        (
            f"gap of a pair below {GAP_SECONDS_MAX} s: "
            + ("not measured" if worst is None else f"{worst} s at worst"),
            None if worst is None else worst < GAP_SECONDS_MAX,
        ),
        (
            f"plain restart at least {RATIO_MIN:g} times longer: "
            + ("not measured" if ratio is None else f"{ratio:.1f} at worst"),
            None if ratio is None else ratio >= RATIO_MIN,
        ),
        (
            f"rows twice {sum(one.twice for one in found)}, lost {sum(one.lost for one in found)}",
            not any(one.twice or one.lost for one in found),
        ),
    ]


def main() -> int:
    """Measure, and print; give 1 if a goal was missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--state-mb", type=int, default=100)
    parser.add_argument("--ways", nargs="+", choices=WAYS, default=WAYS)
    parser.add_argument("--warm", type=float, default=30.0, help="seconds before the failure")
    bound = SUSPECT_AFTER_SECONDS
    parser.add_argument("--suspect-after", type=float, default=bound, help="of a pair, in s")
    parser.add_argument("--json", action="store_true")
    chosen = parser.parse_args()
    rounds = [("pair", signal.SIGSTOP), *((way, signal.SIGKILL) for way in WAYS)]
    found = []
    for _ in range(chosen.rounds):
        for name, number in rounds:
            if name in chosen.ways:
                customers = chosen.state_mb * CUSTOMERS_PER_MB + BUYERS
                with tempfile.TemporaryDirectory(prefix="failover-") as place:
                    way = Way(Path(place), name, chosen.suspect_after)
                    found.append(one_round(way, number, customers, chosen.warm))
    reached = goals(found)
    if chosen.json:
        told = {"measured": [asdict(one) for one in found], "goals": dict(reached)}
        print(json.dumps(told, indent=2))
    else:
        names = ("", "first output", "gap", "usual gap", "delay", "CPU, s/s", "twice", "lost")
        table = Table(
            *names, "catch-up", "transfer", "pause", "gap meanwhile", title="seconds, rows"
        )
        for one in found:
            table.add_row(*("" if value is None else str(value) for value in asdict(one).values()))
        Console(width=150).print(table)
        for goal, is_reached in reached:
            Console().print({True: "reached", False: "MISSED", None: "open"}[is_reached], goal)
    return int(any(is_reached is False for _, is_reached in reached))


if __name__ == "__main__":
    sys.exit(main())
