"""Running tests in forks of a process that has loaded the libraries: a mutant costs no imports."""

from __future__ import annotations

import importlib
import os
import signal
import sys
import time
import traceback
from collections.abc import Sequence
from enum import Enum
from pathlib import Path
from typing import NoReturn

POLL_SECONDS = 0.05


class Outcome(Enum):
    """What became of the tests."""

    PASSED = "passed"
    FAILED = "failed"
    TIMEOUT = "timeout"
    NONE_RUN = "none run"


def preload(libraries: Sequence[str]) -> None:
    """Import what every test process needs; nothing of ours, which is mutated."""
    for name in ("pytest", "hypothesis", *libraries):
        importlib.import_module(name)


def run_tests(tree: Path, tests: Sequence[str], log: Path, timeout_seconds: float) -> Outcome:
    """Run tests of a tree until the first fails, in a process group of their own."""
    child = os.fork()
    if child == 0:
        _become_pytest(tree, tests, log)
    began = time.monotonic()
    while time.monotonic() - began < timeout_seconds:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return _outcome(status)
        time.sleep(POLL_SECONDS)
    os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return Outcome.TIMEOUT


def _outcome(status: int) -> Outcome:
    code = os.waitstatus_to_exitcode(status)
    if code == 0:
        return Outcome.PASSED
    # pytest's codes: 1 is a failed test, 2 an error of collection, 3 one inside; below 0 a signal.
    return Outcome.FAILED if code in (1, 2, 3) or code < 0 else Outcome.NONE_RUN


def _become_pytest(tree: Path, tests: Sequence[str], log: Path) -> NoReturn:
    code = 3
    try:
        os.setpgid(0, 0)
        out = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        for stream in (1, 2):
            os.dup2(out, stream)
        os.chdir(tree)
        sys.path.insert(0, str(tree))
        _forget_ours(tree)
        sys.dont_write_bytecode = True
        os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
        os.environ["PYTHONPATH"] = str(tree)
        os.environ["XDG_CACHE_HOME"] = str(tree.parent / "cache")
        import pytest

        options = ["-x", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", "--tb=line"]
        options += ["-W", "ignore::pytest.PytestAssertRewriteWarning"]  # preloaded, as is meant
        code = pytest.main([*options, *(f"tests/{test}" for test in tests)])
    except BaseException:  # noqa: BLE001  a fork must end here, and say why
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        os._exit(int(code))


def _forget_ours(tree: Path) -> None:
    """Let our own modules be imported from the tree, whatever the campaign has imported."""
    for name in list(sys.modules):
        if name.partition(".")[0] in ("streamproof", "tests"):
            del sys.modules[name]
    found = importlib.import_module("streamproof").__file__ or ""
    if not Path(found).is_relative_to(tree):
        raise ImportError(f"the tests would run {found}, which is not the mutated tree {tree}")
