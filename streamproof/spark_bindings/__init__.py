"""The Spark bindings: pipelines of streaming queries whose protocols are checked and proven.

Names are imported when they are first used: Spark's Python workers import this package too, need
one module of it, and have ten seconds to start.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from streamproof.spark_bindings.certificate import Certificate, SignedBy
    from streamproof.spark_bindings.channel import Channel
    from streamproof.spark_bindings.java import JavaChoice
    from streamproof.spark_bindings.pipeline import Pipeline
    from streamproof.spark_bindings.pruning import prune_snapshots
    from streamproof.spark_bindings.restore import (
        Replay,
        list_snapshots,
        remove_snapshot,
        restore_snapshot,
        show_snapshot,
        take_snapshot,
    )
    from streamproof.spark_bindings.retention import vacuum
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
    "SignedBy",
    "Snapshot",
    "SnapshotStatus",
    "list_snapshots",
    "prune_snapshots",
    "remove_snapshot",
    "restore_snapshot",
    "show_snapshot",
    "spark_session",
    "take_snapshot",
    "vacuum",
]

_HOMES = {
    "Certificate": "certificate",
    "Channel": "channel",
    "ChannelState": "snapshot",
    "JavaChoice": "java",
    "OutputMode": "wiring",
    "Pipeline": "pipeline",
    "PipelineStatus": "run",
    "Query": "wiring",
    "QueryStatus": "run",
    "Replay": "restore",
    "SignedBy": "certificate",
    "Snapshot": "snapshot",
    "SnapshotStatus": "snapshot",
    "list_snapshots": "restore",
    "prune_snapshots": "pruning",
    "remove_snapshot": "restore",
    "restore_snapshot": "restore",
    "show_snapshot": "restore",
    "spark_session": "session",
    "take_snapshot": "restore",
    "vacuum": "retention",
}


def __getattr__(name: str) -> object:
    """Import a public name from its module, on first use."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    """List public names too that nothing has imported yet."""
    return sorted({*globals(), *__all__})
