"""`streamproof simulate`: exit codes, what it prints and gives as JSON, and bad input."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from streamproof.checker.progress import Meter
from streamproof.checker.walks import Tally
from streamproof.cli.app import app
from streamproof.cli.simulate import line_of
from streamproof.models.kit.verdict import ExitCode

LEASE = "examples/lease.py"
HASTY = f"{LEASE}:hasty"


def run(*arguments: str):
    result = CliRunner().invoke(app, ["simulate", *arguments])
    assert result.exception is None or isinstance(result.exception, SystemExit)
    return result


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ((LEASE,), ExitCode.UNDETERMINED),
        ((HASTY,), ExitCode.REFUTED),
        ((LEASE, "--walks", "0"), ExitCode.WRONG_USE),
        ((LEASE, "--walks", "many"), ExitCode.WRONG_USE),
        ((LEASE, "--length-max", "0"), ExitCode.WRONG_USE),
        ((LEASE, "--seed", "-1"), ExitCode.WRONG_USE),
        ((LEASE, "--seed", str(2**64)), ExitCode.WRONG_USE),
        ((LEASE, "--seed", str(2**64 - 1)), ExitCode.UNDETERMINED),
        ((LEASE, "--engine", "bogus"), ExitCode.WRONG_USE),
        ((LEASE, "--size", "huge"), ExitCode.WRONG_USE),
        (("examples/two_phase_commit.py", "--engine", "native"), ExitCode.WRONG_USE),
        (("nonesuch",), ExitCode.WRONG_USE),
    ],
    ids=lambda part: "-".join(part) if isinstance(part, tuple) else part.name,
)
def test_it_ends_with_the_exit_code_of_its_verdict(arguments, code):
    assert run(*arguments).exit_code == code


def test_a_sample_is_printed_with_its_size_and_its_seed():
    printed = run(LEASE, "--walks", "30", "--length-max", "8", "--seed", "5").stdout
    assert "examples/lease.py default (workers=3), native engine, seed 5" in printed
    assert "30 of 30 walks; 0 came to an end" in printed
    assert "240 steps taken, 480 looked at; distinct states were not counted" in printed
    assert "EXHAUSTED" not in printed
    assert printed.rstrip().endswith("SAMPLED")


def test_the_same_command_prints_the_same_but_for_the_time():
    first, again = (json.loads(run(HASTY, "--json").stdout) for _ in range(2))
    volatile = {"seconds", "seconds_walking", "steps_per_second"}
    assert {k: v for k, v in first.items() if k not in volatile} == {
        k: v for k, v in again.items() if k not in volatile
    }


def test_a_counterexample_can_be_run_again_by_the_command_that_is_printed():
    printed = run(HASTY).stdout
    assert "of the 2 that are left, none can be left out alone" in printed
    (command,) = [line for line in printed.splitlines() if line.startswith("run it again: ")]
    repeated = CliRunner().invoke(app, command.split()[4:])
    assert repeated.exit_code == ExitCode.REFUTED
    assert "one_writer is broken" in repeated.stdout


def test_json_tells_what_is_printed():
    found = json.loads(run(HASTY, "--walks", "40", "--seed", "3", "--json").stdout)
    printed = run(HASTY, "--walks", "40", "--seed", "3").stdout
    assert found["verdict"]["status"] == "REFUTED"
    assert (found["target"], found["seed"], found["walks_asked"]) == (HASTY, 3, 40)
    assert f"run it again: {found['replay']}" in printed
    assert f"walk {found['found_by_walk']} broke it in {found['walked']} steps" in printed
    assert f"{found['steps']} steps taken, {found['looked_at']} looked at" in printed
    for name, counts in found["actions"].items():
        assert f"{name} " in printed
        assert str(counts["taken"]) in printed


def test_a_promise_is_said_not_to_be_asked():
    printed = run("chandy_lamport", "--walks", "20", "--engine", "reference").stdout
    assert "not asked, since no finite walk refutes it: every_snapshot_completes" in printed


def test_a_counterexample_is_kept_as_a_test_that_fails_until_it_is_mended(tmp_path):
    kept = tmp_path / "test_kept.py"
    assert f"kept as a test: {kept}" in run(HASTY, "--pytest", str(kept)).stdout
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(kept)]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert "1 failed" in ran.stdout, ran.stdout + ran.stderr
    assert run(HASTY, "--pytest", str(kept)).exit_code == ExitCode.WRONG_USE  # it is there already


def test_an_interrupt_before_the_first_walk_is_undetermined(tmp_path):
    state = "return State(free=True, holds=Map.fill(self.workers, False))"
    text = Path(LEASE).read_text(encoding="utf-8")
    assert state in text
    mine = tmp_path / "mine.py"
    mine.write_text(text.replace(state, "raise KeyboardInterrupt"), encoding="utf-8")
    result = run(str(mine))
    assert result.exit_code == ExitCode.UNDETERMINED
    assert "Interrupted" in result.stderr


def test_the_line_of_progress_tells_how_far_walks_are():
    ticks = iter((0.0, 2.0))
    tally = Tally([], [], walks=1_200, steps=5_000)
    told = line_of(tally, Meter(lambda: next(ticks)))
    assert told == "1,200 walks, 5,000 steps, 2,500 steps a second"
