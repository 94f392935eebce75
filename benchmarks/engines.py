"""How fast engines are on two common models, side by side in one run.

    python benchmarks/engines.py [--json] [--models "CL(2,2,2)" ...] [--rounds 3] [--idiomatic]

Each engine is run in a process of its own, one at a time, in turns, and the best of the rounds
counts: on a shared machine the others measure its neighbours. Compiling is given apart. The
reference engine would take an hour, so it is stopped after 20,000 states and only its rate is told.
Spin runs where it is installed, with the Promela texts of `benchmarks/peers`, without reductions:
-O2 -DSAFETY -DNOREDUCE; and once more with what made it fastest here, -DNOCOMP and huge pages.
stateright runs where cargo is installed and can fetch it, with the models of
`benchmarks/peers/stateright`, breadth first; it is built outside of the repository.
Counts must be equal, or the script fails. The last model, of more than 1e8 states, is searched by
the native engine alone, once.

Native searches check all properties of our model of Chandy-Lamport: two of states, two of steps.
Spin's texts assert the first two, and only where a step can change them.
"""

from __future__ import annotations

import argparse
import functools
import json
import math
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

HERE = Path(__file__).parent
COMPILE_ALONE = -1
"""Instead of a number of threads: fill the cache, so that the compiler's memory is not counted."""
REFERENCE_STATES = 20_000


@dataclass(frozen=True)
class Case:
    """A model at a size, for us and for Spin.

    Attributes
    ----------
    is_shared : whether other engines search it too, which need more memory for each state
    """

    target: str
    size: dict[str, str]
    distinct: int
    generated: int
    promela: str
    macros: dict[str, str]
    hash_bits: int
    is_shared: bool = True


def chandy_lamport(distinct: int, generated: int, hash_bits: int, *sends: int) -> Case:
    """Return CL(b1, ..., bn) of the notes on peers."""
    most = max(sends)
    sizes = " ".join(f"-DB{number}={sent}" for number, sent in enumerate(sends, start=1))
    macros = f"-DN={len(sends)} {sizes}"
    return Case(
        "chandy_lamport",
        {"messages": ",".join(map(str, sends)), "initiators": "1"},
        distinct,
        generated,
        "chandy_lamport",
        {
            "tuned": macros + (" -DW=1" if most == 1 else ""),
            "idiomatic": f"{macros} -DCAPACITY={most + 1}",
        },
        hash_bits,
    )


def two_phase_commit(
    distinct: int, generated: int, hash_bits: int, managers: int, *, is_shared: bool = True
) -> Case:
    """Return 2PC(N)."""
    return Case(
        str(HERE / "traced_two_phase_commit.py"),
        {"managers": str(managers)},
        distinct,
        generated,
        "two_phase_commit",
        dict.fromkeys(("tuned", "idiomatic"), f"-DN={managers}"),
        hash_bits,
        is_shared,
    )


CASES = {
    "2PC(7)": two_phase_commit(296_448, 2_744_706, 20, 7),
    "2PC(8)": two_phase_commit(1_745_408, 18_507_778, 22, 8),
    "2PC(9)": two_phase_commit(10_340_352, 123_558_402, 24, 9),
    "CL(2,2,2)": chandy_lamport(2_176_299, 9_369_666, 22, 2, 2, 2),
    "CL(3,2,2)": chandy_lamport(7_148_727, 32_651_560, 23, 3, 2, 2),
    "CL(1,1,1,0)": chandy_lamport(4_934_947, 31_037_860, 23, 1, 1, 1, 0),
    "2PC(11)": two_phase_commit(366_993_408, 5_371_377_666, 29, 11, is_shared=False),
}


@dataclass(frozen=True)
class Run:
    """What one engine did once."""

    distinct: int
    generated: int
    seconds: float
    compile_seconds: float
    peak_mb: float
    base_mb: float = 0.0

    @property
    def rate(self) -> float:
        """Distinct states a second."""
        return self.distinct / self.seconds

    @property
    def bytes_per_state(self) -> float:
        """What a state takes in all, beyond what the process takes without any."""
        return (self.peak_mb - self.base_mb) * 2**20 / self.distinct


def native(case: Case, threads: int) -> Run:
    """Search with the native engine, in a process of its own, which finds its code compiled."""
    compiled = _run_child(case, COMPILE_ALONE).compile_seconds if threads else 0.0
    return replace(_run_child(case, threads), compile_seconds=compiled)


def _run_child(case: Case, threads: int) -> Run:
    command = [sys.executable, __file__, "--child", json.dumps([asdict(case), threads])]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    if ran.returncode != 0:
        raise SystemExit(ran.stderr)
    return Run(**json.loads(ran.stdout))


