"""Checkpoints made by hand: files with the names that Spark gives them."""

from __future__ import annotations

import json
from pathlib import Path

from streamproof.spark_bindings.checkpoints.checkpoint import Checkpoint
from streamproof.spark_bindings.names import BatchId, ChannelName, QueryName, SnapshotId

A, B = ChannelName("a"), ChannelName("b")
Q = QueryName("q")
ONE = SnapshotId("000001")


def batch(number: int) -> BatchId:
    return BatchId(number)


def write(file: Path, text: str = "") -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)


def spark_checkpoint(path: Path, last: int, *, first: int = 0) -> Checkpoint:
    """Write what Spark has after the batches first..last, one commit of channel a each."""
    write(path / "metadata", json.dumps({"id": "old"}))
    write(path / ".metadata.crc")
    write(path / "state/0/_metadata/v2/0")
    write(path / "state/0/_stateSchema/default/0_abc")
    for number in range(first, last + 1):
        offset = json.dumps({"channel": "a", "position": number + 1})
        write(path / f"offsets/{number}", f"v1\n{{}}\n{offset}")
        write(path / f"commits/{number}", "v2\n{}")
        write(path / f"commits/.{number}.crc")
        write(path / f"state/0/0/{number + 1}_f-{number}.changelog")
        write(path / f"state/0/0/.{number + 1}_f-{number}.changelog.crc")
    write(path / "state/0/0/2_f-1.zip")
    write(path / "state/0/0/SSTs/000001-u.sst", "rows")
    return Checkpoint(path)


def names(path: Path) -> set[str]:
    return {str(file.relative_to(path)) for file in path.rglob("*") if file.is_file()}
