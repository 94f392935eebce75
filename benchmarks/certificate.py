"""How long the certificate's check takes at the start of a pipeline, per protocol.

The first check of a process parses and compiles sources; later ones do not. Run:
``python benchmarks/certificate.py``
"""

from __future__ import annotations

import statistics
import time

from streamproof.models.kit.places import protocol_names
from streamproof.spark_bindings.certificate import check_certificate

RUNS = 5


def milliseconds(protocol: str) -> float:
    began = time.process_time()
    check_certificate(protocol)
    return 1000 * (time.process_time() - began)


def main() -> None:
    print(f"{'protocol':16} {'first ms':>9} {'later ms':>9}   CPU time of the process")
    for protocol in protocol_names():
        first = milliseconds(protocol)
        later = statistics.median(milliseconds(protocol) for _ in range(RUNS))
        print(f"{protocol:16} {first:9.0f} {later:9.0f}")


if __name__ == "__main__":
    main()
