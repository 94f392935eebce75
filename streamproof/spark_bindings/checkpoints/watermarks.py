"""Whether a batch has raised a watermark by which nothing was closed yet.

Spark runs a batch without rows behind such a batch, unless the query is stopped, or killed, in
between. Its next life knows the watermark, but looks for what it closes in its next batch alone.
"""

from __future__ import annotations

import json

from streamproof.spark_bindings.checkpoints.checkpoint import Checkpoint
from streamproof.spark_bindings.names import BatchId
from streamproof.spark_bindings.storage.json_files import as_written
from streamproof.spark_bindings.storage.place import Place
from streamproof.spark_bindings.storage.store import store_at


def closes_later(checkpoint: Checkpoint, batch: BatchId) -> bool:
    """Return whether a committed batch has raised the watermark above the one that it ran with.

    Raises
    ------
    DamagedFile : if Spark's files do not say so
    """
    ran_with = _told(checkpoint.place / f"offsets/{batch}", "batchWatermarkMs")
    return _told(checkpoint.place / f"commits/{batch}", "nextBatchWatermarkMs") > ran_with


def _told(file: Place, name: str) -> int:
    with as_written(file):
        _, about, *_ = store_at(file).get().decode().splitlines()
        return int(json.loads(about).get(name, 0))
