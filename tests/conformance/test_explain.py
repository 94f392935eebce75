"""Looking for a run that explains observed steps: found, or stuck at the step that is to blame."""

from __future__ import annotations

from typing import Any

from streamproof.conformance.explain import Explanation, Observed
from streamproof.lang.model import Call
from streamproof.models.snapshots.chandy_lamport import ChandyLamport

MODEL = ChandyLamport.sized(messages=(3, 3))
P, Q = MODEL.processes
(K,) = MODEL.snapshots


def sends(p: Any, q: Any) -> Observed[Any]:
    return Observed(str(p), "a send", Call("send", (p, q), ("p", "q")), is_asked=False)


def receives(p: Any, q: Any) -> Observed[Any]:
    call = Call("receive", (p, q), ("p", "q"))
    return Observed(str(q), "a receipt", call, awaits=str(p), is_asked=False)


def initiates(p: Any, differs: str = "") -> Observed[Any]:
    call = Call("initiate", (K, p), ("k", "p"))
    return Observed(str(p), "a start", call, differs=lambda *_: differs)


def marker(p: Any, q: Any) -> Observed[Any]:
    call = Call("receive_marker", (K, p, q), ("k", "p", "q"))
    return Observed(str(q), "a marker", call, awaits=str(p))


def explained(*steps: list[Observed[Any]]) -> Explanation[Any]:
    found = Explanation(
        MODEL,
        [MODEL.start()],
        lambda call: str(call.arguments[0 if call.name == "send" else -1]),
    )
    found.follow(steps)
    return found


def test_a_receipt_waits_for_what_is_sent_later_in_another_list() -> None:
    found = explained([receives(Q, P), initiates(P)], [sends(Q, P), marker(P, Q)])
    assert found.violation is None
    assert [move.call.name for move in found.moves] == [
        "send",
        "receive",
        "initiate",
        "receive_marker",
    ]


def test_a_run_ends_with_the_last_asked_step() -> None:
    found = explained([initiates(P), sends(P, Q)], [marker(P, Q), *[receives(P, Q)] * 9])
    assert found.violation is None
    assert found.moves[-1].call.name == "receive_marker"


def test_the_blame_is_on_the_step_that_waits_for_nobody() -> None:
    # Q waits for a message of P, which is stuck: it begins the same snapshot twice.
    found = explained(
        [initiates(P), initiates(P), sends(P, Q)], [marker(P, Q), receives(P, Q), marker(P, Q)]
    )
    assert found.violation is not None
    assert found.violation.process == str(P)
    assert found.violation.where == "a start"


def test_what_the_model_would_have_allowed_is_named() -> None:
    found = explained([sends(P, Q), initiates(P)], [marker(P, Q)])
    assert found.violation is not None
    assert (found.violation.process, found.violation.where) == (str(Q), "a marker")
    assert f"receive {P} {Q}" in found.violation.allowed


def test_a_step_that_was_seen_otherwise_is_a_violation() -> None:
    found = explained([initiates(P, "it is otherwise")])
    assert found.violation is not None
    assert found.violation.reason == "it is otherwise"


def test_a_claim_of_the_protocol_that_fails_is_a_violation() -> None:
    class Twice(ChandyLamport):
        """A marker can be received twice."""

        def marker_is_next(self, *_: Any) -> bool:
            return True

    model = Twice.sized(messages=(3, 3))
    found = Explanation(model, [model.start()], str)
    p, q = model.processes
    found.follow([[initiates(p)], [marker(p, q), marker(p, q)]])
    assert found.violation is not None
    assert "a claim of the protocol fails" in found.violation.reason


def test_no_steps_are_explained_at_once() -> None:
    assert explained([], []).violation is None
