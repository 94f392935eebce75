"""One file of each kind that a pair and a recorder write."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from streamproof.spark_bindings.layout.output_buffer import Output, OutputBuffer
from streamproof.spark_bindings.names import BatchId, LaneName, Turn
from streamproof.spark_bindings.processes.heartbeat import Heart, Watch
from streamproof.spark_bindings.snapshots.recorders import RecorderFiles
from streamproof.spark_bindings.storage.place import Place


def recorders(place: Path) -> Callable[[], object]:
    files = RecorderFiles(place, [LaneName("a")])
    files.write(BatchId(1), files.with_snapshots(files.before(BatchId(1)), ["000001"]))
    return lambda: files.before(BatchId(2))


def heartbeat(place: Path) -> Callable[[], object]:
    place.mkdir()
    Heart(Place.of(place / "beat.json")).beat(active=True, warm=True, turn=Turn(0))
    return lambda: Watch(Place.of(place / "beat.json"), 1.0).beat


def kept(place: Path) -> Callable[[], object]:
    outputs = OutputBuffer(Place.of(place), Place.of(place))
    outputs.keep(Output(Turn(3), (), "", None))
    return lambda: outputs.output(Turn(3))
