"""The Spark bindings: pipelines of streaming queries whose protocols are checked and proven."""

from streamproof.spark_bindings.certificate import Certificate
from streamproof.spark_bindings.channel import Channel
from streamproof.spark_bindings.java import JavaChoice
from streamproof.spark_bindings.pipeline import Pipeline
from streamproof.spark_bindings.restore import (
    Replay,
    list_snapshots,
    restore_snapshot,
    show_snapshot,
)
from streamproof.spark_bindings.run import PipelineStatus, QueryStatus
from streamproof.spark_bindings.session import spark_session
from streamproof.spark_bindings.snapshot import ChannelState, Snapshot, SnapshotStatus
from streamproof.spark_bindings.wiring import OutputMode, Query

__all__ = [
    "Certificate",
    "Channel",
    "ChannelState",
    "JavaChoice",
    "OutputMode",
    "Pipeline",
    "PipelineStatus",
    "Query",
    "QueryStatus",
    "Replay",
    "Snapshot",
    "SnapshotStatus",
    "list_snapshots",
    "restore_snapshot",
    "show_snapshot",
    "spark_session",
]
