"""Liveness: both engines against the definition on random automata, and what is told of it."""

from __future__ import annotations

from collections import Counter as Tally

import pytest
from hypothesis import assume, given

from streamproof.checker import Limits, check
from streamproof.checker.lasso import promises_of
from streamproof.checker.liveness import decide_liveness
from streamproof.checker.native.engine import explore as native
from streamproof.lang.model import Fairness
from streamproof.models import registry
from streamproof.models.verdict import Status
from tests.checker.automata import (
    KINDS,
    breaks_as_told,
    breaks_by_definition,
    random_automata,
)
from tests.strategies import SHRINKING, tried


def natively(model, threads):
    return native(model, threads=threads).decide_liveness()


def agree_at_random(examples, attempt=0):
    """Ask engines and definition about so many different automata; count what is true of them."""
    judged, seen = {}, Tally()

    def agree_on(model):
        assume(repr(model) not in judged)
        known = decide_liveness(model)
        others = [natively(model, 1), natively(model, 2)]
        broken = {}
        for promise in promises_of(model):
            name = promise.call.name
            broken[name] = breaks_by_definition(model, name)
            for answer in (known, *others):
                lasso = answer.lassos[promise.call]
                assert (lasso is not None) == broken[name], name
                assert lasso is None or breaks_as_told(model, lasso, name), name
                assert (answer.unasked, answer.unneeded) == (known.unasked, known.unneeded)
        judged[repr(model)] = type(model)
        seen.update(broken.items())

    tried(examples, attempt)(given(model=random_automata())(agree_on))()
    assert len(judged) == examples
    assert len(seen) == 4  # each of two promises was kept, and was broken
    assert min(seen.values()) >= examples // 20
    return set(judged.values())


@SHRINKING
def test_engines_and_definition_agree_on_random_automata():
    assert len(agree_at_random(40)) > 5


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_engines_and_definition_agree_on_hundreds_of_automata():
    assert agree_at_random(400, attempt=1) == set(KINDS.values())
    assert any(Fairness.STRONG in kinds for kinds in KINDS)


@SHRINKING
@pytest.mark.slow
def test_runs_that_break_a_promise_are_as_short_whichever_engine_finds_them():
    """States of two partitions are numbered in another order than that of their discovery."""
    lengths = set()

    def agree_on(model):
        known = decide_liveness(model).lassos
        for threads in (1, 2, 4):
            found = natively(model, threads).lassos
            for call, lasso in known.items():
                other = found[call]
                assert (lasso is None) == (other is None)
                if lasso is not None and other is not None:
                    assert len(other.path.steps) == len(lasso.path.steps), threads
                    lengths.add(len(lasso.path.steps))

    tried(25)(given(model=random_automata(size=60))(agree_on))()
    assert len(lengths) > 4


def test_a_snapshot_completes_and_needs_both_fair_actions():
    report = check(registry.build("chandy_lamport", "small"))
    finding = report.finding("every_snapshot_completes")
    assert finding.verdict.status is Status.EXHAUSTED
    assert finding.note == ""
    assert report.liveness.status is Status.EXHAUSTED


def test_promises_are_unknown_if_not_all_states_were_visited():
    report = check(registry.build("chandy_lamport", "small"), limits=Limits(states_max=50))
    (reason,) = report.finding("every_snapshot_completes").verdict.reasons
    assert "raise --states-max" in reason
