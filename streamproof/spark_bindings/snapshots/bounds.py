"""How much of a channel stays: what its readers outside need, and who looks into its log."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from streamproof.spark_bindings.channels.channel_log import ChannelLog
from streamproof.spark_bindings.checkpoints.checkpoint import Checkpoint
from streamproof.spark_bindings.errors import WrongArgument, WrongWiring
from streamproof.spark_bindings.layout.directory import PipelineDirectory, named_place
from streamproof.spark_bindings.layout.pairs import PAIR_KEY, TURN_KEY, PairDirectory
from streamproof.spark_bindings.layout.snapshot_files import SnapshotStatus
from streamproof.spark_bindings.names import ChannelName, Lane, Position
from streamproof.spark_bindings.storage.trees import is_directory


@dataclass(frozen=True, slots=True)
class Bounds:
    """What readers outside of a pipeline need of its channels.

    Attributes
    ----------
    keep : per channel, how many of the newest commits
    outside : per channel, the checkpoint of a query that reads it
    """

    keep: Mapping[str, int]
    outside: Mapping[str, Checkpoint]

    @staticmethod
    def of(
        directory: PipelineDirectory, keep: Mapping[str, int], outside: Mapping[str, Path | str]
    ) -> Bounds:
        """Check what a user says about the channels of a pipeline; see the attributes.

        Parameters
        ----------
        directory : the pipeline's
        keep, outside : what is said

        Raises
        ------
        WrongWiring : if there is no such channel
        WrongArgument : if a number is none, or a checkpoint is not there
        """
        for name, told in (("keep", keep), ("outside", outside)):
            if not isinstance(told, Mapping):
                raise WrongArgument(
                    f"vacuum was given {name}={told!r}. It says something of channels, by their "
                    'names. Nothing was removed. Write for example keep={"out": 10_000}, or '
                    'outside={"out": "checkpoints/orders"}'
                )
        for channel in (*keep, *outside):
            if channel not in directory.wiring.channels:
                raise WrongWiring(
                    f"vacuum was told about a channel {channel!r}, but pipeline {directory.place} "
                    f"has {', '.join(directory.wiring.channels)}. Nothing was removed. Name one of "
                    "these"
                )
        for channel, commits in keep.items():
            if isinstance(commits, bool) or not isinstance(commits, int) or commits < 0:
                raise WrongArgument(
                    f"vacuum was told to keep {commits!r} commits of channel {channel!r}. Nothing "
                    "was removed. Give a number of at least 0"
                )
        checkpoints = {}
        for channel, place in outside.items():
            at = named_place("vacuum", place)
            if not is_directory(at / "offsets"):
                raise WrongArgument(
                    f"vacuum was told that the query with the checkpoint {at} reads channel "
                    f"{channel!r}, but it has no offsets there. Nothing was removed. Give the "
                    "directory that the query was given, once it has begun"
                )
            checkpoints[channel] = Checkpoint(at)
        return Bounds(keep, checkpoints)

    def __contains__(self, channel: str) -> bool:
        return channel in self.keep or channel in self.outside

    def ends(self, log: ChannelLog, channel: str) -> Iterator[Position]:
        """Return the position behind which the rows are that a reader needs, for each reader."""
        if channel in self.keep:
            yield Position(max(0, log.last() - self.keep[channel]))
        if channel in self.outside:
            yield self.outside[channel].acknowledged(ChannelName(channel))


def log_floor(directory: PipelineDirectory, channel: ChannelName, done: Position) -> Position:
    """Return the position up to which a channel's log is unread; 0 if it is to be left alone.

    Parameters
    ----------
    directory, channel : which channel
    done : up to here the rows are gone, so all readers are behind it
    """
    snapshots = directory.snapshots
    floor = done
    for name in snapshots.ids():
        found = snapshots.read(name)
        if found.status is SnapshotStatus.REQUESTED:
            return Position(0)  # its markers are still looked for
        if found.status is SnapshotStatus.COMPLETE:
            markers = (at for lane, at in found.markers.items() if Lane.of(lane).channel == channel)
            floor = min([floor, *markers])  # a restored pipeline's channel ends there
    # A snapshot that is requested from now on has its markers behind this.
    floor = min([floor, *_needed_by_copies(directory, channel, floor)])
    # One commit less: Delta commits behind no version of which it has a checkpoint alone, and a
    # restored pipeline's channel may end here.
    return Position(max(0, floor - 1))


def _needed_by_copies(
    directory: PipelineDirectory, channel: ChannelName, floor: Position
) -> Iterable[Position]:
    """Yield what each copy of a pair needs of the channel that it writes.

    When it begins, it looks for what was delivered since the last turn that it has completed, and
    for one delivery before.
    """
    writer = directory.wiring.writer(channel)
    pairs = [] if writer is None or not floor else directory.pair_places(writer)
    log = directory.log(channel)
    for pair in map(PairDirectory, pairs):
        turns = [own.last_committed() for own in pair.checkpoints]
        yield _before(log, pair.place.name, floor, min(-1 if t is None else t for t in turns))


def _before(log: ChannelLog, pair: str, floor: Position, turn: int) -> Position:
    for number in range(log.last(), log.floor(), -1):
        said = log.entry(Position(number)).information
        is_of_pair = str(said.get(PAIR_KEY, "")).endswith(f":{pair}")
        if is_of_pair and TURN_KEY in said and int(said[TURN_KEY]) < turn:
            return Position(min(floor, number - 1))
    return Position(0)
