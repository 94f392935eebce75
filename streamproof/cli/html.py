"""The report of `streamproof verify` as one page that needs nothing else."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from streamproof import __version__
from streamproof.cli.report import Row
from streamproof.installed import absence
from streamproof.models.kit.verdict import ExitCode, Json

if TYPE_CHECKING:
    from streamproof.verification import ProtocolReport


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


def write_html(
    path: Path, rows: list[Row], reports: list[ProtocolReport], examples: Ran, code: ExitCode
) -> None:
    """Write the page; folders on the way to it are made."""
    from jinja2 import Environment, PackageLoader, StrictUndefined  # for this page alone

    environment = Environment(
        loader=PackageLoader("streamproof.cli"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    page = environment.get_template("verify.html").render(
        rows=rows,
        reports=reports,
        examples=examples.found,
        figures={name: _drawing(text) for name, text in examples.figures.items()},
        green=code is ExitCode.GREEN,
        no_prover=absence("prove"),
        version=__version__,
        when=datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(page, encoding="utf-8")


def _drawing(text: str) -> str:
    """Return an SVG file's drawing, without what stands before it in a file."""
    return text[text.index("<svg") :]
