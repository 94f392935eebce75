"""A pipeline's directory: where everything is, how it is created whole, and how it is recognised.

::

    pipeline.json            id and wiring
    channels/<channel>/      a Delta table each
    queries/<query>/         checkpoint/ (Spark's), batches/, recorders/, events.jsonl; or a pair's
    alone/, supervisor/      of `streamproof run`: its driver of queries without a standby, itself
    vacuum/                  of whoever removes rows of channels: its lock, steps.jsonl
    feeds/feed.<channel>/    recorders and events of the source channels' feeds
    snapshots/<id>/          see `snapshot`
"""

from __future__ import annotations

import errno
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from streamproof.disk import DiskFailed, explained
from streamproof.spark_bindings.channels.channel import Channel
from streamproof.spark_bindings.channels.channel_log import ChannelLog
from streamproof.spark_bindings.checkpoints.checkpoint import Checkpoint
from streamproof.spark_bindings.errors import NotAPipeline, TargetNotEmpty, WrongArgument
from streamproof.spark_bindings.layout.snapshot_files import SnapshotFiles
from streamproof.spark_bindings.layout.wiring import Wiring
from streamproof.spark_bindings.names import ChannelName, PairId, PairName, QueryName
from streamproof.spark_bindings.storage.builds import building, hidden_beside
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
from streamproof.spark_bindings.storage.place import AnyPlace, Place
from streamproof.spark_bindings.storage.store import store_at
from streamproof.spark_bindings.storage.trees import (
    is_directory,
    make_directory,
    make_unsynced,
    sync_below,
)

_NAME_MAX = 255
"""Bytes of the name of a file, on the file systems of Linux."""


@dataclass(frozen=True, slots=True)
class PipelineDirectory:
    """An existing pipeline's directory.

    Attributes
    ----------
    id : of this pipeline; a restored one has its own, so that it is not taken for the original
    """

    place: Place
    id: str
    wiring: Wiring

    @staticmethod
    def open(where: AnyPlace) -> PipelineDirectory:
        """Read what a directory says of itself. Needs no Spark.

        Raises
        ------
        NotAPipeline : if it is none
        UnknownFormat : if it is of a later format
        DamagedFile : if its pipeline.json does not say what it is made of
        """
        place = Place.of(where)
        said = read_json(place / "pipeline.json") or {}
        # Its old place, where 0.1.0 looks too.
        format_of({FORMAT_KEY: said.get("format", FORMAT_OF_0_1_0)}, f"the pipeline {place}")
        stored = read_json(place / "pipeline.json", format=object, id=str, wiring=dict)
        if stored is None:
            what = "is not a pipeline" if store_at(place).has() else "does not exist"
            raise NotAPipeline(
                f"{place} {what}: it has no pipeline.json. Nothing in it was touched. Give the "
                "directory that Pipeline(...) was given, or an empty one to create a pipeline in"
            )
        with as_written(place / "pipeline.json"):
            return PipelineDirectory(place, stored["id"], Wiring.from_json(stored["wiring"]))

    @staticmethod
    def at(where: AnyPlace) -> PipelineDirectory:
        """Read what a directory that a user names says of itself.

        Raises
        ------
        WrongArgument : if it is a URL
        NotAPipeline, DamagedFile : as `open`
        """
        return PipelineDirectory.open(named_place("a pipeline", where))

    @staticmethod
    def is_free(place: Place) -> bool:
        """Return whether a pipeline can be made at a place: it is absent, or an empty directory."""
        with _can_be_made(place):
            store = store_at(place)
            return not store.has() or (is_directory(place) and not store.list())

    @staticmethod
    def create(place: Place, wiring: Wiring, schemas: Mapping[ChannelName, pa.Schema]) -> None:
        """Make a pipeline with empty channels; after a crash it is there whole, or not at all."""
        with build_up(place, wiring, {}, new_identity()) as made:
            for channel, schema in schemas.items():
                Channel.create(made / "channels" / channel, schema)

    def channel_place(self, channel: ChannelName) -> Place:
        """Return the place of a channel."""
        return self.place / "channels" / channel

    def query_place(self, query: QueryName) -> Place:
        """Return the place of a query."""
        return self.place / "queries" / query

    def pair_places(self, query: QueryName) -> list[Place]:
        """List the directories of the pairs that a query has run as: they have an order log."""
        queries = self.place / "queries"
        names = map(PairName, store_at(queries).list())
        named = (name for name in names if PairId.of(name).query == query)
        return [queries / name for name in named if is_directory(queries / name / "order")]

    def log(self, channel: ChannelName) -> ChannelLog:
        """Return the commits of a channel."""
        return ChannelLog(self.channel_place(channel), self.id)

    def checkpoint(self, query: QueryName) -> Checkpoint:
        """Return the checkpoint of a query."""
        return Checkpoint(self.query_place(query) / "checkpoint")

    @property
    def shared(self) -> tuple[Place, ...]:
        """The directories that the driver and the executors write to."""
        return self.place / "channels", self.place / "queries"

    @property
    def feeds(self) -> Place:
        """The directory of what the feeds record."""
        return self.place / "feeds"

    @property
    def snapshots(self) -> SnapshotFiles:
        """The snapshots of this pipeline."""
        return SnapshotFiles(self.place / "snapshots")


