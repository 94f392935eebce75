"""`streamproof status`: which copy is primary, and which could take over."""

from __future__ import annotations

from pathlib import Path

from rich.table import Table
from rich.text import Text

from streamproof.cli.options import AsJson
from streamproof.cli.render import console, print_json
from streamproof.cli.snapshot import PipelinePath
from streamproof.models.kit.verdict import ExitCode, Json

_COLOURS = {"PRIMARY": "green", "IN_SYNC": "green", "SILENT": "red", "STOPPED": "red"}


def status(pipeline: PipelinePath, *, as_json: AsJson = False) -> ExitCode:
    """Report which copy of each pair is the primary, which could take over, and what is missing.

    It looks from outside, and changes nothing. Exit codes: 0 each pair could lose a copy, 3 not, or
    something does not run.
    """
    from streamproof.spark_bindings.processes.process_status import process_statuses

    found = process_statuses(pipeline)
    is_whole = bool(found) and all(each.could_take_over for each in found)
    if as_json:
        processes = [
            {
                "name": each.name,
                "copy": None if each.copy is None else each.copy.value,
                "process": each.process,
                "state": each.state.name,
                "turns": each.turns,
                "commits": each.commits,
            }
            for each in found
        ]
        told: Json = {"pipeline": str(pipeline), "whole": is_whole, "processes": processes}
        print_json(told if found else {**told, "reason": _not_ours(pipeline)})
    elif not found:
        console().print(_not_ours(pipeline), markup=False, soft_wrap=True)
    else:
        table = Table(
            "query", "copy", "process", "", "turns", "commits to take", box=None, pad_edge=False
        )
        for each in found:
            colour = _COLOURS.get(each.state.name, "yellow")
            copy = "" if each.copy is None else each.copy.value
            process = "" if each.process is None else str(each.process)
            says = Text(each.state.value, colour)
            table.add_row(each.name, copy, process, says, f"{each.turns:,}", f"{each.commits:,}")
        console().print(table)
    return ExitCode.GREEN if is_whole else ExitCode.UNDETERMINED


def _not_ours(pipeline: Path) -> str:
    return (
        f"{pipeline} has never been run by streamproof run, and this command tells of the "
        "processes that it starts: which copy of a pair delivers, and which could take over. Does "
        "a driver of your own run the pipeline? In it, pipeline.status() tells how far each query "
        "is, and whether it runs"
    )
