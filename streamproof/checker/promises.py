"""What is found out about a model's promises, `leads_to` and `eventually`."""

from __future__ import annotations

from functools import partial
from typing import Any

from streamproof.checker.counterexample import lasso_trace
from streamproof.checker.exploration import INTERRUPTED, Exploration
from streamproof.checker.lasso import Lasso, Liveness, fair_actions, never_comes_about
from streamproof.checker.limits import LimitReached, Limits
from streamproof.checker.progress import OnProgress, ignore
from streamproof.lang.model import PROMISES, Call, Model, Role
from streamproof.models.kit.verdict import Exhausted, Finding, Kind, Refuted, Undetermined, Verdict

NOT_WITH_SYMMETRY = (
    "promises are not decided where one state stands for an orbit: search without symmetry"
)
KINDS = {Role.LEADS_TO: Kind.LEADS_TO, Role.EVENTUALLY: Kind.EVENTUALLY}


def promise_findings(
    model: Model[Any], found: Exploration, limits: Limits, on_progress: OnProgress = ignore
) -> list[Finding]:
    """Decide the promises of a model.

    They are unknown if not all of its states were visited, if there is not enough memory for all
    steps, or if the user has no time to wait for it.
    """
    reason = found.unfinished or (NOT_WITH_SYMMETRY if found.reduction else None)
    if reason:
        return _unknown(model, found, reason)
    try:
        known = (found.decide_liveness or partial(_decide, model, limits, on_progress))()
    except (LimitReached, KeyboardInterrupt) as end:
        return _unknown(model, found, str(end) or INTERRUPTED)
    methods = [(role, method) for role in PROMISES for method in model.methods(role)]
    note = ""
    if known.unneeded:
        note = f"holds without the fairness of {', '.join(sorted(known.unneeded))} as well"
    return [
        Finding(method.name, KINDS[role], _verdict(model, found, known, method.name), note)
        for role, method in methods
    ]


def _unknown(model: Model[Any], found: Exploration, reason: str) -> list[Finding]:
    return [
        Finding(method.name, KINDS[role], Undetermined((reason,), found.counts))
        for role in PROMISES
        for method in model.methods(role)
    ]


def _decide(model: Model[Any], limits: Limits, on_progress: OnProgress) -> Liveness:
    from streamproof.checker.liveness import decide_liveness  # networkx takes a while to load

    return decide_liveness(model, limits, on_progress)


def _verdict(model: Model[Any], found: Exploration, known: Liveness, name: str) -> Verdict:
    lassos = {call: lasso for call, lasso in known.lassos.items() if call.name == name}
    for call, lasso in lassos.items():
        if lasso is not None:
            trace = lasso_trace(model, lasso)
            return Refuted(name, _reason(model, call, lasso), trace, (), found.counts)
    unasked = [str(call) for call in lassos if call in known.unasked]
    if unasked or not lassos:
        reason = (
            f"what should be followed by something in {', '.join(unasked) or name} holds in none "
            f"of {found.counts.distinct:,} states, so nothing was promised. Choose a larger size"
        )
        return Undetermined((reason,), found.counts)
    return Exhausted(found.counts)


def _reason(model: Model[Any], call: Call, lasso: Lasso) -> str:
    reason = never_comes_about(call)
    if not lasso.cycle and not fair_actions(model):
        reason += ", since no action is declared fair, so all may be postponed forever"
    return reason
