"""What became of the tests of a mutant, and how a session notes it."""

from __future__ import annotations

import os
import signal
from enum import Enum

from cosmic_ray.work_item import MutationSpec, TestOutcome, WorkerOutcome, WorkResult


class Outcome(Enum):
    """What became of the tests."""

    PASSED = "survived"
    FAILED = "killed"
    TIMEOUT = "killed by its time"
    NONE_RUN = "left to a new import"


def outcome_of(status: int) -> Outcome:
    """Read how a process of tests has ended."""
    code = os.waitstatus_to_exitcode(status)
    if code == 0:
        return Outcome.PASSED
    if code in (-signal.SIGXCPU, -signal.SIGKILL):
        return Outcome.TIMEOUT
    # pytest's codes: 1 is a failed test, 2 an error of collection, 3 one inside; below 0 a signal.
    return Outcome.FAILED if code in (1, 2, 3) or code < 0 else Outcome.NONE_RUN


def result_of(outcome: Outcome) -> WorkResult:
    """Write an outcome as cosmic-ray notes it: a test that ends by its time has noticed."""
    survived = outcome is Outcome.PASSED
    return WorkResult(
        worker_outcome=WorkerOutcome.NORMAL,
        test_outcome=TestOutcome.SURVIVED if survived else TestOutcome.KILLED,
        output=outcome.value,
    )


def told(mutation: MutationSpec) -> str:
    """Name a mutant so that it is found again: its file, function, operator and occurrence."""
    path = str(mutation.module_path)
    place = path[path.rindex("/streamproof/") + len("/streamproof/") :]
    operator = mutation.operator_name.removeprefix("core/")
    return f"{place}:{mutation.definition_name or 'module'}:{operator}:{mutation.occurrence}"
