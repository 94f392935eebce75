"""Streams that Hypothesis draws, and where they are cut into batches."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from hypothesis import strategies as st

from tests.spark.support.merging import (
    SETTINGS,
    Row,
    rows_of,
)

LATENESS = SETTINGS.lateness_us // 1_000_000


def streams(late: bool = True) -> st.SearchStrategy[dict[str, list[Row]]]:
    """Draw streams whose times mostly rise; with `late` some rows fall far behind."""
    step = st.integers(-30 if late else 0, 40 if late else 12)

    def walk(steps: list[int], jitter: list[int]) -> list[Row]:
        times = np.maximum(np.cumsum(steps), 0) if late else np.cumsum(steps)
        return rows_of(int(t) - j for t, j in zip(times, jitter, strict=False))

    jitter = st.lists(st.integers(0, LATENESS), min_size=30, max_size=30)
    stream = st.builds(walk, st.lists(step, max_size=30), jitter)
    return st.fixed_dictionaries(dict.fromkeys(SETTINGS.streams, stream))


def cuts(data: st.DataObject, rows: Sequence[Row], batches: int) -> list[Sequence[Row]]:
    """Cut a stream into batches, anywhere."""
    place = st.integers(0, len(rows))
    at = sorted(data.draw(st.lists(place, min_size=batches - 1, max_size=batches - 1)))
    return [rows[a:b] for a, b in zip([0, *at], [*at, len(rows)], strict=True)]
