"""Runs to be compared with the models, without a JVM: see `tests.spark.faults.engine`."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from pathlib import Path

from streamproof.spark_bindings import Pipeline
from streamproof.spark_bindings.errors import FencedDriver
from streamproof.spark_bindings.names import ChannelName
from streamproof.spark_bindings.snapshots import vacuum as vacuuming
from tests.spark.faults import chains, pairs
from tests.spark.support import pipelines

Scenario = Callable[[Path], Pipeline]
OTHER = ChannelName("other")


def run_chain(path: Path) -> Pipeline:
    """Run two queries, one behind the other; a batch has rows and the marker behind them."""
    with chains.without_spark():
        pipeline = pipelines.chain(path)
        first, second = chains.engines(pipeline)
        for number in range(3):
            chains.append(pipeline, number)
        first.step()
        pipeline.snapshot()
        chains.append(pipeline, 3)
        first.run()
        pipeline.snapshot()
        chains.append(pipeline, 4)
        second.step()
        chains.run(pipeline)
        chains.append(pipeline, 5)
        chains.run(pipeline)
        return pipeline


def run_fan_in(path: Path) -> Pipeline:
    """Run a query with two inputs, whose markers arrive in different batches; snapshots overlap."""
    with chains.without_spark():
        pipeline = pipelines.fan_in(path)
        first, join = chains.engines(pipeline)
        for number in range(3):
            chains.append(pipeline, number)
            chains.append(pipeline, number, OTHER)
        first.run()
        join.run()
        chains.append(pipeline, 3)
        pipeline.snapshot()
        chains.append(pipeline, 3, OTHER)
        join.run()  # it records; one message is still ahead of the other marker
        pipeline.snapshot()
        join.run()
        first.run()
        join.run()
        chains.append(pipeline, 4)
        chains.run(pipeline)
        return pipeline


def _started(path: Path) -> tuple[Pipeline, pairs.Copies]:
    """Start both copies of a pair, and let them take a commit."""
    pipeline = pairs.pair(path)
    copies = pairs.Copies(pipeline)
    for copy in pairs.Copy:
        copies.start(copy)
    chains.append(pipeline, 0)
    copies.run()
    return pipeline, copies


def run_pair(path: Path) -> Pipeline:
    """Run a query by two copies, of which the primary is lost while a snapshot is under way."""
    with pairs.without_spark():
        pipeline, copies = _started(path)
        pipeline.snapshot()
        chains.append(pipeline, 1)
        active = next(each for each, run in copies._runs.items() if run._egress.active)
        copies.lose(active)
        chains.append(pipeline, 2)
        copies.run()
        copies.start(active)
        chains.append(pipeline, 3)
        copies.run()
        copies.stop()
        return pipeline


def run_frozen(path: Path) -> Pipeline:
    """Run a query by two copies; the primary is frozen, is replaced as primary, and wakes up."""
    with pairs.without_spark():
        pipeline, copies = _started(path)
        frozen = next(each for each, run in copies._runs.items() if run._egress.active)
        woken = copies._runs.pop(frozen)
        chains.append(pipeline, 1)
        copies.run()
        chains.append(pipeline, 2)
        with contextlib.suppress(FencedDriver):
            for _ in range(3):
                woken._choose()
                woken._running.step()
        copies.run()
        copies.stop()
        return pipeline


def run_vacuum(path: Path) -> Pipeline:
    """Run two queries; remove what nobody needs, while one is behind, and with a snapshot."""
    with chains.without_spark():
        pipeline = pipelines.chain(path)
        for number in range(4):
            chains.append(pipeline, number)
        chains.run(pipeline)
        chains.append(pipeline, 4)
        chains.engines(pipeline)[0].run()
        vacuuming.vacuum(path)
        pipeline.snapshot()
        chains.append(pipeline, 5)
        chains.run(pipeline)
        vacuuming.vacuum(path)
        return pipeline
