"""Mutation: what becomes of a mutant, and that only the right death counts."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

import pytest

from streamproof.checker import Limits, check
from streamproof.checker.exploration import INTERRUPTED
from streamproof.checker.mutation import Fate, MutationReport, run_mutants
from streamproof.lang import WrongDefinition
from streamproof.lang.model import Fairness, action, always, final, leads_to
from streamproof.models.kit.mutant import Mutant
from streamproof.models.kit.sizes import at_size
from streamproof.models.kit.verdict import ExitCode, Undetermined
from tests.checker.support.walks import Count, Counter


@dataclass(frozen=True)
class Right(Counter):
    @always
    def parity_is_right(self, now: Count) -> dict[str, bool]:
        return {"even": not now.parity or now.value % 2 == 1, "odd": now.parity or now.value != 1}

    @always
    def is_small(self, now: Count) -> bool:
        return now.value < 5

    @always
    def always_false(self, now: Count) -> bool:
        return now.value < 8

    @action(fairness=Fairness.WEAK)
    def up(self, now: Count) -> Count:
        return super().up(now)

    @action(fairness=Fairness.WEAK)
    def reset(self, now: Count) -> Count:
        return super().reset(now)

    @leads_to
    def comes_back(self, now: Count) -> tuple[bool, bool]:
        return now.value > 0, now.value == 0


class Harmless(Right):
    pass


class ForgetsParity(Right):
    def up(self, now: Count) -> Count:
        return replace(super().up(now), parity=False)


class Stuck(Right):
    def reset(self, now: Count) -> Count:
        return replace(now)


class StuckForEver(Stuck):
    @final
    def anywhere(self, now: Count) -> bool:
        return True


TOO_SMALL = (StuckForEver, "is_small")
"""A mutant that is searched with too low a limit."""


def fate_of(model_class, killed_by, *, most=3, steps_max=9, limits=None):
    mutant = Mutant("M", model_class, {"most": most}, killed_by, steps_max, "a story")
    (result,) = run_mutants([mutant], original_of=lambda _: Right, build=at_size, limits=limits)
    return result


@pytest.mark.parametrize(
    ("killed_by", "fate", "reason"),
    [
        ("parity_is_right", Fate.KILLED, "parity_is_right.odd() does not hold"),
        ("parity_is_right.odd", Fate.KILLED, "parity_is_right.odd() does not hold"),
        ("parity_is_right.even", Fate.OTHER_KILLER, "parity_is_right broke first"),
        ("is_small", Fate.OTHER_KILLER, "parity_is_right broke first"),
    ],
)
def test_only_the_named_property_kills(killed_by, fate, reason):
    result = fate_of(ForgetsParity, killed_by)
    assert (result.fate, result.steps) == (fate, 1)
    assert result.reason.startswith(reason)


class Claims(Right):
    def reset(self, now: Count) -> Count:
        assert now.value < 2  # what Counter does at the most alone
        return super().reset(now)


@pytest.mark.parametrize(
    ("killed_by", "fate"),
    [
        ("claims", Fate.KILLED),
        ("claims.reset", Fate.KILLED),
        ("claims.up", Fate.OTHER_KILLER),
    ],
)
def test_only_a_claim_of_the_named_function_kills(killed_by, fate):
    result = fate_of(Claims, killed_by)
    assert result.fate is fate
    assert "reset, line " in result.reason
    assert ": assert now.value < 2" in result.reason


def test_what_kills_must_be_a_property_of_the_model():
    with pytest.raises(WrongDefinition, match="killed by bogus, which is no property of Forgets"):
        fate_of(ForgetsParity, "bogus")


def test_an_interrupted_run_tells_what_it_has_and_is_not_green(monkeypatch):
    def interrupted(model, **_):
        report = check(model)
        first, *others = report.findings
        stopped = replace(first, verdict=Undetermined((INTERRUPTED,)))
        return replace(report, findings=(stopped, *others))

    monkeypatch.setattr("streamproof.checker.mutation.check", interrupted)
    mutants = [
        Mutant(name, ForgetsParity, {"most": 3}, "parity_is_right", 1, "") for name in ("A", "B")
    ]
    results = tuple(run_mutants(mutants, original_of=lambda _: Right, build=at_size))
    assert [result.mutant.name for result in results] == ["A"]
    killed = fate_of(ForgetsParity, "parity_is_right")
    assert MutationReport("m", (killed,), left=1).exit_code is ExitCode.UNDETERMINED


def test_a_counterexample_longer_than_the_mutant_allows_says_what_to_write():
    result = fate_of(ForgetsParity, "parity_is_right", steps_max=0)
    assert result.fate is Fate.TOO_LONG
    assert result.reason == (
        "the shortest run has 1 step, and the mutant allows 0: write steps_max=1, if 1 is right"
    )
    lasso = fate_of(Stuck, "comes_back", steps_max=0)
    assert lasso.fate is Fate.TOO_LONG
    assert re.match(r"the run that was found has (\d+) steps, .* steps_max=\1, if", lasso.reason)


def test_a_mutant_that_breaks_nothing_survives():
    result = fate_of(Harmless, "is_small")
    assert (result.fate, result.killer, result.steps) == (Fate.SURVIVED, "", None)
    assert result.reason == "is_small holds in all 4 states"


def test_a_property_that_the_original_breaks_says_nothing():
    result = fate_of(ForgetsParity, "is_small", most=5)
    assert result.fate is Fate.ORIGINAL_FAILS


def test_a_mutant_may_be_killed_by_a_promise():
    result = fate_of(StuckForEver, "comes_back")
    assert (result.fate, result.killer, result.steps) == (Fate.KILLED, "comes_back", 3)


def test_a_search_that_was_cut_short_decides_nothing():
    result = fate_of(Harmless, "is_small", limits=Limits(states_max=2))
    assert result.fate is Fate.UNDETERMINED
    assert "raise --states-max" in result.reason


def test_a_kill_counts_only_once_the_original_was_searched_to_the_end():
    result = fate_of(ForgetsParity, "parity_is_right", limits=Limits(states_max=3))
    assert result.fate is Fate.UNDETERMINED
    assert result.reason.startswith("the original is UNDETERMINED (")
    assert "raise --states-max" in result.reason


def test_the_original_is_searched_once_for_each_size():
    built = []

    def build(model_class, size):
        built.append(model_class)
        return at_size(model_class, size)

    mutants = [
        Mutant(name, ForgetsParity, {"most": 3}, "parity_is_right", 1, "") for name in ("A", "B")
    ]
    results = tuple(run_mutants(mutants, original_of=lambda _: Right, build=build))
    assert built.count(Right) == 1
    assert [result.fate for result in results] == [Fate.KILLED, Fate.KILLED]


@pytest.mark.parametrize(
    ("results", "code"),
    [
        ([], ExitCode.UNDETERMINED),
        ([(ForgetsParity, "parity_is_right")], ExitCode.GREEN),
        ([(ForgetsParity, "parity_is_right"), (Harmless, "is_small")], ExitCode.REFUTED),
        ([(ForgetsParity, "parity_is_right"), TOO_SMALL], ExitCode.UNDETERMINED),
        ([(Harmless, "is_small"), TOO_SMALL], ExitCode.REFUTED),
    ],
    ids=["none", "killed", "survivor", "undetermined", "survivor-and-undetermined"],
)
def test_a_report_is_green_only_if_every_mutant_was_killed(results, code):
    limits = [Limits(states_max=2) if part is TOO_SMALL else None for part in results]
    fates = [fate_of(*part, limits=most) for part, most in zip(results, limits, strict=True)]
    report = MutationReport("m", tuple(fates))
    assert report.exit_code is code
    assert report.to_json()["exit_code"] == int(code)


def test_the_json_of_a_killed_mutant_has_its_trace():
    row = MutationReport("m", (fate_of(ForgetsParity, "parity_is_right"),)).to_json()["mutants"][0]
    assert (row["mutant"], row["fate"], row["steps"], row["story"]) == ("M", "killed", 1, "a story")
    assert row["trace"]["steps"][0]["action"] == "up()"
    row = fate_of(Harmless, "is_small").to_json()
    assert row["trace"] is None
