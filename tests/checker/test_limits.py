"""Limits: each ends a search as undetermined, keeps the counts, and says which flag raises it."""

from __future__ import annotations

from pathlib import Path

import pytest

from streamproof.checker import Limits, check, engines, explore, limits
from streamproof.checker.native.engine import explore as explore_natively
from streamproof.models.kit import registry
from streamproof.models.kit.verdict import Status, Undetermined
from tests.checker.support.walks import Counter


def only_reason(report) -> str:
    assert isinstance(report.safety, Undetermined)
    (reason,) = report.safety.reasons
    return reason


def test_as_many_states_as_allowed_are_kept_and_the_flag_is_named():
    report = check(Counter(9), limits=Limits(states_max=4))
    assert only_reason(report) == (
        "there are more than 4 states, which is the limit: raise --states-max"
    )
    assert report.counts.distinct == 4


def test_a_limit_that_is_just_enough_changes_nothing():
    assert check(Counter(3), limits=Limits(states_max=4, depth_max=5)).counts.distinct == 4
    assert check(Counter(3), limits=Limits(states_max=4)).finding(
        "deadlock"
    ).verdict.status.value == ("EXHAUSTED")


def test_states_at_the_depth_limit_are_checked_but_not_expanded():
    report = check(Counter(9), limits=Limits(depth_max=3))
    assert only_reason(report) == ("the 1 states at depth 3 were not expanded: raise --depth-max")
    assert (report.counts.distinct, report.counts.depth) == (3, 3)


def test_memory_beyond_the_limit_ends_the_search():
    report = check(Counter(9), limits=Limits(memory_mb_max=1))
    assert "may hold 1: raise --memory" in only_reason(report)
    assert report.counts.distinct == 1


@pytest.mark.parametrize("name", ["states_max", "depth_max", "memory_mb_max"])
def test_a_limit_of_nothing_is_refused(name):
    with pytest.raises(ValueError, match=f"{name} is 0"):
        Limits(**{name: 0})


def test_without_proc_the_peak_stands_for_the_memory_now(monkeypatch):
    def unreadable(self: Path) -> str:
        raise FileNotFoundError(self)

    monkeypatch.setattr(Path, "read_text", unreadable)
    assert limits.memory_mb() == limits.peak_memory_mb() > 0
    assert limits.default_memory_mb() > 0


def test_on_a_mac_the_peak_is_given_in_bytes(monkeypatch):
    here = limits.peak_memory_mb()
    monkeypatch.setattr(limits.sys, "platform", "darwin")
    assert limits.peak_memory_mb() <= here // 512


@pytest.mark.parametrize(("count", "useful"), [(1, 1), (2, 2), (3, 2), (64, 64)])
def test_no_more_threads_are_useful_than_there_are_cores(count, useful, monkeypatch):
    monkeypatch.setattr(limits.os, "sched_getaffinity", lambda _: set(range(count)), raising=False)
    assert (limits.cores(), limits.threads_useful()) == (count, useful)
    monkeypatch.delattr(limits.os, "sched_getaffinity")
    monkeypatch.setattr(limits.os, "cpu_count", lambda: None if count == 1 else count)
    assert (limits.cores(), limits.threads_useful()) == (count, useful)


def test_a_container_is_not_believed_to_have_the_whole_machine(monkeypatch):
    monkeypatch.setattr(Path, "read_text", lambda self: "104857600\n")
    assert limits.default_memory_mb() == 75


DECIDING = {"reference": explore, "native": explore_natively}


@pytest.mark.parametrize("engine", DECIDING.values(), ids=DECIDING)
def test_memory_is_limited_while_promises_are_decided_too(engine, monkeypatch):
    """The search itself fits: it is deciding that would not."""
    model = registry.build("chandy_lamport", "small")

    def searched(model, **_):
        found = engine(model)
        monkeypatch.setattr(limits, "memory_mb", lambda: 10_000)
        return found

    monkeypatch.setattr(limits, "default_memory_mb", lambda: 9_999)
    report = check(model, engine=searched)
    assert report.safety.status is Status.EXHAUSTED
    assert isinstance(report.liveness, Undetermined)
    assert "raise --memory" in report.liveness.reasons[0]
    assert report.counts.distinct == 141


def test_what_deciding_takes_is_told_before_it_is_taken():
    with pytest.raises(limits.LimitReached, match=r"deciding takes about 1,000,000,000 MiB"):
        Limits().check_memory(10**9, "deciding")


@pytest.mark.parametrize("engine", DECIDING.values(), ids=DECIDING)
def test_an_interrupt_while_promises_are_decided_keeps_what_was_found(engine):
    """Told by the progress, as a key that is pressed at that moment would be."""

    def interrupt(progress):
        if progress.deciding:
            raise KeyboardInterrupt

    model = registry.build("chandy_lamport", "small")
    report = check(model, engine=engine, on_progress=interrupt)
    assert report.interrupted
    assert report.safety.status is Status.EXHAUSTED
    assert isinstance(report.liveness, Undetermined)
    assert report.counts.distinct == 141


def test_an_interrupt_between_the_engines_keeps_what_the_first_has_found(monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(engines, "explore_natively", interrupted)
    monkeypatch.setattr(engines, "FEW", engines.SMALL)
    report = check(registry.build("chandy_lamport", "ring"), engine=engines.explore)
    assert report.interrupted
    assert report.counts.distinct == engines.SMALL
