"""Liveness: both engines against the definition on random automata, and what is told of it."""

from __future__ import annotations

from collections import Counter as Tally

import pytest

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
    random_automaton,
)


def natively(model, threads):
    return native(model, threads=threads).decide_liveness()


@pytest.mark.parametrize("block", range(1))
def test_engines_and_definition_agree_on_random_automata(block):
    seen = Tally()
    for seed in range(block * 40, block * 40 + 40):
        model = random_automaton(seed)
        known = decide_liveness(model)
        others = [natively(model, 1), natively(model, 2)]
        for promise in promises_of(model):
            expected = breaks_by_definition(model, promise.call.name)
            for answer in (known, *others):
                lasso = answer.lassos[promise.call]
                assert (lasso is not None) == expected, (seed, promise.call)
                if lasso is not None:
                    assert breaks_as_told(model, lasso, promise.call.name), (seed, promise.call)
                assert (answer.unasked, answer.unneeded) == (known.unasked, known.unneeded)
            seen[expected] += 1
    assert min(seen.values()) > 5
    assert len(seen) == 2


@pytest.mark.slow
@pytest.mark.parametrize("block", range(1, 10))
def test_engines_and_definition_agree_on_more_automata(block):
    test_engines_and_definition_agree_on_random_automata(block)


def test_runs_that_break_a_promise_are_as_short_whichever_engine_finds_them():
    """States of two partitions are numbered in another order than that of their discovery."""
    lengths = set()
    for seed in range(25):
        model = random_automaton(seed, size=60)
        known = decide_liveness(model).lassos
        for threads in (1, 2, 4):
            found = natively(model, threads).lassos
            for call, lasso in known.items():
                other = found[call]
                assert (lasso is None) == (other is None)
                if lasso is not None and other is not None:
                    assert len(other.path.steps) == len(lasso.path.steps), (seed, threads)
                    lengths.add(len(lasso.path.steps))
    assert len(lengths) > 4


def test_every_kind_of_fairness_was_drawn():
    drawn = {type(random_automaton(seed)) for seed in range(400)}
    assert drawn == set(KINDS.values())
    assert any(Fairness.STRONG in kinds for kinds in KINDS)


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
