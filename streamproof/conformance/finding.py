"""What was found out about a run: explained, violated, or undetermined."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import Enum
from typing import Any

from streamproof.conformance.explain import Explanation, Violation
from streamproof.diagrams.spacetime import Drawing
from streamproof.models.kit.verdict import ExitCode, Json


class Outcome(Enum):
    """What is known of a part of a run, weakest first."""

    VIOLATED = "VIOLATED"
    """No run of the model explains it."""
    UNDETERMINED = "UNDETERMINED"
    """Some of it was not written down, or is there no more."""
    EXPLAINED = "EXPLAINED"
    """A run of the model explains it."""


@dataclass(frozen=True, slots=True)
class Finding:
    """What was found out about one part of a run.

    Attributes
    ----------
    protocol, subject : which protocol, and which part: a snapshot, or a process
    note : what was explained, or why it is not known; empty for a violation
    explanation : the run of the model, as far as there is one
    draws : draws the run; None if there is none
    """

    protocol: str
    subject: str
    outcome: Outcome
    note: str = ""
    violation: Violation | None = None
    explanation: Explanation[Any] | None = None
    draws: Callable[[], Drawing] | None = None

    def to_json(self) -> Json:
        """Return the finding as JSON."""
        said: Json = {
            "protocol": self.protocol,
            "subject": self.subject,
            "outcome": self.outcome.value,
            "note": self.note,
        }
        if self.violation is not None:
            said["violation"] = {
                "process": self.violation.process,
                "where": self.violation.where,
                "reason": self.violation.reason,
                "allowed": list(self.violation.allowed),
            }
        return said


@dataclass(frozen=True, slots=True)
class Conformance:
    """Whether what ran is what was proven, part by part."""

    findings: tuple[Finding, ...]

    @property
    def outcome(self) -> Outcome:
        """The weakest outcome; nothing looked at is UNDETERMINED."""
        return weakest(finding.outcome for finding in self.findings)

    @property
    def violations(self) -> tuple[Violation, ...]:
        """All violations."""
        return tuple(each.violation for each in self.findings if each.violation is not None)

    @property
    def exit_code(self) -> ExitCode:
        """The exit code of a command that ends so."""
        match self.outcome:
            case Outcome.EXPLAINED:
                return ExitCode.GREEN
            case Outcome.VIOLATED:
                return ExitCode.REFUTED
            case Outcome.UNDETERMINED:
                return ExitCode.UNDETERMINED


def weakest(outcomes: Iterable[Outcome]) -> Outcome:
    """Merge outcomes: the weakest wins, and nothing merged is UNDETERMINED."""
    found = set(outcomes)
    return next((each for each in Outcome if each in found), Outcome.UNDETERMINED)
