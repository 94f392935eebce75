"""Streams to merge, the merge that plain Python makes of them, and a serializer without Spark.

The oracle knows the definition alone: which rows are late, and the order of the others. It shares
nothing with the code under test.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from streamproof.protocols.dpc import Policy
from streamproof.spark_bindings.sunion.dpc import Arrivals, Emission, Merge, initial_state
from streamproof.spark_bindings.sunion.pack import ORIGIN, Pack
from streamproof.spark_bindings.sunion.pending import Index, Pending
from streamproof.spark_bindings.sunion.progress import Progress
from streamproof.spark_bindings.sunion.rows import STREAM, from_blob
from streamproof.spark_bindings.sunion.settings import Settings
from streamproof.spark_bindings.sunion.state import decode, encode
from streamproof.spark_bindings.sunion.tuple_type import TupleType

SCHEMA = pa.schema(
    [("ts", pa.timestamp("us", tz="UTC")), ("seq", pa.int64()), ("text", pa.string())]
)
SETTINGS = Settings(
    streams=("ewr", "jfk"),
    time="ts",
    position="seq",
    bucket_us=10_000_000,
    lateness_us=5_000_000,
    partition_by=(),
    partitions=1,
    columns=(("seq", "bigint"), ("text", "string"), ("ts", "timestamp")),
    wait_ms=None,
    policy=Policy.PROCESS,
)


class Row(NamedTuple):
    """A row of a stream; its time is in seconds, and its place in its stream its position."""

    second: int
    position: int


class Placed(NamedTuple):
    """A row of the merged stream."""

    second: int
    stream: str
    position: int


Streams = Mapping[str, Sequence[Row]]


def rows_of(seconds: Iterable[int], start: int = 0) -> list[Row]:
    """Make a stream of rows with these times."""
    return [Row(second, position) for position, second in enumerate(seconds, start)]


def table(rows: Sequence[Row], stream: str) -> pa.Table:
    """Lay rows out as a source would give them."""
    times = [datetime.fromtimestamp(row.second, UTC) for row in rows]
    positions = [row.position for row in rows]
    texts = [f"{stream} {row.position}" for row in rows]
    return pa.table({"ts": times, "seq": positions, "text": texts}, schema=SCHEMA)


def write_file(place: Path, stream: str, rows: Sequence[Row]) -> None:
    """Let a file of a stream arrive, as a whole. Spark reads them in this order."""
    directory = place / stream
    directory.mkdir(parents=True, exist_ok=True)
    number = len(list(directory.iterdir()))
    hidden = place / f"{stream}.parquet"
    pq.write_table(table(rows, stream), hidden)
    os.utime(hidden, (1_000_000 + number, 1_000_000 + number))
    hidden.rename(directory / f"{number:03}.parquet")


def of_stream(rows: pa.Table, number: int) -> pa.Table:
    """Say of rows which stream they are of, as the plan does where there is one serializer."""
    return rows.append_column(ORIGIN, pa.array([number] * rows.num_rows, pa.int32()))


def split_late(rows: Sequence[Row], settings: Settings) -> tuple[list[Row], list[Row], int]:
    """Walk along a stream; give its rows that are in time, those that are late, its boundary."""
    width, lateness = settings.bucket_us // 1_000_000, settings.lateness_us // 1_000_000
    boundary = settings.bucket_min
    in_time, late = [], []
    for row in sorted(rows, key=lambda row: row.position):
        (late if row.second // width < boundary else in_time).append(row)
        boundary = max(boundary, (row.second - lateness) // width)
    return in_time, late, boundary


def reference(streams: Streams, settings: Settings = SETTINGS) -> tuple[list[Placed], set[Placed]]:
    """Merge whole streams; give the rows of complete buckets in order, and the late rows."""
    merged, late, boundaries = [], set(), []
    for name in settings.streams:
        in_time, behind, boundary = split_late(streams.get(name, []), settings)
        merged += [Placed(row.second, name, row.position) for row in in_time]
        late |= {Placed(row.second, name, row.position) for row in behind}
        boundaries.append(boundary)
    end = min(boundaries) * (settings.bucket_us // 1_000_000)
    return sorted(row for row in merged if row.second < end), late


def placed(rows: pa.Table, settings: Settings = SETTINGS) -> list[Placed]:
    """Read rows that a serializer emitted."""
    columns = rows.to_pydict()
    assert columns["text"] == [
        f"{settings.streams[stream]} {position}"
        for stream, position in zip(columns[STREAM], columns["seq"], strict=True)
    ]
    return [
        Placed(int(time.timestamp()), settings.streams[stream], position)
        for time, stream, position in zip(
            columns["ts"], columns[STREAM], columns["seq"], strict=True
        )
    ]


class Blobs(dict[tuple[int, int], bytes]):
    """A store in memory that refuses what a correct caller never does."""

    def get(self, bucket: int, number: int) -> bytes:  # type: ignore[override]
        return self[bucket, number]

    def put(self, bucket: int, number: int, blob: bytes) -> None:
        assert (bucket, number) not in self, "a blob was rewritten"
        self[bucket, number] = blob

    def remove(self, bucket: int, number: int) -> None:
        del self[bucket, number]


def stored(settings: Settings) -> str:
    """Return the text of a serializer that has seen no batch."""
    return encode(
        initial_state(settings), Index.before_the_first_row(settings), settings, settings, -1
    )


@dataclass
class Replica:
    """One serializer, fed batch by batch; its state goes through its stored form in between."""

    settings: Settings = SETTINGS
    blobs: Blobs = field(default_factory=Blobs)
    stored: str | None = None
    said: list[Emission] = field(default_factory=list)

    def batch(self, now_ms: int = 0, **rows: Sequence[Row]) -> list[Emission]:
        """Merge one micro-batch."""
        return self.merge({name: [table(part, name)] for name, part in rows.items()}, now_ms)

    def merge(self, tables: Mapping[str, Sequence[pa.Table]], now_ms: int = 0) -> list[Emission]:
        """Merge one micro-batch, of which each table is a task's."""
        rows: dict[str, list[pa.Table]] = {}
        progress: dict[str, list[Progress]] = {}
        for name, parts in tables.items():
            number = self.settings.streams.index(name)
            for part in parts:
                for packed in Pack(self.settings)(iter(of_stream(part, number).to_batches())):
                    blob, steps = packed["rows"][0].as_py(), packed["progress"][0].as_py()
                    if blob is not None:
                        rows.setdefault(name, []).append(from_blob(blob))
                    else:
                        progress.setdefault(name, []).append(Progress.from_bytes(steps))
        joined = {name: Progress.join(parts) for name, parts in progress.items()}
        return self.run(Arrivals(rows, joined), now_ms)

    def run(self, arrivals: Arrivals, now_ms: int = 0) -> list[Emission]:
        """Merge what arrived, from the state as it was stored."""
        if self.stored is None:
            self.stored = stored(self.settings)
        node, index, settings = decode(self.stored, self.settings, now_ms)
        merge = Merge(settings, node, Pending(self.blobs, index), now_ms)
        emissions = list(merge.on_batch(arrivals))
        self.stored = encode(merge.node, merge.index, settings, self.settings, now_ms)
        self.said += emissions
        return emissions

    def rows(self, kind: TupleType = TupleType.INSERTION) -> list[Placed]:
        """Return all rows of one type that came out so far."""
        return rows_said(self.said, kind, self.settings)

    def view(self) -> tuple[list[Placed], list[Placed]]:
        """Apply everything that came out: the stable rows, and the tentative ones behind them."""
        stable: list[Placed] = []
        tentative: list[Placed] = []
        for emission in self.said:
            match emission.kind:
                case TupleType.INSERTION:
                    assert not tentative, "a stable row follows a tentative one"
                    assert emission.stable_id == len(stable)
                    stable += placed(emission.rows, self.settings)
                case TupleType.TENTATIVE:
                    assert emission.stable_id == len(stable)
                    tentative += placed(emission.rows, self.settings)
                case TupleType.UNDO:
                    assert emission.stable_id == len(stable), "a stable row is revoked"
                    tentative = []
                case _:
                    pass
        return stable, tentative


def rows_said(
    said: Sequence[Emission], kind: TupleType, settings: Settings = SETTINGS
) -> list[Placed]:
    """Return the rows of one type among emissions."""
    return [
        row
        for emission in said
        if emission.kind is kind and emission.rows is not None
        for row in placed(emission.rows, settings)
    ]


def kinds(said: Sequence[Emission]) -> list[str]:
    """Name the types of emissions."""
    return [emission.kind.value for emission in said]


def waiting_at_most(wait_ms: int, policy: Policy = Policy.PROCESS) -> Settings:
    """Return settings with a bound."""
    return replace(SETTINGS, wait_ms=wait_ms, policy=policy)
