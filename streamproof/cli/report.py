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
    name = report.protocol
    rows = []
    for model, size, found in report.checks:
        verdict = found.verdict
        counts = f"{found.counts.distinct:,} states, depth {found.counts.depth}"
        what = f"{model}, size {size}"
        rows.append(_row(name, what, verdict, counts, found.seconds))
    killed, total = report.mutation.to_json()["killed"], len(report.mutation.results)
    caught = report.mutation.exit_code is ExitCode.GREEN
    fate = ("KILLED", "green") if caught else ("NOT ALL KILLED", "bold red")
    rows.append(Row(name, "mutants", *fate, f"{killed} of {total} killed", None))
    proof, same = report.proof, report.translation
    if proof is None or same is None:
        return [
            *rows,
            *(skipped(name, what, absence("prove")) for what in ("any size", "traced form")),
        ]
    discharged = f"{len(proof.outcomes) - len(proof.failed)} of {len(proof.outcomes)} obligations"
    rows.append(_row(name, "any size", proof.verdict, discharged, proof.seconds))
    compared = f"{same.compared:,} comparisons"
    rows.append(Row(name, "traced form", "SAME AS CODE", "green", compared, same.seconds))
    return rows


def skipped(subject: str, what: str, why: str) -> Row:
    """Return the line of a part that this installation does not have, and that claims nothing."""
    return Row(subject, what, SKIPPED, "dim", "", None, why)


def _row(name: str, what: str, verdict: Verdict, counts: str, seconds: float | None) -> Row:
    status = verdict.status
    return Row(name, what, status.value, COLOURS[status], counts, seconds, remark_on(verdict))
