"""A pipeline's directory: where everything is, how it is created whole, and how it is recognised.

::

    pipeline.json            id and wiring
    channels/<channel>/      a Delta table each
    queries/<query>/         checkpoint/ (Spark's), batches/, recorders/, events.jsonl; or a pair's
    alone/, supervisor/      of `streamproof run`: its driver of queries without a standby, itself
    vacuum/                  the lock of whoever removes rows of channels
    feeds/feed.<channel>/    recorders and events of the source channels' feeds
    snapshots/<id>/          see `snapshot`
"""

from __future__ import annotations

import shutil
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from streamproof.disk import (
    DiskFailed,
    explained,
    make_directory,
    move,
    sync_directory,
    sync_tree,
    temporary_sibling,
)
from streamproof.spark_bindings.channels.channel import Channel
from streamproof.spark_bindings.channels.channel_log import ChannelLog
from streamproof.spark_bindings.checkpoints.checkpoint import Checkpoint
from streamproof.spark_bindings.errors import NotAPipeline, TargetNotEmpty, WrongArgument
from streamproof.spark_bindings.layout.places import local_directory
from streamproof.spark_bindings.layout.snapshot_files import SnapshotFiles
from streamproof.spark_bindings.layout.wiring import Wiring
from streamproof.spark_bindings.names import ChannelName, PairName, QueryName, query_of
from streamproof.spark_bindings.storage.formats import (
    FORMAT,
    FORMAT_KEY,
    FORMAT_OF_0_1_0,
    format_of,
)
from streamproof.spark_bindings.storage.json_files import (
    as_written,
    read_json,
    write_json,
)


@dataclass(frozen=True, slots=True)
class PipelineDirectory:
    """An existing pipeline's directory.

    Attributes
    ----------
    id : of this pipeline; a restored one has its own, so that it is not taken for the original
    """

    path: Path
    id: str
    wiring: Wiring

    @staticmethod
    def open(path: Path) -> PipelineDirectory:
        """Read what a directory says of itself. Needs no Spark.

        Raises
        ------
        NotAPipeline : if it is none
        UnknownFormat : if it is of a later format
        DamagedFile : if its pipeline.json does not say what it is made of
        """
        said = read_json(path / "pipeline.json") or {}
        # Its old place, where 0.1.0 looks too.
        format_of({FORMAT_KEY: said.get("format", FORMAT_OF_0_1_0)}, f"the pipeline {path}")
        stored = read_json(path / "pipeline.json", format=object, id=str, wiring=dict)
        if stored is None:
            what = "is not a pipeline" if path.exists() else "does not exist"
            raise NotAPipeline(
                f"{path} {what}: it has no pipeline.json. Nothing in it was touched. Give the "
                "directory that Pipeline(...) was given, or an empty one to create a pipeline in"
            )
        with as_written(path / "pipeline.json"):
            return PipelineDirectory(path, stored["id"], Wiring.from_json(stored["wiring"]))

    @staticmethod
    def at(path: Path | str) -> PipelineDirectory:
        """Read what a directory that a user names says of itself.

        Raises
        ------
        WrongArgument : if it is a URL
        NotAPipeline, DamagedFile : as `open`
        """
        return PipelineDirectory.open(local_directory("a pipeline", path))

    @staticmethod
    def is_free(path: Path) -> bool:
        """Tell whether a pipeline can be made at a path: it is absent, or an empty directory."""
        with _can_be_made(path):
            return not path.exists() or (path.is_dir() and not any(path.iterdir()))

    @staticmethod
    def create(path: Path, wiring: Wiring, schemas: Mapping[ChannelName, pa.Schema]) -> None:
        """Make a pipeline with empty channels; after a crash it is there whole, or not at all."""
        with build_up(path, wiring, {}, new_identity()) as place:
            for channel, schema in schemas.items():
                Channel.create(place / "channels" / channel, schema)

    def channel_path(self, channel: ChannelName) -> Path:
        """Name the directory of a channel."""
        return self.path / "channels" / channel

    def query_path(self, query: QueryName) -> Path:
        """Name the directory of a query."""
        return self.path / "queries" / query

    def pair_paths(self, query: QueryName) -> list[Path]:
        """List the directories of the pairs that a query has run as: they have an order log."""
        places = (self.path / "queries").glob(f"{query}*")
        named = (place for place in places if query_of(PairName(place.name)) == query)
        return sorted(place for place in named if (place / "order").is_dir())

    def log(self, channel: ChannelName) -> ChannelLog:
        """Give the commits of a channel."""
        return ChannelLog(self.channel_path(channel), self.id)

    def checkpoint(self, query: QueryName) -> Checkpoint:
        """Give the checkpoint of a query."""
        return Checkpoint(self.query_path(query) / "checkpoint")

    @property
    def shared(self) -> tuple[Path, ...]:
        """The directories that the driver and the executors write to."""
        return self.path / "channels", self.path / "queries"

    @property
    def feeds(self) -> Path:
        """The directory of what the feeds record."""
        return self.path / "feeds"

    @property
    def snapshots(self) -> SnapshotFiles:
        """The snapshots of this pipeline."""
        return SnapshotFiles(self.path / "snapshots")


def new_identity() -> str:
    """Return the id of a pipeline that is to be made."""
    return uuid.uuid4().hex


@contextmanager
def _can_be_made(path: Path) -> Iterator[None]:
    """Refuse a path at which the system makes no directory.

    Raises
    ------
    WrongArgument : if it does not
    """
    try:
        yield
    except DiskFailed:
        raise
    except OSError as error:
        raise WrongArgument(
            f"{path} cannot be a pipeline's directory: {error.strerror} ({error.filename}). "
            "Nothing was made. Name a directory that is there, or that can be made"
        ) from error


@contextmanager
def build_up(
    path: Path, wiring: Wiring, origin: Mapping[str, Any], identity: str
) -> Iterator[Path]:
    """Give a hidden place to build a pipeline in; it is moved to `path` when all went well.

    Parameters
    ----------
    path : where the pipeline is to be
    wiring : its channels and queries
    origin : what pipeline.json is to say of where it came from
    identity : its own id

    Raises
    ------
    TargetNotEmpty : if there is something at `path`
    """
    refused = TargetNotEmpty(
        f"{path} is not empty. A pipeline is made whole in a new place, and nothing is "
        "overwritten. Name a directory that does not exist yet"
    )
    if not PipelineDirectory.is_free(path):
        raise refused
    with _can_be_made(path):
        make_directory(path.parent)
    temporary = temporary_sibling(path)
    try:
        with explained(path, "Nothing was made"):
            (temporary / "channels").mkdir(parents=True)
            yield temporary
        stored = {"format": FORMAT, "id": identity, "wiring": wiring.to_json()}
        write_json(temporary / "pipeline.json", {**stored, "origin": dict(origin)})
        sync_tree(temporary)  # before it has its name: a part of a pipeline is none
        try:
            with explained(path, "Nothing was made"):
                move(temporary, path)  # onto nothing, or onto an empty directory
                sync_directory(path.parent)
        except DiskFailed:
            if not temporary.exists():  # it has its name already: so that the call may be repeated
                move(path, temporary)
            raise
        except OSError as error:
            raise refused from error
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
