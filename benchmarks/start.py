"""How long a check takes from the shell, with nothing in the cache and with everything in it.

    python benchmarks/start.py [--json] [--rounds 5] [MODEL ...]

Each check is a process of its own. The native engine's own start is told beside it: from a model
in memory to the end of a search of its small size, with loading the engine, tracing, and loading or
compiling code. "Cold" has an empty cache directory, so that kernels and the
model are compiled; Python's own bytecode is there. The best of the rounds counts, since the machine
is shared; processor seconds are those of all threads.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time

from rich.console import Console
from rich.table import Table

CHECK = "import sys; from streamproof.cli import main; sys.argv[0] = 'streamproof'; main()"
ENGINE = """
import sys, time
from streamproof.models.kit import registry
model = registry.build(sys.argv[1], "small")
began = time.perf_counter()
from streamproof.checker.engines import explore_natively
explore_natively(model)
print(time.perf_counter() - began)
"""
OFF = "PYTHONDONTWRITEBYTECODE"


def environment(cache: str) -> dict[str, str]:
    """Return an environment with a cache directory, in which Python keeps its bytecode."""
    kept = {name: value for name, value in os.environ.items() if name != OFF}
    return {**kept, "XDG_CACHE_HOME": cache}


def check(model: str, cache: str) -> dict[str, float]:
    """Check a model in a new process, and give its seconds."""
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    command = [sys.executable, "-c", CHECK, "check", model]
    subprocess.run(command, env=environment(cache), stdout=subprocess.DEVNULL, check=True)
    seconds, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    processor = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return {"seconds": round(seconds, 2), "processor_seconds": round(processor, 2)}


def engine(model: str, cache: str) -> dict[str, float]:
    """Start the native engine in a new process, and give its seconds."""
    command = [sys.executable, "-c", ENGINE, model]
    ran = subprocess.run(command, env=environment(cache), capture_output=True, check=True)
    return {"engine_seconds": round(float(ran.stdout), 2)}


def best(runs: list[dict[str, float]]) -> dict[str, float]:
    """Return the least of each figure."""
    return {name: min(run[name] for run in runs) for name in runs[0]}


def measure(model: str, rounds: int) -> dict[str, dict[str, float]]:
    """Start from nothing and from a full cache, some rounds each."""
    cold, warm = [], []
    with tempfile.TemporaryDirectory() as unmeasured:
        check(model, unmeasured)  # Python's bytecode
    for _ in range(rounds):
        with tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory() as other:
            cold.append(check(model, one) | engine(model, other))
            warm += [check(model, one) | engine(model, other) for _ in range(2)]
    return {"cold": best(cold), "warm": best(warm)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("models", nargs="*", default=["chandy_lamport"], metavar="MODEL")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    found = {model: measure(model, options.rounds) for model in options.models}
    if options.json:
        print(json.dumps(found, indent=2))
        return
    table = Table("model", "cache", "check, seconds", "processor seconds", "engine alone, seconds")
    for model, starts in found.items():
        for cache, run in starts.items():
            table.add_row(model, cache, *(f"{value:.2f}" for value in run.values()))
    Console().print(table)


if __name__ == "__main__":
    main()
