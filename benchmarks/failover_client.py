"""The client of `benchmarks.failover`: it orders, reads what comes out, and counts it."""

from __future__ import annotations

import time
from dataclasses import dataclass
from threading import Event, Thread

import pyarrow as pa
import pyarrow.compute as pc

from streamproof.spark_bindings import Pipeline
from streamproof.spark_bindings.names import Position

ORDER_SECONDS, LOOK_SECONDS, AWAIT_SECONDS_MAX = 0.08, 0.005, 300
NOTE = "x" * 80
BUYERS = 10
"""Customers who go on buying; they are the first."""


class Client:
    """Feeds orders, and notes when an output comes and which order it holds."""

    def __init__(self, pipeline: Pipeline) -> None:
        self._pipeline, self._stop = pipeline, Event()
        self.seen: list[float] = []
        self.fed: list[float] = []
        self.delays: list[float] = []
        self._from = pipeline.channel("revenue").log.last()
        self._threads = [Thread(target=part, daemon=True) for part in (self._feed, self._look)]
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """Feed and look no more."""
        self._stop.set()
        for thread in self._threads:
            thread.join()

    def _feed(self) -> None:
        while not self._stop.wait(ORDER_SECONDS):
            rows = pa.table({"customer": [len(self.fed) % BUYERS], "cents": [1], "note": [NOTE]})
            self._pipeline.channel("orders").append(rows)
            self.fed.append(time.monotonic())

    def _look(self) -> None:
        channel, position = self._pipeline.channel("revenue"), self._from
        while not self._stop.wait(LOOK_SECONDS):
            while channel.log.has(Position(position + 1)):
                now = time.monotonic()
                rows = channel.rows(position, position + 1).to_pylist()
                position = Position(position + 1)
                if rows:
                    self.seen.append(now)
                    last = max(row["customer"] + BUYERS * (row["cents"] - 1) for row in rows)
                    self.delays.append(now - self.fed[last])


@dataclass(frozen=True)
class Account:
    """What the client was told, against what was fed.

    Attributes
    ----------
    twice : rows that said the same of a customer as one before
    lost : customers of whom nothing was said, and cents that are in no customer's newest row
    """

    twice: int
    lost: int


def account(pipeline: Pipeline, client: Client, customers: int) -> Account:
    """Count what came out when all that was fed should be there, or too long after.

    Parameters
    ----------
    customers : all of them, of whom each was fed once at least
    """
    due = [len(client.fed[buyer::BUYERS]) for buyer in range(BUYERS)]
    deadline = time.monotonic() + AWAIT_SECONDS_MAX
    while True:
        rows: pa.Table = pipeline.channel("revenue").rows()
        newest = {row["customer"]: row["cents_max"] for row in _totals(rows).to_pylist()}
        missing = sum(max(0, want - newest.get(buyer, 0)) for buyer, want in enumerate(due))
        too_much = sum(max(0, newest.get(buyer, 0) - want) for buyer, want in enumerate(due))
        lost = missing + customers - len(newest)
        if lost == 0 or time.monotonic() > deadline:
            return Account(_repeated(rows) + too_much, lost)
        time.sleep(1)


def _totals(rows: pa.Table) -> pa.Table:
    return rows.group_by("customer").aggregate([("cents", "max")])


def _repeated(rows: pa.Table) -> int:
    """Count the rows that are not the first to say so of their customer."""
    said = rows.group_by(["customer", "cents"]).aggregate([([], "count_all")])
    return int(pc.sum(pc.subtract(said["count_all"], 1)).as_py() or 0)
