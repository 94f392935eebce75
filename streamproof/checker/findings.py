"""Findings: what is known of everything that a model asks of finite runs."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from streamproof.checker.counterexample import retrace
from streamproof.checker.explanation import failing_part
from streamproof.checker.exploration import Exploration, Path
from streamproof.checker.premises import untried
from streamproof.checker.properties import Broken, never_asked
from streamproof.checker.ruled_out import names_ruled_out
from streamproof.lang import Domain
from streamproof.lang.model import STATED, Call, Model, Role
from streamproof.lang.quantify import Premises
from streamproof.models.kit.verdict import (
    ACTIONS,
    CLAIMS,
    DEADLOCK,
    Counts,
    Exhausted,
    Finding,
    Kind,
    Refuted,
    Undetermined,
    Verdict,
)

LARGER = "Choose a larger size"
"""What to do if a search does not see enough."""
NO_PROPERTY = (
    "the model states no property, so only deadlocks and broken claims were looked for. State what "
    "must hold: a method marked @always, @every_step, @sometimes, @leads_to or @eventually"
)
"""Why a model is not green in which nothing was asked."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """What findings about finite runs are made of: a search, or walks.

    Attributes
    ----------
    broken, path, witnesses, unfinished : as of an exploration
    firings : per action, how many of the steps that were looked at are its own
    looked_at : how much that is, in words
    more : what to do if that was not enough
    passed : the verdict on what was asked and was not seen to fail
    counts : None for walks, which do not know how many states are distinct
    """

    broken: tuple[Broken, ...]
    path: Path | None
    witnesses: Mapping[Call, Path]
    unfinished: str | None
    firings: tuple[tuple[str, int], ...]
    looked_at: str
    more: str
    passed: Verdict
    counts: Counts | None

    @classmethod
    def of_search(cls, found: Exploration) -> Evidence:
        """Take what a search has found."""
        return cls(
            found.broken,
            found.path,
            found.witnesses,
            found.unfinished,
            found.counts.firings,
            f"{found.counts.distinct:,} states",
            LARGER,
            Exhausted(found.counts),
            found.counts,
        )


def safety_findings(model: Model[Any], found: Evidence, premises: Premises) -> tuple[Finding, ...]:
    """Return what is known of everything that a model asks of finite runs.

    Parameters
    ----------
    found : what was looked at
    premises : which premises of the model's properties were observed to hold
    """
    return tuple(_Findings(model, found, premises).all())


def unless_untried(model: Model[Any], promise: Finding, premises: Premises) -> Finding:
    """Return a promise's finding; it is UNDETERMINED if a premise in it was never tried."""
    verdict = promise.verdict
    if isinstance(verdict, Exhausted):
        looked_at = f"{verdict.counts.distinct:,} states"
        reason = untried(model, promise.name, premises, looked_at, LARGER)
        if reason:
            return dataclasses.replace(promise, verdict=Undetermined((reason,), verdict.counts))
    return promise


def _is_empty(value: object) -> bool:
    return isinstance(value, Domain) and len(value) == 0


