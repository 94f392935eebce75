"""Mutation testing of the kernel of trust: ``python -m tests.mutation.campaign``.

A copy of the tree is mutated, one place at a time, and the tests of the mutated room must fail.
Results are kept in a directory outside of the repository; who starts it again goes on. The mutants
are cosmic-ray's; its session holds what was drawn and what became of it.
"""

from __future__ import annotations

import argparse
import compileall
import os
import shutil
import sys
import time
import tomllib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from cosmic_ray.mutating import use_mutation
from cosmic_ray.plugins import get_operator
from cosmic_ray.work_db import WorkDB, use_db
from cosmic_ray.work_item import TestOutcome, WorkerOutcome, WorkItem, WorkResult

from streamproof.cache import cache_directory
from tests.mutation.forks import Outcome, preload, run_tests
from tests.mutation.groups import GROUPS, Group
from tests.mutation.mutants import drawn, key_of

ROOT = Path(__file__).parents[2]
COPIED = ("streamproof", "tests", "examples", "benchmarks", "docs", "pyproject.toml", "README.md")
EXPLAINED = Path(__file__).with_name("survivors.toml")
TIMEOUT_TIMES = 4.0
TIMEOUT_SECONDS_MIN = 60.0


def main() -> int:
    """Run what has not been run, and report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--directory", type=Path, default=cache_directory() / "mutation")
    parser.add_argument("--group", action="append", choices=[group.name for group in GROUPS])
    parser.add_argument("--again", action="store_true", help="run those again that survived")
    parser.add_argument("--report", action="store_true", help="run nothing")
    asked = parser.parse_args()
    groups = [group for group in GROUPS if not asked.group or group.name in asked.group]
    for group in groups:
        campaign = Campaign(group, asked.directory / group.name)
        if not asked.report:
            campaign.run(again=asked.again)
    return report(groups, asked.directory)


class Campaign:
    """The mutants of one group.

    Parameters
    ----------
    home : the directory that keeps the copy of the tree and the session
    """

    def __init__(self, group: Group, home: Path) -> None:
        self.group, self.home = group, home
        self.tree = home / "tree"
        self.package = self.tree / "streamproof"
        self.session = home / "session.sqlite"

    def run(self, *, again: bool) -> None:
        """Run the tests on each mutant that has no result yet."""
        self._copy()
        preload(self.group.preload)
        limit = self._timeout()
        with use_db(str(self.session), WorkDB.Mode.create) as db:
            if not db.num_work_items:
                db.add_work_items(drawn(self.group.files(self.package), self.group.sample))
            if again:
                _forget_survivors(db)
            pending = list(db.pending_work_items)
            for number, item in enumerate(pending, start=1):
                began = time.monotonic()
                result = self._run_one(item, limit)
                db.set_result(item.job_id, result)
                key = key_of(item.mutations[0], self.package)
                told = result.test_outcome.value if result.test_outcome else "no mutant"
                seconds = time.monotonic() - began
                print(f"{self.group.name} {number}/{len(pending)} {told} {seconds:.0f} s {key}")
                sys.stdout.flush()

    def _copy(self) -> None:
        """Copy the tree as it is now, compiled, so that a test process compiles one file."""
        shutil.rmtree(self.tree, ignore_errors=True)
        self.tree.mkdir(parents=True)
        for name in COPIED:
            source = ROOT / name
            if source.is_dir():
                shutil.copytree(source, self.tree / name)
            else:
                shutil.copy2(source, self.tree / name)
        compileall.compile_dir(self.package, quiet=2)

    def _timeout(self) -> float:
        """Run the tests without a mutant: they must pass, and their time bounds that of others."""
        began = time.monotonic()
        log = self.home / "baseline.log"
        outcome = run_tests(self.tree, self.group.tests, log, 3600.0)
        seconds = time.monotonic() - began
        print(f"{self.group.name} baseline {outcome.value} {seconds:.0f} s")
        if outcome is not Outcome.PASSED:
            raise SystemExit(
                f"the tests of {self.group.name} fail without a mutant ({outcome.value}), so that "
                f"a failure would mean nothing. Read {log}, and mend them"
            )
        return max(TIMEOUT_SECONDS_MIN, TIMEOUT_TIMES * seconds)

    def _run_one(self, item: WorkItem, timeout_seconds: float) -> WorkResult:
        (mutation,) = item.mutations
        operator = get_operator(mutation.operator_name)(**mutation.operator_args)
        with use_mutation(mutation.module_path, operator, mutation.occurrence) as (_, mutated):
            if mutated is None:
                return WorkResult(worker_outcome=WorkerOutcome.NO_TEST)
            log = self.home / "last.log"
            outcome = run_tests(self.tree, self.group.tests, log, timeout_seconds)
        if outcome is Outcome.NONE_RUN:
            raise SystemExit(f"no test was run: read {log}")
        survived = outcome is Outcome.PASSED
        return WorkResult(
            worker_outcome=WorkerOutcome.NORMAL,
            test_outcome=TestOutcome.SURVIVED if survived else TestOutcome.KILLED,
            output=outcome.value,
        )


def _forget_survivors(db: WorkDB) -> None:
    """Let survivors run again, on the tests as they are now."""
    survived = [item for item, result in _finished(db) if not result.is_killed]
    kept = [(item, result) for item, result in _finished(db) if result.is_killed]
    waiting = list(db.pending_work_items)
    db.clear()
    db.add_work_items([*survived, *waiting, *(item for item, _ in kept)])
    for item, result in kept:
        db.set_result(item.job_id, result)


def _finished(db: WorkDB) -> Iterator[tuple[WorkItem, WorkResult]]:
    results = dict(db.results)
    for item in db.work_items:
        if item.job_id in results and results[item.job_id].test_outcome is not None:
            yield item, results[item.job_id]


def explained() -> dict[str, str]:
    """Read why survivors survive, by their keys."""
    said: dict[str, str] = tomllib.loads(EXPLAINED.read_text(encoding="utf-8"))["equivalent"]
    return said


def report(groups: list[Group], directory: Path) -> int:
    """Print the score; 1 if a mutant has survived that nobody has explained."""
    known, total, unexplained = explained(), Counter[str](), []
    print(f"{'room':12} {'drawn':>6} {'run':>6} {'killed':>7} {'explained':>10} {'survived':>9}")
    for group in groups:
        campaign = Campaign(group, directory / group.name)
        if not campaign.session.exists():
            continue
        counts = Counter[str]()
        with use_db(str(campaign.session), WorkDB.Mode.open) as db:
            counts["drawn"] = db.num_work_items
            for item, result in _finished(db):
                key = key_of(item.mutations[0], campaign.package)
                counts["run"] += 1
                fate = "killed" if result.is_killed else "survived"
                if fate == "survived" and key in known:
                    fate = "explained"
                elif fate == "survived":
                    unexplained.append(key)
                counts[fate] += 1
        total += counts
        _print_row(group.name, counts)
    _print_row("all", total)
    for key in sorted(unexplained):
        print(f"survived: {key}")
    return 1 if unexplained or total["run"] < total["drawn"] else 0


def _print_row(name: str, counts: Counter[str]) -> None:
    columns = ("drawn", "run", "killed", "explained", "survived")
    widths = (6, 6, 7, 10, 9)
    cells = (f"{counts[c]:>{w}}" for c, w in zip(columns, widths, strict=True))
    print(f"{name:12} {' '.join(cells)}")


if __name__ == "__main__":
    os.nice(5)
    sys.exit(main())
