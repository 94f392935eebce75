"""`streamproof verify`: the main job. Every protocol is checked, mutated and proven, then run."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from streamproof.cli.html import Ran, write_html
from streamproof.cli.options import AsJson, writable_file
from streamproof.cli.render import console, print_json
from streamproof.cli.report import SKIPPED, Row, rows_of
from streamproof.cli.spark_examples import EXAMPLES, outcome
from streamproof.cli.stages import stage_line
from streamproof.models.kit.places import protocol_names
from streamproof.models.kit.verdict import ExitCode, Json

if TYPE_CHECKING:
    from streamproof.verification import ProtocolReport


def verify(
    protocols: Annotated[
        list[str] | None,
        typer.Argument(metavar="PROTOCOL...", help="Protocols to verify; all of them if left out."),
    ] = None,
    *,
    example: Annotated[
        bool,
        typer.Option(help="Also run the examples on Spark."),
    ] = True,
    rows: Annotated[
        int | None,
        typer.Option(
            min=1, metavar="N", help="Flights in the first example; all 336,776 if left out."
        ),
    ] = None,
    html: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the report as a page, too.")
    ] = None,
    as_json: AsJson = False,
) -> ExitCode:
    """Check, mutate and prove protocols, and run them on a real Spark pipeline."""
    if html is not None:
        html.absolute().parent.mkdir(parents=True, exist_ok=True)
        writable_file(html)
    names = protocols or list(protocol_names())
    began = time.monotonic()
    reports, interrupted = verified(names)
    table = [row for report in reports for row in rows_of(report)]
    if not as_json:
        print_table(console(), table)
    examples = Ran({}, {})
    if example and not interrupted:
        interrupted = run_examples(rows, examples, drawn=html is not None)
    shown = [one.row(examples.found[one.name]) for one in EXAMPLES if one.name in examples.found]
    code = ExitCode.UNDETERMINED if interrupted else overall(reports, examples.found)
    if html is not None:
        write_html(html, reports, shown, examples, code, time.monotonic() - began)
    if as_json:
        found: Json = {"protocols": [report.to_json() for report in reports]}
        found |= {"examples": dict(examples.found), "interrupted": interrupted}
        print_json({**found, "exit_code": int(code)})
        return code
    if shown:
        print_table(console(), shown)
    if html is not None:
        console().print(f"kept as a page: {html}", soft_wrap=True)
    if interrupted:
        console().print(f"interrupted: {len(reports)} of {len(names)} protocols were verified")
    console().print(summary(code, parts=sum(row.verdict == SKIPPED for row in [*table, *shown])))
    return code


def verified(names: Sequence[str]) -> tuple[list[ProtocolReport], bool]:
    """Verify protocols, and tell how far that is; those that are done, if it is interrupted.

    Raises
    ------
    KeyboardInterrupt : if none was done
    """
    from streamproof.verification import verify_protocols

    done: list[ProtocolReport] = []
    with stage_line() as tell:

        def on_report(report: ProtocolReport) -> None:
            done.append(report)
            status = report.verdict.status.value
            tell(f"{len(done)} of {len(names)} protocols; {report.protocol}: {status}")

        try:
            return verify_protocols(
                names,
                on_stage=lambda stage: tell(f"{len(done)} of {len(names)} protocols; {stage}"),
                on_report=on_report,
            ), False
        except KeyboardInterrupt:
            if not done:
                raise
    return sorted(done, key=lambda report: names.index(report.protocol)), True


def run_examples(rows: int | None, ran: Ran, *, drawn: bool) -> bool:
    """Run each example, note what it finds, and tell whether that was interrupted.

    Parameters
    ----------
    rows, drawn : for each, where it takes them
    ran : what it is noted in
    """
    with TemporaryDirectory() as place:
        try:
            for one in EXAMPLES:
                plot = Path(place) / f"{one.name}.svg"
                ran.found[one.name] = one.run(rows, plot if drawn else None)
                if plot.is_file():
                    ran.figures[one.name] = plot.read_text(encoding="utf-8")
        except KeyboardInterrupt:
            return True
    return False


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


def overall(reports: list[ProtocolReport], ran: Mapping[str, Json]) -> ExitCode:
    """Merge the outcomes of protocols and examples: the first bad one decides."""
    codes = [*(report.exit_code for report in reports), *map(outcome, ran.values())]
    if not codes:
        return ExitCode.UNDETERMINED
    return next((code for code in codes if code is not ExitCode.GREEN), ExitCode.GREEN)


def summary(code: ExitCode, *, parts: int = 0) -> Text:
    """Summarise in one line whether all of it holds.

    Parameters
    ----------
    code : the outcome of all that was done
    parts : how many lines of the table are about what is not installed
    """
    if code is ExitCode.GREEN and parts:
        return Text.assemble(
            ("everything that this installation can show holds", "bold green"),
            f"; {parts} SKIPPED. All that there is: pip install 'streamproof[all,examples]'",
        )
    if code is ExitCode.GREEN:
        return Text("everything that is claimed holds", "bold green")
    return Text("NOT everything holds", "bold red")
