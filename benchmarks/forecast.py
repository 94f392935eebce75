"""How far off forecasts are: each is made from sizes of at most so many states, then compared.

    python benchmarks/forecast.py [--json]

The true counts are those of `benchmarks/engines.py` and `tests/golden`.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from streamproof.checker.forecast.forecast import Budget, forecast
from streamproof.models.kit import registry

ROOT = Path(__file__).parents[1]
FULL = 1_000_000
LARGE_FROM = 10_000
"""States from which a quarter of them may be searched, and not half."""
LARGE: tuple[tuple[str, dict[str, Any], int], ...] = (
    ("benchmarks/traced_two_phase_commit.py", {"managers": 9}, 10_340_352),
    ("benchmarks/traced_two_phase_commit.py", {"managers": 10}, 61_515_776),
    ("chandy_lamport", {"messages": (3, 2, 2), "initiators": 1}, 7_148_727),
    ("chandy_lamport", {"messages": (1, 1, 1, 0), "initiators": 1}, 4_934_947),
)


def measure(target: str, size: dict[str, Any], truth: int) -> dict[str, Any]:
    """Forecast a size whose states are known."""
    model_class = registry.find(str(ROOT / target) if target.endswith(".py") else target)
    limit = min(FULL, truth // 4 if truth >= LARGE_FROM else truth // 2)
    began = time.perf_counter()
    found = forecast(model_class, size, budget=Budget(limit, limit), symmetry=False)
    guess = found.states
    return {
        "model": Path(target).stem,
        "size": ", ".join(f"{name}={value}" for name, value in size.items()),
        "limit": limit,
        "searched": len(found.sizes),
        "truth": truth,
        "estimate": guess and round(guess.value),
        "factor": guess and round(guess.factor, 2),
        "ratio": guess and round(guess.value / truth, 3),
        "smaller": found.from_smaller and round(found.from_smaller.value),
        "levels": found.from_levels and round(found.from_levels.value),
        "reason": found.reason,
        "seconds": round(time.perf_counter() - began, 1),
    }


def main() -> None:
    """Measure, and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--json", action="store_true")
    rows = []
    as_json = parser.parse_args().json
    for target in registry.names():
        golden = json.loads((ROOT / "tests" / "golden" / f"{target}.json").read_text())["sizes"]
        sizes = registry.find(target).sizes
        rows += [measure(target, dict(sizes[name]), golden[name]["distinct"]) for name in golden]
    rows += [measure(*case) for case in LARGE]
    if as_json:
        print(json.dumps(rows, indent=2))
        return
    table = Table(*rows[0])
    for row in rows:
        cells = (f"{value:,}" if isinstance(value, int) else str(value) for value in row.values())
        table.add_row(*cells)
    Console(width=200).print(table)


if __name__ == "__main__":
    main()
