"""`streamproof snapshot take | list | show | restore | remove | prune`, without a Spark session."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer
from rich.table import Table
from rich.text import Text

from streamproof.cli.command import Command, Group
from streamproof.cli.errors import with_exit_code
from streamproof.cli.options import AsJson, Yes, confirm
from streamproof.cli.render import console, print_json
from streamproof.models.kit.verdict import ExitCode, Json

if TYPE_CHECKING:
    from streamproof.spark_bindings import Snapshot

snapshot_app = typer.Typer(
    cls=Group,
    help="Take, list, show, restore, remove and prune the snapshots of a pipeline.",
    no_args_is_help=True,
)

PipelinePath: TypeAlias = Annotated[
    Path, typer.Argument(metavar="PIPELINE", help="The directory of a pipeline.")
]
SnapshotName: TypeAlias = Annotated[
    str,
    typer.Argument(
        metavar="SNAPSHOT",
        help="A snapshot's id, as in: streamproof snapshot list. Zeros may be left out.",
        callback=lambda given: given.zfill(6) if given.isdecimal() else given,
    ),
]
_POLL_SECONDS = 0.1
COLOURS = {"complete": "green", "requested": "yellow", "abandoned": "red"}


def take(
    pipeline: PipelinePath,
    wait: Annotated[
        float, typer.Option(min=0.0, metavar="SECONDS", help="Seconds to wait until it is whole.")
    ] = 0.0,
    *,
    as_json: AsJson = False,
) -> ExitCode:
    """Begin a snapshot of a pipeline. It completes while the pipeline runs; nothing is paused.

    Exit codes: 0 begun, or complete if it is waited for; 2 wrong use; 3 not complete in time.
    """
    from streamproof.spark_bindings import SnapshotStatus, show_snapshot, take_snapshot

    snapshot = take_snapshot(pipeline)
    deadline = time.monotonic() + wait
    found = show_snapshot(pipeline, snapshot)
    while found.status is SnapshotStatus.REQUESTED and time.monotonic() < deadline:
        time.sleep(_POLL_SECONDS)
        found = show_snapshot(pipeline, snapshot)
    whole = found.status is SnapshotStatus.COMPLETE
    waiting = _not_recorded(pipeline, found)
    is_late = wait > 0 and found.status is SnapshotStatus.REQUESTED
    if as_json:
        print_json({**_as_json(found), "not_recorded": waiting})
    else:
        status = f"{found.status.value}: {found.reason}".removesuffix(": ")
        if is_late:
            status = (
                f"not complete after {wait:g} s; queries that have not recorded: "
                f"{', '.join(waiting) or 'none'}. Is the pipeline running? Start it, and the "
                "snapshot goes on"
            )
        console().print(
            f"snapshot {snapshot} of {pipeline} is {status}. "
            f"Run: streamproof snapshot show {pipeline} {snapshot}",
            markup=False,
            soft_wrap=True,
        )
    return ExitCode.GREEN if whole or wait == 0 else ExitCode.UNDETERMINED


def _not_recorded(pipeline: Path, found: Snapshot) -> list[str]:
    """List the queries, or their partitions that run as pairs, that a snapshot waits for."""
    from streamproof.spark_bindings.layout.directory import PipelineDirectory

    directory = PipelineDirectory.at(pipeline)
    names = [
        name
        for query in directory.wiring.queries
        for name in [pair.name for pair in directory.pair_places(query)] or [query]
    ]
    return [name for name in names if name not in found.states]


def list_(pipeline: PipelinePath, *, as_json: AsJson = False) -> ExitCode:
    """List a pipeline's snapshots, oldest first."""
    from streamproof.spark_bindings import list_snapshots

    found = list_snapshots(pipeline)
    if as_json:
        print_json({"pipeline": str(pipeline), "snapshots": [_as_json(part) for part in found]})
        return ExitCode.GREEN
    out = console()
    if not found:
        out.print(
            f"{pipeline} has no snapshot yet. Take one with: streamproof snapshot take {pipeline}",
            markup=False,
        )
        return ExitCode.GREEN
    table = Table("snapshot", "", "requested", "completed", "in flight", box=None, pad_edge=False)
    for snapshot in found:
        status = snapshot.status.value
        done = snapshot.completed_at
        table.add_row(
            snapshot.id,
            Text(status, COLOURS[status]),
            f"{snapshot.requested_at:%Y-%m-%d %H:%M:%S}",
            "" if done is None else f"{done:%Y-%m-%d %H:%M:%S}",
            f"{sum(part.rows for part in snapshot.channels):,} rows" if done else snapshot.reason,
        )
    out.print(table)
    return ExitCode.GREEN


