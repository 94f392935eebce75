"""The feeds of a pipeline: a snapshot that begins at one source channel begins at each."""

from __future__ import annotations

from collections.abc import Mapping

from streamproof.spark_bindings.channels.channel import Channel
from streamproof.spark_bindings.layout.directory import PipelineDirectory
from streamproof.spark_bindings.names import (
    ChannelName,
    SnapshotId,
)
from streamproof.spark_bindings.snapshots.chandy_lamport import (
    FeedProcess,
)


class Feeds:
    """All feeds of a pipeline: a snapshot that begins at one source has to begin at each.

    Parameters
    ----------
    directory : of the pipeline
    channels : its source channels; others are ignored
    """

    def __init__(
        self, directory: PipelineDirectory, channels: Mapping[ChannelName, Channel]
    ) -> None:
        self._snapshots = directory.snapshots
        self._feeds = [
            FeedProcess(directory.feeds, channels[name], directory.snapshots)
            for name in directory.wiring.sources
        ]

    def request(self) -> SnapshotId:
        """Allocate an id for a snapshot and ask for it durably.

        Markers stay in the channels for good. A snapshot that has the id of an earlier one would
        find its markers there already, far behind what is read, and never be complete.
        """
        return self._snapshots.request(lambda name: any(feed.knows(name) for feed in self._feeds))

    def initiate(self, snapshot: SnapshotId) -> None:
        """Begin a snapshot, or go on with one that was begun at some. May be repeated."""
        for feed in self._feeds:
            feed.initiate(snapshot)
