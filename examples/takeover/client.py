"""The client: it feeds orders, takes outputs, and knows for how long to wait."""

from __future__ import annotations

import time
from dataclasses import replace

import pyarrow as pa

from streamproof.spark_bindings import Pipeline, ProcessStatus

STALL_SECONDS_MAX, RUN_SECONDS_MAX = 240, 1800
"""Limits of a run: seconds in which nothing happens, and seconds in all."""
LOOK_AFTER_SECONDS = 5
"""Without output for so long, it is asked what the copies do. To ask takes a while, too."""
COUNTRIES = ("FR", "NO")


class Client:
    """Feeds orders, and takes outputs.

    Attributes
    ----------
    orders : how many were fed
    """

    def __init__(self, pipeline: Pipeline) -> None:
        self._channel, self._revenue = pipeline.channel("orders"), pipeline.channel("revenue")
        self.orders, self._taken, self._checked = 0, 0, -1
        self._wrong = ""

    def append_order(self) -> None:
        """Append an order of one cent."""
        country = COUNTRIES[self.orders % len(COUNTRIES)]
        self._channel.append(pa.table({"country": [country], "cents": [1]}))
        self.orders += 1

    def take_outputs(self) -> list[str]:
        """Take what is new; give for each output the copy that has delivered it."""
        copies = []
        for commit in self._revenue.follow(self._taken, idle=0):
            self._taken = commit.position
            copies.append(str(commit.copy))
        return copies

    def wrong(self) -> tuple[str, bool]:
        """Return an error in the revenue, if any, and whether more outputs may fix it."""
        if self._checked == self._taken:
            return self._wrong, True
        self._checked = self._taken
        told: dict[str, list[int]] = {country: [0] for country in COUNTRIES}
        for row in self._revenue.rows().to_pylist():
            told[row["country"]].append(row["cents"])
        if any(cents != sorted(set(cents)) for cents in told.values()):
            return "an output came twice", False
        cents = sum(history[-1] for history in told.values())
        fed = f"{self.orders} orders were fed, and the revenue is {cents}"
        self._wrong = "" if cents == self.orders else fed
        return self._wrong, cents <= self.orders


class Progress:
    """Bounds a wait by what happens: outputs come, copies start, or take what they lack."""

    def __init__(self, pipeline: Pipeline) -> None:
        self._pipeline, self._copies = pipeline, self._look(pipeline)
        self._begun = self._moved = time.monotonic()

    def is_over(self, outputs: list[str]) -> bool:
        """Report whether nothing has happened for too long, or all of it takes too long.

        Parameters
        ----------
        outputs : those that have come since it was asked last
        """
        now = time.monotonic()
        if outputs:
            self._moved = now
        elif now - self._moved > LOOK_AFTER_SECONDS:
            copies = self._look(self._pipeline)
            if copies != self._copies:
                self._copies, self._moved = copies, now
        return self.is_stalled or now - self._begun > RUN_SECONDS_MAX

    @staticmethod
    def _look(pipeline: Pipeline) -> list[ProcessStatus]:
        # Without commits to take, of which there are more with each order.
        return [replace(copy, commits=0) for copy in pipeline.processes()]

    @property
    def is_stalled(self) -> bool:
        """Whether nothing has happened for too long."""
        return time.monotonic() - self._moved > STALL_SECONDS_MAX
