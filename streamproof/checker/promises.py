"""What is found out about a model's promises, `leads_to` and `eventually`."""

from __future__ import annotations

from typing import Any

from streamproof.checker.counterexample import lasso_trace
from streamproof.checker.exploration import Exploration
from streamproof.checker.lasso import Lasso, Liveness, fair_actions
from streamproof.lang.model import PROMISES, Call, Model, Role
from streamproof.models.verdict import Exhausted, Finding, Kind, Refuted, Undetermined, Verdict

NOT_WITH_SYMMETRY = (
    "promises are not decided where one state stands for an orbit: search without symmetry"
)
KINDS = {Role.LEADS_TO: Kind.LEADS_TO, Role.EVENTUALLY: Kind.EVENTUALLY}


def promise_findings(model: Model[Any], found: Exploration) -> list[Finding]:
    """Decide the promises of a model; they are unknown if not all of its states were visited."""
    methods = [(role, method) for role in PROMISES for method in model.methods(role)]
    reason = found.unfinished or (NOT_WITH_SYMMETRY if found.reduction else None)
    if reason:
        unknown = Undetermined((reason,), found.counts)
        return [Finding(method.name, KINDS[role], unknown) for role, method in methods]
    known = found.decide_liveness() if found.decide_liveness else _decide(model)
    note = ""
    if known.unneeded:
        note = f"holds without the fairness of {', '.join(sorted(known.unneeded))} as well"
    return [
        Finding(method.name, KINDS[role], _verdict(model, found, known, method.name), note)
        for role, method in methods
    ]


def _decide(model: Model[Any]) -> Liveness:
    from streamproof.checker.liveness import decide_liveness  # networkx takes a while to load

    return decide_liveness(model)


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
    reason = f"{call} never comes about on this run"
    if not lasso.cycle and not fair_actions(model):
        reason += ", since no action is declared fair, so all may be postponed for ever"
    return reason
