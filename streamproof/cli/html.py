"""The report of `streamproof verify` as one page that needs nothing else."""

from __future__ import annotations

import base64
import platform
from collections import Counter
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING

from streamproof import __version__
from streamproof.cli.render import duration, fate_colour
from streamproof.cli.report import Row, explored_rows, proof_row, traced_row
from streamproof.models.kit.verdict import ExitCode, Json

if TYPE_CHECKING:
    from streamproof.verification import ProtocolReport

PARTS = {"Z3": "z3-solver", "llvmlite": "llvmlite", "PySpark": "pyspark"}
"""Other software that verdicts rest on, and the packages that bring it."""


HEADLINES = {
    ExitCode.GREEN: ("everything that is claimed holds", "green"),
    ExitCode.REFUTED: ("not everything holds", "red"),
    ExitCode.UNDETERMINED: ("not everything is known", "yellow"),
}


@dataclass(frozen=True, slots=True)
class Ran:
    """The examples that were run.

    Attributes
    ----------
    found : by name, what each reports
    figures : by name, what was drawn, as SVG
    """

    found: dict[str, Json]
    figures: dict[str, str]


@dataclass(frozen=True, slots=True)
class Tally:
    """How often a verdict was given.

    Attributes
    ----------
    noun : of what it was given
    colour : as the verdict has
    """

    count: int
    noun: str
    verdict: str
    colour: str


def write_html(
    path: Path,
    reports: list[ProtocolReport],
    shown: list[Row],
    examples: Ran,
    code: ExitCode,
    seconds: float,
) -> None:
    """Write the page; folders on the way to it are made.

    Parameters
    ----------
    path : of the page
    reports, shown : what was found out about each protocol, and the line of each example
    examples : what they report
    code : whether all of it holds
    seconds : how long everything took
    """
    # For this page alone.
    from jinja2 import Environment, PackageLoader, StrictUndefined

    from streamproof.cli.page import section_of
    from streamproof.diagrams.spacetime import page_heads, page_style

    environment = Environment(
        loader=PackageLoader("streamproof.cli"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["capitalize_first"] = lambda text: text[:1].upper() + text[1:]
    path.parent.mkdir(parents=True, exist_ok=True)
    headline, colour = HEADLINES.get(code, HEADLINES[ExitCode.UNDETERMINED])
    page = environment.get_template("verify.html").render(
        sections=[section_of(report, path.parent) for report in reports],
        shown=shown,
        examples=examples.found,
        figures={name: _address(text) for name, text in examples.figures.items()},
        tallies=tallies(reports, shown),
        headline=headline,
        colour=colour,
        versions=versions(),
        engines=engines(reports),
        took=duration(seconds),
        when=datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        run_style=page_style(),
        run_heads=page_heads(),
    )
    path.write_text(page, encoding="utf-8")


def tallies(reports: list[ProtocolReport], shown: list[Row]) -> list[Tally]:
    """Count the verdicts of each kind."""
    found: Counter[tuple[str, str, str]] = Counter()
    for report in reports:
        for row in explored_rows(report):
            found["size", row.verdict, colour_of(row)] += 1
        for result in report.mutation.results:
            found["mutant", result.fate.value.upper(), fate_colour(result.fate)] += 1
        for noun, row in (("invariant", proof_row(report)), ("traced form", traced_row(report))):
            found[noun, row.verdict, colour_of(row)] += 1
    for row in shown:
        found["Spark job", row.verdict, colour_of(row)] += 1
    return [
        Tally(count, noun if count == 1 else f"{noun}s", verdict, colour)
        for (noun, verdict, colour), count in found.items()
    ]


def colour_of(row: Row) -> str:
    """Return the colour of a row's verdict, without its weight."""
    return row.colour.split()[-1]


def engines(reports: list[ProtocolReport]) -> dict[str, int]:
    """Count the searches of each engine."""
    return Counter(check.engine for report in reports for _, _, check in report.checks)


def versions() -> dict[str, str]:
    """Return the versions of everything that verdicts rest on; empty for what is not installed."""
    found = {"streamproof": __version__, "Python": platform.python_version()}
    for name, package in PARTS.items():
        try:
            found[name] = version(package)
        except PackageNotFoundError:
            found[name] = ""
    return found


def _address(text: str) -> str:
    """Return a drawing as an address, so that its names and rules do not meet those of others."""
    drawing = text[text.index("<svg") :]
    return f"data:image/svg+xml;base64,{base64.b64encode(drawing.encode()).decode()}"
