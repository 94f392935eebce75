"""The Spark bindings: pipelines of streaming queries whose protocols are checked and proven.

Names are imported when they are first used: Spark's Python workers import this package too, need
one module of it, and have ten seconds to start.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from streamproof.spark_bindings.certificate import Certificate, SignedBy
    from streamproof.spark_bindings.channels.channel import Channel
    from streamproof.spark_bindings.channels.following import Commit
    from streamproof.spark_bindings.layout.query import OutputMode, Query, Standby
    from streamproof.spark_bindings.layout.snapshot_files import (
        ChannelState,
        Snapshot,
        SnapshotStatus,
    )
    from streamproof.spark_bindings.pipelines.pipeline import Pipeline
    from streamproof.spark_bindings.pipelines.single_run import PipelineStatus, QueryStatus
    from streamproof.spark_bindings.processes.process_status import ProcessState, ProcessStatus
    from streamproof.spark_bindings.session.java import JavaChoice
    from streamproof.spark_bindings.session.session import spark_session
    from streamproof.spark_bindings.snapshots.commands import (
        list_snapshots,
        remove_snapshot,
        show_snapshot,
        take_snapshot,
    )
    from streamproof.spark_bindings.snapshots.pruning import prune_snapshots
    from streamproof.spark_bindings.snapshots.restore import Replay, restore_snapshot
    from streamproof.spark_bindings.snapshots.vacuum import vacuum

__all__ = [
    "Certificate",
    "Channel",
    "ChannelState",
    "Commit",
    "JavaChoice",
    "OutputMode",
    "Pipeline",
    "PipelineStatus",
    "ProcessState",
    "ProcessStatus",
    "Query",
    "QueryStatus",
    "Replay",
    "SignedBy",
    "Snapshot",
    "SnapshotStatus",
    "Standby",
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
    "Channel": "channels.channel",
    "ChannelState": "layout.snapshot_files",
    "Commit": "channels.following",
    "JavaChoice": "session.java",
    "OutputMode": "layout.query",
    "Pipeline": "pipelines.pipeline",
    "PipelineStatus": "pipelines.single_run",
    "ProcessState": "processes.process_status",
    "ProcessStatus": "processes.process_status",
    "Query": "layout.query",
    "QueryStatus": "pipelines.single_run",
    "Replay": "snapshots.restore",
    "SignedBy": "certificate",
    "Snapshot": "layout.snapshot_files",
    "SnapshotStatus": "layout.snapshot_files",
    "Standby": "layout.query",
    "list_snapshots": "snapshots.commands",
    "prune_snapshots": "snapshots.pruning",
    "remove_snapshot": "snapshots.commands",
    "restore_snapshot": "snapshots.restore",
    "show_snapshot": "snapshots.commands",
    "spark_session": "session.session",
    "take_snapshot": "snapshots.commands",
    "vacuum": "snapshots.vacuum",
}


def __getattr__(name: str) -> object:
    """Import a public name from its module, on first use.

    Raises
    ------
    NotInstalled : if Spark, or what the bindings need beside it, is not installed
    """
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from streamproof.installed import require

    require("spark", f"{__name__}.{name}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    """List public names too that nothing has imported yet."""
    return sorted({*globals(), *__all__})
