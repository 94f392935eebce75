"""Mutation testing of the kernel of trust: ``python -m tests.mutation.campaign``.

A copy of the tree is mutated, one place at a time, and the tests of the mutated room must fail.
Results are kept in a directory outside of the repository; who starts it again goes on. The mutants
are cosmic-ray's; its session holds what was drawn and what became of it.
"""

from __future__ import annotations

import argparse
import compileall
import json
import shutil
import subprocess
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from cosmic_ray.work_db import WorkDB, use_db
from cosmic_ray.work_item import WorkItem, WorkResult

from streamproof.cache import cache_directory
from tests.mutation.collected import COSTLY_SECONDS, CPU_SECONDS_MIN, limit_of
from tests.mutation.fresh import environment, run_fresh
from tests.mutation.groups import GROUPS, Group, group_named
from tests.mutation.mutants import drawn
from tests.mutation.results import Outcome, result_of, told

ROOT = Path(__file__).parents[2]
COPIED = ("streamproof", "tests", "examples", "benchmarks", "docs", "pyproject.toml", "README.md")
EXPLAINED = Path(__file__).with_name("survivors.toml")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what has not been run, and report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--directory", type=Path, default=cache_directory() / "mutation")
    parser.add_argument("--group", action="append", choices=[group.name for group in GROUPS])
    parser.add_argument("--again", action="store_true", help="run those again that survived")
    parser.add_argument("--report", action="store_true", help="run nothing")
    asked = parser.parse_args(arguments)
    groups = [group_named(name) for name in asked.group or [group.name for group in GROUPS]]
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
        self.session = home / "session.sqlite"

    def run(self, *, again: bool = False) -> None:
        """Run the tests on each mutant that has no result yet."""
        if again or not self.tree.exists():
            self._copy()
        with use_db(str(self.session), WorkDB.Mode.create) as db:
            if not db.num_work_items:
                files = self.group.files(self.tree / "streamproof")
                db.add_work_items(drawn(files, self.group.sample))
            if again:
                forget_survivors(db)
        ran = subprocess.run(
            [sys.executable, "-m", "tests.mutation.collected", self.group.name, str(self.home)],
            cwd=self.tree,
            env=environment(self.tree),
            check=False,
        )
        if ran.returncode:
            raise SystemExit(f"the tests of {self.group.name} cannot be run: see above")
        self._run_the_rest()

    def _run_the_rest(self) -> None:
        """Run mutants that need a new import."""
        costs = json.loads((self.home / "baseline.json").read_text(encoding="utf-8"))
        left_out = [f"--deselect={t}" for t, cost in costs.items() if cost >= COSTLY_SECONDS]
        limit = limit_of(costs) + CPU_SECONDS_MIN  # for the imports
        with use_db(str(self.session), WorkDB.Mode.open) as db:
            for item in list(db.pending_work_items):
                (mutation,) = item.mutations
                log = self.home / "last.log"
                tests = [*(f"tests/{test}" for test in self.group.tests), *left_out]
                outcome = run_fresh(self.tree, tests, mutation, log, limit)
                if outcome is Outcome.NONE_RUN:
                    raise SystemExit(f"no test was run: read {log}")
                db.set_result(item.job_id, result_of(outcome))
                print(f"{self.group.name} {outcome.value} {told(mutation)}", flush=True)

    def _copy(self) -> None:
        """Copy the tree as it is now, compiled."""
        shutil.rmtree(self.tree, ignore_errors=True)
        self.tree.mkdir(parents=True)
        (self.home / "baseline.json").unlink(missing_ok=True)
        for name in COPIED:
            source = ROOT / name
            if source.is_dir():
                shutil.copytree(source, self.tree / name)
            else:
                shutil.copy2(source, self.tree / name)
        compileall.compile_dir(self.tree, quiet=2)


def forget_survivors(db: WorkDB) -> None:
    """Let survivors run again, on the tests as they are now."""
    done = list(finished(db))
    kept = [(item, result) for item, result in done if result.is_killed]
    again = [item for item, result in done if not result.is_killed]
    waiting = list(db.pending_work_items)
    db.clear()
    db.add_work_items([*again, *waiting, *(item for item, _ in kept)])
    for item, result in kept:
        db.set_result(item.job_id, result)


def finished(db: WorkDB) -> Iterator[tuple[WorkItem, WorkResult]]:
    """List the mutants that have a result."""
    results = dict(db.results)
    for item in db.work_items:
        if item.job_id in results and results[item.job_id].test_outcome is not None:
            yield item, results[item.job_id]


def explained() -> dict[str, str]:
    """Read why survivors survive, by their keys."""
    said: dict[str, str] = tomllib.loads(EXPLAINED.read_text(encoding="utf-8"))["equivalent"]
    return said


def report(groups: Sequence[Group], directory: Path) -> int:
    """Print the score; 1 if something was not run, or has survived and nobody has explained it."""
    known, total, unexplained = explained(), Counter[str](), []
    print(f"{'room':12} {'drawn':>6} {'run':>6} {'killed':>7} {'explained':>10} {'survived':>9}")
    for group in groups:
        session = directory / group.name / "session.sqlite"
        if not session.exists():
            continue
        counts = Counter[str]()
        with use_db(str(session), WorkDB.Mode.open) as db:
            counts["drawn"] = db.num_work_items
            for item, result in finished(db):
                key = told(item.mutations[0])
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
    sys.exit(main())
