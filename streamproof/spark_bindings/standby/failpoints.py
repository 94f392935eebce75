"""Where the tests of hot standby kill or freeze a copy; see `spark_bindings.failpoints`."""

from __future__ import annotations

from enum import Enum


class PairFailpoint(Enum):
    """The points, in the order in which a turn passes them."""

    TURN_BEGUN = "turn_begun"
    OUTPUT_WRITTEN = "output_written"
    OUTPUT_KEPT = "output_kept"
    CLIENT_ASKED = "client_asked"
    OUTPUT_DELIVERED = "output_delivered"
