"""`streamproof verify`: the main job. Every protocol is checked, mutated and proven, then run."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

import streamproof
from streamproof.cli.html import write_html
from streamproof.cli.options import AsJson, writable_file
from streamproof.cli.render import console, error_console, print_json
from streamproof.cli.report import Row, example_row, rows_of
from streamproof.cli.stages import stage_line
from streamproof.models.registry import protocol_names
from streamproof.models.verdict import ExitCode, Json

if TYPE_CHECKING:
    from streamproof.verification import ProtocolReport

EXAMPLE = "flights.py"


def verify(
    protocols: Annotated[
        list[str] | None, typer.Argument(help="Protocols to verify; all of them if left out.")
    ] = None,
    *,
    example: Annotated[
        bool, typer.Option(help="Also run the flights pipeline on Spark, kill it and restore it.")
    ] = True,
    rows: Annotated[
        int | None, typer.Option(min=1, help="Flights in the example; all 336,776 if left out.")
    ] = None,
    html: Annotated[Path | None, typer.Option(help="Write the report as a page, too.")] = None,
    as_json: AsJson = False,
) -> ExitCode:
    """Check, mutate and prove protocols, and run them on a real Spark pipeline."""
    from streamproof.verification import verify_protocol

    if html is not None:
        html.absolute().parent.mkdir(parents=True, exist_ok=True)
        writable_file(html)
    with stage_line() as on_stage:
        reports = [
            verify_protocol(name, on_stage=on_stage) for name in protocols or protocol_names()
        ]
    table = [row for report in reports for row in rows_of(report)]
    if not as_json:
        print_table(console(), table)
    ran: Json | None = None
    if example:
        ran = run_example(rows)
        table.append(example_row(ran))
    code = overall(reports, ran if example else None, example=example)
    if html is not None:
        write_html(html, table, reports, ran, code)
    if as_json:
        found = [report.to_json() for report in reports]
        print_json({"protocols": found, "example": ran, "exit_code": int(code)})
        return code
    if ran is not None:
        print_table(console(), [example_row(ran)])
    if html is not None:
        console().print(f"kept as a page: {html}", soft_wrap=True)
    console().print(summary(code))
    return code


def print_table(out: Console, rows: list[Row]) -> None:
    """Print the table of verdicts."""
    table = Table("", "what", "verdict", "counts", "seconds", "", box=None, pad_edge=False)
    before = ""
    for row in rows:
        subject = row.subject if row.subject != before else ""
        before = row.subject
        seconds = "" if row.seconds is None else f"{row.seconds:.1f}"
        verdict = Text(row.verdict, row.colour)
        table.add_row(subject, row.what, verdict, row.counts, seconds, Text(row.remark))
    out.print(table)
    out.print()


def overall(reports: list[ProtocolReport], ran: Json | None, *, example: bool) -> ExitCode:
    """Merge the outcomes: the first bad one decides, and a missing example is not known."""
    codes = [report.exit_code for report in reports]
    if example:
        assert ran is not None
        bad = ExitCode.UNDETERMINED if "missing" in ran else ExitCode.REFUTED
        codes.append(ExitCode.GREEN if ran.get("equal") else bad)
    if not codes:
        return ExitCode.UNDETERMINED
    return next((code for code in codes if code is not ExitCode.GREEN), ExitCode.GREEN)


def summary(code: ExitCode) -> Text:
    """Say in a line whether all of it holds."""
    if code is ExitCode.GREEN:
        return Text("everything that is claimed holds", "bold green")
    return Text("NOT everything holds", "bold red")


def example_path() -> Path | None:
    """Find the example beside the package, as in a checkout, or below the working directory."""
    beside = Path(streamproof.__file__).parent.parent / "examples" / EXAMPLE
    here = Path.cwd() / "examples" / EXAMPLE
    return next((path for path in (beside, here) if path.is_file()), None)


def run_example(rows: int | None) -> Json:
    """Run the example in a process of its own; its progress goes straight to the terminal."""
    path = example_path()
    if path is None:
        return {"missing": f"no examples/{EXAMPLE} here: use a checkout, or --no-example"}
    command = [sys.executable, str(path), "--json"]
    if rows is not None:
        command += ["--rows", str(rows)]
    ran = subprocess.run(  # noqa: S603 - our own example, by this interpreter
        command, stdout=subprocess.PIPE, text=True, check=False
    )
    if ran.returncode not in (ExitCode.GREEN, ExitCode.REFUTED):
        return {"missing": f"{path.name} ended by itself with exit code {ran.returncode}"}
    try:
        found: dict[str, Any] = json.loads(ran.stdout)
    except json.JSONDecodeError:
        error_console().print(ran.stdout, markup=False)
        return {"missing": f"{path.name} printed no result"}
    return {**found, "equal": bool(found.get("equal")) and ran.returncode == 0}
