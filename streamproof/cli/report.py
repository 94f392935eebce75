"""The table of verdicts: one line for each thing that was shown about a protocol."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from streamproof.cli.render import COLOURS, remark_on
from streamproof.installed import absence
from streamproof.models.kit.verdict import ExitCode, Verdict

if TYPE_CHECKING:
    from streamproof.verification import ProtocolReport

SKIPPED = "SKIPPED"
"""In the place of a verdict: the part is not in this installation, and nothing is claimed of it."""


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table of verdicts.

    Attributes
    ----------
    verdict : a verdict's name, or what became of mutants and of an example
    colour : as the verdict of that strength has
    """

    subject: str
    what: str
    verdict: str
    colour: str
    counts: str
    seconds: float | None
    remark: str = ""


def rows_of(report: ProtocolReport) -> list[Row]:
    """Return a protocol's lines: each exploration, its mutants, its proof, and its traced form."""
    return [
        *explored_rows(report),
        mutants_row(report),
        proof_row(report),
        traced_row(report),
    ]


def explored_rows(report: ProtocolReport) -> list[Row]:
    """Return a line for each size of each model that was explored."""
    rows = []
    for model, size, found in report.checks:
        counts = f"{found.counts.distinct:,} states, depth {found.counts.depth}"
        what = f"{model}, size {size}"
        rows.append(_row(report.protocol, what, found.verdict, counts, found.seconds))
    return rows


def mutants_row(report: ProtocolReport) -> Row:
    """Return the line of the mutants."""
    killed, total = report.mutation.to_json()["killed"], len(report.mutation.results)
    caught = report.mutation.exit_code is ExitCode.GREEN
    fate = ("KILLED", "green") if caught else ("NOT ALL KILLED", "bold red")
    return Row(report.protocol, "mutants", *fate, f"{killed} of {total} killed", None)


def proof_row(report: ProtocolReport) -> Row:
    """Return the line of the proof."""
    proof = report.proof
    if proof is None:
        return skipped(report.protocol, "any size", absence("prove"))
    discharged = f"{len(proof.outcomes) - len(proof.failed)} of {len(proof.outcomes)} obligations"
    return _row(report.protocol, "any size", proof.verdict, discharged, proof.seconds)


def traced_row(report: ProtocolReport) -> Row:
    """Return the line of the comparison of the traced form with the code."""
    same = report.translation
    if same is None:
        return skipped(report.protocol, "traced form", absence("prove"))
    compared = f"{same.compared:,} comparisons"
    return Row(report.protocol, "traced form", "SAME AS CODE", "green", compared, same.seconds)


def skipped(subject: str, what: str, why: str) -> Row:
    """Return the line of a part that this installation does not have, and that claims nothing."""
    return Row(subject, what, SKIPPED, "dim", "", None, why)


def _row(name: str, what: str, verdict: Verdict, counts: str, seconds: float | None) -> Row:
    status = verdict.status
    return Row(name, what, status.value, COLOURS[status], counts, seconds, remark_on(verdict))
