"""What the page of `streamproof verify` shows of a protocol: rows, runs as diagrams, its story."""

from __future__ import annotations

import inspect
import os
import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import streamproof
from streamproof.checker.check import CheckReport
from streamproof.checker.counterexample import replay
from streamproof.checker.mutation import Fate, MutantResult
from streamproof.cli.render import COLOURS, fate_colour
from streamproof.cli.report import Row, explored_rows, mutants_row, proof_row, traced_row
from streamproof.diagrams.draw import drawing_of
from streamproof.diagrams.spacetime import svg_in_page
from streamproof.lang.model import Model
from streamproof.models.kit.registry import ModelFile, protocol_module
from streamproof.models.kit.sizes import at_size
from streamproof.models.kit.verdict import Refuted, Status

if TYPE_CHECKING:
    from streamproof.verification import ProtocolReport

ROOT = Path(streamproof.__file__).parent.parent
"""Where a checkout has its documentation; an installation has none."""
EXPLANATIONS = ("build/site/explanation/protocols/{}.html", "docs/explanation/protocols/{}.md")
"""A protocol's page in a checkout: built if it was, or as it was written."""


@dataclass(frozen=True, slots=True)
class ShownRun:
    """A shortest run that breaks something.

    Attributes
    ----------
    diagram : as SVG
    command : what runs it again
    """

    diagram: str
    command: str


@dataclass(frozen=True, slots=True)
class ShownMutant:
    """A mutant.

    Attributes
    ----------
    anchor : its place in the page
    colour : of its fate
    run : None if nothing caught it
    """

    result: MutantResult
    anchor: str
    colour: str
    run: ShownRun | None


@dataclass(frozen=True, slots=True)
class ShownSize:
    """A size of a model that was explored, with the run that breaks it, if there is one."""

    name: str
    report: CheckReport
    row: Row
    run: ShownRun | None


@dataclass(frozen=True, slots=True)
class Section:
    """Everything about one protocol.

    Attributes
    ----------
    title : what the protocol is, in a line
    shown : what was shown about it, in a line
    sizes : by the name of the model's class
    explored, mutated, proven, traced : the four lines of verdicts
    about : the protocol's own story, as HTML; empty if Python left docstrings out
    explanation : address of its page in the documentation; empty if this installation has none
    """

    report: ProtocolReport
    title: str
    shown: str
    sizes: dict[str, list[ShownSize]]
    mutants: list[ShownMutant]
    explored: Row
    mutated: Row
    proven: Row
    traced: Row
    about: str
    explanation: str

    @property
    def name(self) -> str:
        """The protocol's name."""
        return self.report.protocol


def section_of(report: ProtocolReport, beside: Path) -> Section:
    """Return what the page shows of a protocol.

    Parameters
    ----------
    report : what was found out
    beside : the directory of the page, from where its links lead
    """
    from streamproof.verification import model_files

    files = model_files(report.protocol)
    title, about = _story(report.protocol)
    return Section(
        report,
        title,
        _shown(report),
        _sizes(report, files),
        [_mutant(report.protocol, result, files) for result in report.mutation.results],
        _explored(report),
        mutants_row(report),
        proof_row(report),
        traced_row(report),
        about,
        _explanation(report.protocol, beside),
    )


# --------------------------------------------------------------------------- what was shown


def _shown(report: ProtocolReport) -> str:
    """Return in a line what the verdicts amount to, and no more."""
    proof = report.proof
    found = [check.verdict.status for _, _, check in report.checks]
    visited = sum(check.counts.distinct for _, _, check in report.checks)
    done = found.count(Status.EXHAUSTED)
    killed = sum(result.fate is Fate.KILLED for result in report.mutation.results)
    is_proven = proof is not None and proof.verdict.status is Status.PROVED
    proven = "Proven for any size" if is_proven else "Not proven for any size"
    sizes = f"all {_many(done, 'size')}" if done == len(found) else f"{done} of {len(found)} sizes"
    mistakes = _many(len(report.mutation.results), "known mistake")
    return (
        f"{proven}. Explored to the end at {sizes}, with {visited:,} states. "
        f"{killed} of {mistakes} caught."
    )


