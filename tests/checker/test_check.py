"""Findings: every verdict that a search can end in, and that nothing unknown turns green."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace

import pytest

from streamproof.checker import Limits, check
from streamproof.checker.properties import STUCK, BrokenAssumption
from streamproof.lang import Domain, require
from streamproof.lang.model import (
    Fairness,
    action,
    always,
    assume,
    eventually,
    every_step,
    final,
    leads_to,
    sometimes,
)
from streamproof.models.kit.verdict import ExitCode, Kind, Status, exit_code
from tests.checker.support.walks import Count, Counter, Node, Sound, Walk, walk


def status(report, name):
    return report.finding(name).verdict.status


def reason(report, name):
    (only,) = report.finding(name).verdict.reasons
    return only


def test_a_model_whose_every_state_was_visited_is_exhausted():
    report = check(Sound(3))
    assert {part.verdict.status for part in report.findings} == {Status.EXHAUSTED}
    assert report.verdict.status is Status.EXHAUSTED
    assert report.liveness is None
    assert exit_code(report.verdict) is ExitCode.GREEN
    assert report.finding("gets_to_the_top").note == "reached in 3 steps: 0/0/0/0"


def test_a_report_says_in_json_what_its_attributes_say():
    report = check(Sound(3))
    found = json.loads(json.dumps(report.to_json()))
    assert found["verdict"] == {"status": "EXHAUSTED"}
    assert found["counts"] == report.counts.to_json()
    assert [row["name"] for row in found["findings"]] == [part.name for part in report.findings]
    assert found["engine"] == "reference"
    assert found["memory_mb_peak"] > 0
    assert found["states_per_second"] == report.rate


def test_a_finding_that_is_not_there_is_named_with_those_that_are():
    with pytest.raises(KeyError, match="bogus is not among .*in_range"):
        check(Sound(3)).finding("bogus")


class Broken(Counter):
    @always
    def named(self, now: Count) -> dict[str, bool | str]:
        return {"small": now.value < 2, "even": True, "odd": now.value < 2 or "it is even"}

    @sometimes
    def never(self, now: Count) -> bool:
        return now.value > 99


def test_a_counterexample_names_the_conjuncts_that_failed():
    report = check(Broken(5))
    verdict = report.finding("named").verdict
    assert verdict.status is Status.REFUTED
    assert verdict.conjuncts == ("small", "odd")
    assert verdict.reason == "named.small() does not hold; it is even"
    assert len(verdict.trace) == 2
    assert report.verdict is report.safety
    assert exit_code(report.verdict) is ExitCode.REFUTED


def test_what_a_search_did_not_get_to_see_is_undetermined():
    report = check(Broken(5))
    for name in ("never", "claims", "deadlock", "actions"):
        assert reason(report, name) == "the search ended at the counterexample to named"


def test_a_sometimes_that_no_state_satisfies_is_undetermined():
    class Hopeless(Counter):
        @sometimes
        def never(self, now: Count) -> bool:
            return now.value > 99

    report = check(Hopeless(3))
    assert reason(report, "never").startswith("never() is not reached in any of 4 states")
    assert exit_code(report.verdict) is ExitCode.UNDETERMINED


class Aims(Walk):
    @final
    def anywhere(self, now: Node) -> bool:
        return True

    @sometimes
    def arrives(self, now: Node, at: Node) -> bool:
        return now is at


def test_a_sometimes_with_parameters_must_be_reached_for_each():
    assert reason(check(walk(Aims, (0, 1), size=3)), "arrives").startswith(
        "arrives(at=node2) is not reached in any of 2 states"
    )
    assert status(check(walk(Aims, (0, 1))), "arrives") is Status.EXHAUSTED


def test_a_sometimes_that_was_reached_stays_undetermined_in_a_search_that_was_cut_short():
    report = check(Sound(9), limits=Limits(depth_max=2))
    assert status(report, "gets_to_the_top") is Status.UNDETERMINED


def test_a_state_without_steps_is_a_deadlock():
    verdict = check(walk(Walk, (0, 1))).finding("deadlock").verdict
    assert (verdict.status, verdict.reason) == (Status.REFUTED, STUCK)
    assert len(verdict.trace) == 1


def test_a_final_state_is_no_deadlock():
    class Ends(Walk):
        @final
        def at_one(self, now: Node) -> bool:
            return now.index == 1

    assert status(check(walk(Ends, (0, 1))), "deadlock") is Status.EXHAUSTED
    assert status(check(walk(Ends, (0, 2))), "deadlock") is Status.REFUTED


class Claims(Counter):
    @action
    def claim(self, now: Count) -> Count:
        assert now.value < 2, "two is too much"
        return now


def test_a_claim_that_fails_is_a_counterexample_and_no_false_guard():
    report = check(Claims(3))
    verdict = report.finding("claims").verdict
    assert verdict.status is Status.REFUTED
    assert "two is too much" in verdict.reason
    assert [step.action for step in verdict.trace.steps] == ["up()", "up()", "claim()"]
    assert verdict.trace.steps[-1].broken_claim == verdict.reason


class Lazy(Counter):
    @action
    def fly(self, now: Count) -> Count:
        require(now.value > 99)
        return now


def test_an_action_that_never_happens_leaves_the_model_undetermined():
    report = check(Lazy(3))
    assert reason(report, "actions").startswith("fly never happened in any of 4 states")
    assert dict(report.counts.firings) == {"up": 3, "reset": 1, "fly": 0}
    assert report.verdict.status is Status.UNDETERMINED


def test_what_a_size_rules_out_must_not_happen_and_the_rest_must():
    class Grounded(Lazy):
        @always
        def is_small(self, now: Count) -> bool:
            return now.value <= 3

        def ruled_out(self) -> list[str]:
            return ["fly"]

    class Stuck(Grounded):
        def ruled_out(self) -> list[str]:
            return ["fly", "reset"]

    assert check(Grounded(3)).verdict.status is Status.EXHAUSTED
    report = check(Stuck(3))
    assert reason(report, "actions").startswith("reset happened, though the model's ruled_out()")
    assert report.verdict.status is Status.UNDETERMINED


class Empty(Walk):
    @final
    def anywhere(self, now: Node) -> bool:
        return True

    @always
    def about_nodes(self, now: Node, other: Node) -> bool:
        return True

    @every_step
    def about_steps(self, before: Node, after: Node) -> bool:
        return True

    @sometimes
    def about_goals(self, now: Node, other: Node) -> bool:
        return True


def test_a_property_that_was_never_asked_is_undetermined():
    report = check(Empty(Domain(Node, 0), frozenset()))
    assert reason(report, "about_nodes").startswith("about_nodes was never asked: its parameters")
    assert reason(report, "about_steps") == "about_steps was never asked, since no step is possible"
    assert status(report, "about_goals") is Status.UNDETERMINED


class Promising(Sound):
    @leads_to
    def comes_back(self, now: Count) -> tuple[bool, bool]:
        return now.value > 0, now.value == 0


def test_a_promise_that_no_fair_action_keeps_is_refuted_in_a_row_of_its_own():
    report = check(Promising(3))
    assert report.safety.status is Status.EXHAUSTED
    assert report.liveness.status is report.verdict.status is Status.REFUTED
    finding = report.finding("comes_back")
    assert finding.kind is Kind.LEADS_TO
    assert "no action is declared fair" in finding.verdict.reason
    assert (len(finding.verdict.trace), finding.verdict.trace.repeats) == (1, 0)


class Keeping(Promising):
    @action(fairness=Fairness.WEAK)
    def up(self, now: Count) -> Count:
        return super().up(now)

    @action(fairness=Fairness.STRONG)
    def reset(self, now: Count) -> Count:
        return super().reset(now)

    @eventually
    def gets_there(self, now: Count) -> bool:
        return now.value == self.most


def test_promises_that_fair_actions_keep_are_exhausted():
    report = check(Keeping(3))
    assert report.verdict.status is Status.EXHAUSTED
    assert report.finding("gets_there").kind is Kind.EVENTUALLY
    assert {part.note for part in report.findings if part.kind.is_liveness} == {""}


def test_fairness_that_nothing_rests_on_is_told():
    kind = type(
        "Idle", (Keeping,), {"comes_back": leads_to(lambda self, now: (now.value > 2, True))}
    )
    note = check(kind(3)).finding("gets_there").note
    assert note == "holds without the fairness of reset as well"


def test_a_promise_that_is_never_made_is_undetermined():
    kind = type("Mute", (Keeping,), {"comes_back": leads_to(lambda self, now: (False, True))})
    assert "so nothing was promised" in reason(check(kind(3)), "comes_back")


def test_liveness_that_was_left_out_is_listed_as_left_out():
    report = check(Promising(3), liveness=False)
    assert report.verdict.status is Status.EXHAUSTED
    assert report.left_out == ("comes_back",)
    assert report.to_json()["liveness"] is None


def test_a_size_that_contradicts_an_assumption_is_refused():
    class Assuming(Counter):
        @assume
        def something_to_count(self) -> bool:
            return self.most > 0

    with pytest.raises(BrokenAssumption, match="Assuming assumes something_to_count"):
        check(Assuming(0))
    assert check(Assuming(1)).finding("deadlock").verdict.status is Status.EXHAUSTED


def test_python_without_asserts_is_refused_since_claims_would_pass_unseen():
    program = (
        "from streamproof.checker import check\n"
        "from tests.checker.support.walks import Counter\n"
        "check(Counter(1))\n"
    )
    ran = subprocess.run(
        [sys.executable, "-O", "-c", program], capture_output=True, text=True, check=False
    )
    assert "ClaimsDisabled: Python runs with -O" in ran.stderr


def test_the_rate_of_an_instant_search_is_nought():
    instant = replace(check(Sound(1)), seconds=0.0)
    assert instant.rate == 0
