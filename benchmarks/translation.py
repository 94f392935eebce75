"""What comparing traced forms with the code costs of `streamproof verify`: a share of CPU time.

Each protocol is verified in a process of its own, so that nothing is compared already. CPU time is
that of all threads, so that other load does not matter. Run: ``python -m benchmarks.translation``,
with names of protocols for these alone. It takes as long as `streamproof verify` in one process.
"""

from __future__ import annotations

import functools
import multiprocessing
import sys
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack
from typing import Any
from unittest import mock

from streamproof import translation, verification
from streamproof.models.registry import protocol_names
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
    assert report.translation.compared > 0, f"nothing of {protocol} was compared"
    return inside, time.process_time() - began


def main() -> None:
    fresh = multiprocessing.get_context("spawn")
    print(f"{'protocol':16} {'all, s':>8} {'comparing, s':>13} {'share':>7}   CPU time")
    total = compared = 0.0
    for protocol in sys.argv[1:] or protocol_names():
        with ProcessPoolExecutor(1, fresh) as pool:
            part, whole = pool.submit(seconds, protocol).result()
        total, compared = total + whole, compared + part
        print(f"{protocol:16} {whole:8.1f} {part:13.1f} {part / whole:7.1%}", flush=True)
    print(f"{'together':16} {total:8.1f} {compared:13.1f} {compared / total:7.1%}")


if __name__ == "__main__":
    main()