class _Findings:
    def __init__(self, model: Model[Any], found: Evidence, premises: Premises) -> None:
        self.model, self.found, self.counts = model, found, found.counts
        self.run = retrace(model, found.path) if found.path else None
        self.premises = premises

    def all(self) -> Iterator[Finding]:
        for role, kind in ((Role.ALWAYS, Kind.ALWAYS), (Role.EVERY_STEP, Kind.EVERY_STEP)):
            unasked = never_asked(self.model, role)
            for method in self.model.methods(role):
                yield Finding(method.name, kind, self._safety(method.name, kind, unasked))
        for method in self.model.methods(Role.SOMETIMES):
            yield self._sometimes(method.name)
        yield Finding(CLAIMS, Kind.CLAIMS, self._safety(CLAIMS, Kind.CLAIMS, ()))
        yield Finding(DEADLOCK, Kind.DEADLOCK, self._safety(DEADLOCK, Kind.DEADLOCK, ()))
        if not any(self.model.methods(role) for role in STATED):
            yield Finding("properties", Kind.ALWAYS, self._searched() or self._unknown(NO_PROPERTY))
        yield Finding(ACTIONS, Kind.ACTIONS, self._actions())

    def _safety(self, name: str, kind: Kind, unasked: tuple[str, ...]) -> Verdict:
        for broken in self.found.broken:
            if broken.name == name:
                return self._refuted(broken)
        if name in unasked:
            return self._unknown(
                f"{name} was never asked: its parameters range over an empty domain. Choose a "
                "larger size"
            )
        if kind is Kind.EVERY_STEP and not any(count for _, count in self.found.firings):
            return self._searched() or self._unknown(
                f"{name} was never asked, since no step is possible"
            )
        asks_states = kind in (Kind.ALWAYS, Kind.EVERY_STEP)
        if asks_states and (empty := self._empty_domains()):
            return self._unknown(
                f"{', '.join(empty)} has no element, so what is said of all of them says nothing. "
                "Choose a larger size"
            )
        return self._searched() or self._vacuous(name) or self.found.passed

    def _empty_domains(self) -> list[str]:
        fields = (field.name for field in dataclasses.fields(self.model))
        return [name for name in fields if _is_empty(getattr(self.model, name))]

    def _vacuous(self, name: str) -> Undetermined | None:
        """Report that a property's premises never held; None if they did.

        That no run gets stuck is vacuous if what is final is.
        """
        finals = self.model.methods(Role.FINAL) if name == DEADLOCK and self.counts else ()
        for part in (name, *(method.name for method in finals)):
            looked_at, more = self.found.looked_at, self.found.more
            if reason := untried(self.model, part, self.premises, looked_at, more):
                return self._unknown(reason)
        return None

    def _refuted(self, broken: Broken) -> Refuted:
        assert self.run is not None  # a search that breaks a property says where
        trace, reason = self.run.trace, broken.reason
        if broken.name == CLAIMS:
            reason = trace.steps[-1].broken_claim or ""
        elif not broken.conjuncts:
            part = failing_part(self.model, broken.name, self.run.states)
            reason = f"{reason}: {part}" if part else reason
        return Refuted(broken.name, reason, trace, broken.conjuncts, self.counts)

    def _sometimes(self, name: str) -> Finding:
        calls = [
            call
            for method in self.model.methods(Role.SOMETIMES)
            if method.name == name
            for call in self.model.calls(method)
        ]
        missing = [str(call) for call in calls if call not in self.found.witnesses]
        paths = [self.found.witnesses[call] for call in calls if call in self.found.witnesses]
        note = ""
        if paths and not missing:
            longest = max(paths, key=lambda path: len(path.steps))
            key = retrace(self.model, longest).key
            note = f"reached in {len(longest.steps)} steps: {key}"
        verdict = self._searched()
        if verdict is None and (missing or not calls):
            verdict = self._unknown(
                f"{', '.join(missing) or name} is not reached in any of {self.found.looked_at}, "
                f"so what holds may hold because nothing happens. {self.found.more}, or look for a "
                "guard that is too strong"
            )
        if verdict is None and self.counts:  # walks do not ask it in every state
            verdict = self._vacuous(name)
        return Finding(name, Kind.SOMETIMES, verdict or self.found.passed, note)

    def _actions(self) -> Verdict:
        ruled_out = names_ruled_out(self.model)
        happened = [name for name, count in self.found.firings if count and name in ruled_out]
        if happened:
            return self._unknown(
                f"{', '.join(happened)} happened, though the model's ruled_out() has it that this "
                "size excludes it: so it is not known what the size is meant to be. Fix ruled_out"
            )
        idle = [name for name, count in self.found.firings if not count and name not in ruled_out]
        if idle and not self._searched():
            return self._unknown(
                f"{', '.join(idle)} never happened in any of {self.found.looked_at}, so nothing "
                f"is known about it. {self.found.more}, or look for a guard that never holds"
            )
        return self._searched() or self.found.passed

    def _searched(self) -> Undetermined | None:
        """Return why not all states were searched; None if they were."""
        return self._unknown(self.found.unfinished) if self.found.unfinished else None

    def _unknown(self, reason: str) -> Undetermined:
        return Undetermined((reason,), self.counts)
