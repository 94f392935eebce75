"""The parquet files of a channel, written and read on executors.

Worker processes import this and little else: Spark gives a new one ten seconds to answer.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from contextlib import suppress
from typing import NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from streamproof.spark_bindings.errors import ChannelDamaged, first_line
from streamproof.spark_bindings.storage.json_files import opening
from streamproof.spark_bindings.storage.place import Place
from streamproof.spark_bindings.storage.schema import fit
from streamproof.spark_bindings.storage.store import store_at
from streamproof.spark_bindings.storage.trees import sync_content

_READ_ROWS = 65_536  # rows an Arrow batch: large enough to amortise, small enough for 1 GB drivers


class Written(NamedTuple):
    """A parquet file that a writer has put into a channel's directory, not yet committed."""

    path: str
    size: int
    rows: int


def writer_of(file: Place, schema: pa.Schema) -> pq.ParquetWriter:
    """Begin a file, of which its caller sees to it that it is synced."""
    return pq.ParquetWriter(file.local, schema)


def write_file(
    directory: Place, prefix: str, schema: pa.Schema, batches: Iterator[pa.RecordBatch]
) -> Written | None:
    """Write one partition's rows as a parquet file; None if there are no rows.

    Called on an executor for every partition of a batch, and by feeders. May be repeated: a file
    that no commit names is not part of the channel. What it holds is on the disk afterwards; its
    name is not yet.

    Raises
    ------
    DiskFailed : if the disk did not take it
    """
    file = directory / f"{prefix}-{uuid.uuid4().hex}.parquet"
    writer: pq.ParquetWriter | None = None
    count = 0
    try:
        with opening(file, "No row was committed"):
            for batch in batches:
                if batch.num_rows == 0:
                    continue
                if writer is None:
                    writer = writer_of(file, schema)
                writer.write_table(fit(batch, schema, directory.name))
                count += batch.num_rows
            if writer is None:
                return None
            writer.close()
            sync_content(file)
    except BaseException:
        # Not even a part of it is left: of full disks, too.
        if writer is not None:
            with suppress(Exception):
                writer.close()
            with suppress(OSError):
                store_at(file).delete()
        raise
    return Written(file.name, store_at(file).size() or 0, count)


def read_file(place: Place, columns: list[str]) -> Iterator[pa.RecordBatch]:
    """Read one data file in Arrow batches.

    Raises
    ------
    ChannelDamaged : if the file is gone, or is not what was written there
    """
    try:
        with pq.ParquetFile(place.local) as file:
            yield from file.iter_batches(batch_size=_READ_ROWS, columns=columns)
    except FileNotFoundError:
        raise ChannelDamaged(
            f"the data file {place} of a channel is gone. The rows in it are lost to its readers. "
            "Only streamproof vacuum knows which ones nobody needs: never use another vacuum. "
            "Restore the file from a backup, or restore a snapshot"
        ) from None
    except (pa.ArrowException, OSError) as error:
        raise ChannelDamaged(
            f"the data file {place} of a channel cannot be read: {first_line(error)}. Its rows are "
            "lost to the channel's readers. Restore the file from a backup, or restore a snapshot"
        ) from error
