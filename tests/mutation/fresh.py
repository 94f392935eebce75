"""A mutant on disk, and its tests in a process that imports everything anew."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from cosmic_ray.mutating import use_mutation
from cosmic_ray.plugins import get_operator
from cosmic_ray.work_item import MutationSpec

from tests.mutation.results import Outcome, outcome_of

WALL_SECONDS = 3600.0
"""After which a test that uses no CPU is taken to wait for ever."""


def run_fresh(
    tree: Path, tests: Sequence[str], mutation: MutationSpec, log: Path, cpu_seconds: float
) -> Outcome:
    """Run tests, given as pytest takes them, on a mutant of the tree until the first fails."""
    operator = get_operator(mutation.operator_name)(**mutation.operator_args)
    with use_mutation(mutation.module_path, operator, mutation.occurrence) as (_, mutated):
        if mutated is None:
            return Outcome.NONE_RUN
        options = ["-x", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", "--timeout=0"]
        options += ["-W", "ignore::SyntaxWarning"]  # such as of `is` beside a text
        options += ["--tb=line", "-o", "addopts=--import-mode=importlib", "-m", "not slow"]
        command = [sys.executable, "-m", "pytest", *options, *tests]
        limit = int(cpu_seconds)
        with log.open("wb") as out:
            process = subprocess.Popen(
                command,
                cwd=tree,
                env=environment(tree),
                stdout=out,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                # A campaign has one thread.
                preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (limit, limit)),  # noqa: PLW1509
            )
            try:
                code = process.wait(WALL_SECONDS)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, 9)
                process.wait()
                return Outcome.TIMEOUT
    return outcome_of(code << 8 if code >= 0 else -code)


def environment(tree: Path) -> Mapping[str, str]:
    """Let Python find the tree before what is installed, and keep nothing of a mutant."""
    return {
        **os.environ,
        "PYTHONPATH": str(tree),
        "PYTHONDONTWRITEBYTECODE": "1",
        "XDG_CACHE_HOME": str(tree.parent / "cache"),
    }
