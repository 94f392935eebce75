"""A pipeline whose batches are told by rounds, and the ends of these in a restored one."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence

from streamproof.spark_bindings import Pipeline
from streamproof.spark_bindings.checkpoints.rerun import RerunReader, write_rerun
from streamproof.spark_bindings.layout.directory import PipelineDirectory
from streamproof.spark_bindings.names import ChannelName, Position
from streamproof.spark_bindings.storage.place import Place
from tests.spark.support.handmade import write
from tests.spark.support.lives import offset

A, B = ChannelName("a"), ChannelName("b")
Ends = list[tuple[int, int]]


class Rounds:
    """Plays what Spark does: it asks all sources, and writes down a batch if one has something."""

    def __init__(self, pipeline: Pipeline, ends: Ends, order: Sequence[int] = (0, 1)) -> None:
        self.pipeline, self.order = pipeline, order
        self.channels = [pipeline.channel("a"), pipeline.channel("b")]
        self.place = pipeline.path / "queries" / "q"
        counts = [{A: a, B: b} for a, b in ends]
        writers = {
            name: PipelineDirectory.open(pipeline.path).wiring.writer(name) for name in (A, B)
        }
        write_rerun(Place.of(self.place), {A: Position(1)}, counts, writers)
        self.offsets = [offset(self.channels[0], 1), offset(self.channels[1], 0)]
        self.batches: Ends = []
        self.start()
        self._plan()

    def start(self) -> None:
        """Start the query: its sources' processes are new."""
        self.readers = [
            RerunReader(
                rerun=str(self.place),
                run=f"run-{len(self.batches)}",
                path=str(channel.place),
                pipeline=channel.log.pipeline,
                channel=channel.name,
                columns=["x"],
                commits_max=1000,
                rows_max=None,
            )
            for channel in self.channels
        ]

    def play(self, rounds: int, between: Callable[[], None] = lambda: None) -> Ends:
        """Play rounds; give where batches have ended by now, in positions."""
        for _ in range(rounds):
            found = list(self.offsets)
            for place in self.order:
                found[place] = self.readers[place].latestOffset(self.offsets[place], None)
                between()
            if found != self.offsets:
                self.offsets = found
                self.batches.append((found[0]["position"], found[1]["position"]))
                self._plan()
        return self.batches

    def _plan(self) -> None:
        lines = [json.dumps(each) for each in self.offsets]
        for kind, text in (("offsets", "\n".join(["v1", "{}", *lines])), ("commits", "v2\n{}")):
            write(self.place / "checkpoint" / kind / str(len(self.batches)), text)


ORIGINAL: Ends = [(1, 0), (1, 2), (1, 2), (3, 2), (3, 3)]  # messages behind the cut, at (1, 0)
