"""What comparing traced forms with the code costs of `streamproof verify`: a share of CPU time.

Each protocol is verified in a process of its own, so that nothing is compared already; then the
examples run, as the command does. CPU time is that of all threads, and of the processes that an
example starts, so that other load does not matter. Compiled code is made anew, as on a machine
where streamproof has not run yet; ``--kept`` uses what is kept in the user's cache. It takes as
long as `streamproof verify` in one process. Run: ``python -m benchmarks.translation``.
"""

from __future__ import annotations

import functools
import multiprocessing
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack, suppress
from typing import Any
from unittest import mock

import psutil

from streamproof import translation, verification
from streamproof.cli.spark_examples import EXAMPLES
from streamproof.models.kit.places import protocol_names
from streamproof.proofs import induction

COMPARING = (
    (translation, "validate_model"),
    (induction, "validate_invariant"),
    (verification, "validate_protocol"),
)
"""Where verifying asks for a comparison."""


def seconds(protocol: str) -> tuple[float, float]:
    """Verify a protocol; give the CPU time of the comparisons, and of all."""
    inside = 0.0

    def timed(compare: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(compare)
        def run(*given: Any) -> Any:
            nonlocal inside
            began = time.process_time()
            try:
                return compare(*given)
            finally:
                inside += time.process_time() - began

        return run

    began = time.process_time()
    with ExitStack() as stack:
        for owner, name in COMPARING:
            stack.enter_context(mock.patch.object(owner, name, timed(getattr(owner, name))))
        report = verification.verify_protocol(protocol)
    compared = report.translation.compared if report.translation else 0
    assert compared > 0, f"nothing of {protocol} was compared"
    return inside, time.process_time() - began


LOOK_EVERY_SECONDS = 0.2
"""How often the processes of an example are asked for their CPU time."""


def seconds_of_example(path: str) -> float:
    """Run an example; give the CPU time of it and of all processes below it."""
    found: dict[int, float] = {}
    with subprocess.Popen([sys.executable, path, "--json"], stdout=subprocess.DEVNULL) as example:
        root = psutil.Process(example.pid)
        while example.poll() is None:
            with suppress(psutil.NoSuchProcess):
                for process in (root, *root.children(recursive=True)):
                    with suppress(psutil.NoSuchProcess):
                        spent = process.cpu_times()
                        found[process.pid] = spent.user + spent.system
            time.sleep(LOOK_EVERY_SECONDS)
    assert example.returncode == 0, f"{path} ended with exit code {example.returncode}"
    return sum(found.values())


def main() -> None:
    with tempfile.TemporaryDirectory() as cache:
        if "--kept" not in sys.argv:
            os.environ["XDG_CACHE_HOME"] = cache
        _measure()


def _measure() -> None:
    fresh = multiprocessing.get_context("spawn")
    print(f"{'protocol':16} {'all, s':>8} {'comparing, s':>13} {'share':>7}   CPU time")
    total = compared = 0.0
    for protocol in protocol_names():
        with ProcessPoolExecutor(1, fresh) as pool:
            part, whole = pool.submit(seconds, protocol).result()
        total, compared = total + whole, compared + part
        print(f"{protocol:16} {whole:8.1f} {part:13.1f} {part / whole:7.1%}", flush=True)
    print(f"{'protocols':16} {total:8.1f} {compared:13.1f} {compared / total:7.1%}", flush=True)
    for one in EXAMPLES:
        spent = seconds_of_example(str(one.path))
        total += spent
        print(f"{one.name:16} {spent:8.1f}", flush=True)
    print(f"{'the command':16} {total:8.1f} {compared:13.1f} {compared / total:7.1%}")


if __name__ == "__main__":
    main()