def _explored(report: ProtocolReport) -> Row:
    """Merge the lines of all sizes into one."""
    rows = explored_rows(report)
    worst = min(
        (check.verdict.status for _, _, check in report.checks),
        key=lambda status: status.strength,
        default=Status.UNDETERMINED,
    )
    counts = f"{_many(len(rows), 'size')} of {_many(len(_models(report)), 'model')}"
    seconds = sum(row.seconds or 0 for row in rows)
    return Row(report.protocol, "explored", worst.value, COLOURS[worst], counts, seconds)


def _models(report: ProtocolReport) -> set[str]:
    return {model for model, _, _ in report.checks}


def _many(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


# --------------------------------------------------------------------------- runs


def _sizes(report: ProtocolReport, files: tuple[ModelFile, ...]) -> dict[str, list[ShownSize]]:
    classes = {model.__name__: (file, model) for file in files for model in file.all}

    def shown() -> Iterator[tuple[str, ShownSize]]:
        rows = explored_rows(report)
        for (name, size, check), row in zip(report.checks, rows, strict=True):
            run = None
            verdict = check.verdict
            if isinstance(verdict, Refuted) and name in classes:
                file, model = classes[name]
                again = ("replay", f"{file.name}:{name}", verdict.trace.key, "--size", size)
                run = _run(file.name, at_size(model, model.sizes[size]), verdict, again)
            yield name, ShownSize(size, check, row, run)

    groups = groupby(shown(), key=lambda pair: pair[0])
    return {name: [size for _, size in pairs] for name, pairs in groups}


def _mutant(protocol: str, result: MutantResult, files: tuple[ModelFile, ...]) -> ShownMutant:
    mutant = result.mutant
    file = next((file for file in files if mutant in file.mutants), None)
    broken = next(
        (
            finding.verdict
            for finding in result.report.findings
            if isinstance(finding.verdict, Refuted) and finding.verdict.broken == result.killer
        ),
        None,
    )
    run = None
    if file is not None and broken is not None:
        again = ("replay", f"{file.name}:{mutant.name}", broken.trace.key)
        run = _run(file.name, at_size(mutant.model_class, mutant.size), broken, again)
    return ShownMutant(
        result,
        anchor_of("mutant", protocol, file.name if file else "", mutant.name),
        fate_colour(result.fate),
        run,
    )


def _run(file: str, model: Model[Any], broken: Refuted, again: tuple[str, ...]) -> ShownRun:
    """Draw a run by running it again."""
    trace = broken.trace
    outcome = f"{broken.broken} is broken"
    if trace.repeats is not None:
        outcome += f"; {trace.continuation}"
    drawing = drawing_of(file, model, replay(model, trace.key), outcome)
    title = f"The run, step by step, until {broken.broken} is broken"
    return ShownRun(svg_in_page(drawing, title), f"streamproof {shlex.join(again)}")


def anchor_of(*parts: str) -> str:
    """Return an address within the page that has nothing but letters, digits and dashes."""
    return "-".join(re.sub(r"[^A-Za-z0-9]+", "-", part).strip("-") for part in parts if part)


# --------------------------------------------------------------------------- what it is


def _story(protocol: str) -> tuple[str, str]:
    """Return the first line of a protocol's docstring, and the rest as HTML."""
    from markdown_it import MarkdownIt  # for this page alone

    title, _, story = (inspect.getdoc(protocol_module(protocol)) or "").partition("\n\n")
    markdown = MarkdownIt("commonmark", {"html": False}).enable("table")
    markdown.add_render_rule("table_open", lambda *_: '<div class="scroll" tabindex="0"><table>')
    markdown.add_render_rule("table_close", lambda *_: "</table></div>")
    about = re.sub(r"(</?)h2>", r"\1h4>", str(markdown.render(story)))
    return title.replace("\n", " "), about


def _explanation(protocol: str, beside: Path) -> str:
    places = (ROOT / place.format(protocol) for place in EXPLANATIONS)
    found = next((place for place in places if place.is_file()), None)
    if found is None:
        return ""
    return quote(os.path.relpath(found, beside.resolve()).replace(os.sep, "/"))
