"""How long the client of a pair is without output when the primary is killed, or frozen.

    python -m benchmarks.failover [--signal KILL] [--rounds 3] [--warm 30]

Each round runs the pair of `examples/standby.py` in a new directory, with an order each 80 ms, and
ends the primary after the pair has run for a while. What came out must be what was fed, once each.
"""

from __future__ import annotations

import argparse
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from itertools import pairwise
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pyarrow as pa

from examples.standby import shop
from streamproof.spark_bindings import Pipeline
from streamproof.spark_bindings.durable import read_json
from streamproof.spark_bindings.standby.copies import Copy

ROOT = Path(__file__).parents[1]
ORDER_SECONDS, LOOK_SECONDS = 0.08, 0.005
START_SECONDS_MAX = 180


class Client:
    """Feeds orders, and notes when an output comes."""

    def __init__(self, pipeline: Pipeline) -> None:
        self._pipeline, self._stop = pipeline, Event()
        self.seen: list[float] = []
        self.fed = 0
        self._threads = [Thread(target=part, daemon=True) for part in (self._feed, self._look)]
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """Feed and look no more."""
        self._stop.set()
        for thread in self._threads:
            thread.join()

    def _feed(self) -> None:
        while not self._stop.wait(ORDER_SECONDS):
            rows = pa.table({"country": ["FR"], "cents": [1]})
            self._pipeline.channel("orders").append(rows)
            self.fed += 1

    def _look(self) -> None:
        log = self._pipeline.channel("revenue").log
        position = log.last()
        while not self._stop.wait(LOOK_SECONDS):
            while log.has(position + 1):
                position += 1
                if log.entry(position).files:
                    self.seen.append(time.monotonic())


def beat(path: Path, copy: Copy) -> dict[str, Any]:
    """Give what a copy says of itself; nothing if it does not run."""
    return read_json(path / "queries" / "revenue" / copy.value / "beat.json") or {}


def begin(path: Path, copy: Copy, file: Path) -> subprocess.Popen[bytes]:
    """Start a copy, in a process group of its own."""
    program = [sys.executable, "-c", "from streamproof.cli import main; main()", "run", str(file)]
    options = ["--query=revenue", f"--replica={copy.value}", "--fast-start"]
    with (path.parent / f"{copy.value}.log").open("wb") as log:
        return subprocess.Popen(
            [*program, *options], cwd=ROOT, start_new_session=True, stdout=log, stderr=log
        )


def one_round(place: Path, number: signal.Signals, warm_seconds: float) -> None:
    """Run a pair, end its primary, and see what the client sees."""
    path = place / "shop"
    file = place / "pair.py"
    file.write_text(f"from examples.standby import shop\n\nPIPELINE = shop({str(path)!r})\n")
    pipeline = shop(path)
    copies = {copy: begin(path, copy, file) for copy in Copy}
    client = None
    try:
        deadline = time.monotonic() + START_SECONDS_MAX
        while not any(beat(path, c).get("active") for c in Copy) or not all(
            beat(path, c) for c in Copy
        ):
            assert time.monotonic() < deadline, f"no pair after {START_SECONDS_MAX} s; see {place}"
            time.sleep(0.1)
        client = Client(pipeline)
        time.sleep(warm_seconds)
        primary = next(c for c in Copy if beat(path, c).get("active"))
        ended = time.monotonic()
        os.killpg(copies[primary].pid, number)
        time.sleep(8)
        client.stop()
        report(client, ended)
        check(pipeline, client)
    finally:
        for process in copies.values():
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()


def report(client: Client, ended: float) -> None:
    """Print how long the client waited."""
    before = [moment for moment in client.seen if moment < ended][-30:]
    after = [moment for moment in client.seen if moment >= ended]
    usual = statistics.median(later - earlier for earlier, later in pairwise(before))
    print(
        f"first output {after[0] - ended:.2f} s after the failure; the client was without output "
        f"for {after[0] - before[-1]:.2f} s, where {usual:.2f} s is usual",
        flush=True,
    )


def check(pipeline: Pipeline, client: Client) -> None:
    """Check that revenue rises to what was fed: none lost, none twice."""
    deadline = time.monotonic() + 60
    revenue = pipeline.channel("revenue")
    while (cents := revenue.rows().column("cents").to_pylist())[-1] != client.fed:
        assert time.monotonic() < deadline, f"{client.fed} orders were fed, revenue is {cents[-1]}"
        time.sleep(0.1)
    assert cents == sorted(set(cents))


def main() -> None:
    """Measure, and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--signal", choices=["KILL", "STOP"], default="KILL")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--warm", type=float, default=30.0, help="seconds before the failure")
    chosen = parser.parse_args()
    for _ in range(chosen.rounds):
        with tempfile.TemporaryDirectory(prefix="failover-") as place:
            one_round(Path(place), signal.Signals[f"SIG{chosen.signal}"], chosen.warm)


if __name__ == "__main__":
    main()