def show(pipeline: PipelinePath, snapshot: SnapshotName, *, as_json: AsJson = False) -> ExitCode:
    """Show what a snapshot has recorded: each query's batch, and each channel's rows in flight."""
    from streamproof.spark_bindings import show_snapshot

    found = show_snapshot(pipeline, snapshot)
    if as_json:
        print_json(_as_json(found))
        return ExitCode.GREEN
    out = console()
    status = found.status.value
    out.print(Text(f"snapshot {found.id}: ") + Text(status, COLOURS[status]) + f" {found.reason}")
    states = Table("query", "state as of batch", "had received", box=None, pad_edge=False)
    for query, state in found.states.items():
        received = ", ".join(f"{channel} up to {at}" for channel, at in state.received.items())
        states.add_row(query, str(state.batch), received)
    out.print(states)
    if found.channels:
        out.print()
        channels = Table("channel", "reader", "in flight", "", "", box=None, pad_edge=False)
        for part in found.channels:
            positions = f"positions {part.received} to {part.end}" if part.commits else ""
            counts = f"{part.commits:,} commits", f"{part.rows:,} rows"
            channels.add_row(part.channel, part.reader, *counts, positions)
        out.print(channels)
    return ExitCode.GREEN


def restore(
    pipeline: PipelinePath,
    snapshot: SnapshotName,
    into: Annotated[
        Path,
        typer.Option(metavar="DIR", help="The new pipeline's directory; nothing may be there."),
    ],
    replay: Annotated[
        str,
        typer.Option(
            metavar="all|none", help="What was fed since: all (process it again) or none (drop it)."
        ),
    ] = "all",
    *,
    as_json: AsJson = False,
) -> ExitCode:
    """Make a new pipeline from a snapshot. The old one is not changed and may be running."""
    from streamproof.spark_bindings import Replay, restore_snapshot

    if replay not in {choice.value for choice in Replay}:
        raise typer.BadParameter(f"{replay} is neither all nor none", param_hint="--replay")
    made = restore_snapshot(pipeline, snapshot, into=into, replay=Replay(replay))
    if as_json:
        print_json({"pipeline": str(pipeline), "snapshot": snapshot, "restored": str(made)})
    else:
        console().print(f"restored {snapshot} of {pipeline} into {made}", markup=False)
    return ExitCode.GREEN


def remove(pipeline: PipelinePath, snapshot: SnapshotName, *, yes: Yes = False) -> ExitCode:
    """Remove a snapshot that will not be restored: what it keeps may go with the next vacuum."""
    from streamproof.spark_bindings import remove_snapshot, show_snapshot

    show_snapshot(pipeline, snapshot)  # nobody is asked about one that is not there
    confirm(f"Snapshot {snapshot} of {pipeline} will be removed", is_confirmed=yes)
    remove_snapshot(pipeline, snapshot)
    console().print(f"removed {snapshot} of {pipeline}", markup=False)
    return ExitCode.GREEN


def prune(
    pipeline: PipelinePath,
    keep: Annotated[
        int, typer.Option(min=1, metavar="N", help="How many complete snapshots stay.")
    ],
    *,
    yes: Yes = False,
    as_json: AsJson = False,
) -> ExitCode:
    """Remove all but the newest complete snapshots; those under way stay.

    What the others keep goes with the next vacuum.
    """
    from streamproof.spark_bindings import prune_snapshots

    older = f"All complete snapshots of {pipeline} but the newest {keep} will be removed"
    confirm(older, is_confirmed=yes)
    removed = prune_snapshots(pipeline, keep)
    if as_json:
        print_json({"pipeline": str(pipeline), "keep": keep, "removed": list(removed)})
    else:
        console().print(
            f"removed {', '.join(removed) or 'no snapshot'} of {pipeline}", markup=False
        )
    return ExitCode.GREEN


def _as_json(snapshot: Snapshot) -> Json:
    done = snapshot.completed_at
    return {
        "id": snapshot.id,
        "status": snapshot.status.value,
        "reason": snapshot.reason,
        "requested_at": snapshot.requested_at.isoformat(),
        "completed_at": None if done is None else done.isoformat(),
        "states": {
            query: {"batch": state.batch, "received": dict(state.received)}
            for query, state in snapshot.states.items()
        },
        "markers": dict(snapshot.markers),
        "channels": [
            {
                "channel": part.channel,
                "reader": part.reader,
                "received": part.received,
                "end": part.end,
                "commits": part.commits,
                "rows": part.rows,
            }
            for part in snapshot.channels
        ],
    }


def _add(name: str, command: Callable[..., ExitCode]) -> None:
    run_it = with_exit_code(command, name=f"snapshot {name}", extra="spark")
    snapshot_app.command(name, cls=Command)(run_it)


_add("take", take)
_add("list", list_)
_add("show", show)
_add("restore", restore)
_add("remove", remove)
_add("prune", prune)