def child(case: dict[str, Any], threads: int) -> Run:
    """Load, then search; zero threads stand for the reference engine."""
    from streamproof.checker import Limits
    from streamproof.checker.reference import explore
    from streamproof.models.kit import registry

    model = registry.build(case["target"], case["size"])
    if threads == 0:
        began = time.perf_counter()
        found = explore(model, limits=Limits(states_max=REFERENCE_STATES))
        return Run(
            found.counts.distinct,
            found.counts.generated,
            time.perf_counter() - began,
            0.0,
            peak_mb(),
        )
    from streamproof.checker.native.code.program import Program
    from streamproof.checker.native.engine import explore as explore_natively
    from streamproof.checker.progress import ignore

    small = registry.build("chandy_lamport", "small")
    explore_natively(small, threads=max(threads, 1))  # loads numba's part
    began = time.perf_counter()
    program = Program(model, {})
    compiled = time.perf_counter()
    if threads == COMPILE_ALONE:
        return Run(0, 0, 0.0, compiled - began, peak_mb())
    from streamproof.checker.native.search import Search

    base = peak_mb()
    search = Search(program, Limits(), ignore, threads)
    search.run()
    seconds = time.perf_counter() - compiled
    assert search.found is None
    generated = program.starts + sum(search.fired)
    return Run(search.distinct, generated, seconds, compiled - began, peak_mb(), base)


def peak_mb() -> float:
    """Return the most memory that this process has held, in MiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def spin(case: Case, variant: str, *flags: str) -> Run:
    """Generate, compile and run Spin's verifier."""
    options = ["-O2", "-DSAFETY", "-DNOREDUCE", "-DMEMLIM=16000", *flags]
    options += ["-DVECTORSZ=2048"] if variant == "idiomatic" else []
    huge = {"GLIBC_TUNABLES": "glibc.malloc.hugetlb=1"} if "-DNOCOMP" in flags else {}
    text = HERE / "peers" / f"{case.promela}_{variant}.pml"
    with tempfile.TemporaryDirectory() as place:
        began = time.perf_counter()
        macros = case.macros[variant].split()
        subprocess.run(
            ["spin", "-a", *macros, str(text)], cwd=place, check=True, capture_output=True
        )
        subprocess.run(["gcc", *options, "-o", "pan", "pan.c"], cwd=place, check=True)
        compiled = time.perf_counter() - began
        command = ["./pan", "-m1000000", "-E", f"-w{case.hash_bits}"]
        ran = subprocess.run(
            command,
            cwd=place,
            capture_output=True,
            text=True,
            check=False,
            env=os.environ | huge,
        )
    if "errors: 0" not in ran.stdout:
        raise SystemExit(f"Spin found an error or did not end:\n{ran.stdout}\n{ran.stderr}")
    found = {
        "states": re.search(r"([\d.e+]+) states, stored", ran.stdout),
        "steps": re.search(r"([\d.e+]+) transitions", ran.stdout),
        "seconds": re.search(r"elapsed time ([\d.e+-]+) seconds", ran.stdout),
        "memory": re.search(r"([\d.]+)\s+(?:total actual )?memory usage", ran.stdout),
    }
    numbers = {name: float(match[1]) for name, match in found.items() if match}
    # Below a hundredth of a second Spin tells no time.
    seconds = numbers.get("seconds", 0.01)
    memory = numbers.get("memory", 0.0)
    # It writes large numbers with eight digits.
    generated = int(numbers["steps"])
    if math.isclose(generated, case.generated, rel_tol=1e-7):
        generated = case.generated
    return Run(int(numbers["states"]), generated, seconds, compiled, memory)


@functools.cache
def build_stateright() -> tuple[Path, float] | None:
    """Build the models for stateright, or give nothing where cargo is not there or cannot fetch."""
    if not shutil.which("cargo"):
        return None
    cache = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    place = Path(cache) / "streamproof" / "stateright"
    manifest = str(HERE / "peers" / "stateright" / "Cargo.toml")
    common = ["--locked", "--manifest-path", manifest]
    if subprocess.run(["cargo", "fetch", *common], capture_output=True, check=False).returncode:
        return None
    began = time.perf_counter()
    command = ["cargo", "build", "--release", "--quiet", *common, "--target-dir", str(place)]
    built = subprocess.run(command, capture_output=True, text=True, check=False)
    if built.returncode:
        raise SystemExit(
            f"the models for stateright do not compile, so it cannot be compared with:\n"
            f"{built.stderr}\nMend {manifest}, or run without cargo on the PATH"
        )
    return place / "release" / "peers", time.perf_counter() - began


def stateright(case: Case, threads: int) -> Run:
    """Search with stateright, breadth first."""
    built = build_stateright()
    assert built is not None
    binary, compiled = built
    sizes = case.size.get("messages") or case.size["managers"]
    command = [str(binary), case.promela, str(threads), *sizes.split(",")]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    if ran.returncode != 0:
        raise SystemExit(f"stateright did not end:\n{ran.stderr}")
    return read_stateright(ran.stdout, case, compiled)


