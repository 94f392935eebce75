"""What a serializer keeps between batches: the machine as JSON, and the rows that wait as blobs."""

from __future__ import annotations

import json
from dataclasses import astuple, replace
from typing import Any

from pyspark.sql.streaming.stateful_processor import StatefulProcessorHandle
from pyspark.sql.types import (
    BinaryType,
    IntegerType,
    LongType,
    StringType,
    StructField,
    StructType,
)

from streamproof.lang import Domain, Map
from streamproof.protocols.dpc import Condition, Node, Policy
from streamproof.protocols.sunion import Serializer
from streamproof.spark_bindings.checkpoints.fixed_settings import check_fixed
from streamproof.spark_bindings.storage.formats import FORMAT, FORMAT_KEY, format_of
from streamproof.spark_bindings.sunion.dpc import MergeState, initial_state
from streamproof.spark_bindings.sunion.pending import Index, Waiting
from streamproof.spark_bindings.sunion.settings import Settings

_MACHINE = StructType([StructField("machine", StringType())])
_BLOB_KEY = StructType([StructField("bucket", LongType()), StructField("number", IntegerType())])
_BLOB = StructType([StructField("rows", BinaryType())])


class SerializerState:
    """One serializer's state in Spark's store; a `BlobStore` too.

    The machine is small and written anew when it changed. A blob is written once, read once, and
    deleted.
    """

    def __init__(self, handle: StatefulProcessorHandle, settings: Settings) -> None:
        self._settings = settings
        self._machine = handle.getValueState("machine", _MACHINE)
        self._blobs = handle.getMapState("pending", _BLOB_KEY, _BLOB)

    def load(self, now_ms: int) -> tuple[MergeState, Index, Settings]:
        """Read the machine, the index of what waits, and the settings for this batch.

        Parameters
        ----------
        now_ms : when the batch began, by the clock that Spark keeps in the checkpoint

        Raises
        ------
        WrongArgument : if it was written with settings that these rows do not fit
        """
        stored = self._machine.get()
        if stored is None:
            nothing = Index.before_the_first_row(self._settings)
            return initial_state(self._settings), nothing, self._settings
        return decode(stored[0], self._settings, now_ms)

    def save(self, node: MergeState, index: Index, in_force: Settings, now_ms: int) -> None:
        """Write what `load` is to give, later in this batch or in the next one.

        Parameters
        ----------
        node, index : the machine, and the index of what waits
        in_force : what `load` gave
        now_ms : as for `load`
        """
        self._machine.update((encode(node, index, in_force, self._settings, now_ms),))

    def get(self, bucket: int, number: int) -> bytes:
        """Read a blob that is there."""
        found = self._blobs.getValue((bucket, number))
        assert found is not None
        return bytes(found[0])

    def put(self, bucket: int, number: int, blob: bytes) -> None:
        """Write a blob."""
        self._blobs.updateValue((bucket, number), (blob,))

    def remove(self, bucket: int, number: int) -> None:
        """Delete a blob that is there."""
        self._blobs.removeKey((bucket, number))


def encode(node: MergeState, index: Index, in_force: Settings, told: Settings, now_ms: int) -> str:
    """Write a serializer's state as text.

    Parameters
    ----------
    node, index : the machine, and the index of what waits
    in_force, told : the settings of this batch, and of the next one
    now_ms : when this batch began
    """
    return json.dumps(
        {
            FORMAT_KEY: FORMAT,  # of the waiting rows' blobs, too
            "settings": told.fixed(),
            "batch_ms": now_ms,
            "in_force": [in_force.wait_ms, in_force.policy.value],
            "next": [told.wait_ms, told.policy.value],
            "condition": node.condition.value,
            "boundary": dict(node.serializer.boundary.items()),
            "emitted": node.serializer.emitted,
            "reached": node.reached,
            "stable": node.stable,
            "tentative": node.tentative,
            "waiting": [[bucket, *astuple(part)] for bucket, part in sorted(index.waiting.items())],
            "highest": index.highest,
        }
    )


def decode(text: str, settings: Settings, now_ms: int) -> tuple[MergeState, Index, Settings]:
    """Read what `encode` wrote; see `SerializerState.load`.

    A batch runs with the wait and the policy that the batch before was told, in all of its calls.
    It may have run already, before a crash, and its rows may be in a table: with others it would
    give other rows.

    Raises
    ------
    UnknownFormat : if a later version of streamproof wrote it
    """
    stored: dict[str, Any] = json.loads(text)
    format_of(stored, "the state of a serializer, in the checkpoint of its merge,")
    check_fixed(stored["settings"], settings.fixed())
    wait_ms, policy = stored["in_force" if stored["batch_ms"] == now_ms else "next"]
    settings = replace(settings, wait_ms=wait_ms, policy=Policy(policy))
    streams: Domain[str] = Domain.of("stream", settings.streams)
    boundary: Map[str, int] = Map.build(streams, lambda stream: stored["boundary"][stream])
    node = Node(
        condition=Condition(stored["condition"]),
        serializer=Serializer(boundary, stored["emitted"]),
        reached=stored["reached"],
        stable=stored["stable"],
        tentative=stored["tentative"],
    )
    waiting = {bucket: Waiting(*part) for bucket, *part in stored["waiting"]}
    unknown = Index.before_the_first_row(settings).highest  # where an older version wrote it
    return node, Index(waiting, tuple(stored.get("highest", unknown))), settings
