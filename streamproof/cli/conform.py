"""`streamproof conform`: compare what a pipeline did with the models."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from streamproof.cli.options import AsJson, new_file
from streamproof.cli.render import console, print_json
from streamproof.cli.snapshot import PipelinePath
from streamproof.models.kit.verdict import ExitCode

if TYPE_CHECKING:
    from streamproof.conformance import Conformance, Finding

COLOURS = {"EXPLAINED": "green", "UNDETERMINED": "yellow", "VIOLATED": "red"}


def conform(
    pipeline: PipelinePath,
    svg: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="A new directory for the runs as space-time diagrams."),
    ] = None,
    *,
    as_json: AsJson = False,
) -> ExitCode:
    """Decide whether runs of the models explain what the processes of a pipeline did.

    The pipeline may be running; no Spark session is needed.

    Exit codes: 0 explained, 1 violated, 2 wrong use, 3 undetermined.
    """
    from streamproof.conformance import conform as compare

    new_file(svg)
    out = console()
    found = compare(pipeline, lambda finding: None if as_json else _print(finding))
    drawn = [] if svg is None else _draw(found, svg)
    if as_json:
        print_json(
            {
                "pipeline": str(pipeline),
                "outcome": found.outcome.value,
                "findings": [finding.to_json() for finding in found.findings],
                "drawn": list(map(str, drawn)),
            }
        )
        return found.exit_code
    out.print(Text(f"{pipeline}: ") + Text(found.outcome.value, COLOURS[found.outcome.value]))
    for file in drawn:
        out.print(f"drawn: {file}", markup=False, soft_wrap=True)
    if svg is None and found.violations:
        out.print(f"See the runs. Run: streamproof conform {pipeline} --svg runs", markup=False)
    return found.exit_code


def _print(finding: Finding) -> None:
    out = console()
    outcome = finding.outcome.value
    head = Text(f"{finding.protocol}: {finding.subject} ") + Text(outcome, COLOURS[outcome])
    out.print(head + Text(f" {finding.note}" if finding.note else ""), soft_wrap=True)
    if finding.violation is not None:
        violation = finding.violation
        out.print(
            f"  {violation.process}, {violation.where}: {violation.reason}",
            markup=False,
            soft_wrap=True,
        )
        if violation.allowed:
            out.print(f"  allowed there: {'; '.join(violation.allowed)}", markup=False)


def _draw(found: Conformance, directory: Path) -> list[Path]:
    from streamproof.diagrams.spacetime import svg as as_svg

    directory.mkdir(parents=True)
    drawn = []
    for finding in found.findings:
        if finding.draws is None:
            continue
        file = directory / f"{finding.protocol}-{finding.subject.replace(' ', '-')}.svg"
        title = f"{finding.protocol}: {finding.subject}, {finding.outcome.value}"
        file.write_text(as_svg(finding.draws(), title), encoding="utf-8")
        drawn.append(file)
    return drawn