def read_stateright(printed: str, case: Case, compile_seconds: float) -> Run:
    """Read what stateright counted, and refuse other counts than the golden ones."""
    told = json.loads(printed)
    counts = (told["distinct"], told["generated"])
    if told["broken"] or counts != (case.distinct, case.generated):
        expected = (case.distinct, case.generated)
        raise SystemExit(f"stateright counted {counts}, not {expected}; broken: {told['broken']}")
    return Run(*counts, told["seconds"], compile_seconds, told["peak_mb"])


def engines(case: Case, *, idiomatic: bool, first: bool) -> dict[str, Any]:
    """List the engines that are here, by name."""
    if not case.is_shared:
        return {"native, 2 threads": lambda: native(case, 2)} if first else {}
    found: dict[str, Any] = {"reference": lambda: native(case, 0)} if first else {}
    found |= {
        "native, 1 thread": lambda: native(case, 1),
        "native, 2 threads": lambda: native(case, 2),
    }
    if shutil.which("spin") and shutil.which("gcc"):
        found |= {
            "Spin tuned, DFS": lambda: spin(case, "tuned"),
            "Spin tuned, DFS, fastest": lambda: spin(case, "tuned", "-DNOCOMP"),
        }
    if build_stateright():
        found |= {
            "stateright, BFS, 1 thread": lambda: stateright(case, 1),
            "stateright, BFS, 2 threads": lambda: stateright(case, 2),
        }
    if idiomatic and "Spin tuned, DFS" in found:
        found |= {
            "Spin tuned, BFS": lambda: spin(case, "tuned", "-DBFS"),
            "Spin idiomatic, DFS": lambda: spin(case, "idiomatic"),
            "Spin idiomatic, BFS": lambda: spin(case, "idiomatic", "-DBFS"),
        }
    return found


def measure(case: Case, rounds: int, *, idiomatic: bool) -> dict[str, Run]:
    """Run every engine in turns, and keep the best of its runs."""
    best: dict[str, Run] = {}
    for number in range(rounds):
        for name, run in engines(case, idiomatic=idiomatic, first=number == 0).items():
            found = run()
            if name != "reference":
                assert found.distinct == case.distinct, (name, found.distinct, case.distinct)
                assert found.generated == case.generated, (name, found.generated)
            if name not in best or found.seconds < best[name].seconds:
                best[name] = found
    return best


def show(name: str, runs: dict[str, Run]) -> None:
    """Print the table of a model."""
    columns = ("seconds", "compile", "M states/s", "bytes/state", "MB", "ratio")
    table = Table("", "distinct", "generated", *columns)
    native_rate = runs["native, 2 threads"].rate
    for engine, run in runs.items():
        table.add_row(
            engine,
            f"{run.distinct:,}",
            f"{run.generated:,}",
            f"{run.seconds:.2f}",
            f"{run.compile_seconds:.2f}",
            f"{run.rate / 1e6:.3f}",
            f"{run.bytes_per_state:.0f}" if engine != "reference" else "",
            f"{run.peak_mb:,.0f}",
            f"{native_rate / run.rate:.1f}",
        )
    if not build_stateright():
        table.add_row("stateright", "not installed")
    Console(width=None if sys.stdout.isatty() else 120).print(name, table)


def goals(runs: dict[str, Run]) -> dict[str, float]:
    """Return the ratios that the goals are about."""
    if "native, 1 thread" not in runs:
        return {}
    one, two = runs["native, 1 thread"].rate, runs["native, 2 threads"].rate
    found = {"two threads to reference": two / runs["reference"].rate}
    spins = [run.rate for name, run in runs.items() if name.startswith("Spin")]
    if spins:
        found |= {
            "one thread to the fastest Spin": one / max(spins),
            "two threads to the fastest Spin": two / max(spins),
        }
    others = [run.rate for name, run in runs.items() if name.startswith("stateright")]
    if others:
        found["two threads to the fastest stateright"] = two / max(others)
    return found


def main() -> None:
    """Measure, and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--models", nargs="*", default=list(CASES), choices=list(CASES))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--idiomatic", action="store_true", help="run Spin's slower variants too")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.child:
        print(json.dumps(asdict(child(*json.loads(arguments.child)))))
        return
    told = {}
    for name in arguments.models:
        runs = measure(CASES[name], arguments.rounds, idiomatic=arguments.idiomatic)
        told[name] = {"runs": {key: asdict(run) for key, run in runs.items()}, **goals(runs)}
        if not build_stateright():
            told[name]["stateright"] = "not installed"
        if not arguments.json:
            show(name, runs)
            print({key: round(value, 2) for key, value in goals(runs).items()}, flush=True)
    if arguments.json:
        print(json.dumps(told, indent=2))


if __name__ == "__main__":
    main()
