"""Crashing at each operation of a tape, and looking at what can be made of each state."""

from __future__ import annotations

import re
import shutil
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any, TypeAlias
from unittest import mock

from streamproof import disk as real_disk
from streamproof.lang import StreamproofError
from tests.spark.faults.disk import Crash, Disk, Tree, materialise
from tests.spark.faults.engine import EngineRefused
from tests.spark.faults.tape import Tape

Check: TypeAlias = Callable[[Path, list[Any]], None]
"""Goes on in a directory, given what was acknowledged; raises if something is lost or doubled."""

REFUSALS = (StreamproofError, EngineRefused)
_LOSSY = [crash for crash in Crash if crash is not Crash.KILL]


class Lost(AssertionError):
    """Something is not as it must be."""


@dataclass(frozen=True)
class Point:
    """A state that a crash can leave.

    Attributes
    ----------
    number : of operations before it
    """

    number: int
    crash: Crash
    tree: Tree
    facts: list[Any]


@dataclass
class Report:
    """What became of a workload's crash points.

    Attributes
    ----------
    outcomes : per kind of crash, the class of the refusal, or "nothing is lost"
    """

    operations: int
    points: int = 0
    outcomes: Counter[tuple[str, str]] = field(default_factory=Counter)

    def refused(self, crash: Crash) -> set[str]:
        """Return the refusals after a kind of crash, without those that name a file to delete."""
        found = {how for kind, how in self.outcomes if kind == crash.name}
        return found - {FINE, MENDED}


FINE = "nothing is lost"
MENDED = "nothing is lost once the file is deleted that the refusal names"
_DELETE = re.compile(r"\bdelete (/\S+?)(?: and (/\S+?))?[, ]")
_ADVICE_MAX = 4


@contextmanager
def no_syncs() -> Iterator[None]:
    """Do not wait for the disk: what is looked at here has crashed already."""
    with ExitStack() as stack:
        for name in ("fsync", "fdatasync", "sync"):
            stack.enter_context(mock.patch(f"os.{name}", return_value=None))
        yield


def record(root: Path, work: Callable[[Tape], None]) -> Tape:
    """Do some work below a root, and record what reaches the disk."""
    root.mkdir(parents=True)
    real_disk._named.clear()  # as in a process that has just begun
    tape = Tape(root)
    with tape.running():
        work(tape)
    return tape


def points(tape: Tape, *, each: int = 1, seed: int = 0, lossy: int = 1) -> Iterator[Point]:
    """Yield what crashes can leave, no state twice: after each operation, or after every few.

    Parameters
    ----------
    each : how many operations there are from one crash to the next
    seed : of what is lost
    lossy : how many kinds of crash of the machine are tried at a point; they take turns
    """
    disk, seen, turn = Disk(), set(), seed
    for number, operation in enumerate(tape.operations):
        disk.apply(operation)
        if number % each:
            continue
        facts = [fact for when, fact in tape.facts if when <= number + 1]
        kinds = [Crash.KILL]
        if not disk.is_clean:
            kinds += [_LOSSY[(turn + place) % len(_LOSSY)] for place in range(lossy)]
            turn += lossy
        for crash in kinds:
            tree = disk.after(crash, Random(f"{seed} {number}"))
            key = (frozenset(tree.items()), len(facts))
            if key not in seen:
                seen.add(key)
                yield Point(number, crash, tree, facts)


def crash(
    tape: Tape,
    place: Path,
    check: Check,
    *,
    each: int = 1,
    seed: int = 0,
    lossy: int = 1,
    refusals: frozenset[str] | None = None,
) -> Report:
    """Go on behind every crash.

    Parameters
    ----------
    refusals : that a loss of power may bring; all, if none are named

    Raises
    ------
    AssertionError : at the first state in which something is lost, doubled, or refused by an error
        that is none of ours; the message tells how to come there again
    """
    report = Report(len(tape.operations))
    for point in points(tape, each=each, seed=seed, lossy=lossy):
        report.points += 1
        here = place / f"{point.number}-{point.crash.name}"
        materialise(point.tree, here)
        try:
            with no_syncs():
                outcome = _outcome(check, here, point, refusals)
        except Exception as error:
            raise AssertionError(_about(tape, point, seed)) from error
        report.outcomes[point.crash.name, outcome] += 1
        shutil.rmtree(here)
    return report


def _outcome(
    check: Check, place: Path, point: Point, refusals: frozenset[str] | None = None
) -> str:
    """Go on; if a refusal says what to delete, delete it, as its reader would, and try again."""
    outcome = FINE
    for _ in range(_ADVICE_MAX):
        try:
            check(place, point.facts)
        except REFUSALS as error:
            if point.crash is Crash.KILL:
                raise
            outcome = type(error).__name__
            advised = _DELETE.search(str(error))
            if advised is None:
                if refusals is not None and outcome not in refusals:
                    raise
                return outcome
            for file in filter(None, advised.groups()):
                Path(file).unlink(missing_ok=True)
            outcome = MENDED
        else:
            return outcome
    return outcome


def _about(tape: Tape, point: Point, seed: int) -> str:
    around = tape.operations[max(0, point.number - 3) : point.number + 2]
    done = "\n  ".join(str(operation)[:200] for operation in around)
    return (
        f"a crash behind operation {point.number} (seed {seed}) that leaves {point.crash.value}; "
        f"acknowledged: {point.facts[-3:]}; the operations around it:\n  {done}"
    )
