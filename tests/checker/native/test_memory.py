"""Memory: one place makes addresses, and guarded memory ends a process that uses it wrongly."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import streamproof
from streamproof.checker import check
from streamproof.checker import explore as reference
from streamproof.checker.native import memory
from streamproof.checker.native.code.program import Program
from streamproof.checker.native.engine import explore as native
from streamproof.lang import Domain
from streamproof.models.kit.verdict import Status
from tests.checker.native.support.shapes import One, Promised, Stepped

HERE = Path(__file__).parent
ADDRESS = re.compile(r"ctypes\.data|data_as|from_address|__array_interface__|addressof|inttoptr")
ELSEWHERE = {"kernels/intrinsics.py"}
"""Where an address of code, not of memory, is made use of."""


def in_a_process(*arguments, guarded):
    environment = {**os.environ, memory.VARIABLE: "1" if guarded else ""}
    command = [sys.executable, *arguments]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


def test_no_other_file_makes_an_address():
    package = Path(streamproof.__file__).parent / "checker"
    found = {
        str(file.relative_to(package / "native"))
        for file in package.rglob("*.py")
        if ADDRESS.search(file.read_text())
    }
    assert found - ELSEWHERE == {"memory.py"}


def test_an_array_with_gaps_is_refused():
    hashes = Program(Promised(Domain(One, 2)), {})._hash
    with pytest.raises(TypeError, match="C order.*strides"):
        hashes(np.zeros((4, 2), np.uint64)[:, :1], 4, np.zeros(4, np.uint64))


SHAPES = [pytest.param(False, marks=pytest.mark.slow), True]
"""Whether the code has loops over elements; a branch for each takes seconds to compile."""


@pytest.mark.parametrize("loops", SHAPES)
def test_many_actions(loops):
    """The buffers that a search takes up its steps with once more must be there until its end."""
    model = Promised(Domain(One, 300 if loops else 128))
    report = check(model, engine=native)
    assert report.verdict.status is Status.EXHAUSTED
    assert report.counts == check(model, engine=reference).counts


@pytest.mark.parametrize("loops", SHAPES)
def test_many_actions_every_step(loops):
    model = Stepped(Domain(One, 250 if loops else 150))
    found, wanted = (check(model, engine=engine) for engine in (native, reference))
    assert found.verdict == wanted.verdict
    assert found.counts.distinct == 51


def test_guarded_memory_ends_a_process_at_the_first_wrong_access():
    done = in_a_process("-m", "tests.checker.native.wrong_memory", guarded=True)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["guarded"]
    assert told["right"] == "EXHAUSTED"
    access, written = {signal.SIGSEGV, signal.SIGBUS}, {signal.SIGABRT}
    assert set(told["ends"]) == {"behind", "kept", "room", "in_front", "in_front_of_a_copy"}
    for fault, end in told["ends"].items():
        assert end in (written if fault.startswith("in_front") else access), (fault, done.stderr)


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_the_fast_tests_of_the_engine_pass_in_guarded_memory():
    done = in_a_process("-m", "pytest", "-q", "-m", "not slow", str(HERE), guarded=True)
    assert done.returncode == 0, done.stdout
