"""`check --checkpoint` and `--resume`: what is printed, and how wrong use is told."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys

import pytest
from typer.testing import CliRunner

from streamproof.cli.app import app
from streamproof.models.kit.verdict import ExitCode

MODEL = ["check", "chandy_lamport", "--size", "small", "--safety", "--no-symmetry"]
COUNTS = "141 distinct states"


def run(*arguments):
    return CliRunner().invoke(app, list(map(str, arguments)))


@pytest.fixture
def place(tmp_path):
    return tmp_path / "my search"


def test_a_search_that_reached_a_limit_goes_on_by_the_command_that_it_prints(place):
    ran = run(*MODEL, "--checkpoint", place, "--depth-max", 5)
    assert ran.exit_code == ExitCode.UNDETERMINED
    assert f"kept in {place}: 73 states. Go on from them: " in ran.output
    command = re.search(r"Go on from them: streamproof (.*)", ran.output)[1]
    ran = run(*shlex.split(command))
    assert ran.exit_code == ExitCode.GREEN, ran.output
    assert COUNTS in ran.output
    assert "73 of these states were found by an earlier search" in ran.output
    assert f"kept in {place}. The same report without another search: " in ran.output
    again = run(*shlex.split(command))
    assert again.exit_code == ExitCode.GREEN
    assert "141 of these states were found by an earlier search" in again.output


def test_json_tells_of_the_checkpoint_too(place):
    ran = run(*MODEL, "--checkpoint", place, "--states-max", 60, "--json")
    told = json.loads(ran.stdout)
    states = told["checkpoint"].pop("states")
    assert told["checkpoint"] == {"directory": str(place), "is_whole": False, "failure": None}
    assert 1 <= states <= told["counts"]["distinct"] == 60
    told = json.loads(run(*MODEL, "--resume", place, "--json").stdout)
    assert told["checkpoint"]["is_whole"]
    assert told["counts"] == json.loads(run(*MODEL, "--json").stdout)["counts"]
    assert json.loads(run(*MODEL, "--json").stdout)["checkpoint"] is None


def test_a_disk_that_is_full_is_told_with_the_report(place, monkeypatch):
    calls = [0]

    def full(handle):
        calls[0] += 1
        if calls[0] > 10:
            raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    ran = run(*MODEL, "--checkpoint", place)
    assert ran.exit_code == ExitCode.GREEN
    assert "could not be kept to its end ([Errno 28] No space left on device)" in ran.output
    assert "holds 1 of 141 states" in ran.output


def test_orbits_are_kept_as_well(place):
    model = ["check", "chandy_lamport", "--size", "small", "--safety"]
    ran = run(*model, "--checkpoint", place, "--depth-max", 5)
    assert ran.exit_code == ExitCode.UNDETERMINED
    assert "states, which stand for all like them. Go on from them: " in ran.output
    command = re.search(r"Go on from them: streamproof (.*)", ran.output)[1]
    ran = run(*shlex.split(command))
    assert ran.exit_code == ExitCode.GREEN, ran.output
    assert COUNTS in ran.output
    assert "2 of Process are alike; 77 states stand for all" in ran.output
    assert "73 of these states were found by an earlier search" in ran.output
    again = run(*shlex.split(command))
    assert "141 of these states were found by an earlier search" in again.output
    assert f"kept in {place}. The same report" in again.output
    ran = run(*shlex.split(command), "--no-symmetry")
    assert ran.exit_code == ExitCode.WRONG_USE
    assert "--symmetry or --safety are others" in ran.output


@pytest.mark.parametrize("how", ["whole", "full disk"])
def test_after_a_counterexample_nothing_is_left_to_go_on_with(how, place, monkeypatch):
    calls = [0]

    def full(handle):
        calls[0] += 1
        if calls[0] > 10 and how == "full disk":
            raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    ran = run("check", "chandy_lamport/marker-late", "--safety", "--checkpoint", place)
    assert ran.exit_code == ExitCode.REFUTED
    assert "could not be kept" in ran.output or how == "whole"
    assert "so nothing is left to go on with" in ran.output
    assert "Go on from them" not in ran.output
    monkeypatch.undo()
    ran = run("check", "chandy_lamport/marker-late", "--safety", "--resume", place)
    assert ran.exit_code == ExitCode.REFUTED


def test_wrong_use_is_told_and_nothing_is_lost(place):
    assert run(*MODEL, "--checkpoint", place, "--depth-max", 5).exit_code == ExitCode.UNDETERMINED
    before = {path.name: path.read_bytes() for path in place.iterdir()}
    dag = ["check", "chandy_lamport", "--size", "dag"]
    for arguments, said in (
        ([*MODEL, "--resume", place, "--engine", "reference"], "cannot write down"),
        ([*MODEL, "--resume", place, "--checkpoint", place], "Give one of the two"),
        ([*MODEL, "--checkpoint", place], "Go on from it with --resume"),
        ([*dag, "--resume", place], "it is of processes=.* 2.*, and this is .* 3"),
        (["check", "token_passing", "--resume", place], "it is of ChandyLamport, and this is"),
        ([*MODEL, "--resume", place.parent / "nothing"], "holds no checkpoint"),
        ([*MODEL, "--resume", place, "--states-max", 3], "Raise --states-max or --memory"),
        ([*MODEL, "--checkpoint", place / "new", "--checkpoint-seconds", -1], "checkpoint-seconds"),
        (
            ["check", "examples/two_phase_commit.py", "--checkpoint", place / "new"],
            "neither traced",
        ),
    ):
        ran = run(*arguments)
        assert ran.exit_code == ExitCode.WRONG_USE, ran.output
        assert re.search(said, ran.output), ran.output
    assert {path.name: path.read_bytes() for path in place.iterdir()} == before


def test_ctrl_c_keeps_the_search_and_says_how_to_go_on(place):
    """A real process is interrupted when it has kept its search for the first time."""
    code = (
        "import os, signal; "
        "from streamproof.checker.native import search; search.BUFFER = 16; "  # so it has rounds
        "from streamproof.checker.native.checkpoint.keeper import _Keeper; keep = _Keeper._keep; "
        "stop = lambda: os.kill(os.getpid(), signal.SIGINT); "
        "_Keeper._keep = lambda self, writer: (keep(self, writer), stop()); "
        "from streamproof.cli import main; main()"
    )
    model = ["check", "chandy_lamport", "--size", "default", "--safety"]
    options = ["--checkpoint", str(place), "--checkpoint-seconds", "0"]
    command = [sys.executable, "-c", code, *model, *options]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as it:
        output, errors = it.communicate()
    assert it.returncode == ExitCode.UNDETERMINED, errors
    assert "Traceback" not in errors
    assert "the search was interrupted" in output
    assert (
        "Go on from them: streamproof check chandy_lamport --size default --safety --resume"
        in output
    )
    ran = run(*model, "--resume", place)
    assert ran.exit_code == ExitCode.GREEN
    assert "21,385 distinct states" in ran.output


def test_ctrl_c_while_a_checkpoint_is_read_leaves_it_as_it_is(place, monkeypatch):
    model = ["check", "chandy_lamport", "--size", "ring", "--safety"]
    assert run(*model, "--checkpoint", place, "--states-max", "100").exit_code != ExitCode.GREEN
    before = {path.name: path.read_bytes() for path in place.iterdir()}

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("streamproof.checker.native.checkpoint.keeper.load", interrupted)
    ran = run(*model, "--resume", place)
    assert ran.exit_code == ExitCode.UNDETERMINED
    assert "Interrupted before there was anything to report" in ran.stderr
    assert {path.name: path.read_bytes() for path in place.iterdir()} == before
