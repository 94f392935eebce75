"""Odd shapes: how long whole checks of them take, by each engine, side by side.

    python -m benchmarks.shapes [--rounds N]

Deep: one state after the other. Started: an initial state for each element, with symmetry asked
for. Acted: one action over many elements. Few: a model of some thousand states, whose code is not
in the cache. Times are the best of the rounds, of the processor, in seconds.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile

SHAPES = {
    "deep, 100,000 levels": "Deep(100_000)",
    "started, 100,000 initial states": "Started.sized(100_000)",
    "acted, 100,000 elements": "Stepped(Domain(One, 100_000), 5)",
    "few, 1,651 states": 'registry.build("chandy_lamport", "ring")',
}
ONCE = """
import json, sys, time
from streamproof.checker import check
from streamproof.checker.engines import EngineName, engine_of
from streamproof.lang import Domain
from streamproof.models.kit import registry
from tests.checker.native.support.shapes import Deep, One, Started, Stepped
model = {model}
begun = time.process_time()
report = check(model, liveness=False, engine=engine_of(EngineName({engine!r}), symmetry={symmetry}))
seconds = time.process_time() - begun
print(json.dumps([seconds, report.engine, report.counts.distinct, report.verdict.status.value]))
"""


def once(model: str, engine: str, cache: str) -> tuple[float, str, int, str]:
    symmetry = "True" if engine == "native" else "None"
    code = ONCE.format(model=model, engine=engine, symmetry=symmetry)
    environment = {**os.environ, "XDG_CACHE_HOME": cache}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    seconds, used, states, status = json.loads(done.stdout)
    return seconds, used, states, status


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=2)
    rounds = parser.parse_args().rounds
    with tempfile.TemporaryDirectory() as warm:
        once("Deep(10)", "native", warm)  # compiles the table
        for name, model in SHAPES.items():
            best: dict[str, tuple[float, str, int, str]] = {}
            for number in range(rounds):
                for engine in ("reference", "native", "auto"):
                    found = once(model, engine, warm)
                    if number == 0 or found < best[engine]:
                        best[engine] = found
            told = "  ".join(
                f"{engine} {seconds:.2f} s ({used})" for engine, (seconds, used, *_) in best.items()
            )
            counts = {(states, status) for _, _, states, status in best.values()}
            assert len(counts) == 1, counts
            ratio = best["reference"][0] / best["native"][0]
            print(f"{name}: {told}  reference to native {ratio:.1f}", flush=True)


if __name__ == "__main__":
    main()
