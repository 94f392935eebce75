"""How long promises take to decide on a graph of ten million states, and how they compare.

    python -m benchmarks.liveness [--json] [--managers 9] [--threads 1]

The model is `fair_two_phase_commit`: one promise about the coordinator and one about each manager,
all of which are kept, so that every state and every step is looked at for each. The reference
engine decides the same at a size that it can manage. Compiling is left out.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from functools import partial
from typing import Any

from rich.console import Console
from rich.table import Table

from benchmarks.fair_two_phase_commit import MODEL
from streamproof.checker import Limits, liveness, reference
from streamproof.checker.exploration import Exploration
from streamproof.checker.limits import peak_memory_mb
from streamproof.checker.native import engine as native
from streamproof.lang.model import Model
from streamproof.models.kit.sizes import at_size

MANAGERS_REFERENCE = 5
"""A size at which the reference engine takes seconds."""


def measure(model: Model[Any], explore: Callable[[Model[Any]], Exploration]) -> dict[str, float]:
    """Search a model, and decide its promises, all of which are kept."""
    began = time.perf_counter()
    found = explore(model)
    searched = time.perf_counter()
    decide = found.decide_liveness or partial(liveness.decide_liveness, model)
    broken = [str(call) for call, lasso in decide().lassos.items() if lasso]
    decided = time.perf_counter()
    if broken or found.unfinished:
        raise SystemExit(f"{', '.join(broken) or found.unfinished}: nothing was measured")
    return {
        "states": found.counts.distinct,
        "steps": found.counts.generated,
        "seconds_searching": searched - began,
        "seconds_deciding": decided - searched,
        "memory_mb_peak": peak_memory_mb(),
    }


def run(managers: int, threads: int) -> dict[str, dict[str, float]]:
    """Measure the native engine at the wanted size, and both engines at a small one."""
    search = partial(native.explore, threads=threads)
    small = at_size(MODEL, {"managers": MANAGERS_REFERENCE})
    measure(small, search)  # loads all that is compiled for any model
    large = at_size(MODEL, {"managers": managers})
    native.explore(large, threads=threads, limits=Limits(states_max=1))  # compiles it
    return {
        f"native, {managers} managers": measure(large, search),
        f"native, {MANAGERS_REFERENCE} managers": measure(small, search),
        f"reference, {MANAGERS_REFERENCE} managers": measure(small, reference.explore),
    }


def ratio(found: dict[str, dict[str, float]]) -> float:
    """Return how many times as long the reference engine takes to decide the same."""
    *_, fast, slow = found.values()
    return slow["seconds_deciding"] / fast["seconds_deciding"]


def main() -> None:
    """Measure, and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--managers", type=int, default=9)
    parser.add_argument("--threads", type=int, default=1)
    arguments = parser.parse_args()
    found = run(arguments.managers, arguments.threads)
    if arguments.json:
        print(json.dumps({"runs": found, "ratio": ratio(found)}, indent=2))
        return
    table = Table("", "states", "steps", "searching, s", "deciding, s", "peak, MiB")
    for name, part in found.items():
        seconds = (f"{part[key]:.2f}" for key in ("seconds_searching", "seconds_deciding"))
        counts = (f"{part[key]:,}" for key in ("states", "steps"))
        table.add_row(name, *counts, *seconds, f"{part['memory_mb_peak']:,}")
    Console().print(table)
    print(f"the reference engine takes {ratio(found):.0f} times as long to decide the same")


if __name__ == "__main__":
    main()
