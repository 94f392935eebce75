"""A copy without Spark that gives made-up turns: ``python -m ... PATH COPY TURNS``.

It becomes primary and delivers them. A failpoint in its environment decides where it dies.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pyarrow as pa

from streamproof.spark_bindings import Standby
from streamproof.spark_bindings.channels.channel import Channel
from streamproof.spark_bindings.layout.output_buffer import Output, OutputBuffer
from streamproof.spark_bindings.layout.pairs import Copy, Pair
from streamproof.spark_bindings.layout.query import Query
from streamproof.spark_bindings.names import ChannelName, QueryName, Turn
from streamproof.spark_bindings.standby.client import ChannelClient
from streamproof.spark_bindings.standby.digest import NO_ROWS
from streamproof.spark_bindings.standby.egress import CopyEgress
from streamproof.spark_bindings.storage.failpoints import FREEZE, VARIABLE
from streamproof.spark_bindings.storage.parquet_files import write_file
from streamproof.spark_bindings.storage.place import Place
from streamproof.spark_bindings.storage.schema import stored_schema

ROOT = Path(__file__).parents[4]
SCHEMA = stored_schema("id long", "channel 'rows'")
PAIR = Pair(Query("q", ("orders",), "rows", plan=lambda orders: orders, standby=Standby()))
SILENT = 3
"""Every third turn gives no rows."""


def channel_at(path: Path, lanes: int = 1) -> Channel:
    """Open the output channel below a path; make it if it is not there."""
    place = path / "rows"
    if not place.exists():
        Channel.create(Place.of(place), SCHEMA)
    return Channel(place, ChannelName("rows"), pipeline="p", writer=QueryName("q"), lanes=lanes)


def giving(path: Path, copy: Copy, taken: int = 0) -> CopyEgress:
    """Make the egress of a copy."""
    return CopyEgress(copy, channel_at(path), client(path, copy), kept(path, copy), Turn(taken))


def client(path: Path, copy: Copy) -> ChannelClient:
    """Return the output channel as a copy sees it."""
    return ChannelClient(channel_at(path), PAIR, copy, "p")


def kept(path: Path, copy: Copy) -> OutputBuffer:
    """Return what a copy keeps."""
    return OutputBuffer(Place.of(path / copy.value / "kept"), Place.of(path / "rows"))


def ids_of(turn: int) -> list[int]:
    """Return the rows of a turn."""
    return [] if turn % SILENT == 0 else [turn * 10, turn * 10 + 1]


def output(path: Path, copy: Copy, turn: int, ids: list[int] | None = None) -> Output:
    """Write what a turn gives; all copies give the same, unless they are told otherwise."""
    ids = ids_of(turn) if ids is None else ids
    if not ids:
        return Output(Turn(turn), (), NO_ROWS)
    batch = pa.record_batch({"id": pa.array(ids, pa.int64())})
    written = write_file(
        Place.of(path / "rows"), f"turn-{turn}-{copy.value}", SCHEMA, iter([batch])
    )
    assert written is not None
    return Output(Turn(turn), (written,), f"{len(ids)}:{sum(ids):016x}")


def give(part: CopyEgress, path: Path, copy: Copy, turns: range) -> None:
    """Give turns, and deliver each if the copy is primary."""
    for turn in turns:
        part.give(output(path, copy, turn))
        part.deliver()


def delivered(path: Path) -> list[int]:
    """Read what the client has."""
    ids: list[int] = channel_at(path).rows().column("id").to_pylist()
    return ids


def begin(path: Path, copy: Copy, turns: int, failpoint: str, **more: str) -> subprocess.Popen[str]:
    """Start a primary in a process group of its own, that dies or freezes at a failpoint."""
    return subprocess.Popen(
        [
            sys.executable,
            "-m",
            "tests.spark.standby.support.giver",
            str(path),
            copy.value,
            str(turns),
        ],
        cwd=ROOT,
        env={**os.environ, VARIABLE: failpoint, **more},
        start_new_session=True,
        stderr=subprocess.PIPE,
        text=True,
    )


FROZEN = {FREEZE: "1"}

if __name__ == "__main__":
    place, name = Path(sys.argv[1]), Copy(sys.argv[2])
    made = giving(place, name)
    assert made.take_over()
    give(made, place, name, range(int(sys.argv[3])))