def named_place(whose: str, where: object) -> Place:
    """Return the place of a directory that a job names; nothing is created.

    Parameters
    ----------
    whose, where : for messages, such as ``a pipeline``, and what the job gave

    Raises
    ------
    WrongArgument : if it is a URL, or cannot be a directory of this machine
    """
    said = f"{whose} was given the path {where!r}"
    place = Place.given(said, where)
    if found := place.misread_by_delta:
        raise WrongArgument(
            f"{said}, which is {str(place)!r}. Delta writes places as URLs, and would misread "
            f"{found!r}. Nothing was created. Choose another name"
        )
    return place


def new_identity() -> str:
    """Return the id of a pipeline that is to be made."""
    return uuid.uuid4().hex


@contextmanager
def _can_be_made(place: Place) -> Iterator[None]:
    """Refuse a place at which the system makes no directory.

    Raises
    ------
    WrongArgument : if it does not
    """
    try:
        yield
    except DiskFailed:
        raise
    except OSError as error:
        remedy = "Name a directory that is there, or that can be made"
        if error.errno == errno.ENAMETOOLONG:
            longer = len(hidden_beside(place).name) - len(place.name)
            remedy = (
                f"Give it a name of at most {_NAME_MAX - longer} bytes: it is made under a hidden "
                f"one, which is {longer} longer"
            )
        raise WrongArgument(
            f"{place} cannot be a pipeline's directory: {error.strerror} ({error.filename}). "
            f"Nothing was made. {remedy}"
        ) from error


def _not_replaced(place: Place) -> WrongArgument:
    return WrongArgument(
        f"{place} is an empty directory that cannot be replaced, as one where a volume is mounted. "
        "A pipeline is made whole beside its place, and gets its name in one step. Nothing was "
        f"made. Name a directory inside of it: Pipeline({str(place / 'pipeline')!r}, ...)"
    )


@contextmanager
def build_up(
    place: Place, wiring: Wiring, origin: Mapping[str, Any], identity: str
) -> Iterator[Place]:
    """Return a hidden place to build a pipeline in; it gets its name when all went well.

    Parameters
    ----------
    place : where the pipeline is to be
    wiring : its channels and queries
    origin : what pipeline.json is to say of where it came from
    identity : its own id

    Raises
    ------
    TargetNotEmpty : if there is something at `place`
    WrongArgument : if the system makes no directory there, or replaces none
    """
    refused = TargetNotEmpty(
        f"{place} is not empty. A pipeline is made whole in a new place, and nothing is "
        "overwritten. Name a directory that does not exist yet"
    )
    if not PipelineDirectory.is_free(place):
        raise refused
    with _can_be_made(place):
        make_directory(place.parent)
    with building(place) as build:
        with _can_be_made(place), explained(place, "Nothing was made"):
            make_unsynced(build.place / "channels")
        with explained(place, "Nothing was made"):
            yield build.place
        stored = {"format": FORMAT, "id": identity, "wiring": wiring.to_json()}
        write_json(build.place / "pipeline.json", {**stored, "origin": dict(origin)})
        sync_below(build.place)  # before it has its name: a part of a pipeline is none
        with explained(place, "Nothing was made"):
            if not build.name(is_unseen=True):  # onto nothing, or onto an empty directory
                raise _not_replaced(place) if PipelineDirectory.is_free(place) else refused
