"""`streamproof vacuum`: removes the rows of channels that nobody needs any more."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer
from rich.table import Table

from streamproof.cli.options import AsJson, Yes, confirm
from streamproof.cli.render import console, print_json
from streamproof.cli.snapshot import PipelinePath
from streamproof.models.kit.verdict import ExitCode


def vacuum(
    pipeline: PipelinePath,
    *,
    keep: Annotated[
        list[str] | None,
        typer.Option(
            "--keep-commits",
            metavar="CHANNEL=COMMITS",
            help="Of a channel that is read from outside: how many of the newest commits stay.",
        ),
    ] = None,
    outside: Annotated[
        list[str] | None,
        typer.Option(
            metavar="CHANNEL=CHECKPOINT",
            help="The checkpoint of a query outside that reads a channel: rows that are new to it "
            "stay.",
        ),
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Tell, and remove nothing.")] = False,
    yes: Yes = False,
    as_json: AsJson = False,
) -> ExitCode:
    """Remove rows that every copy of every query has taken, and that no snapshot keeps.

    Also the commits that told of them, and files that killed processes have left. The pipeline may
    be running. Channels that no query reads stay whole without --keep-commits or --outside.
    """
    from streamproof.spark_bindings import vacuum as remove

    commits = {channel: _number(text) for channel, text in _pairs("--keep-commits", keep).items()}
    checkpoints = _pairs("--outside", outside)
    if not dry_run:
        confirm(f"Rows that no query of {pipeline} needs will be removed", is_confirmed=yes)
    found = remove(pipeline, dry_run=dry_run, keep=commits, outside=checkpoints)
    if as_json:
        channels = [asdict(channel) for channel in found]
        print_json({"pipeline": str(pipeline), "dry_run": dry_run, "channels": channels})
        return ExitCode.GREEN
    removed = "would be removed" if dry_run else "removed"
    table = Table(
        "channel", "needed behind", removed, "", "", "orphans", "log", box=None, pad_edge=False
    )
    for channel in found:
        counts = f"{channel.commits:,} commits", f"{channel.rows:,} rows"
        size = f"{channel.size / 1e6:,.1f} MB"
        tidied = f"{channel.orphans:,} files", f"{channel.compacted:,} commits"
        table.add_row(channel.channel, f"position {channel.until:,}", *counts, size, *tidied)
    console().print(table)
    return ExitCode.GREEN


def _pairs(option: str, given: list[str] | None) -> dict[str, str]:
    found = {}
    for text in given or []:
        channel, equals, value = text.partition("=")
        if not (channel and equals and value) or channel in found:
            raise typer.BadParameter(
                f"{text} is not CHANNEL=VALUE, once a channel", param_hint=option
            )
        found[channel] = value
    return found


def _number(text: str) -> int:
    if not text.isdecimal():
        raise typer.BadParameter(f"{text} is no number of commits", param_hint="--keep-commits")
    return int(text)
