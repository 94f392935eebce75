"""`streamproof forecast`: its exit codes, and that --json gives everything that is printed."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from streamproof.cli.app import app
from streamproof.models.kit.verdict import ExitCode

EXAMPLE = "examples/two_phase_commit.py"


def run(*arguments: str):
    return CliRunner().invoke(app, ["forecast", *arguments])


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        ((EXAMPLE, "--size", "small"), ExitCode.GREEN, "exactly 288 states, 1,146 generated"),
        (
            (EXAMPLE, "--set", "managers=4", "--states-max", "600"),
            ExitCode.GREEN,
            "sizes point to 1,5",
        ),
        ((EXAMPLE, "--set", "managers=4", "--states-max", "20"), ExitCode.UNDETERMINED, "too few"),
        ((EXAMPLE, "--size", "huge"), ExitCode.WRONG_USE, "has no size 'huge'"),
        ((EXAMPLE, "--set", "managers=4", "--size", "small"), ExitCode.WRONG_USE, "both say"),
        ((EXAMPLE, "--states-max", "0"), ExitCode.WRONG_USE, "states-max"),
        (("examples/lease.py:hasty",), ExitCode.UNDETERMINED, "one_writer does not hold"),
    ],
)
def test_a_forecast_ends_with_what_was_found_out(arguments, code, said):
    result = run(*arguments)
    assert result.exit_code == code, result.output
    assert said in result.output


@pytest.mark.parametrize(
    ("memory", "states", "model", "fits", "said"),
    [
        ("100000", "600", (EXAMPLE, "--set", "managers=5"), True, "fits into"),
        ("1", "8000", ("chandy_lamport", "--size", "large"), False, "MORE than"),
    ],
)
def test_it_says_whether_the_memory_is_enough(memory, states, model, fits, said):
    arguments = (*model, "--states-max", states, "--memory", memory)
    assert said in run(*arguments).output
    told = json.loads(run(*arguments, "--json").stdout)["memory"]
    assert (told["fits"], told["allowed_mb"]) == (fits, int(memory))


def test_json_gives_everything_that_is_printed():
    arguments = (EXAMPLE, "--set", "managers=4", "--states-max", "600")
    printed, told = run(*arguments).output, json.loads(run(*arguments, "--json").stdout)
    assert [part["distinct"] for part in told["sizes"]] == [600, 12, 56, 288]
    for part in told["sizes"]:
        assert f"{part['distinct']:,}" in printed
    for number in told["states"].values():
        assert f"{number:,}" in printed
    assert f"managers x {told['settings']['managers']:.1f}" in printed
    for name, share in told["multipliers"]["actions"].items():
        assert f"{name} {share:.0%}" in printed
    assert told["seconds"][0] <= told["seconds"][1]
    assert told["reason"] == ""
    assert told["is_exact"] is False
