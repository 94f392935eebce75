"""Verdicts: what is known about a model, in a form that cannot be mistaken for more.

Checker and proofs share them. There are five, and only two are green: `Proved` and `Exhausted`.
Verdicts are merged by `weakest`, so that nothing turns green by being looked at together.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum, IntEnum
from typing import Any, TypeAlias

from streamproof.models.kit.trace import Trace

Json: TypeAlias = dict[str, Any]
"""What `json.dumps` takes: the machine-readable form of something that is printed."""

DEADLOCK = "deadlock"
"""The name of the finding that no state gets stuck; a mutant may be killed by it."""
CLAIMS = "claims"
"""The name of the finding that every `assert` in an action holds."""
ACTIONS = "actions"
"""The name of the finding that every action happens somewhere."""

EXACT_BELOW = 2**53
"""Below it counts are exact; above it those that were added up as floats are not."""


class Status(Enum):
    """The five verdicts, weakest first."""

    REFUTED = "REFUTED"
    UNDETERMINED = "UNDETERMINED"
    SAMPLED = "SAMPLED"
    EXHAUSTED = "EXHAUSTED"
    PROVED = "PROVED"

    @property
    def strength(self) -> int:
        """How much the verdict says in favour of the model: 0 for the least."""
        return list(Status).index(self)


class Reachable(Enum):
    """Whether a run of a model leads to a state."""

    YES = "reachable"
    NO = "not reachable"
    UNKNOWN = "not searched to the end"


@dataclass(frozen=True, slots=True)
class Reached:
    """Whether a run of a model leads to a state, and a shortest one that does."""

    answer: Reachable
    trace: Trace | None = None


class ExitCode(IntEnum):
    """How a command ends."""

    GREEN = 0
    """PROVED or EXHAUSTED."""
    REFUTED = 1
    """There is a counterexample, or a mutant survived."""
    WRONG_USE = 2
    """The command or the model is wrong; nothing was found out."""
    UNDETERMINED = 3
    """Something is not known: also when states were only sampled."""
    INTERNAL_ERROR = 70
    """Streamproof itself failed: neither the model's fault nor the user's, and no verdict."""


@dataclass(frozen=True, slots=True)
class Counts:
    """What a search did. Equal for every engine, so counts are golden values in the tests.

    With symmetry, a state that is kept counts for all that it stands for, exactly below 2**53.

    Attributes
    ----------
    distinct : distinct states found
    generated : steps taken, each enabled one of each expanded state once, plus the initial states
    depth : states on the longest shortest path from an initial state
    firings : per action, over all its parameters, how many of the generated steps are its own
    """

    distinct: int
    generated: int
    depth: int
    firings: tuple[tuple[str, int], ...] = ()

    def to_json(self) -> Json:
        """Return the counts as JSON."""
        return {
            "distinct": self.distinct,
            "generated": self.generated,
            "depth": self.depth,
            "firings": dict(self.firings),
        }


@dataclass(frozen=True, slots=True)
class Proved:
    """Holds for every size: each obligation is `unsat`, each guard satisfiable."""

    obligations: int

    @property
    def status(self) -> Status:
        """PROVED."""
        return Status.PROVED

    def to_json(self) -> Json:
        """Return the verdict as JSON."""
        return {"status": self.status.value, "obligations": self.obligations}


@dataclass(frozen=True, slots=True)
class Exhausted:
    """Holds in every reachable state of one size, and all of them were visited."""

    counts: Counts

    @property
    def status(self) -> Status:
        """EXHAUSTED."""
        return Status.EXHAUSTED

    def to_json(self) -> Json:
        """Return the verdict as JSON."""
        return {"status": self.status.value, "counts": self.counts.to_json()}


@dataclass(frozen=True, slots=True)
class Sampled:
    """Held on random runs; says nothing about the others.

    Attributes
    ----------
    runs : number of random runs
    seed : of the random numbers
    steps : steps of all runs
    """

    runs: int
    seed: int
    steps: int

    @property
    def status(self) -> Status:
        """SAMPLED."""
        return Status.SAMPLED

    def to_json(self) -> Json:
        """Return the verdict as JSON."""
        sample = {"runs": self.runs, "seed": self.seed, "steps": self.steps}
        return {"status": self.status.value, **sample}


@dataclass(frozen=True, slots=True)
class Undetermined:
    """Not known.

    Attributes
    ----------
    reasons : why, each with what would find it out
    counts : what had been searched by then, if there was a search
    """

    reasons: tuple[str, ...]
    counts: Counts | None = None

    @property
    def status(self) -> Status:
        """UNDETERMINED."""
        return Status.UNDETERMINED

    def to_json(self) -> Json:
        """Return the verdict as JSON."""
        verdict: Json = {"status": self.status.value, "reasons": list(self.reasons)}
        return verdict if self.counts is None else verdict | {"counts": self.counts.to_json()}


@dataclass(frozen=True, slots=True)
class Refuted:
    """Does not hold: here is a run that shows it.

    Attributes
    ----------
    broken : the property's name
    reason : what is wrong in the last state, as the property says it
    conjuncts : the named conjuncts that failed, if the property has any
    trace : a shortest run to there
    """

    broken: str
    reason: str
    trace: Trace
    conjuncts: tuple[str, ...] = ()
    counts: Counts | None = None

    @property
    def status(self) -> Status:
        """REFUTED."""
        return Status.REFUTED

    def to_json(self) -> Json:
        """Return the verdict as JSON."""
        verdict: Json = {
            "status": self.status.value,
            "broken": self.broken,
            "reason": self.reason,
            "conjuncts": list(self.conjuncts),
            "trace": self.trace.to_json(),
        }
        return verdict if self.counts is None else verdict | {"counts": self.counts.to_json()}


Verdict: TypeAlias = Proved | Exhausted | Sampled | Undetermined | Refuted


class Kind(Enum):
    """What a finding is about."""

    ALWAYS = "always"
    EVERY_STEP = "every step"
    SOMETIMES = "sometimes"
    LEADS_TO = "leads to"
    EVENTUALLY = "eventually"
    DEADLOCK = "no deadlock"
    CLAIMS = "claims in actions"
    ACTIONS = "every action happens"

    @property
    def is_liveness(self) -> bool:
        """Whether it takes infinite runs to refute it."""
        return self in (Kind.LEADS_TO, Kind.EVENTUALLY)


@dataclass(frozen=True, slots=True)
class Finding:
    """One row of a table of verdicts.

    Attributes
    ----------
    name : the property's name; `deadlock`, `claims` and `actions` stand for what no method states
    note : further information for the reader, such as how a `sometimes` is reached
    """

    name: str
    kind: Kind
    verdict: Verdict
    note: str = ""

    def to_json(self) -> Json:
        """Return the finding as JSON."""
        named = {"name": self.name, "kind": self.kind.value}
        return {**named, "verdict": self.verdict.to_json(), "note": self.note}


def finding_named(findings: Sequence[Finding], name: str) -> Finding:
    """Return the finding of a name.

    Raises
    ------
    KeyError : if there is none
    """
    for part in findings:
        if part.name == name:
            return part
    raise KeyError(f"{name} is not among {[part.name for part in findings]}")


def weakest(verdicts: Iterable[Verdict]) -> Verdict:
    """Merge verdicts: the weakest wins, and the reasons of several undetermined ones add up.

    Nothing merged is undetermined, since nothing was looked at.
    """
    ordered = sorted(verdicts, key=lambda verdict: verdict.status.strength)
    if not ordered:
        return Undetermined(("nothing was checked: the model has no property",))
    first = ordered[0]
    if isinstance(first, Undetermined):
        same = [verdict for verdict in ordered if isinstance(verdict, Undetermined)]
        reasons = dict.fromkeys(reason for verdict in same for reason in verdict.reasons)
        counts = next((verdict.counts for verdict in same if verdict.counts), None)
        return Undetermined(tuple(reasons), counts)
    return first


def exit_code(verdict: Verdict) -> ExitCode:
    """Return the exit code of a command that ends in a verdict."""
    match verdict:
        case Proved() | Exhausted():
            return ExitCode.GREEN
        case Refuted():
            return ExitCode.REFUTED
        case _:
            return ExitCode.UNDETERMINED
