"""`streamproof vacuum`: removes the rows of channels that nobody needs any more."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer
from rich.table import Table

from streamproof.cli.options import AsJson
from streamproof.cli.render import console, print_json
from streamproof.cli.snapshot import PipelinePath
from streamproof.models.verdict import ExitCode


def vacuum(
    pipeline: PipelinePath,
    *,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Tell, and remove nothing.")] = False,
    as_json: AsJson = False,
) -> ExitCode:
    """Remove rows that every copy of every query has taken, and that no snapshot keeps.

    The pipeline may be running. Channels that no query reads stay whole.
    """
    from streamproof.spark_bindings import vacuum as remove

    found = remove(pipeline, dry_run=dry_run)
    if as_json:
        channels = [asdict(channel) for channel in found]
        print_json({"pipeline": str(pipeline), "dry_run": dry_run, "channels": channels})
        return ExitCode.GREEN
    removed = "would be removed" if dry_run else "removed"
    table = Table("channel", "needed behind", removed, "", "", box=None, pad_edge=False)
    for channel in found:
        counts = f"{channel.commits:,} commits", f"{channel.rows:,} rows"
        size = f"{channel.size / 1e6:,.1f} MB"
        table.add_row(channel.channel, f"position {channel.until:,}", *counts, size)
    console().print(table)
    return ExitCode.GREEN
