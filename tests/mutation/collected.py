"""Tests that are collected once, and run in a fork for each mutant that can be made in memory.

Who survives there is tried once more with a new import: what was done while the tests were
collected, such as a trace that is kept, was done without the mutant.

``python -m tests.mutation.collected GROUP HOME``, in the copy of the tree. It prints a line for
each mutant, and notes the result in the session.
"""

from __future__ import annotations

import json
import os
import resource
import shutil
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from _pytest import main as pytest_main
from cosmic_ray.mutating import mutate_code
from cosmic_ray.plugins import get_operator
from cosmic_ray.work_db import WorkDB, use_db
from cosmic_ray.work_item import WorkItem

from tests.mutation.groups import Group, group_named
from tests.mutation.results import Outcome, outcome_of, result_of, told
from tests.mutation.swap import swap, swapped_code

NOT_LOADED = 77
"""Exit code of a fork that could not make its mutant."""
COSTLY_SECONDS = 5.0
"""Of CPU. A test that takes longer is no fast test, and mutants do without it."""
CPU_TIMES = 4.0
CPU_SECONDS_MIN = 10.0


def limit_of(costs: Mapping[str, float]) -> float:
    """Return how much CPU a mutant's tests may take before they are taken to run for ever."""
    return max(CPU_SECONDS_MIN, CPU_TIMES * sum(c for c in costs.values() if c < COSTLY_SECONDS))


class MutantLoop:
    """Runs the tests that pytest has collected once for each mutant, instead of once.

    Parameters
    ----------
    home : the directory with the session
    """

    def __init__(self, group: Group, home: Path) -> None:
        self.group, self.home = group, home
        self.baseline = home / "baseline.json"
        self.costs: dict[str, float] = {}

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Take the place of pytest's own loop."""
        if session.testsfailed:
            raise session.Interrupted("the tests could not be collected")
        if not self.baseline.exists():
            self._measure(session)
        known = json.loads(self.baseline.read_text(encoding="utf-8"))
        session.items[:] = [i for i in session.items if known.get(i.nodeid, 0.0) < COSTLY_SECONDS]
        self.costs, limit = known, limit_of(known)
        with use_db(str(self.home / "session.sqlite"), WorkDB.Mode.open) as db:
            pending = list(db.pending_work_items)
            for number, item in enumerate(pending, start=1):
                began = time.monotonic()
                outcome, cpu_seconds = self._run(session, item, limit)
                if outcome in (Outcome.FAILED, Outcome.TIMEOUT):
                    db.set_result(item.job_id, result_of(outcome))
                key = told(item.mutations[0])
                seconds = f"{time.monotonic() - began:.0f} s ({cpu_seconds:.1f} s of CPU)"
                print(f"{self.group.name} {number}/{len(pending)} {outcome.value} {seconds} {key}")
                sys.stdout.flush()
        return True

    def _measure(self, session: pytest.Session) -> None:
        """Run the tests as for a mutant, without one: they must pass, or a failure means nothing.

        Their times order and bound others.
        """
        child = os.fork()
        if child == 0:
            code = 1
            try:
                _quietly(self.home / "baseline.log")
                meter = Meter()
                session.config.pluginmanager.register(meter)
                code = self._run_here(session, Path("none"))
                if code == 0:
                    self.baseline.write_text(json.dumps(meter.costs), encoding="utf-8")
            finally:
                os._exit(code)
        os.waitpid(child, 0)
        if not self.baseline.exists():
            raise session.Interrupted(f"the tests fail without a mutant: {self.home}/baseline.log")

    def _run(
        self, session: pytest.Session, item: WorkItem, limit_seconds: float
    ) -> tuple[Outcome, float]:
        (mutation,) = item.mutations
        original = mutation.module_path.read_text(encoding="utf-8")
        operator = get_operator(mutation.operator_name)(**mutation.operator_args)
        mutated = mutate_code(original, operator, mutation.occurrence)
        pairs = mutated and swapped_code(original, mutated, str(mutation.module_path))
        if not pairs:
            return Outcome.NONE_RUN, 0.0
        forgotten = self.home / "cache of a mutant"
        shutil.rmtree(forgotten, ignore_errors=True)
        child = os.fork()
        if child == 0:
            code = NOT_LOADED
            try:
                _quietly(self.home / "last.log")
                # Compiled code is found by the sources on disk, which are not those of a mutant.
                os.environ["XDG_CACHE_HOME"] = str(forgotten)
                seconds = int(limit_seconds)
                resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
                if swap(pairs):
                    code = self._run_here(session, mutation.module_path)
            except BaseException:  # noqa: BLE001  what a mutant breaks is broken
                code = 1
            finally:
                os._exit(code)
        _, status, used = os.wait4(child, 0)
        if os.waitstatus_to_exitcode(status) == NOT_LOADED:
            return Outcome.NONE_RUN, 0.0
        return outcome_of(status), used.ru_utime + used.ru_stime

    def _run_here(self, session: pytest.Session, mutated: Path) -> int:
        self._order(session, mutated.stem)
        session.config.pluginmanager.register(Teller())
        session.config.option.maxfail = 1
        try:
            pytest_main.pytest_runtestloop(session)
        except session.Failed:
            return 1
        return 1 if session.testsfailed else 0

    def _order(self, session: pytest.Session, stem: str) -> None:
        """Begin with tests named like the mutated file, then with those that are soon done."""
        totals: dict[Path, float] = {}
        for item in session.items:
            totals[item.path] = totals.get(item.path, 0.0) + self.costs.get(item.nodeid, 0.0)

        def rank(item: pytest.Item) -> tuple[bool, float, str, float]:
            is_named = stem in item.path.stem
            cost = self.costs.get(item.nodeid, 0.0)
            return not is_named, totals[item.path], str(item.path), cost

        session.items.sort(key=rank)


class Teller:
    """Writes down what failed: a fork ends before pytest sums up."""

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Called by pytest after each part of a test."""
        if report.failed:
            print(f"\n{report.nodeid} ({report.when})\n{report.longreprtext}", flush=True)


class Meter:
    """Measures the CPU that each test takes."""

    def __init__(self) -> None:
        self.costs: dict[str, float] = {}

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        """Called by pytest around each test."""
        began = _cpu_seconds()
        outcome = yield
        self.costs[item.nodeid] = _cpu_seconds() - began
        return outcome


def _cpu_seconds() -> float:
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(part.ru_utime + part.ru_stime for part in used)


def _quietly(log: Path) -> None:
    out = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    for stream in (1, 2):
        os.dup2(out, stream)


def main() -> int:
    """Run the mutants of a group."""
    group, home = group_named(sys.argv[1]), Path(sys.argv[2])
    options = ["-q", "-s", "-p", "no:cacheprovider", "-p", "no:xdist", "--timeout=0"]
    options += ["--tb=line", "-o", "addopts=--import-mode=importlib", "-m", "not slow"]
    tests = [f"tests/{test}" for test in group.tests]
    return int(pytest.main([*options, *tests], plugins=[MutantLoop(group, home)]))


if __name__ == "__main__":
    sys.exit(main())
