"""How many steps a second random walks take, by both engines.

    python benchmarks/simulate.py [--json] [--rounds 3] [--walks 100000]

The native engine uses one thread. The best of the rounds counts, since the machine is shared, and
compiling is left out. "Looked at" are all steps that are possible in the states that walks visit:
each is computed, and all that is asked of it is asked.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from rich.console import Console
from rich.table import Table

from streamproof.checker.engines import EngineName
from streamproof.checker.simulate import SimulationReport, simulate
from streamproof.checker.walks import Plan
from streamproof.models.kit import registry

REFERENCE_WALKS = 100
TWO_PHASE_COMMIT = str(Path(__file__).parent / "traced_two_phase_commit.py")
MODELS = {
    "CL(1,1,1)": ("chandy_lamport", {"messages": "1,1,1", "initiators": "1"}),
    "CL(2,2,2)": ("chandy_lamport", {"messages": "2,2,2", "initiators": "1"}),
    "2PC(7)": (TWO_PHASE_COMMIT, {"managers": "7"}),
    "2PC(20)": (TWO_PHASE_COMMIT, {"managers": "20"}),
}


def measure(name: str, rounds: int, walks: int) -> dict[str, float]:
    """Walk through a model by both engines, and give what was done and how fast."""
    model = registry.build(*MODELS[name])
    native = [simulate(model, plan=Plan(walks), engine=EngineName.NATIVE) for _ in range(rounds)]
    best = max(native, key=lambda report: report.rate)
    few = Plan(min(walks, REFERENCE_WALKS))
    reference = simulate(model, plan=few, engine=EngineName.REFERENCE)
    return {
        "steps": best.sample.tally.steps,
        "looked_at": sum(best.sample.tally.enabled),
        "seconds": best.sample.seconds,
        "steps_per_second": best.rate,
        "looked_at_per_second": looked_at_rate(best),
        "reference_steps_per_second": reference.rate,
    }


def looked_at_rate(report: SimulationReport) -> float:
    """Return the steps a second that were looked at."""
    return sum(report.sample.tally.enabled) / report.sample.seconds


def main() -> None:
    """Measure, and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--walks", type=int, default=100_000)
    arguments = parser.parse_args()
    found = {name: measure(name, arguments.rounds, arguments.walks) for name in MODELS}
    if arguments.json:
        print(json.dumps(found, indent=2))
        return
    table = Table("", "steps", "M steps/s", "M looked at/s", "reference, M steps/s")
    for name, run in found.items():
        rates = ("steps_per_second", "looked_at_per_second", "reference_steps_per_second")
        millions = [f"{run[rate] / 1e6:.3g}" for rate in rates]
        table.add_row(name, f"{run['steps']:,}", *millions)
    Console().print(table)


if __name__ == "__main__":
    main()
