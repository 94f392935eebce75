"""`streamproof mttf`: its table, its plot, and what it refuses."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from streamproof.cli.app import app
from streamproof.models.kit.verdict import ExitCode


def run(*arguments: str):
    return CliRunner().invoke(app, ["mttf", *arguments])


def test_the_table_has_the_figures_of_the_notes():
    ran = run()
    assert ran.exit_code == ExitCode.GREEN
    years = {row[0]: row for row in map(str.split, ran.output.splitlines()[1:]) if row}
    assert years["10"][1:] == ["3.56", "y", "3.55", "y", "35.5", "y", "35.5", "y", "10.0"]
    assert (years["50"][-1], years["100"][-1]) == ("49.2", "96.7")


def test_json_has_a_row_for_each_number_of_partitions():
    found = json.loads(run("--partitions", "3", "--partitions", "50", "--json").stdout)
    rows = found["years_to_failure"]
    assert [row["partitions"] for row in rows] == [3, 50]
    assert rows[1]["ratio"] == pytest.approx(49.2, abs=0.05)


def test_a_dataflow_that_takes_longer_to_replace_fails_earlier():
    def ratio(*options: str) -> float:
        found = json.loads(run("--partitions", "10", "--json", *options).stdout)
        return found["years_to_failure"][0]["ratio"]

    assert ratio("--dataflow-repair-minutes", "60") > 5 * ratio()


def test_a_plot_is_drawn_into_a_new_file(tmp_path):
    path = tmp_path / "mttf.svg"
    assert run("--plot", str(path)).exit_code == ExitCode.GREEN
    kept = path.read_bytes()
    assert b"</svg>" in kept
    assert run("--plot", str(path)).exit_code == ExitCode.WRONG_USE
    assert path.read_bytes() == kept


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--partitions", "0"), "greater than or equal to 1"),
        (("--partitions", "5000"), "5,000 partitions"),
        (("--node-days", "0"), "node_mttf is 0.0"),
        (("--repair-minutes", "-5"), "repair is"),
    ],
)
def test_what_makes_no_sense_is_wrong_use(arguments, said):
    ran = run(*arguments)
    assert ran.exit_code == ExitCode.WRONG_USE
    assert said in " ".join(ran.output.split())
